"""The coarse look at tokens of a text that holds more borderline cases than can be looked at one by one.

It costs a tenth of the close look (`scored`) and refuses rather than misses: where letters and digits take turns as in
keys, a token is a suspect, if it has no shape that names, digests and places have.
"""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.expressions import compiled
from keepmum_scanner.score import THRESHOLD
from keepmum_scanner.surprise import surprise
from keepmum_scanner.tokens import LONGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

# Tried where a stretch begins alone: what holds anywhere in a stretch holds from there. No digest, and no commit.
# A name may have one number in it.
_ISSUED = compiled(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{16})(?!(?:[0-9a-f]+|[0-9A-F]+)(?![A-Za-z0-9]))"
    r"(?:[A-Za-z]+[0-9]+[A-Za-z]+[0-9]|[0-9]+[A-Za-z]+[0-9]+[A-Za-z]|(?P<maybe>[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9]))"
)
_TURNS = compiled("[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]+[0-9]")
_STEPS = 2  # slashes of a path
_DUMP = 500  # suspects, after which a text has so many secrets that nothing is asked which could clear the next one
_WORD = 5.5  # bits; below this a name is made of words


def find(found: Iterable[Token], context: Context) -> Iterator[Suspect]:
    """Suspects among tokens, near a credential word more of them than elsewhere."""
    issued, turns, is_near = _ISSUED.search, _TURNS.search, context.is_near
    suspects = 0
    for token in found:
        look = token.plain[:LONGEST] if token.plain else token.look
        match = issued(look)
        if match is None:
            is_clear = turns(look) is None or look.count("/") >= _STEPS or not is_near(token.start, token.end)
        elif suspects < _DUMP:
            is_clear = not is_near(token.start, token.end) and (
                (match.lastgroup is not None and surprise(look) < _WORD) or _names_thing(look, token.start, context)
            )
        else:
            is_clear = False
        if not (is_clear or context.is_told_apart(token.start) or (not look.isalnum() and shapes.is_integrity(look))):
            suspects += 1
            yield ("secret.unnamed", token.start, token.end, THRESHOLD)


def _names_thing(look: str, start: int, context: Context) -> bool:
    """Whether a token that no credential word stands near is an id or a place."""
    return shapes.is_identity(look) or shapes.is_path(look) or context.in_link(start) or context.named_id(start)
