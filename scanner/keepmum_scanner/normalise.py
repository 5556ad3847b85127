"""One plain spelling of a text, and the way back to the original's places.

A key pasted from a web page may carry zero-width spaces or full-width letters; a hostile note carries them on
purpose. Detectors see the plain spelling only, so each rule is written once.
"""

from __future__ import annotations

from bisect import bisect_right

from keepmum_scanner.expressions import compiled

_UNUSUAL = compiled(r"[^\t\n\r\x20-\x7e]")  # everything that could hide or disguise a character

# Rendered as nothing, though Unicode files them as letters and marks: joiners, fillers, variation selectors.
_INVISIBLE = frozenset((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)))


class View:
    """A text as the detectors see it; `origin` leads back to the text as it was given."""

    __slots__ = ("_original", "_resized", "_shifts", "_starts", "text")

    def __init__(self, text: str, original: str = "", resized: dict[str, int] | None = None) -> None:
        self.text = text
        self._original = original
        self._resized = resized  # characters of the original that are spelled by none or by several, and by how many
        self._starts: list[int] = []  # places in `text`, ascending, from which …
        self._shifts: list[int] = []  # … this many characters lie between plain and original place

    def origin(self, place: int) -> int:
        """The place in the original text of the character at `place` in the plain one."""
        if self._resized:  # most texts hold no finding, and then nobody asks for a way back
            self._measure(self._resized)
        index = bisect_right(self._starts, place) - 1
        return place if index < 0 else place + self._shifts[index]

    def origin_span(self, start: int, end: int) -> tuple[int, int]:
        """The original [start, end) of the plain [start, end), with what was hidden inside it."""
        return self.origin(start), self.origin(end - 1) + 1

    def _measure(self, resized: dict[str, int]) -> None:
        """Note where the distance between plain and original place changes."""
        import re  # for an expression of this text alone

        self._resized = None
        starts, shifts = self._starts, self._shifts
        shift = 0
        for run in re.finditer(f"([{re.escape(''.join(resized))}])\\1*", self._original):
            size, count = resized[run.group(1)], run.end() - run.start()
            plain = run.start() - shift
            if size:  # each character of an expansion comes from the same place
                for index in range(count * size):
                    starts.append(plain + index)
                    shifts.append(run.start() + index // size - plain - index)
            shift -= count * (size - 1)
            starts.append(plain + count * size)
            shifts.append(shift)


def normalise(text: str) -> View:
    """A view of `text` in NFKC without invisible and control characters; line breaks and tabs stay."""
    if _UNUSUAL.search(text) is None:
        return View(text)
    spellings = {character: _spelling(character) for character in set(text) if _UNUSUAL.match(character)}
    changed = {ord(character): plain for character, plain in spellings.items() if plain != character}
    if not changed:
        return View(text)
    resized = {character: len(plain) for character, plain in spellings.items() if len(plain) != 1}
    return View(text.translate(changed), text, resized)


def _spelling(character: str) -> str:
    """What a reader sees for one character: nothing, itself, or its compatibility form."""
    import unicodedata  # only texts beyond plain ASCII pay for the tables

    if ord(character) in _INVISIBLE or unicodedata.category(character) in {"Cf", "Cc"}:
        return ""
    return unicodedata.normalize("NFKC", character)
