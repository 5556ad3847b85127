"""One level of encoding undone: a secret in base64, percent signs or hexadecimal is still a secret."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# Four characters of base64 hold three bytes; where all of these are ASCII, the first three characters are of half the
# alphabet each. Other encodings, and what is no text, are told apart by that within a few characters.
_ENCODED = compiled(
    r"(?P<hexadecimal>(?:[2-7][0-9A-Fa-f]|0[9AaDd]){8,})|"
    r"(?P<base64>(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4,}[A-Za-z0-9+/_-]{0,3}=*)"
)
_ESCAPES = compiled(r"(?:%[2-7][0-9A-Fa-f])+")  # ASCII, as keys are
_SHORTEST = 16  # characters of an encoding worth undoing …
_SHORTEST_TEXT = 12  # … and of a text that stands on its own
_WORDS = 6.0  # bits


def decoded(token: str) -> str | None:
    """The readable text that `token` encodes; None when it encodes none."""
    if "%" in token:
        return _percent(token)
    if len(token) < _SHORTEST:
        return None
    match = _ENCODED.fullmatch(token)
    if match is None:
        return None
    return _readable(bytes.fromhex(token)) if match["hexadecimal"] else _base64(token)


def spells_text(token: str) -> bool:
    """Whether `token`, however short, is the base64 of a text to read."""
    return _base64(token) is not None


def is_words(plain: str | None) -> bool:
    """Whether `plain`, once decoded, is a text to read: what it says is then judged, not how its encoding looks."""
    return plain is not None and len(plain) >= _SHORTEST_TEXT and surprise(plain) < _WORDS


def _percent(token: str) -> str | None:
    plain = _ESCAPES.sub(_unescaped, token)
    return plain if plain != token else None


_letters: dict[str, str] = {}  # by the escape that stands for one


def _unescaped(run: re.Match[str]) -> str:
    escapes = run.group()
    if len(escapes) > len("%41"):
        return bytes.fromhex(escapes.replace("%", "")).decode("ascii")
    if escapes not in _letters:
        _letters[escapes] = chr(int(escapes[1:], 16))
    return _letters[escapes]


def _base64(token: str) -> str | None:
    import binascii  # a library of its own, and few tokens come so far

    data = token.rstrip("=-_")  # a comment may close right behind it: "-->"
    data = data.replace("-", "+").replace("_", "/")
    try:
        return _readable(binascii.a2b_base64(data[: len(data) - (len(data) % 4 == 1)] + "=" * (-len(data) % 4)))
    except binascii.Error:
        return None


def _readable(data: bytes) -> str | None:
    if not data.isascii():
        return None
    text = data.decode("ascii")
    return text if text.replace("\n", " ").replace("\t", " ").replace("\r", " ").isprintable() else None
