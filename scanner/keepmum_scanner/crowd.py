"""The coarse look at what is left of a text that holds more tokens than can be looked at one by one.

It is taken by expressions over the text itself, costs a tenth of the close look (`scored`) and refuses rather than
misses: where letters and digits take turns as in keys, a token is a suspect, if it has no shape that names, digests and
places have.
"""

from __future__ import annotations

from keepmum_scanner import shapes, unnamed
from keepmum_scanner.context import TELLERS
from keepmum_scanner.decode import BASE64, HEXADECIMAL
from keepmum_scanner.expressions import compiled
from keepmum_scanner.score import THRESHOLD
from keepmum_scanner.surprise import surprise
from keepmum_scanner.suspect import FLOOD
from keepmum_scanner.tokens import CHARACTER, MINIMUM, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

_FOUR_TURNS = "[A-Za-z]+[0-9]+[A-Za-z]+[0-9]|[0-9]+[A-Za-z]+[0-9]+[A-Za-z]"
_THREE_TURNS = "[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9]"
# Of a stretch of letters and digits, no digest and no commit. A name may have one number in it.
_ISSUED = (
    "(?=[A-Za-z0-9]{16})(?!(?:[0-9a-f]+|[0-9A-F]+)(?![A-Za-z0-9]))"
    f"(?:(?P<issued>{_FOUR_TURNS})|(?P<maybe>{_THREE_TURNS}))"
)
_TURNS = f"(?P<turns>{_THREE_TURNS})"
_DRAWN = (  # the whole token
    rf"(?=[A-Za-z0-9]{{12,15}}\.*(?!{CHARACTER}))(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?P<drawn>{_FOUR_TURNS})"
)
# Each expression begins with the sign before a token, which `re` looks for by itself, and is tried only there.
_BEFORE = "[^A-Za-z0-9_+/.~%-][+/.~%-]*"
_STRETCHES = "(?:[A-Za-z0-9]*[_+/.~%-])*?"  # what holds anywhere in a stretch holds from its beginning
_LOOK = compiled(
    rf"{_BEFORE}(?=(?P<token>{CHARACTER}{{11,}}[A-Za-z0-9_+/~%-]))(?:{_STRETCHES}{_ISSUED}|{_DRAWN}|{_STRETCHES}{_TURNS})"
)
_ISSUED_IN = compiled(f"(?<![A-Za-z0-9]){_ISSUED}")
_TURNS_IN = compiled(_TURNS)
# Percent signs, an even row of hexadecimal digits, the letters of base64.
_ENCODED = compiled(
    rf"{_BEFORE}(?P<token>{HEXADECIMAL}(?!{CHARACTER})|{BASE64}(?!{CHARACTER})|[A-Za-z0-9_+/.~-]*%{CHARACTER}+)"
)
_LONGEST = 512  # characters of an encoded text that are looked at
_DUMP = 256  # suspects, after which a text has so many secrets that nothing is asked which could clear the next one
_STEPS = 2  # slashes of a path
_WORD = 5.5  # bits; below this a name is made of words


def find(context: Context, start: int, plain: Mapping[int, str]) -> Iterator[Suspect]:
    """Suspects from `start` on, near a credential word more of them than elsewhere.

    `plain` is what tokens encode, by their start: such a token is judged by what it says.
    """
    suspects = 0
    for match in context.matches(_LOOK, start):
        token, look = match["token"], match.lastgroup
        place = match.start("token") - 1
        if place in plain:
            token, look = _read(plain[place][:_LONGEST])
        if look == "issued" or look == "maybe":  # noqa: PLR1714 - a set takes longer
            if suspects < _DUMP and _is_harmless(token, look, place, context):
                continue
        elif context.is_near(place, place + len(token)):
            if look is None or token.count("/") >= _STEPS:
                continue
        elif look != "drawn" or (suspects < FLOOD and not unnamed.is_key(token, place, context)):
            continue
        if match.string[place] in TELLERS and context.is_told_apart(place):
            continue
        if token.isalnum() or not shapes.is_integrity(token):
            suspects += 1
            yield ("secret.unnamed", place, match.end("token") - 1, THRESHOLD)


def _read(text: str) -> tuple[str, str | None]:
    """A text that was encoded, and what it looks like, by the names of the groups of `_LOOK`."""
    match = _ISSUED_IN.search(text) or _TURNS_IN.search(text)
    return text, match and match.lastgroup


def _is_harmless(token: str, look: str, start: int, context: Context) -> bool:
    """Whether a token that no credential word stands near is a name, an id or a place."""
    if context.is_near(start, start + len(token)):
        return False
    if look == "maybe" and surprise(token) < _WORD:
        return True
    return shapes.is_identity(token) or shapes.is_path(token) or context.in_link(start) or context.named_id(start)


def encoded(context: Context, start: int) -> Iterator[Token]:
    """The tokens from `start` on that may encode a text."""
    for match in context.matches(_ENCODED, start):
        token = match["token"].rstrip(".")
        if len(token) >= MINIMUM:
            yield Token(token, match.start("token") - 1)
