"""Copilot CLI and Visual Studio Code: their payloads, and the answers they read.

Both take events and payloads from Claude Code's, with tools of their own, and read different parts of an answer: the
command line what stands at its top, the editor what stands in `hookSpecificOutput`. So each answer says it twice.

Source: https://docs.github.com/en/copilot/reference/hooks-configuration and
https://code.visualstudio.com/docs/copilot/customization/hooks, read 2026-11-21; and runs of Copilot CLI 1.0.102.
"""

from __future__ import annotations

from keepmum_hooks.call import Call
from keepmum_hooks.event import SESSION_START, STOP, Event
from keepmum_hooks.payload import quote, session_of, text_of, tool_call
from keepmum_hooks.system import has_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["read", "read_call", "refuse", "render"]

_NAMES = {STOP: "Stop", SESSION_START: "SessionStart"}
# What the file is called that a tool writes, and what the text is called that an edit replaces.
_PATH_FIELDS = ("path", "file_path", "filePath")
_STANDING = ("old_str", "old_string", "oldString")
_COMMAND_FIELDS = ("command", "input")  # of shells; and of `apply_patch`, whose text names its files as a command does


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event that the payload tells of, or None when it tells of another one or of no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    return Event(
        kind=kind,
        session=session,
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        source=text_of(payload.get("source")),
        # No prompt has an id here. The time of the event tells turns apart, and two hooks of one event not.
        prompt=text_of(payload.get("timestamp")),
        ends_turn=not payload.get("stop_hook_active"),
        # The command line does not say whether anybody reads its answers; without a terminal nobody does.
        attended="COPILOT_CLI" not in environ or has_terminal(),
        once=kind == SESSION_START,
    )


def render(event: Event, text: str) -> str:
    """The JSON with which the client hands `text` to the model."""
    said = f'"decision":"block","reason":{quote(text)}' if event.kind == STOP else f'"additionalContext":{quote(text)}'
    return f'{{{said},"hookSpecificOutput":{{"hookEventName":"{_NAMES[event.kind]}",{said}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:
    """The tool call that the payload announces, or None when it tells of another event.

    Raises: ValueError when tool, input, path or command are not what the client sends.
    """
    called = tool_call(payload, "PreToolUse")
    if called is None:
        return None
    tool, given = called
    paths = tuple(given[name] for name in _PATH_FIELDS if given.get(name))
    command = next((given[name] for name in _COMMAND_FIELDS if name in given), "")
    if not isinstance(command, str) or not all(isinstance(path, str) for path in paths):
        raise ValueError("no path, or no command")
    return Call(
        tool=_server_tool(tool),
        input=given,
        session=text_of(payload.get("session_id")),
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        paths=paths,
        command=command,
        standing=_STANDING if paths else (),
    )


def refuse(reason: str) -> str:
    """The JSON with which the client forbids a tool call and tells the model why."""
    said = f'"permissionDecision":"deny","permissionDecisionReason":{quote(reason)}'
    return f'{{{said},"hookSpecificOutput":{{"hookEventName":"PreToolUse",{said}}}}}'


def _server_tool(tool: str) -> str:
    """The name in the form that the guard knows, `mcp__<server>__<tool>`, if it is the tool of a server.

    The command line writes `memory-add_note`, the editor `mcp_memory_add_note`; no tool of their own has such a name.
    """
    if tool.startswith("mcp_"):
        return f"mcp__{tool[4:].lstrip('_')}"
    return f"mcp__{tool.replace('-', '__', 1)}" if "-" in tool else tool
