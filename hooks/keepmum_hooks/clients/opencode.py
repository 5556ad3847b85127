"""OpenCode: what our plugin in it sends, and the answers that the plugin reads.

The client runs plugins in its own process and has no hooks that are processes. Our plugin starts these, which is
`plugin/opencode/keepmum.js`; so both sides are ours, and the payload has but what the client lets a plugin know.

Source: https://opencode.ai/docs/plugins, read 2026-11-21; and runs of version 1.18.33.
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

_NAMES = {STOP: "session.idle", SESSION_START: "session.created"}
_OWN_TOOLS = "keepmum_"  # ours; a tool of a server is called `<server>_<tool>`, and so is many another
_PATH_FIELDS = ("filePath", "path")
_COMMAND_FIELDS = ("command", "patchText")  # of the shell; and of `apply_patch`, whose text names its files
# What an edit replaces stands in the file already; to forbid it would forbid taking a secret out.
_STANDING = ("oldString",)
_BUILT_IN = frozenset(
    "bash read write edit apply_patch patch multiedit glob grep list task todowrite todoread webfetch websearch "
    "codesearch skill question lsp batch plan_enter plan_exit invalid".split()
)


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:  # noqa: ARG001 - as every client
    """The event that the payload tells of, or None when it tells of another one or of no session."""
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


def render(event: Event, text: str) -> str:  # noqa: ARG001 - as every client
    """The JSON from which our plugin takes the text for the model."""
    return f'{{"text":{quote(text)}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:  # noqa: ARG001 - as every client
    """The tool call that the payload announces, or None when it tells of another event.

    Raises: ValueError when tool, input, path or command are not what the client sends.
    """
    called = tool_call(payload, "tool.execute.before")
    if called is None:
        return None
    tool, given = called
    is_built_in = tool in _BUILT_IN
    paths = tuple(given[name] for name in _PATH_FIELDS if is_built_in and given.get(name))
    command = next((given[name] for name in _COMMAND_FIELDS if is_built_in and name in given), "")
    if not isinstance(command, str) or not all(isinstance(path, str) for path in paths):
        raise ValueError("no path, or no command")
    return Call(
        tool=tool if is_built_in else _server_tool(tool),
        input=given,
        session=text_of(payload.get("session_id")),
        cwd=text_of(payload.get("cwd")),
        paths=paths,
        command=command,
        standing=_STANDING if paths else (),
    )


def refuse(reason: str) -> str:
    """The JSON from which our plugin takes why the tool must not run."""
    return f'{{"reason":{quote(reason)}}}'


def _server_tool(tool: str) -> str:
    """The name in the form that the guard knows; where the server's name ends is not told."""
    return f"mcp__keepmum__{tool[len(_OWN_TOOLS) :]}" if tool.startswith(_OWN_TOOLS) else f"mcp__{tool}"
