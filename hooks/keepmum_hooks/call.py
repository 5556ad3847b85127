"""What a tool is about to do, in one value that the guard understands, whatever the client calls its tools."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Call"]


class Call:
    """A tool call before it is made; a value."""

    __slots__ = ("command", "cwd", "input", "paths", "session", "standing", "tool")

    def __init__(  # noqa: PLR0913 - one value with many facts; a dataclass would triple the hook's time
        self,
        *,
        tool: str,
        input: dict[str, Any],  # noqa: A002 - the word of every client
        session: str = "",
        cwd: str = "",
        paths: tuple[str, ...] = (),
        command: str = "",
        standing: tuple[str, ...] = (),
    ) -> None:
        self.tool = tool  # the client's name of the tool; those of MCP servers are `mcp__<server>__<tool>`
        self.input = input  # what the tool is given, as parsed JSON
        self.session = session  # the client's id of the conversation, or ""
        self.cwd = cwd  # the folder that relative paths start from, or ""
        self.paths = paths  # files that the tool writes
        self.command = command  # text for a shell, or ""
        self.standing = standing  # names of fields that hold what stands in the file already
