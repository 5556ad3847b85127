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
from keepmum_scanner.tokens import CHARACTER, LONGEST, MINIMUM, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

_TURNS = "(?:[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9])"
_MORE_TURNS = "(?:[A-Za-z]+[0-9]+[A-Za-z]+[0-9]|[0-9]+[A-Za-z]+[0-9]+[A-Za-z])"
# Each expression begins with the sign before a token, which `re` looks for by itself, and is tried only there.
_BEFORE = "[^A-Za-z0-9_+/.~%-][+/.~%-]*"
# A token in which letters and digits take turns, in a stretch of them: one stretch after the other.
_LOOK = compiled(
    rf"{_BEFORE}(?=(?P<token>{CHARACTER}{{11,}}[A-Za-z0-9_+/~%-]))"
    rf"(?:[A-Za-z]*(?:[0-9]+[A-Za-z]*)?[_+/.~%-])*?{_TURNS}"
)
# A stretch that is no digest and no commit. A name may have one number in it.
_ISSUED = compiled(
    "(?<![A-Za-z0-9])(?=[A-Za-z0-9]{16})(?!(?:[0-9a-f]+|[0-9A-F]+)(?![A-Za-z0-9]))"
    f"(?:{_MORE_TURNS}|(?P<maybe>{_TURNS}))"
)
_DRAWN = compiled(f"(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z]){_MORE_TURNS}")
_SHORT = 16  # characters; a shorter token is drawn from both cases and digits, or needs a name
# Percent signs, an even row of hexadecimal digits, the letters of base64.
_ENCODED = compiled(
    rf"{_BEFORE}(?P<token>{HEXADECIMAL}(?!{CHARACTER})|{BASE64}(?!{CHARACTER})|[A-Za-z0-9_+/.~-]*%{CHARACTER}+)"
)
_STEPS = 2  # slashes of a path


def find(context: Context, start: int, stated: Mapping[int, int], plain: Mapping[int, str]) -> Iterator[Suspect]:
    """Suspects from `start` on, near a credential word more of them than elsewhere.

    Args:
        context: the text.
        start: where the crowd begins.
        stated: where other suspects end, by their start; a token within one is left out.
        plain: what tokens encode, by their start: they are judged by what that says.
    """
    suspects = 0
    is_near = context.nearness()
    for match in context.matches(_LOOK, start):
        begin, end = match.span("token")
        token = match["token"]
        place = begin - 1
        if stated.get(place, 0) >= end - 1:
            continue
        if place in plain:
            token = plain[place][:LONGEST]
            if compiled(_TURNS).search(token) is None:
                continue
        flooded = suspects >= FLOOD  # with so many secrets nothing is asked that could clear the next one
        if is_near(place, end):
            is_clear = token.count("/") >= _STEPS and _ISSUED.search(token) is None
        elif len(token) < _SHORT:
            is_clear = _is_no_key(token, place, context, flooded=flooded)
        else:
            is_clear = _is_named(token, place, context, flooded=flooded)
        if is_clear or (match.string[place] in TELLERS and context.is_told_apart(place)):
            continue
        if token.isalnum() or not shapes.is_integrity(token):
            suspects += 1
            yield ("secret.unnamed", place, end - 1, THRESHOLD)


def _is_no_key(token: str, start: int, context: Context, *, flooded: bool) -> bool:
    """Whether a short token that no credential word stands near is no key."""
    if not token.isalnum() or _DRAWN.match(token) is None:
        return True
    return not flooded and not unnamed.is_key(token, start, context)


def _is_named(token: str, start: int, context: Context, *, flooded: bool) -> bool:
    """Whether a token that no credential word stands near is a name, an id or a place, or has nothing of a key."""
    issued = _ISSUED.search(token)
    if issued is None or flooded:
        return issued is None
    if issued.lastgroup and surprise(token) < shapes.WORD:
        return True
    return shapes.is_identity(token) or shapes.is_path(token) or context.in_link(start) or context.named_id(start)


def encoded(context: Context, start: int) -> Iterator[Token]:
    """The tokens from `start` on that may encode a text."""
    for match in context.matches(_ENCODED, start):
        token = match["token"].rstrip(".")
        if len(token) >= MINIMUM:
            yield Token(token, match.start("token") - 1)
