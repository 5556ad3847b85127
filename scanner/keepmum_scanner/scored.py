"""Tokens that no fact names, judged by spelling and surroundings."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.context import ASSIGNED, UNNAMED, Context
from keepmum_scanner.decode import is_words
from keepmum_scanner.expressions import compiled
from keepmum_scanner.score import THRESHOLD, Features, learned
from keepmum_scanner.surprise import surprise
from keepmum_scanner.suspect import FLOOD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.score import Scorer
    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

_RUN = compiled(r"[A-Za-z0-9]+")
_SWITCH = compiled(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_SHORTEST = 16  # characters of a token that gives itself away without a name
_LONG = 15  # letters and digits in one stretch
_READABLE = 5.0  # bits; below this and with at most one change of kind a token is words, whatever stands beside it


def find(found: Iterable[Token], context: Context, scorer: Scorer = learned) -> Iterator[Suspect]:
    """Suspects among the tokens of one text."""
    count = 0
    for whole in found:
        if not context.mentions and len(whole.text) < _SHORTEST:
            continue
        if count >= FLOOD:
            if looks_issued(whole, context):
                yield ("secret.unnamed", whole.start, whole.end, THRESHOLD)
            continue
        if is_words(whole.plain):  # what it says was judged
            continue
        token = _behind_name(whole, context) if context.mentions else whole
        features = measure(token, context)
        if features is None:
            continue
        confidence = scorer(features)
        if confidence >= THRESHOLD and not passes(token, features):
            count += 1
            rule = "secret.unnamed" if features.naming == UNNAMED else "secret.named"
            yield (rule, token.start, token.end, confidence)


def looks_issued(token: Token, context: Context) -> bool:
    """Whether `token` has letters and digits in turn: the coarse look of a key, and of more than keys."""
    if token.text.isalpha() or len(_SWITCH.findall(token.text)) <= 1:
        return False
    return not shapes.is_hex(token.text) or context.is_near(token.start, token.end)


def _behind_name(token: Token, context: Context) -> Token:
    """The part of `token` that a credential word inside it names ("deploy-key-…"), or `token` itself."""
    end = context.mention_inside(token.start, token.end - _LONG)
    return token if end < 0 else token.behind(end - token.start)


def measure(token: Token, context: Context) -> Features | None:
    """The features of `token`; None for words, which are most of any text, and for what nothing calls a credential."""
    text = token.text
    near = context.is_near(token.start, token.end)
    if not near and len(text) < _SHORTEST:
        return None
    switches = len(_SWITCH.findall(text))
    run = len(text) if text.isalnum() else max(map(len, _RUN.findall(text)), default=0)
    identity = shapes.is_identity(text)
    if identity and not near:
        return None
    bits = surprise(text)
    if bits < _READABLE and not identity and switches < (1 if run >= _LONG else 2):
        return None
    naming = context.naming(token.start, token.end) if near else UNNAMED
    if naming == UNNAMED and (identity or len(text) < _SHORTEST or context.named_id(token.start)):
        return None
    return Features(
        surprise=bits,
        length=len(text),
        run=run,
        switches=switches,
        mixed=switches > 0,
        naming=naming,
        identity=identity,
        place=shapes.is_path(text) or context.in_link(token.start),
    )


# Each lets a token pass whatever its score.
_GUARDS = (
    shapes.is_time,
    shapes.is_integrity,
    shapes.is_public,
    shapes.is_name,
    shapes.is_camel,
    shapes.is_repeated,
)


def passes(token: Token, features: Features) -> bool:
    """Whether `token` has a shape that no secret has."""
    if any(guard(token.text) for guard in _GUARDS):
        return True
    if features.naming != ASSIGNED and shapes.is_slug(token.text):
        return True
    return features.surprise < shapes.RANDOM and shapes.is_placeholder(token.text)
