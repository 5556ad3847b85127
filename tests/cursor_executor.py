"""A reimplementation of Cursor's hook executor: which hooks run, how, and how their answers are merged.

    cursor = Executor(plugin, workspace, environ)
    cursor.run("preToolUse", tool_name="Write", tool_input={...}).permission

The rules were observed in the real executor (`@cursor/sdk` 1.0.32), whose licence forbids shipping it: all matching
hooks of all plugins run at once through a shell, with the payload on standard input; their answers are merged, and a
denial wins; failures of a hook have the effect that they have there.

Source for what may be configured: https://cursor.com/docs/agent/hooks, read 2026-11-21.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["EVENTS", "BadConfig", "Executor", "Merged"]

Json = dict[str, Any]

EVENTS = frozenset(
    "sessionStart sessionEnd workspaceOpen beforeSubmitPrompt preToolUse postToolUse postToolUseFailure "
    "beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit "
    "beforeTabFileRead afterTabFileEdit afterAgentResponse afterAgentThought preCompact subagentStart subagentStop "
    "stop".split()
)
_ASKING = frozenset({"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"})
_IN_WORKSPACE = frozenset({"stop", "subagentStop"})  # the others start in the plugin's folder
_LONGEST_CONTEXT = 10_000
_LOOPS = 5
_PATIENCE = 24  # times the client's own limit: machines of CI are slow and shared
_BETWEEN = "\n\n---\n\n"
_ORDER = {"deny": 2, "ask": 1, "allow": 0}


class BadConfig(Exception):
    """The client refuses the whole hooks file, for this reason."""


@dataclass
class Merged:
    """The merged answers of all hooks."""

    permission: str = "allow"
    messages: list[str] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    followup: str = ""
    answers: list[Json | None] = field(default_factory=list)
    """Each hook's own answer; None when it gave none or an unreadable one."""

    @property
    def reason(self) -> str:
        """The text that the agent gets with a denial."""
        return _BETWEEN.join(self.messages)

    @property
    def context(self) -> str:
        """The text that is added to the agent's context."""
        return _BETWEEN.join(self.contexts)


class Executor:
    """The executor of a client with these plugins, in one workspace."""

    def __init__(self, plugins: Sequence[Path], workspace: Path, environ: Mapping[str, str]) -> None:
        self._plugins = [(plugin, load(plugin)) for plugin in plugins]
        self._workspace = workspace
        self._environ = dict(environ)
        self.generation = "gen-0"
        self.roots = [str(workspace)]
        self.mark = b""  # what the shell puts before the payload: a byte-order mark in PowerShell

    def run(self, event: str, **fields: object) -> Merged:
        """The merged answer of every matching hook to one event."""
        assert event in EVENTS
        payload = self._payload(event, fields)
        subject = _subject(event, payload)
        jobs = [
            (plugin, entry)
            for plugin, config in self._plugins
            for entry in config["hooks"].get(event, [])
            if _matches(entry.get("matcher"), subject)
            and not (event == "stop" and payload["loop_count"] >= (entry.get("loop_limit") or _LOOPS))
        ]
        raw = self.mark + json.dumps(payload).encode()
        with ThreadPoolExecutor(max(len(jobs), 1)) as pool:
            outcomes = list(pool.map(lambda job: self._start(*job, event=event, raw=raw), jobs))
        merged = Merged()
        for outcome in outcomes:
            _merge(merged, event, *outcome)
        return merged

    def turn(self, number: int) -> list[str]:
        """Run a user's turn to its end; returns the followup messages, each of which starts an agent turn."""
        sent: list[str] = []
        while True:
            self.generation = f"gen-{number}.{len(sent)}"
            followup = self.run("stop", status="completed", loop_count=len(sent)).followup
            if not followup:
                return sent
            sent.append(followup)
            assert len(sent) <= _LOOPS

    def _payload(self, event: str, fields: Mapping[str, object]) -> Json:
        return {
            "conversation_id": "agent-1",
            "generation_id": self.generation,
            "model": "mock",
            **fields,
            "session_id": "agent-1",
            "hook_event_name": event,
            "cursor_version": "3.18.25",
            "workspace_roots": self.roots,
            "user_email": None,
            "transcript_path": None,
        }

    def _start(self, plugin: Path, entry: Json, *, event: str, raw: bytes) -> tuple[Json, int, str, str]:
        command = entry["command"]
        for name in ("CURSOR_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"):
            command = command.replace(f"${{{name}}}", str(plugin))
        environ = {
            **self._environ,
            "CURSOR_PROJECT_DIR": str(self._workspace),
            "CLAUDE_PROJECT_DIR": str(self._workspace),
            "CURSOR_VERSION": "3.18.25",
            "CURSOR_PLUGIN_ROOT": str(plugin),
            "CLAUDE_PLUGIN_ROOT": str(plugin),
        }
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                input=raw,
                cwd=self._workspace if event in _IN_WORKSPACE else plugin,
                env=environ,
                capture_output=True,
                timeout=_PATIENCE * entry.get("timeout", 60),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return entry, -1, "", ""
        return entry, done.returncode, done.stdout.decode(), done.stderr.decode()


