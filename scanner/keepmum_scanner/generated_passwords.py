"""Recognises passwords that a generator made from letters, digits and symbols.

Other expressions miss them: such a password may contain quotes, begin like a comment or an option, and end like a
sentence. But it changes between kinds of characters at every other position, which code and prose do not.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

_SHORTEST = 10  # characters
_CHANGES = 0.5  # share of positions at which the kind changes; two thirds in a generated password
_SYMBOLS = 2  # different ones, not counting those of paths, links, sums and calls
_RUN = compiled(r"\S{10,64}")
_QUOTES = ("'", '"', "`")
_CLOSING = "\"'`.,;:)]}>"
# Frequent in code and regular expressions, and rare in random characters.
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
# A translation that removes letters, digits and the punctuation of paths, links, sums and calls.
_COMMON = dict.fromkeys(code for code in range(128) if chr(code).isalnum() or chr(code) in "._-/:=+,() ")
_CHANGE = compiled(r"(.)(?!\1|$)")


def generated_length(text: str, start: int) -> int:
    """Length of the generated password at `start`; 0 when there is none."""
    match = _RUN.match(text, start)
    if match is None:
        return 0
    run = match.group()
    opener = text[start - 1 : start]
    run = run[: max(run.rfind(opener), 0)] if opener in _QUOTES else run.rstrip(_CLOSING)
    return len(run) if is_generated(run) else 0


def is_generated(value: str) -> bool:
    """Whether `value` is spelled like a generated password."""
    if len(value) < _SHORTEST or value.isalnum() or not value.isascii():
        return False
    if len(set(value.translate(_COMMON))) < _SYMBOLS or _CODE.search(value):
        return False
    kinds = value.translate(_KINDS)
    return len(set(kinds)) == len("0aA!") and len(_CHANGE.findall(kinds)) >= _CHANGES * (len(value) - 1)
