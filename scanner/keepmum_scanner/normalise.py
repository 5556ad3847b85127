"""One plain spelling of a text, and the way back to the original's places.

A key pasted from a web page may carry zero-width spaces or full-width letters; a hostile note carries them on
purpose. Detectors see the plain spelling only, so each rule is written once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

_UNUSUAL = re.compile(r"[^\t\n\r\x20-\x7e]+")  # everything that could hide or disguise a character

# Rendered as nothing, though Unicode files them as letters and marks: joiners, fillers, variation selectors.
_INVISIBLE = frozenset((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)))


class View:
    """A text as the detectors see it; `origin` leads back to the text as it was given."""

    __slots__ = ("_shifts", "_starts", "text")

    def __init__(self, text: str, starts: list[int], shifts: list[int]) -> None:
        self.text = text
        self._starts = starts  # places in `text`, ascending, from which …
        self._shifts = shifts  # … this many characters lie between plain and original place

    def origin(self, place: int) -> int:
        """The place in the original text of the character at `place` in the plain one."""
        index = bisect_right(self._starts, place) - 1
        return place if index < 0 else place + self._shifts[index]

    def origin_span(self, start: int, end: int) -> tuple[int, int]:
        """The original [start, end) of the plain [start, end), with what was hidden inside it."""
        return self.origin(start), self.origin(end - 1) + 1


def normalise(text: str) -> View:
    """A view of `text` in NFKC without invisible and control characters; line breaks and tabs stay."""
    if _UNUSUAL.search(text) is None:
        return View(text, [], [])
    return _rewritten(text)


def _rewritten(text: str) -> View:
    pieces: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    plain = done = 0
    for run in _UNUSUAL.finditer(text):
        pieces.append(text[done : run.start()])
        plain += run.start() - done
        for place in range(run.start(), run.end()):
            spelling = _spelling(text[place])
            for index in range(len(spelling)):  # each character of an expansion comes from the same place
                _mark(starts, shifts, plain + index, place - plain - index)
            pieces.append(spelling)
            plain += len(spelling)
        done = run.end()
        _mark(starts, shifts, plain, done - plain)
    pieces.append(text[done:])
    return View("".join(pieces), starts, shifts)


def _mark(starts: list[int], shifts: list[int], start: int, shift: int) -> None:
    if starts and starts[-1] == start:
        shifts[-1] = shift
    elif (shifts[-1] if shifts else 0) != shift:
        starts.append(start)
        shifts.append(shift)


@lru_cache(maxsize=1024)
def _spelling(character: str) -> str:
    """What a reader sees for one character: nothing, itself, or its compatibility form."""
    import unicodedata  # only texts beyond plain ASCII pay for the tables

    if ord(character) in _INVISIBLE or unicodedata.category(character) in {"Cf", "Cc"}:
        return ""
    return unicodedata.normalize("NFKC", character)
