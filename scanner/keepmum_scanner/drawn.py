"""Passwords that a generator drew from letters, digits and signs of all kinds.

Such a password breaks what other expressions rest on: it may hold quotes, begin like a comment or an option, and end
like a sentence. What no program and no sentence does is change between kinds of characters at every other place.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

_SHORTEST = 10  # characters
_CHANGES = 0.5  # of all places, where the kind of character changes; of drawn ones it is two thirds
_SIGNS = 2  # different ones, besides those of paths, links, sums and calls
_RUN = compiled(r"\S{10,64}")
_QUOTES = ("'", '"', "`")
_CLOSING = "\"'`.,;:)]}>"
# What code and expressions of a search write, and chance hardly ever.
_CODE = compiled(
    r"&&|\|\||[=!<>]=|[=-]>|\(\)|\]\(|\?\.|\$\{|\{\{|%[sd]|\[\^|\\[dwsbnrtux]|\(\?|[.\])][*+]|\w\[\w*\]|</|/>|::|"
    r"[a-z]{5}|[A-Z]{6}"
)


def _kind(character: str) -> str:
    if character.isdigit():
        return "0"
    if not character.isalpha():
        return "!"
    return "a" if character.islower() else "A"


_KINDS = {code: _kind(chr(code)) for code in range(128)}
_NO_SIGNS = dict.fromkeys(code for code in range(128) if chr(code).isalnum() or chr(code) in "._-/:=+,() ")
_CHANGE = compiled(r"(.)(?!\1|$)")


def drawn_at(text: str, place: int) -> int:
    """How many characters the drawn password at `place` has; 0 when there is none."""
    match = _RUN.match(text, place)
    if match is None:
        return 0
    run = match.group()
    opener = text[place - 1 : place]
    run = run[: max(run.rfind(opener), 0)] if opener in _QUOTES else run.rstrip(_CLOSING)
    return len(run) if is_drawn(run) else 0


def is_drawn(value: str) -> bool:
    """Whether the characters of `value` are drawn from all kinds."""
    if len(value) < _SHORTEST or value.isalnum() or not value.isascii():
        return False
    if len(set(value.translate(_NO_SIGNS))) < _SIGNS or _CODE.search(value):
        return False
    kinds = value.translate(_KINDS)
    return len(set(kinds)) == len("0aA!") and len(_CHANGE.findall(kinds)) >= _CHANGES * (len(value) - 1)
