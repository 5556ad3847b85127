"""Copilot CLI and Visual Studio Code: their payloads and the answers they accept.

Both use the events and payloads of Claude Code with tools of their own, and read different parts of an answer: the
command line the top level, the editor `hookSpecificOutput`. So each answer contains its content twice.

Source: https://docs.github.com/en/copilot/reference/hooks-configuration and
https://code.visualstudio.com/docs/copilot/customization/hooks, read 2026-11-21; and runs of Copilot CLI 1.0.102.
"""

from __future__ import annotations

from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall
from keepmum_hooks.payload import quote, session_of, text_of, tool_call
from keepmum_hooks.system import has_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["read", "read_call", "refuse", "render"]

_NAMES = {STOP: "Stop", SESSION_START: "SessionStart"}
# The fields for the file that a tool writes, and for the text that an edit replaces.
_PATH_FIELDS = ("path", "file_path", "filePath")
_EXISTING = ("old_str", "old_string", "oldString")
# Built-in tools that write nothing; the editor ignores matchers, so every tool starts the guard.
# Source: tool lists in public hook logs of both clients, read 2026-11-22
_PLAIN_TOOLS = frozenset(
    "Read Grep Glob view read_file grep_search file_search list_dir semantic_search get_errors fetch_webpage".split()
)
_COMMAND_FIELDS = ("command", "input")  # of shells, and of `apply_patch`, whose text names its files like a command


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event in the payload, or None when it is another event or has no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    return Event(
        kind=kind,
        session=session,
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        source=text_of(payload.get("source")),
        # Prompts have no id here. The event's time distinguishes turns, and is the same for two hooks of one event.
        prompt=text_of(payload.get("timestamp")),
        ends_turn=not payload.get("stop_hook_active"),
        # The command line does not say whether a person reads its answers; without a terminal nobody does.
        attended="COPILOT_CLI" not in environ or has_terminal(),
        once=kind == SESSION_START,
    )


def render(event: Event, text: str) -> str:
    """The JSON that makes the client show `text` to the model."""
    body = f'"decision":"block","reason":{quote(text)}' if event.kind == STOP else f'"additionalContext":{quote(text)}'
    return f'{{{body},"hookSpecificOutput":{{"hookEventName":"{_NAMES[event.kind]}",{body}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:
    """The tool call in the payload, or None when it is another event.

    Raises: ValueError when tool, input, path or command are not in the form that the client sends.
    """
    call = tool_call(payload, "PreToolUse")
    if call is None:
        return None
    tool, tool_input = call
    if tool in _PLAIN_TOOLS:
        return None
    paths = tuple(tool_input[name] for name in _PATH_FIELDS if tool_input.get(name))
    command = next((tool_input[name] for name in _COMMAND_FIELDS if name in tool_input), "")
    if not isinstance(command, str) or not all(isinstance(path, str) for path in paths):
        raise ValueError("no path, or no command")
    return ToolCall(
        tool=_server_tool(tool),
        input=tool_input,
        session=text_of(payload.get("session_id")),
        cwd=text_of(payload.get("cwd")) or environ.get("CLAUDE_PROJECT_DIR", ""),
        paths=paths,
        command=command,
        existing=_EXISTING if paths else (),
    )


def refuse(reason: str) -> str:
    """The JSON that blocks a tool call and shows the reason to the model."""
    decision = f'"permissionDecision":"deny","permissionDecisionReason":{quote(reason)}'
    return f'{{{decision},"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decision}}}}}'


def _server_tool(tool: str) -> str:
    """The name of a server's tool as `mcp__<server>__<tool>`; any other name unchanged.

    The command line sends `memory-add_note`, the editor `mcp_memory_add_note`; no built-in tool has such a name. Our
    own server is called `memory` here, as many are, so its writes are scanned twice.
    """
    if tool.startswith("mcp_"):
        return f"mcp__{tool[4:].lstrip('_')}"
    return f"mcp__{tool.replace('-', '__', 1)}" if "-" in tool else tool
