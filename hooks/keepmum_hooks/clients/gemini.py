"""Gemini CLI: its payloads and the answers it accepts.

Source: https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/reference.md, read 2026-11-21; and runs of
version 0.61.0.
"""

from __future__ import annotations

from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall
from keepmum_hooks.payload import quote, session_of, text_of, tool_call
from keepmum_hooks.system import has_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["GUARDED_TOOLS", "read", "read_call", "refuse", "render"]

_NAMES = {STOP: "AfterAgent", SESSION_START: "SessionStart"}
_SHELL = "run_shell_command"
_SAVE = "save_memory"  # writes the client's own memory, the file below
_SAVED_IN = "~/.gemini/GEMINI.md"
# The tools that write files or run commands, and the prefix of servers' tools.
GUARDED_TOOLS = ("write_file", "replace", _SHELL, _SAVE, "mcp_")
# The text that an edit replaces is already in the file; blocking it would prevent the removal of a secret.
_EXISTING = ("old_string",)


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event in the payload, or None when it is another event or has no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    return Event(
        kind=kind,
        session=session,
        cwd=_folder(payload, environ),
        source=text_of(payload.get("source")),
        # Prompts have no id here. The event's time distinguishes turns.
        prompt=text_of(payload.get("timestamp")),
        ends_turn=not payload.get("stop_hook_active"),
        # The client does not say whether a person reads its answers; without a terminal nobody does.
        attended=has_terminal(),
    )


def render(event: Event, text: str) -> str:
    """The JSON that makes Gemini CLI show `text` to the model."""
    if event.kind == STOP:
        return f'{{"decision":"block","reason":{quote(text)}}}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"SessionStart","additionalContext":{quote(text)}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:
    """The tool call in the payload, or None when it is another event.

    Raises: ValueError when tool, input, path or command are not in the form that the client sends.
    """
    call = tool_call(payload, "BeforeTool")
    if call is None:
        return None
    tool, tool_input = call
    path = _SAVED_IN if tool == _SAVE else tool_input.get("file_path", "")
    command = tool_input.get("command") if tool == _SHELL else ""
    if not isinstance(path, str) or not isinstance(command, str):
        raise ValueError("no path, or no command")  # noqa: TRY004 - the payload is wrong, not the caller
    return ToolCall(
        tool=_server_tool(tool, payload.get("mcp_context")),
        input=tool_input,
        session=text_of(payload.get("session_id")),
        cwd=_folder(payload, environ),
        paths=(path,) if path else (),
        command=command,
        existing=_EXISTING if path else (),
    )


def refuse(reason: str) -> str:
    """The JSON that blocks a tool call and shows the reason to the model."""
    return f'{{"decision":"deny","reason":{quote(reason)}}}'


def _server_tool(tool: str, context: object) -> str:
    """The name of a server's tool as `mcp__<server>__<tool>`; any other name unchanged."""
    if isinstance(context, dict) and isinstance(context.get("server_name"), str):
        return f"mcp__{context['server_name']}__{text_of(context.get('tool_name')) or tool}"
    return f"mcp__{tool[4:].lstrip('_')}" if tool.startswith("mcp_") else tool


def _folder(payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    return text_of(payload.get("cwd")) or environ.get("GEMINI_PROJECT_DIR", "")
