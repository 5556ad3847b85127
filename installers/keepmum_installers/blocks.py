"""A marked block of our lines at the end of another program's text.

For formats with comments, such as TOML and Markdown. The rest of the text keeps its bytes, an older block is updated in
place, and `remove(*put(text, block)) == text`, which a property test verifies.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Block", "Mark", "put", "remove"]

_MARKDOWN = ("<!-- ", " -->")


@dataclass(frozen=True, slots=True)
class Mark:
    """How to find a block again: its first and last line, and the blank line that was put before it."""

    first: str
    last: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Our lines as one text, without a final line end."""

    lines: str
    markdown: bool = False
    """Whether the file is Markdown; the other formats have comments with `#`."""

    @property
    def first(self) -> str:
        """The comment before our lines. It must not change: committed files hold blocks of other versions."""
        return self._comment("keepmum: begin; `keepmum uninstall` takes this block out")

    @property
    def last(self) -> str:
        """The comment after our lines."""
        return self._comment("keepmum: end")

    def _comment(self, text: str) -> str:
        before, after = _MARKDOWN if self.markdown else ("# ", "")
        return f"{before}{text}{after}"


def put(text: str, block: Block) -> tuple[str, Mark | None]:
    """The text with the block at its end, or in place of an older one; the same text and None when it is there."""
    # A line feed after a lone carriage return would make a line end that the text did not have.
    line_end = "\r\n" if "\r\n" in text or text.endswith("\r") else "\n"
    whole = line_end.join((block.first, *block.lines.split("\n"), block.last))
    mark = Mark(block.first, block.last)
    span = _span(text, mark)
    if span is not None:
        start, end = span
        found = text[start:end]
        return (text, None) if found == whole else (text[:start] + whole + text[end:], mark)
    lead = line_end if text else ""
    if text and not text.endswith("\n"):
        lead += line_end
    return f"{text}{lead}{whole}{line_end}", Mark(block.first, block.last, lead)


def remove(text: str, mark: Mark | None) -> str:
    """The text without our block; the rest stays, including later changes."""
    span = None if mark is None else _span(text, mark)
    if mark is None or span is None:
        return text
    before, after = text[: span[0]], text[span[1] :]
    after = after.removeprefix("\r\n") if after.startswith("\r\n") else after.removeprefix("\n")
    if before.endswith(mark.lead):
        bare = before[: len(before) - len(mark.lead)]
        # Lines that were added below the block must not join the last line above it.
        before = bare if not after or not bare or bare.endswith("\n") else before
    return before + after


def _span(text: str, mark: Mark) -> tuple[int, int] | None:
    """Where the last block begins and ends, without its final line end; None when there is no complete one."""
    starts = _lines(text, mark.first)
    ends = [end for end in _lines(text, mark.last) if starts and end > starts[-1]]
    return (starts[-1], ends[0] + len(mark.last)) if ends else None


def _lines(text: str, line: str) -> list[int]:
    """The offset of each line with that text."""
    found = []
    at = text.find(line)
    while at >= 0:
        after = text[at + len(line) : at + len(line) + 2]
        if (at == 0 or text[at - 1] == "\n") and (not after or after[0] == "\n" or after == "\r\n"):
            found.append(at)
        at = text.find(line, at + 1)
    return found
