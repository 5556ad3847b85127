"""One plain spelling of a text, and the way back to the original's places.

A key pasted from a web page may carry zero-width spaces or full-width letters; a hostile note carries them on
purpose. Detectors see the plain spelling only, so each rule is written once.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

_UNUSUAL = compiled(r"[^\t\n\r\x20-\x7e]")  # everything that could hide or disguise a character
_USUAL = frozenset(map(chr, (9, 10, 13, *range(0x20, 0x7F))))
# Of the letters of Chinese, Korean, Yi and old scripts each is what it seems, and a text can hold fifty thousand.
_STEADY = compiled(
    "[\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7a3\ue000-\uf8ff"
    "\U00012000-\U0001342f\U00014400-\U00016fdf\U00017000-\U0001bbff\U00020000-\U0002f7ff\U00030000-\U000dffff]+"
)

# Rendered as nothing, though Unicode files them as letters and marks: joiners, fillers, variation selectors.
_INVISIBLE = frozenset(map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10))))
_HIDDEN = frozenset(("Cf", "Cc"))  # format and control characters
_LONGEST = (
    4  # characters of a form; a few stand for whole phrases, no key among them, and a text must not grow with them
)


class View:
    """A text as the detectors see it; `origin` leads back to the text as it was given."""

    __slots__ = ("_ends", "_original", "_sizes", "text")

    def __init__(self, text: str, original: str = "", sizes: dict[str, int] | None = None) -> None:
        self.text = text
        self._original = original
        self._sizes = sizes or {}  # characters of the original that are spelled by none or by several, and by how many
        self._ends: list[int] = []  # where in `text` the spelling of each character of the original ends

    def origin(self, place: int) -> int:
        """The place in the original text of the character at `place` in the plain one."""
        if not self._sizes:
            return place
        from bisect import bisect_right  # here and below: libraries of their own, and few texts come so far

        if not self._ends:  # most texts hold no finding, and then nobody asks for a way back
            from itertools import accumulate, repeat

            self._ends += accumulate(map(self._sizes.get, self._original, repeat(1)))
        return bisect_right(self._ends, place)

    def origin_span(self, start: int, end: int) -> tuple[int, int]:
        """The original [start, end) of the plain [start, end), with what was hidden inside it."""
        return (self.origin(start), self.origin(end - 1) + 1) if self._sizes else (start, end)


def normalise(text: str) -> View:
    """A view of `text` in NFKC without invisible and control characters; line breaks and tabs stay."""
    if _UNUSUAL.search(text) is None:
        return View(text)
    changed = _changed(set(_STEADY.sub("", text)) - _USUAL)
    if not changed:
        return View(text)
    sizes = {character: len(plain) for character, plain in changed.items() if len(plain) != 1}
    return View(text.translate({ord(character): plain for character, plain in changed.items()}), text, sizes)


def _changed(characters: set[str]) -> dict[str, str]:
    """What a reader sees for those of `characters` that are not what they seem: nothing, or a compatibility form."""
    from unicodedata import category, normalize  # only texts beyond plain ASCII pay for the tables

    forms = [normalize("NFKC", character) for character in characters]  # a text can hold fifty thousand different ones
    changed = {one: plain for one, plain in zip(characters, forms) if plain != one and len(plain) <= _LONGEST}
    unprintable = [character for character in characters if not character.isprintable()]
    changed.update((character, "") for character in unprintable if category(character) in _HIDDEN)
    changed.update(dict.fromkeys(characters & _INVISIBLE, ""))
    return changed
