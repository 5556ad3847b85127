"""Claude Code: its payloads and the answers it accepts.

Source: https://code.claude.com/docs/en/hooks, read 2026-11-21; for what it leaves out, runs of version 2.1.329.
"""

from __future__ import annotations

from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall
from keepmum_hooks.payload import quote, session_of, text_of, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["FILE_TOOLS", "SHELL_TOOLS", "read", "read_call", "refuse", "render"]

# The tools that write files, with the field that names the file, and the tools that run commands.
# Source: https://code.claude.com/docs/en/tools-reference, read 2026-11-21
FILE_TOOLS = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
SHELL_TOOLS = ("Bash", "PowerShell")
# The text that an edit replaces is already in the file; blocking it would prevent the removal of a secret.
_EXISTING = ("old_string",)

_NAMES = {STOP: "Stop", SESSION_START: "SessionStart"}

# The first version that gives a Stop hook's additionalContext to the model. `decision: block` works in every version,
# but the user sees it as a problem.
# Source: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md, read 2026-11-21
_STOP_CONTEXT_SINCE = (2, 1, 163)

# Tasks that end by themselves and then resume the session with their result. Shells, monitors, teammates and cloud
# sessions may run for days, and a reminder that waits for them would never be given.
_REPORTING_TYPES = ("subagent", "workflow")


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event in the payload, or None when it is another event or has no session."""
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
    """The JSON that makes Claude Code show `text` to the model."""
    if event.kind == STOP and event.version < _STOP_CONTEXT_SINCE:
        return f'{{"decision":"block","reason":{quote(text)}}}'
    name = _NAMES[event.kind]
    return f'{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":{quote(text)}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:
    """The tool call in the payload, or None when it is another event.

    Raises: ValueError when tool, input, path or command are not in the form that the client sends.
    """
    call = tool_call(payload, "PreToolUse")
    if call is None:
        return None
    tool, tool_input = call
    path = tool_input.get(FILE_TOOLS[tool]) if tool in FILE_TOOLS else ""
    command = tool_input.get("command") if tool in SHELL_TOOLS else ""
    if not isinstance(path, str) or not isinstance(command, str):
        raise ValueError("no path, or no command")  # noqa: TRY004 - the payload is wrong, not the caller
    return ToolCall(
        tool=tool,
        input=tool_input,
        session=text_of(payload.get("session_id")),
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        paths=(path,) if path else (),
        command=command,
        existing=_EXISTING if path else (),
    )


def refuse(reason: str) -> str:
    """The JSON that blocks a tool call in every permission mode and shows the reason to the model."""
    decision = f'"permissionDecision":"deny","permissionDecisionReason":{quote(reason)}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decision}}}}}'


def _attended(environ: Mapping[str, str]) -> bool:
    """Whether a person reads the answers; older versions set no CLAUDE_CODE_SESSION_ATTENDED, only an entry point."""
    attended = environ.get("CLAUDE_CODE_SESSION_ATTENDED", "")
    if attended:
        return attended != "0"
    return not environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _version(agent: str) -> tuple[int, ...]:
    """The numbers in `claude-code_2-1-329_harness`, or () when the text names no version."""
    name, _, rest = agent.partition("_")
    numbers = rest.partition("_")[0].split("-")
    if name != "claude-code" or not all(number.isdecimal() for number in numbers):
        return ()
    return tuple(int(number) for number in numbers)


def _tasks(listed: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of running tasks: those that will return a result, and the others."""
    reporting: list[str] = []
    lasting: list[str] = []
    for task in listed if isinstance(listed, list) else ():
        if isinstance(task, dict) and isinstance(task.get("id"), str):
            (reporting if task.get("type") in _REPORTING_TYPES else lasting).append(task["id"])
    return tuple(reporting), tuple(lasting)
