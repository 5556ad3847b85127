"""The pieces of a text that could be a secret, cut once for all detectors."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.prefixes import begins_key
from keepmum_scanner.suspect import CROWD, crowd_of

LONGEST = 512  # characters of a token whose spelling is looked at, half of them at each end
MINIMUM = 12  # shorter pieces are looked at only where a credential word points at them

# What keys are spelled with. "=" only ends a token (base64 padding), so `name=value` falls into two.
CHARACTER = "[A-Za-z0-9_+/.~%-]"
_FIRST = "[A-Za-z0-9_%](?<!%(?!(?:[2-7][0-9A-Fa-f]|0[9AaDd])))"  # of percent signs one that stands for a character
# Most of any text is words, in camelCase, snake_case or a path, with a number behind some, and numbers in groups. One
# expression passes them by where a hundred calls a note would have to judge them; a random key has no such humps.
_JOINT = "[_+/.~-]{0,3}"
_WORD = (
    r"(?:(?:[A-Z][a-z]{2,15}|[a-z]{2,15}|I[ds]|To|O[fnr]|In|By|At|Db)(?![a-z])(?:[0-9]{1,4}(?![0-9A-Za-z]))?|"
    r"[A-Z]{2,13}(?![A-Z0-9-])|[A-Za-z]?[0-9]{1,4}(?![0-9A-Za-z])|[A-Za-z](?![0-9A-Za-z]))"
)
_DECIMAL = r"[0-9]+(?:(?:[_+/.~-]{1,3}|(?<=[0-9])[eE][+-])[0-9]+)+(?:e[0-9]{1,3})?j?[_+/.~-]?"
_HEXADECIMAL = r"0x[0-9A-Fa-f]{0,16}\.[0-9A-Fa-f]{1,32}p[+-]?[0-9]{1,4}|0[bx][0-9A-Fa-f]{1,8}(?:_[0-9A-Fa-f]{1,8})+"
_STROKE = "[MLHVCSQTAZmlhvcsqtaz]{1,2}"  # of the path in an SVG
_DRAWN = rf"-?[0-9]{{0,4}}(?:(?:{_STROKE}[-.]{{0,2}}|[-.]{{1,2}})[0-9]{{1,4}}(?![0-9]))+(?:{_STROKE})?"
_PLAIN = rf"(?:_{{0,3}}(?:{_WORD}{_JOINT})+|{_DECIMAL}|{_HEXADECIMAL}|{_DRAWN})(?!{CHARACTER})"
# An escaped line break (`\n` inside JSON) separates: its letter must not stick to the key behind it.
_TOKEN = compiled(
    rf"\\[nrt]|(?={_FIRST}{CHARACTER}{{11}})(?:{_PLAIN}|(?P<token>{CHARACTER}+(?:={{1,2}}(?![A-Za-z0-9]))?))"
)


class Token:
    """One run of key characters at [start, end) of the plain text."""

    __slots__ = ("end", "plain", "start", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.end = start + len(text)
        self.plain: str | None = None  # the readable text that it encodes, once somebody has undone its encoding

    @property
    def look(self) -> str:
        """What is looked at of its spelling: all of it, or both ends."""
        return self.text if len(self.text) <= LONGEST else self.text[: LONGEST // 2] + self.text[-LONGEST // 2 :]

    def behind(self, offset: int) -> Token:
        """The rest of this token from `offset` characters on, without the signs that join the two."""
        rest = self.text[offset:].lstrip("-_./+~%")
        return Token(rest, self.end - len(rest))


def tokens(text: str) -> list[Token]:
    """Tokens of `text` from `MINIMUM` characters on that are more than words, in order, without a closing dot.

    Of a text with a crowd of them only the first; what is left begins where `crowd_begins` says.
    """
    found: list[Token] = []
    crowd = crowd_of(text)
    for match in _TOKEN.finditer(text):
        if match.lastgroup or begins_key(text, match.start()):
            token = match.group().rstrip(".")
            if len(token) >= MINIMUM:
                found.append(Token(token, match.start()))
                if len(found) >= crowd:
                    break
    return found


def crowd_begins(found: list[Token], text: str) -> int | None:
    """Where the characters of `text` begin that none of its tokens `found` stands for; None when all are there."""
    return found[-1].end if len(found) >= CROWD and len(found) >= crowd_of(text) else None
