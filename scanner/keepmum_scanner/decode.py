"""One level of encoding undone: a secret in base64, percent signs or hexadecimal is still a secret."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Four characters of base64 hold three bytes; where all of these are ASCII, the first three characters are of half the
# alphabet each. Other encodings, and what is no text, are told apart by that within a few characters.
HEXADECIMAL = "(?:[2-7][0-9A-Fa-f]|0[9AaDd]){8,}"
BASE64 = "(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4,}[A-Za-z0-9+/_-]{0,3}=*"
_ENCODED = compiled(f"(?P<hexadecimal>{HEXADECIMAL})|{BASE64}")
# Of ASCII, as keys are, and breaks; by the two digits behind a percent sign. Made for the first of these: to make it
# takes as long as to begin with four modules.
_letters: dict[str, str] = {}
_SHORTEST = 16  # characters of an encoding worth undoing …
_SHORTEST_TEXT = 12  # … and of a text that stands on its own
_WORDS = 6.0  # bits


def decoded(token: str) -> str | None:
    """The readable text that `token` encodes; None when it encodes none."""
    if "%" in token:
        (plain,) = unescaped([token])
        return plain if plain != token else None
    if len(token) < _SHORTEST:
        return None
    match = _ENCODED.fullmatch(token, 2 if token.startswith("0x") else 0)
    if match is None:
        return None
    return _readable(bytes.fromhex(match["hexadecimal"])) if match["hexadecimal"] else _base64(token)


def spells_text(token: str) -> bool:
    """Whether `token`, however short, is the base64 of a text to read."""
    return _base64(token) is not None


def is_words(plain: str | None) -> bool:
    """Whether `plain`, once decoded, is a text to read: what it says is then judged, not how its encoding looks."""
    return plain is not None and len(plain) >= _SHORTEST_TEXT and surprise(plain) < _WORDS


def unescaped(texts: Iterable[str]) -> list[str]:
    """Each of `texts`, in which no null is, with its percent signs undone; many cost little more than one."""
    first, *escapes = "\0".join(texts).split("%")
    if escapes and not _letters:
        codes = (9, 10, 13, *range(0x20, 0x80))
        _letters.update((form.format(code), chr(code)) for code in codes for form in ("{:02x}", "{:02X}"))
    letters = [_letters.get(rest[:2]) for rest in escapes]
    pieces = [letter + rest[2:] if letter else f"%{rest}" for letter, rest in zip(letters, escapes)]
    return (first + "".join(pieces)).split("\0")


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
