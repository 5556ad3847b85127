"""The pieces of a text that could be a secret, cut once for all detectors."""

from __future__ import annotations

from keepmum_scanner.decode import decoded
from keepmum_scanner.expressions import compiled

MINIMUM = 12  # shorter pieces are looked at only where a credential word points at them

# What keys are spelled with. "=" only ends a token (base64 padding), so `name=value` falls into two.
# An escaped line break (`\n` inside JSON) separates: its letter must not stick to the key behind it.
_TOKEN = compiled(r"\\[nrt]|[A-Za-z0-9_][A-Za-z0-9_+/.~%-]{11,}(?:={1,2}(?![A-Za-z0-9]))?")


class Token:
    """One run of key characters at [start, end) of the plain text."""

    __slots__ = ("_plain", "end", "start", "text")

    _plain: tuple[str | None]

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.end = start + len(text)

    @property
    def plain(self) -> str | None:
        """The readable text that this token encodes, None when it encodes none; undone once, asked for twice."""
        if not hasattr(self, "_plain"):
            self._plain = (decoded(self.text),)
        return self._plain[0]

    def behind(self, offset: int) -> Token:
        """The rest of this token from `offset` characters on, without the signs that join the two."""
        rest = self.text[offset:].lstrip("-_./+~%")
        return Token(rest, self.end - len(rest))


def tokens(text: str) -> list[Token]:
    """Tokens of `text` from `MINIMUM` characters on, in order, without a sentence's closing dot."""
    found = []
    for match in _TOKEN.finditer(text):
        token = match.group().rstrip(".")
        if len(token) >= MINIMUM:
            found.append(Token(token, match.start()))
    return found
