"""Claude Code: its payloads, and the answers it reads.

Source: https://code.claude.com/docs/en/hooks, read 2026-11-21; where it is silent, runs of version 2.1.329.
"""

from __future__ import annotations

from keepmum_hooks.call import Call
from keepmum_hooks.event import SESSION_START, STOP, Event
from keepmum_hooks.payload import quote, session_of, text_of, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["FILE_TOOLS", "SHELL_TOOLS", "read", "read_call", "refuse", "render"]

# The tools that write files, with the field that says which one, and those that run commands.
# Source: https://code.claude.com/docs/en/tools-reference, read 2026-11-21
FILE_TOOLS = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
SHELL_TOOLS = ("Bash", "PowerShell")
# What an edit replaces stands in the file already; to forbid it would forbid taking a secret out.
_STANDING = ("old_string",)

_NAMES = {STOP: "Stop", SESSION_START: "SessionStart"}

# The first version that hands a Stop hook's additionalContext to the model; `decision: block` works before and
# after, but is shown to the user as a problem.
# Source: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md, read 2026-11-21
_STOP_CONTEXT_SINCE = (2, 1, 163)

# Tasks that end by themselves and then wake the session with what they found. Shells, monitors, teammates and
# cloud sessions may run for days: a reminder that waited for them would never come.
_REPORTING_TYPES = ("subagent", "workflow")


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event that the payload tells of, or None when it tells of another one or of no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    reporting, lasting = _tasks(payload.get("background_tasks"))
    return Event(
        kind=kind,
        session=session,
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        source=text_of(payload.get("source")),
        prompt=text_of(payload.get("prompt_id")),
        ends_turn=not (payload.get("stop_hook_active") or payload.get("agent_id")),
        attended=_attended(environ),
        reporting=reporting,
        lasting=lasting,
        version=_version(environ.get("AI_AGENT", "")),
    )


def render(event: Event, text: str) -> str:
    """The JSON with which Claude Code hands `text` to the model."""
    if event.kind == STOP and event.version < _STOP_CONTEXT_SINCE:
        return f'{{"decision":"block","reason":{quote(text)}}}'
    name = _NAMES[event.kind]
    return f'{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":{quote(text)}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:
    """The tool call that the payload announces, or None when it tells of another event.

    Raises: ValueError when tool, input, path or command are not what the client sends.
    """
    called = tool_call(payload, "PreToolUse")
    if called is None:
        return None
    tool, given = called
    path = given.get(FILE_TOOLS[tool]) if tool in FILE_TOOLS else ""
    command = given.get("command") if tool in SHELL_TOOLS else ""
    if not isinstance(path, str) or not isinstance(command, str):
        raise ValueError("no path, or no command")  # noqa: TRY004 - the fault of what was sent, not of the caller
    return Call(
        tool=tool,
        input=given,
        session=text_of(payload.get("session_id")),
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        paths=(path,) if path else (),
        command=command,
        standing=_STANDING if path else (),
    )


def refuse(reason: str) -> str:
    """The JSON with which Claude Code forbids a tool call, in every mode of permissions, and tells the model why."""
    decision = f'"permissionDecision":"deny","permissionDecisionReason":{quote(reason)}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decision}}}}}'


def _attended(environ: Mapping[str, str]) -> bool:
    """Whether a person reads the answers; versions before CLAUDE_CODE_SESSION_ATTENDED tell it by their entry point."""
    attended = environ.get("CLAUDE_CODE_SESSION_ATTENDED", "")
    if attended:
        return attended != "0"
    return not environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _version(agent: str) -> tuple[int, ...]:
    """The numbers in `claude-code_2-1-329_harness`, or () when the variable names no version."""
    name, _, rest = agent.partition("_")
    numbers = rest.partition("_")[0].split("-")
    if name != "claude-code" or not all(number.isdecimal() for number in numbers):
        return ()
    return tuple(int(number) for number in numbers)


def _tasks(listed: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of running tasks: those that will report back, and the others."""
    reporting: list[str] = []
    lasting: list[str] = []
    for task in listed if isinstance(listed, list) else ():
        if isinstance(task, dict) and isinstance(task.get("id"), str):
            (reporting if task.get("type") in _REPORTING_TYPES else lasting).append(task["id"])
    return tuple(reporting), tuple(lasting)
