"""Cursor: its payloads, and the answers it reads.

Cursor also runs hook files made for Claude Code, by rules of its own: it renames their events, and reads its own
answers only. So the events go by both names here.

Source: https://cursor.com/docs/agent/hooks, read 2026-11-21; where it is silent, runs of the agent in `@cursor/sdk`
1.0.32, which is the one that the editor has.
"""

from __future__ import annotations

import sys

from keepmum_hooks.call import Call
from keepmum_hooks.event import SESSION_START, STOP, Event
from keepmum_hooks.payload import loads, quote, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["MCP_TOOL", "OWN_SERVER", "PLAIN_TOOLS", "read", "read_call", "refuse", "render"]

MCP_TOOL = "MCP:"  # what the names of servers' tools begin with
OWN_SERVER = "keepmum"  # the name of our server in this client
# Built-in tools that write no file; commands and tools of servers have events of their own.
PLAIN_TOOLS = ("Read", "Grep", "Glob", "LS", "Delete", "Task", "TodoWrite", "WebFetch", "WebSearch", "Shell")

_NAMES = {STOP: ("stop", "Stop"), SESSION_START: ("sessionStart", "SessionStart")}
_TOOL_USE = ("preToolUse", "PreToolUse")
# What the file is called that a tool writes: the agent says `file_path`; the editor has known the others.
_PATH_FIELDS = ("file_path", "path", "target_file", "notebook_path", "target_notebook")
# What an edit replaces stands in the file already; to forbid it would forbid taking a secret out.
_STANDING = ("old_string",)


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
    """The event that the payload tells of, or None when it tells of another one or of no session."""
    session = _session(payload)
    if payload.get("hook_event_name") not in _NAMES[kind] or not session:
        return None
    generation = text_of(payload.get("generation_id"))
    return Event(
        kind=kind,
        session=session,
        cwd=_folder(payload, environ),
        # Without an editor around it the agent gives every turn of a conversation the id of the conversation.
        prompt="" if generation == session else generation,
        # A turn that was cut short taught little; and what a followup began is no turn of the user.
        ends_turn=payload.get("status", "completed") == "completed" and not payload.get("loop_count"),
        attended=payload.get("is_background_agent") is not True,
        once=kind == SESSION_START,
    )


def render(event: Event, text: str) -> str:
    """The JSON with which Cursor hands `text` to the model."""
    field = "followup_message" if event.kind == STOP else "additional_context"
    return f'{{"{field}":{quote(text)}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:
    """The tool call that the payload announces, or None when it tells of another event.

    Raises: ValueError when tool, input, path or command are not what the client sends.
    """
    name = payload.get("hook_event_name")
    if name == "beforeMCPExecution":
        return _call(payload, environ, tool=_server_tool(payload), given=_server_input(payload))
    if name == "beforeShellExecution":
        return _call(payload, environ, tool="Shell", given={"command": payload.get("command")})
    if name not in _TOOL_USE:
        return None
    tool, given = payload.get("tool_name"), payload.get("tool_input")
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise ValueError("no tool, or no input")  # noqa: TRY004 - the fault of what was sent, not of the caller
    return _call(payload, environ, tool=_server_tool(payload) if tool.startswith(MCP_TOOL) else tool, given=given)


def refuse(reason: str) -> str:
    """The JSON with which Cursor forbids a tool call; the agent is shown one of the two texts, by the version."""
    said = quote(reason)
    return f'{{"permission":"deny","user_message":{said},"agent_message":{said}}}'


def _call(payload: Mapping[str, Any], environ: Mapping[str, str], *, tool: str, given: dict[str, Any]) -> Call:
    is_ours_to_read = not tool.startswith("mcp__")
    paths = tuple(_path(given[name]) for name in _PATH_FIELDS if name in given) if is_ours_to_read else ()
    command = given.get("command", "") if tool == "Shell" else ""
    if not isinstance(command, str):
        raise ValueError("no command")  # noqa: TRY004 - as above
    return Call(
        tool=tool,
        input=given,
        session=_session(payload),
        cwd=text_of(payload.get("cwd")) or _folder(payload, environ),
        paths=tuple(path for path in paths if path),
        command=command,
        standing=_STANDING if any(paths) else (),
    )


def _path(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no path")  # noqa: TRY004 - as above
    return value


def _server_tool(payload: Mapping[str, Any]) -> str:
    """The tool's name in the form that the guard knows: `mcp__<server>__<tool>`.

    The client may put before the server's own name where it comes from, as in `plugin-keepmum-keepmum`; where there
    is no name, what the client starts or asks for stands in for it.
    """
    tool = payload.get("tool_name")
    if not isinstance(tool, str):
        raise ValueError("no tool")  # noqa: TRY004 - as above
    named = (text_of(payload.get(field)) for field in ("mcp_server_name", "mcp_server_url", "url", "command"))
    server = next(filter(None, named), "")
    if server.endswith(f"-{OWN_SERVER}"):
        server = OWN_SERVER
    return f"mcp__{server}__{tool.removeprefix(MCP_TOOL)}"


def _server_input(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What the server's tool is given, which this event carries as a text."""
    given = payload.get("tool_input")
    parsed = loads(given) if isinstance(given, str) else given
    if isinstance(parsed, dict):
        return parsed
    if isinstance(given, str):
        return {"tool_input": given}
    raise ValueError("no input")


def _session(payload: Mapping[str, Any]) -> str:
    return text_of(payload.get("conversation_id")) or text_of(payload.get("session_id"))


def _folder(payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The first folder of the workspace; without one, what the environment says."""
    roots = payload.get("workspace_roots")
    first = text_of(roots[0]) if isinstance(roots, list) and roots else ""
    if sys.platform == "win32" and first[2:3] == ":":
        first = first[1:]  # the editor writes `/c:/shop`
    return first or environ.get("CURSOR_PROJECT_DIR", "")
