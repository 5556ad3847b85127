"""OpenCode: the payloads that our plugin in it sends, and the answers that the plugin accepts.

The client runs plugins inside its own process and has no hook processes. Our plugin, `plugin/opencode/keepmum.js`,
starts them; the payload contains what the client tells a plugin.

Source: https://opencode.ai/docs/plugins, read 2026-11-21; and runs of version 1.18.33.
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

_NAMES = {STOP: "session.idle", SESSION_START: "session.created"}
_OWN_TOOLS = "keepmum_"  # prefix of ours; servers' tools are called `<server>_<tool>`, and so may others
_PATH_FIELDS = ("filePath", "path")
_COMMAND_FIELDS = ("command", "patchText")  # of the shell, and of `apply_patch`, whose text names its files
# The text that an edit replaces is already in the file; blocking it would prevent the removal of a secret.
_EXISTING = ("oldString",)
_BUILT_IN = frozenset(
    "bash read write edit apply_patch patch multiedit glob grep list task todowrite todoread webfetch websearch "
    "codesearch skill question lsp batch plan_enter plan_exit invalid".split()
)


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:  # noqa: ARG001 - the protocol
    """The event in the payload, or None when it is another event or has no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    return Event(
        kind=kind,
        session=session,
        cwd=text_of(payload.get("cwd")),
        prompt=text_of(payload.get("prompt_id")),
        ends_turn=payload.get("continued") is not True,
        attended=has_terminal(),
        once=kind == SESSION_START,
    )


def render(event: Event, text: str) -> str:  # noqa: ARG001 - the protocol
    """The JSON that makes our plugin show `text` to the model."""
    return f'{{"text":{quote(text)}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:  # noqa: ARG001 - the protocol
    """The tool call in the payload, or None when it is another event.

    Raises: ValueError when tool, input, path or command are not in the form that the client sends.
    """
    call = tool_call(payload, "tool.execute.before")
    if call is None:
        return None
    tool, tool_input = call
    is_built_in = tool in _BUILT_IN
    paths = tuple(tool_input[name] for name in _PATH_FIELDS if is_built_in and tool_input.get(name))
    command = next((tool_input[name] for name in _COMMAND_FIELDS if is_built_in and name in tool_input), "")
    if not isinstance(command, str) or not all(isinstance(path, str) for path in paths):
        raise ValueError("no path, or no command")
    return ToolCall(
        tool=tool if is_built_in else _server_tool(tool),
        input=tool_input,
        session=text_of(payload.get("session_id")),
        cwd=text_of(payload.get("cwd")),
        paths=paths,
        command=command,
        existing=_EXISTING if paths else (),
    )


def refuse(reason: str) -> str:
    """The JSON that makes our plugin block the tool and show the reason to the model."""
    return f'{{"reason":{quote(reason)}}}'


def _server_tool(tool: str) -> str:
    """The name as `mcp__<server>_<tool>`, or as that of our own server; other servers' names cannot be split off."""
    return f"mcp__keepmum__{tool[len(_OWN_TOOLS) :]}" if tool.startswith(_OWN_TOOLS) else f"mcp__{tool}"
