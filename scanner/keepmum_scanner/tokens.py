"""Splits a text once, for all detectors, into the tokens that could be secrets."""

from __future__ import annotations

from keepmum_scanner.candidates import MIN_CASE_LIMIT, case_limit
from keepmum_scanner.expressions import compiled
from keepmum_scanner.prefix_rules import begins_key

LONGEST = 512  # characters of a token whose spelling is judged: half from each end
MINIMUM = 12  # shorter tokens are judged only next to a credential word

# The characters of keys. "=" only ends a token (base64 padding), so `name=value` is split.
CHARACTER = "[A-Za-z0-9_+/.~%-]"
_FIRST = "[A-Za-z0-9_%](?<!%(?!(?:[2-7][0-9A-Fa-f]|0[9AaDd])))"  # "%" only where it encodes a character
# Most text is words, in camelCase, snake_case or a path, some with a number, and groups of digits. One expression skips
# them instead of a hundred calls per note; a random key is not written like that.
_JOINT = "[_+/.~-]{0,3}"
_WORD = (
    r"(?:(?:[A-Z][a-z]{2,15}|[a-z]{2,15}|I[ds]|To|O[fnr]|In|By|At|Db)(?![a-z])(?:[0-9]{1,4}(?![0-9A-Za-z]))?|"
    r"[A-Z]{2,13}(?![A-Z0-9-])|[A-Za-z]?[0-9]{1,4}(?![0-9A-Za-z])|[A-Za-z](?![0-9A-Za-z]))"
)
_DECIMAL = r"[0-9]+(?:(?:[_+/.~-]{1,3}|(?<=[0-9])[eE][+-])[0-9]+)+(?:e[0-9]{1,3})?j?[_+/.~-]?"
_HEXADECIMAL = r"0x[0-9A-Fa-f]{0,16}\.[0-9A-Fa-f]{1,32}p[+-]?[0-9]{1,4}|0[bx][0-9A-Fa-f]{1,8}(?:_[0-9A-Fa-f]{1,8})+"
_STROKE = "[MLHVCSQTAZmlhvcsqtaz]{1,2}"  # a command in the path of an SVG
_SVG_PATH = rf"-?[0-9]{{0,4}}(?:(?:{_STROKE}[-.]{{0,2}}|[-.]{{1,2}})[0-9]{{1,4}}(?![0-9]))+(?:{_STROKE})?"
_PLAIN = rf"(?:_{{0,3}}(?:{_WORD}{_JOINT})+|{_DECIMAL}|{_HEXADECIMAL}|{_SVG_PATH})(?!{CHARACTER})"
# An escaped line break (`\n` inside JSON) is a delimiter: its letter is not part of the key after it.
_TOKEN = compiled(
    rf"\\[nrt]|(?={_FIRST}{CHARACTER}{{11}})(?:{_PLAIN}|(?P<token>{CHARACTER}+(?:={{1,2}}(?![A-Za-z0-9]))?))"
)


class Token:
    """One run of key characters at [start, end) of the normalised text."""

    __slots__ = ("end", "plain", "start", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.end = start + len(text)
        self.plain: str | None = None  # the readable text that it encodes; set by `scan`

    @property
    def sample(self) -> str:
        """The characters whose spelling is judged: all, or both ends of a long token."""
        return self.text if len(self.text) <= LONGEST else self.text[: LONGEST // 2] + self.text[-LONGEST // 2 :]

    def rest(self, offset: int) -> Token:
        """This token from `offset` on, without leading punctuation."""
        text = self.text[offset:].lstrip("-_./+~%")
        return Token(text, self.end - len(text))


def tokens(text: str) -> list[Token]:
    """The tokens of `text` that are more than words, in order, at least `MINIMUM` characters long, without a final dot.

    At most `case_limit(text)`; `bulk_start` tells where the rest begins.
    """
    found: list[Token] = []
    limit = case_limit(text)
    for match in _TOKEN.finditer(text):
        if match.lastgroup or begins_key(text, match.start()):
            token = match.group().rstrip(".")
            if len(token) >= MINIMUM:
                found.append(Token(token, match.start()))
                if len(found) >= limit:
                    break
    return found


def bulk_start(found: list[Token], text: str) -> int | None:
    """Where the part of `text` begins that `found`, the result of `tokens`, does not cover; None when it covers all."""
    return found[-1].end if len(found) >= MIN_CASE_LIMIT and len(found) >= case_limit(text) else None