def load(plugin: Path) -> Json:
    """The hooks configuration of the plugin in this folder.

    Raises: BadConfig when the client refuses them.
    """
    manifest = json.loads((plugin / ".cursor-plugin" / "plugin.json").read_text(encoding="utf-8"))
    path = plugin / manifest["hooks"]
    if path.is_symlink() or ".." in manifest["hooks"] or os.path.isabs(manifest["hooks"]):
        raise BadConfig("the file is outside of the plugin")
    config: Json = json.loads(path.read_text(encoding="utf-8"))
    if type(config.get("version")) is not int or config["version"] < 1:
        raise BadConfig("Config version must be a number")
    for event, entries in config["hooks"].items():
        if event not in EVENTS:
            raise BadConfig(f"Unknown hook type: {event}")
        for entry in entries:
            _check(entry)
    return config


def _check(entry: Json) -> None:
    if entry.get("type", "command") != "command" or not isinstance(entry.get("command"), str):
        raise BadConfig("a plugin's hook is a command")
    if not isinstance(entry.get("timeout", 60), (int, float)) or entry.get("timeout", 60) <= 0:
        raise BadConfig("timeout is a positive number of seconds")
    limit = entry.get("loop_limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        raise BadConfig("loop_limit is a positive integer or null")
    if not isinstance(entry.get("failClosed", False), bool):
        raise BadConfig("failClosed is true or false")


def _subject(event: str, payload: Json) -> str:
    if event == "beforeShellExecution":
        return str(payload["command"])
    if event == "beforeMCPExecution":
        return f"MCP:{payload['tool_name']}"
    return str(payload.get("tool_name") or {"stop": "Stop"}.get(event, event))


def _matches(matcher: str | None, subject: str) -> bool:
    """Whether the pattern occurs in the subject; an invalid pattern matches everything."""
    try:
        return matcher is None or re.search(matcher, subject) is not None
    except re.error:
        return True


def _merge(merged: Merged, event: str, entry: Json, code: int, out: str, err: str) -> None:  # noqa: PLR0917 - an outcome by its parts
    """Merge one hook's outcome into `merged`."""
    closed = bool(entry.get("failClosed")) and event in _ASKING
    answer = _last_object(out)
    merged.answers.append(answer)
    if code == 2:
        _deny(merged, event, out.strip() or f"Hook blocked with message: {err.strip()}")
    elif code != 0 or not out.strip():
        if closed:
            _deny(merged, event, "the hook failed")
    elif answer is None or answer.get("permission", "allow") not in _ORDER:
        _deny(merged, event, "the hook's answer could not be read")
    else:
        _take(merged, event, answer)


def _deny(merged: Merged, event: str, why: str) -> None:
    if event in _ASKING:
        merged.permission = "deny"
        merged.messages.append(why)


def _take(merged: Merged, event: str, answer: Json) -> None:
    permission = answer.get("permission", "allow")
    if event in _ASKING and _ORDER[permission] > _ORDER[merged.permission]:
        merged.permission = permission
    if permission == "deny":
        merged.messages.append(answer.get("user_message") or "blocked by a hook")
    context = answer.get("additional_context") or answer.get("additionalContext")
    if isinstance(context, str) and len(context) <= _LONGEST_CONTEXT:
        merged.contexts.append(context)
    if event == "stop":
        merged.followup = answer.get("followup_message") or merged.followup


def _last_object(out: str) -> Json | None:
    """The JSON object at the end of the output; a login shell may print something before it."""
    text = out.strip()
    start = text.find("{")
    while start >= 0:
        try:
            value = json.loads(text[start:])
        except ValueError:
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None
