"""Normalises a text, and maps positions in the result back to the original.

A key pasted from a web page may contain zero-width spaces or full-width letters; a hostile note contains them on
purpose. Detectors see the normalised text only.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

_NOT_PLAIN = compiled(r"[^\t\n\r\x20-\x7e]")  # a text without these characters stays unchanged
_CONTROLS = tuple(map(chr, (*range(9), 11, 12, *range(14, 32), 127)))
_FEW = 100  # characters; more than one style of letters and digits (full-width, bold) has
_PLAIN = frozenset(map(chr, (9, 10, 13, *range(0x20, 0x7F))))
# Letters of Chinese, Korean, Yi and old scripts, which normalisation never changes; a text may contain fifty thousand.
_UNCHANGED = compiled(
    "[\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7a3\ue000-\uf8ff"
    "\U00012000-\U0001342f\U00014400-\U00016fdf\U00017000-\U0001bbff\U00020000-\U0002f7ff\U00030000-\U000dffff]+"
)

# Invisible, although Unicode classifies them as letters and marks: joiners, fillers, variation selectors.
_INVISIBLE = frozenset(map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10))))
_HIDDEN = frozenset(("Cf", "Cc"))  # format and control characters
# Characters of a compatibility form. A few characters stand for whole phrases, which spell no key and would only make
# the text longer.
_LONGEST = 4


class View:
    """A normalised text, and the way back to the original."""

    __slots__ = ("_original", "_sizes", "text")

    def __init__(self, text: str, original: str = "", sizes: dict[str, int] | None = None) -> None:
        self.text = text
        self._original = original
        self._sizes = sizes or {}  # normalised length of the original characters whose length changes

    def origin_spans(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The spans in the original of the normalised `spans`, including invisible characters inside them."""
        if not self._sizes:
            return spans
        from bisect import bisect_right  # few texts need these
        from itertools import accumulate, repeat

        ends = list(accumulate(map(self._sizes.get, self._original, repeat(1))))  # of the form of each character
        return [(bisect_right(ends, start), bisect_right(ends, end - 1) + 1) for start, end in spans]


def normalise(text: str) -> View:
    """`text` in NFKC without invisible and control characters, except line breaks and tabs."""
    if _NOT_PLAIN.search(text) is None:
        return View(text)
    if text.isascii():
        changed = {character: "" for character in _CONTROLS if character in text}
    else:
        changed = _changed(set(_UNCHANGED.sub("", text)) - _PLAIN)
    if not changed:
        return View(text)
    sizes = {character: len(plain) for character, plain in changed.items() if len(plain) != 1}
    return View(_replaced(text, changed), text, sizes)


def _replaced(text: str, changed: dict[str, str]) -> str:
    """`text` with the replacements in `changed`; for few of them `replace` is faster than `translate`."""
    if len(changed) > _FEW or not changed.keys().isdisjoint("".join(changed.values())):
        return text.translate({ord(character): plain for character, plain in changed.items()})
    for character, plain in changed.items():
        text = text.replace(character, plain)
    return text


def _may_spell_key(form: str) -> bool:
    """Whether a key can be written with `form`: one character, or a few letters and digits."""
    return len(form) == 1 or (len(form) <= _LONGEST and form.isalnum() and form.isascii())


def _changed(characters: set[str]) -> dict[str, str]:
    """The replacement of each of `characters` that changes: its compatibility form, or "" for an invisible one."""
    from unicodedata import category, normalize  # few texts need these tables

    # One call for all, since a text may contain fifty thousand. No form contains or combines with a line break.
    forms = normalize("NFKC", "\n".join(characters)).split("\n")
    changed = {one: plain for one, plain in zip(characters, forms) if plain != one and _may_spell_key(plain)}
    unprintable = [] if "".join(characters).isprintable() else [one for one in characters if not one.isprintable()]
    changed.update((character, "") for character in unprintable if category(character) in _HIDDEN)
    changed.update(dict.fromkeys(characters & _INVISIBLE, ""))
    return changed
