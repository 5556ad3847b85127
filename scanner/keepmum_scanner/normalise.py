"""One plain spelling of a text, and the way back to the original's places.

A key pasted from a web page may carry zero-width spaces or full-width letters; a hostile note carries them on
purpose. Detectors see the plain spelling only, so each rule is written once.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

_UNUSUAL = compiled(r"[^\t\n\r\x20-\x7e]")  # everything that could hide or disguise a character
_CONTROLS = tuple(map(chr, (*range(9), 11, 12, *range(14, 32), 127)))
_FEW = 100  # characters: more than letters, digits and signs have forms of one kind
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
        self._ends: list[int] = []

    def origin(self, place: int) -> int:
        """The place in the original text of the character at `place` in the plain one."""
        if not self._sizes:
            return place
        from bisect import bisect_right  # here and below: libraries of their own, and few texts come so far

        return bisect_right(self._places(), place)

    def origin_span(self, start: int, end: int) -> tuple[int, int]:
        """The original [start, end) of the plain [start, end), with what was hidden inside it."""
        return self.origin_spans([(start, end)])[0]

    def origin_spans(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The `origin_span` of each of `spans`."""
        if not self._sizes:
            return spans
        from bisect import bisect_right

        places = self._places()
        return [(bisect_right(places, start), bisect_right(places, end - 1) + 1) for start, end in spans]

    def _places(self) -> list[int]:
        """Where in `text` the spelling of each character of the original ends; most texts hold nothing to ask for."""
        if not self._ends:
            from itertools import accumulate, repeat

            self._ends += accumulate(map(self._sizes.get, self._original, repeat(1)))
        return self._ends


def normalise(text: str) -> View:
    """A view of `text` in NFKC without invisible and control characters; line breaks and tabs stay."""
    if _UNUSUAL.search(text) is None:
        return View(text)
    if text.isascii():
        changed = {character: "" for character in _CONTROLS if character in text}
    else:
        changed = _changed(set(_STEADY.sub("", text)) - _USUAL)
    if not changed:
        return View(text)
    sizes = {character: len(plain) for character, plain in changed.items() if len(plain) != 1}
    return View(_replaced(text, changed), text, sizes)


def _replaced(text: str, changed: dict[str, str]) -> str:
    """`text` with what is `changed` in it; a few characters are replaced in less time than all are looked up."""
    if len(changed) > _FEW or not changed.keys().isdisjoint("".join(changed.values())):
        return text.translate({ord(character): plain for character, plain in changed.items()})
    for character, plain in changed.items():
        text = text.replace(character, plain)
    return text


def _spells(form: str) -> bool:
    """Whether a key can be spelled with `form`: with one character, or with several letters and digits."""
    return len(form) == 1 or (len(form) <= _LONGEST and form.isalnum() and form.isascii())


def _changed(characters: set[str]) -> dict[str, str]:
    """What a reader sees for those of `characters` that are not what they seem: nothing, or a compatibility form."""
    from unicodedata import category, normalize  # only texts beyond plain ASCII pay for the tables

    # A text can hold fifty thousand different ones. No form has a line break, and nothing combines with one.
    forms = normalize("NFKC", "\n".join(characters)).split("\n")
    changed = {one: plain for one, plain in zip(characters, forms) if plain != one and _spells(plain)}
    unprintable = [] if "".join(characters).isprintable() else [one for one in characters if not one.isprintable()]
    changed.update((character, "") for character in unprintable if category(character) in _HIDDEN)
    changed.update(dict.fromkeys(characters & _INVISIBLE, ""))
    return changed
