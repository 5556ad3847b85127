"""Cursor: its payloads and the answers it accepts.

Cursor also runs hook files made for Claude Code, but renames their events and accepts only its own answers. So each
event has two names here.

Source: https://cursor.com/docs/agent/hooks, read 2026-11-21; for what it leaves out, runs of the agent in
`@cursor/sdk` 1.0.32, which the editor also uses.
"""

from __future__ import annotations

import sys

from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall
from keepmum_hooks.payload import loads, quote, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["MCP_TOOL", "OWN_SERVER", "PLAIN_TOOLS", "read", "read_call", "refuse", "render"]

MCP_TOOL = "MCP:"  # prefix of the names of servers' tools
OWN_SERVER = "keepmum"  # the name of our server in this client
_ORIGINS = (f"plugin-{OWN_SERVER}-", "user-", "project-")  # prefixes of our server's name
# Built-in tools that write no file; commands and servers' tools have their own events.
PLAIN_TOOLS = ("Read", "Grep", "Glob", "LS", "Delete", "Task", "TodoWrite", "WebFetch", "WebSearch", "Shell")

_NAMES = {STOP: ("stop", "Stop"), SESSION_START: ("sessionStart", "SessionStart")}
_TOOL_USE = ("preToolUse", "PreToolUse")
# The fields for the file that a tool writes: the agent sends `file_path`, versions of the editor sent the others.
_PATH_FIELDS = ("file_path", "path", "target_file", "notebook_path", "target_notebook")
# The text that an edit replaces is already in the file; blocking it would prevent the removal of a secret.
_EXISTING = ("old_string",)


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event in the payload, or None when it is another event or has no session."""
    session = _session(payload)
    if payload.get("hook_event_name") not in _NAMES[kind] or not session:
        return None
    generation = text_of(payload.get("generation_id"))
    return Event(
        kind=kind,
        session=session,
        cwd=_folder(payload, environ),
        # Without an editor the agent uses the id of the conversation as the id of every turn.
        prompt="" if generation == session else generation,
        # An aborted turn taught little, and a turn that a followup began is not the user's.
        ends_turn=payload.get("status", "completed") == "completed" and not payload.get("loop_count"),
        attended=payload.get("is_background_agent") is not True,
        once=kind == SESSION_START,
    )


def render(event: Event, text: str) -> str:
    """The JSON that makes Cursor show `text` to the model."""
    field = "followup_message" if event.kind == STOP else "additional_context"
    return f'{{"{field}":{quote(text)}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:
    """The tool call in the payload, or None when it is another event.

    Raises: ValueError when tool, input, path or command are not in the form that the client sends.
    """
    name = payload.get("hook_event_name")
    if name == "beforeMCPExecution":
        return _call(payload, environ, tool=_server_tool(payload), tool_input=_server_input(payload))
    if name == "beforeShellExecution":
        return _call(payload, environ, tool="Shell", tool_input={"command": payload.get("command")})
    if name not in _TOOL_USE:
        return None
    tool, tool_input = payload.get("tool_name"), payload.get("tool_input")
    if not isinstance(tool, str) or not isinstance(tool_input, dict):
        raise ValueError("no tool, or no input")  # noqa: TRY004 - the payload is wrong, not the caller
    tool = _server_tool(payload) if tool.startswith(MCP_TOOL) else tool
    return _call(payload, environ, tool=tool, tool_input=tool_input)


def refuse(reason: str) -> str:
    """The JSON that blocks a tool call; which of the two messages the agent sees depends on the version."""
    message = quote(reason)
    return f'{{"permission":"deny","user_message":{message},"agent_message":{message}}}'


def _call(payload: Mapping[str, Any], environ: Mapping[str, str], *, tool: str, tool_input: dict[str, Any]) -> ToolCall:
    is_built_in = not tool.startswith("mcp__")
    paths = tuple(_path(tool_input[name]) for name in _PATH_FIELDS if name in tool_input) if is_built_in else ()
    command = tool_input.get("command", "") if tool == "Shell" else ""
    if not isinstance(command, str):
        raise ValueError("no command")  # noqa: TRY004 - as above
    return ToolCall(
        tool=tool,
        input=tool_input,
        session=_session(payload),
        cwd=text_of(payload.get("cwd")) or _folder(payload, environ),
        paths=tuple(path for path in paths if path),
        command=command,
        existing=_EXISTING if any(paths) else (),
    )


def _path(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no path")  # noqa: TRY004 - as above
    return value


def _server_tool(payload: Mapping[str, Any]) -> str:
    """The tool's name as `mcp__<server>__<tool>`.

    The client may prefix the server's name with its origin, as in `plugin-keepmum-keepmum`; `my-keepmum` is another
    server. A server without a name is named by its URL or command.
    """
    tool = payload.get("tool_name")
    if not isinstance(tool, str):
        raise ValueError("no tool")  # noqa: TRY004 - as above
    names = (text_of(payload.get(field)) for field in ("mcp_server_name", "mcp_server_url", "url", "command"))
    server = next(filter(None, names), "")
    if server.endswith(f"-{OWN_SERVER}") and server.startswith(_ORIGINS):
        server = OWN_SERVER
    return f"mcp__{server}__{tool.removeprefix(MCP_TOOL)}"


def _server_input(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The input of the server's tool, which this event sends as JSON text."""
    tool_input = payload.get("tool_input")
    parsed = loads(tool_input) if isinstance(tool_input, str) else tool_input
    if isinstance(parsed, dict):
        return parsed
    if isinstance(tool_input, str):
        return {"tool_input": tool_input}
    raise ValueError("no input")


def _session(payload: Mapping[str, Any]) -> str:
    return text_of(payload.get("conversation_id")) or text_of(payload.get("session_id"))


def _folder(payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The first folder of the workspace, else the folder in the environment."""
    roots = payload.get("workspace_roots")
    first = text_of(roots[0]) if isinstance(roots, list) and roots else ""
    if sys.platform == "win32" and first[2:3] == ":":
        first = first[1:]  # the editor sends `/c:/shop`
    return first or environ.get("CURSOR_PROJECT_DIR", "")
