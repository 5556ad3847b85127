"""One level of encoding undone: a secret in base64, percent signs or hexadecimal is still a secret."""

from __future__ import annotations

import binascii

from keepmum_scanner.expressions import compiled
from keepmum_scanner.shapes import is_hex
from keepmum_scanner.surprise import surprise

_BASE64 = compiled(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_ESCAPE = compiled(r"%[2-7][0-9A-Fa-f]")  # ASCII, as keys are
_SHORTEST = 16  # characters of an encoding worth undoing …
_SHORTEST_TEXT = 12  # … and of a text that stands on its own
_WORDS = 6.0  # bits
_LONGEST = 8192  # characters; longer runs are files, not notes


def decoded(token: str) -> str | None:
    """The readable text that `token` encodes; None when it encodes none."""
    if "%" in token:
        return _percent(token)
    if not _SHORTEST <= len(token) <= _LONGEST or not _BASE64.fullmatch(token):
        return None
    return _hexadecimal(token) if is_hex(token) else _base64(token)


def is_words(plain: str | None) -> bool:
    """Whether `plain`, once decoded, is a text to read: what it says is then judged, not how its encoding looks."""
    return plain is not None and len(plain) >= _SHORTEST_TEXT and surprise(plain) < _WORDS


def _percent(token: str) -> str | None:
    plain = _ESCAPE.sub(lambda escape: chr(int(escape.group()[1:], 16)), token)
    return plain if plain != token else None


def _hexadecimal(token: str) -> str | None:
    try:
        return _readable(binascii.unhexlify(token))
    except (binascii.Error, ValueError):
        return None


def _base64(token: str) -> str | None:
    data = token.rstrip("=-_")  # a comment may close right behind it: "-->"
    data = data.replace("-", "+").replace("_", "/")
    try:
        if not binascii.a2b_base64(data[:8]).isascii():  # what is no text mostly shows it at once
            return None
        return _readable(binascii.a2b_base64(data[: len(data) - (len(data) % 4 == 1)] + "=" * (-len(data) % 4)))
    except (binascii.Error, ValueError):
        return None


def _readable(data: bytes) -> str | None:
    if not data.isascii():
        return None
    text = data.decode("ascii")
    return text if text.replace("\n", " ").replace("\t", " ").replace("\r", " ").isprintable() else None
