"""Gemini CLI: its payloads, and the answers it reads.

Source: https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/reference.md, read 2026-11-21; and runs of
version 0.61.0.
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

__all__ = ["GUARDED_TOOLS", "read", "read_call", "refuse", "render"]

_NAMES = {STOP: "AfterAgent", SESSION_START: "SessionStart"}
_SHELL = "run_shell_command"
_SAVE = "save_memory"  # the client's own memory, which it keeps in a file of this name
_SAVED_IN = "~/.gemini/GEMINI.md"
# The tools that write files or run commands, and what those of servers begin with.
GUARDED_TOOLS = ("write_file", "replace", _SHELL, _SAVE, "mcp_")
# What an edit replaces stands in the file already; to forbid it would forbid taking a secret out.
_STANDING = ("old_string",)


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event that the payload tells of, or None when it tells of another one or of no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    return Event(
        kind=kind,
        session=session,
        cwd=_folder(payload, environ),
        source=text_of(payload.get("source")),
        # No prompt has an id here. The time of the event tells turns apart.
        prompt=text_of(payload.get("timestamp")),
        ends_turn=not payload.get("stop_hook_active"),
        # The client does not say whether anybody reads its answers; without a terminal nobody does.
        attended=has_terminal(),
    )


def render(event: Event, text: str) -> str:
    """The JSON with which Gemini CLI hands `text` to the model."""
    if event.kind == STOP:
        return f'{{"decision":"block","reason":{quote(text)}}}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"SessionStart","additionalContext":{quote(text)}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:
    """The tool call that the payload announces, or None when it tells of another event.

    Raises: ValueError when tool, input, path or command are not what the client sends.
    """
    called = tool_call(payload, "BeforeTool")
    if called is None:
        return None
    tool, given = called
    path = _SAVED_IN if tool == _SAVE else given.get("file_path", "")
    command = given.get("command") if tool == _SHELL else ""
    if not isinstance(path, str) or not isinstance(command, str):
        raise ValueError("no path, or no command")  # noqa: TRY004 - the fault of what was sent, not of the caller
    return Call(
        tool=_server_tool(tool, payload.get("mcp_context")),
        input=given,
        session=text_of(payload.get("session_id")),
        cwd=_folder(payload, environ),
        paths=(path,) if path else (),
        command=command,
        standing=_STANDING if path else (),
    )


def refuse(reason: str) -> str:
    """The JSON with which Gemini CLI forbids a tool call and tells the model why."""
    return f'{{"decision":"deny","reason":{quote(reason)}}}'


def _server_tool(tool: str, context: object) -> str:
    """The name in the form that the guard knows, `mcp__<server>__<tool>`, if it is the tool of a server."""
    if isinstance(context, dict) and isinstance(context.get("server_name"), str):
        return f"mcp__{context['server_name']}__{text_of(context.get('tool_name')) or tool}"
    return f"mcp__{tool[4:].lstrip('_')}" if tool.startswith("mcp_") else tool


def _folder(payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    return text_of(payload.get("cwd")) or environ.get("GEMINI_PROJECT_DIR", "")
