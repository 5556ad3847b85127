"""A block of lines of ours at the end of somebody else's text, between two lines that mark it as ours.

For files whose format has comments, such as TOML and Markdown: what others wrote keeps its bytes, the block can be
brought up to date in its place, and taking it out gives the text its bytes back.
`take_out(*put(text, block)) == text`, which a property test holds this module to.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Block", "Mark", "put", "take_out"]

_MARKDOWN = ("<!-- ", " -->")


@dataclass(frozen=True, slots=True)
class Mark:
    """How to find a block again: its first and its last line, and what was put before it to set it apart."""

    first: str
    last: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of ours, as one text without a line end behind the last."""

    lines: str
    markdown: bool = False
    """Whether the file is Markdown, whose comments differ from those of every other format that we edit."""

    @property
    def first(self) -> str:
        """The line before ours."""
        return self._comment("keepmum: begin; `keepmum uninstall` takes this block out")

    @property
    def last(self) -> str:
        """The line behind ours."""
        return self._comment("keepmum: end")

    def _comment(self, text: str) -> str:
        before, after = _MARKDOWN if self.markdown else ("# ", "")
        return f"{before}{text}{after}"


def put(text: str, block: Block) -> tuple[str, Mark | None]:
    """The text with the block at its end, or in the place of an older one; the same text and None when it has it."""
    # Behind a lone carriage return a line feed would make a line end that the text did not have.
    line_end = "\r\n" if "\r\n" in text or text.endswith("\r") else "\n"
    whole = line_end.join((block.first, *block.lines.split("\n"), block.last))
    mark = Mark(block.first, block.last)
    place = _place(text, mark)
    if place is not None:
        start, end = place
        found = text[start:end]
        return (text, None) if found == whole else (text[:start] + whole + text[end:], mark)
    lead = line_end if text else ""
    if text and not text.endswith("\n"):
        lead += line_end
    return f"{text}{lead}{whole}{line_end}", Mark(block.first, block.last, lead)


def take_out(text: str, mark: Mark | None) -> str:
    """The text without the block that was put in; all around it stays, whatever was changed since."""
    place = None if mark is None else _place(text, mark)
    if mark is None or place is None:
        return text
    before, after = text[: place[0]], text[place[1] :]
    after = after.removeprefix("\r\n") if after.startswith("\r\n") else after.removeprefix("\n")
    if before.endswith(mark.lead):
        bare = before[: len(before) - len(mark.lead)]
        # Lines that were added below ours must not run into the last line above it.
        before = bare if not after or not bare or bare.endswith("\n") else before
    return before + after


def _place(text: str, mark: Mark) -> tuple[int, int] | None:
    """Where the last block begins and ends, without the line end behind it; None when there is none, or half of one."""
    starts = _lines(text, mark.first)
    ends = [end for end in _lines(text, mark.last) if starts and end > starts[-1]]
    return (starts[-1], ends[0] + len(mark.last)) if ends else None


def _lines(text: str, line: str) -> list[int]:
    """The place of each line that reads so."""
    places = []
    at = text.find(line)
    while at >= 0:
        behind = text[at + len(line) : at + len(line) + 2]
        if (at == 0 or text[at - 1] == "\n") and (not behind or behind[0] == "\n" or behind == "\r\n"):
            places.append(at)
        at = text.find(line, at + 1)
    return places
