r"""Undoes one level of encoding: base64, hexadecimal, percent signs, and escapes such as `\u0067` and `&#103;`."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.normalise import normalise
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

# Four base64 characters hold three bytes. Where all three are ASCII, each of the first three characters comes from one
# half of the alphabet, so other data fails to match within a few characters.
HEXADECIMAL = "(?:[2-7][0-9A-Fa-f]|0[9AaDd]){8,}"
BASE64 = "(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4,}[A-Za-z0-9+/_-]{0,3}=*"
_ENCODED = compiled(f"(?P<hexadecimal>{HEXADECIMAL})|{BASE64}")
_SHORTEST = 16  # characters of an encoding that is decoded
_SHORTEST_TEXT = 12  # characters of a decoded text that is judged by itself
_READABLE_BITS = 6.0

# ASCII characters by the two digits after a percent sign; filled on first use, which takes as long as importing four
# modules.
_percent_codes: dict[str, str] = {}

_ESCAPE = compiled(
    r"\\{1,4}x(?P<byte>[0-9A-Fa-f]{2})|\\{1,4}u(?:(?P<unit>[0-9A-Fa-f]{4})|\{(?P<point>[0-9A-Fa-f]{1,6})\})|"
    r"&#(?:x(?P<hexadecimal>[0-9A-Fa-f]{1,6})|(?P<decimal>[0-9]{1,7}));"
)
_KEY = "[A-Za-z0-9_.+/=~%-]"  # the characters of keys
_ANY_ESCAPE = (
    r"(?:\\{1,4}(?:x[0-9A-Fa-f]{2}|u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\}))|&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});)"
)
_ESCAPED_RUN = compiled(rf"{_ANY_ESCAPE}(?:{_KEY}{{0,64}}{_ANY_ESCAPE})*{_KEY}{{0,64}}")
_KEY_BEFORE = compiled(rf"{_KEY}{{1,64}}$")
_SHORTEST_RUN = 12  # characters that a run stands for; an escaped accent in a word hides nothing
_CACHED_ESCAPES = 1024
_characters: dict[str, str] = {}  # by escape: a text repeats few of them often


def decoded(token: str) -> str | None:
    """The readable text that `token` encodes; None when it encodes none."""
    if "%" in token:
        (plain,) = percent_decoded([token])
        return plain if plain != token else None
    if len(token) < _SHORTEST:
        return None
    match = _ENCODED.fullmatch(token, 2 if token.startswith("0x") else 0)
    if match is None:
        return None
    return _readable(bytes.fromhex(match["hexadecimal"])) if match["hexadecimal"] else _base64(token)


def encodes_text(token: str) -> bool:
    """Whether `token`, of any length, is the base64 of a readable text."""
    return _base64(token) is not None


def is_readable(plain: str | None) -> bool:
    """Whether `plain`, the result of decoding, consists of words; then its content is judged, not its encoding."""
    return plain is not None and len(plain) >= _SHORTEST_TEXT and surprise(plain) < _READABLE_BITS


def percent_decoded(texts: Iterable[str]) -> list[str]:
    """`texts`, which contain no null, with their percent signs decoded; many cost little more than one."""
    first, *escapes = "\0".join(texts).split("%")
    if escapes and not _percent_codes:
        codes = (9, 10, 13, *range(0x20, 0x80))
        _percent_codes.update((form.format(code), chr(code)) for code in codes for form in ("{:02x}", "{:02X}"))
    characters = [_percent_codes.get(rest[:2]) for rest in escapes]
    pieces = [character + rest[2:] if character else f"%{rest}" for character, rest in zip(characters, escapes)]
    return (first + "".join(pieces)).split("\0")


def escaped_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each run in `text` that contains escapes, and the decoded run."""
    for run in _ESCAPED_RUN.finditer(text):
        before = _KEY_BEFORE.search(text, max(0, run.start() - 64), run.start())
        start = before.start() if before else run.start()
        units = _ESCAPE.sub(_unescaped, text[start : run.end()])
        # The two surrogates of a character may have been escaped separately.
        plain = normalise(units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")).text
        if len(plain) >= _SHORTEST_RUN:
            yield start, run.end(), plain


def _unescaped(match: re.Match[str]) -> str:
    escape = match.group()
    character = _characters.get(escape)
    if character is None:
        number = int(match[match.lastgroup or 0], 10 if match.lastgroup == "decimal" else 16)
        character = chr(number) if number < 0x110000 else ""
        if len(_characters) < _CACHED_ESCAPES:
            _characters[escape] = character
    return character


def _base64(token: str) -> str | None:
    import binascii  # an extension module, and few tokens need it

    data = token.rstrip("=-_")  # a comment may end right after it: "-->"
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
