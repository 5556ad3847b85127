"""Tokens that no fact names, judged by spelling and surroundings."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.context import ASSIGNED, UNNAMED, Context
from keepmum_scanner.decode import decoded, is_words
from keepmum_scanner.expressions import compiled
from keepmum_scanner.score import THRESHOLD, Features, learned
from keepmum_scanner.surprise import surprise
from keepmum_scanner.suspect import FLOOD
from keepmum_scanner.tokens import Token, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from keepmum_scanner.score import Scorer
    from keepmum_scanner.suspect import Suspect

    Place = tuple[int, int]

_RUN = compiled(r"[A-Za-z0-9]+")
_SHORTEST = 16  # characters of a token that gives itself away without a name
_LONG = 15  # letters and digits in one stretch
_READABLE = 5.0  # bits; below this and with at most one change of kind a token is words, whatever stands beside it


def find(
    found: Iterable[Token], context: Context, stated: Collection[Place] = (), scorer: Scorer = learned
) -> Iterator[Suspect]:
    """Suspects among the tokens of one text, without the places of those that are `stated` already.

    In a flood of them the others are left to the coarse look: `context` then says where they begin.
    """
    shortest = 0 if context.mentions else _SHORTEST
    left = iter([one for one in found if len(one.text) >= shortest and (one.start, one.end) not in stated])
    suspects = 0
    for whole in left:
        if context.is_told_apart(whole.start):
            continue
        token = _behind_name(whole, context) if context.mentions else whole
        near = context.is_near(token.start, token.end)
        if not near and _names_itself(token.text):
            continue
        if whole.plain and is_words(whole.plain):  # what it says was judged
            continue
        context.looks -= 1
        said = _said(token) if "%" in token.text else token
        features = _spelling(said, context, near=near)
        confidence = _confidence(features, said, context, scorer) if features else 0.0
        if features and confidence >= THRESHOLD:
            suspects += 1
            rule = "secret.unnamed" if features.naming == UNNAMED else "secret.named"
            yield (rule, token.start, token.end, confidence)
        if suspects >= FLOOD or context.looks <= 0:
            rest = next(left, None)
            if rest is not None:
                context.crowd_begins = rest.start
            return


def _said(token: Token) -> Token:
    """The longest piece of what a percent-encoded token says: encoded, the words and signs of a query look random."""
    pieces = tokens(decoded(token.text) or token.text)
    said = Token(max((piece.text for piece in pieces), key=len, default=""), token.start)
    said.end = token.end
    return said


def _confidence(features: Features, token: Token, context: Context, scorer: Scorer) -> float:
    """How likely `token` is a secret; most are none however they are named, and naming is what costs."""
    confidence, taken_for = scorer(features), features.naming
    if confidence < THRESHOLD or passes(token, features) or not _is_named(features, token, context):
        return 0.0
    if features.naming != taken_for:
        confidence = scorer(features)
        if confidence >= THRESHOLD and _is_words(token, features):
            return 0.0
    return confidence


def _behind_name(token: Token, context: Context) -> Token:
    """The part of `token` that a credential word inside it names ("deploy-key-…"), or `token` itself."""
    end = context.mention_inside(token.start, token.end - _LONG)
    if end < 0 or shapes.is_integrity(token.look) or shapes.is_public(token.look) or shapes.is_pod(token.look):
        return token
    return token.behind(end - token.start)


def measure(token: Token, context: Context) -> Features | None:
    """The features of `token`; None for words, which are most of any text, and for what nothing calls a credential."""
    near = context.is_near(token.start, token.end)
    if context.is_told_apart(token.start) or (not near and _names_itself(token.text)):
        return None
    features = _spelling(token, context, near=near)
    return features if features and _is_named(features, token, context) else None


def _names_itself(text: str) -> bool:
    """Whether a token gives nothing away that no credential word stands near: a short one, the name of a thing."""
    return len(text) < _SHORTEST or shapes.is_identity(text)


def _spelling(token: Token, context: Context, *, near: bool) -> Features | None:
    """The features of `token`, taken for assigned where a credential word stands near: how it is named costs more.

    None for what is no secret however it is named.
    """
    text = token.look
    letters = text.isalpha()
    switches = 0 if letters else len(shapes.SWITCH.findall(text))
    bits = surprise(text)
    run = len(text) if text.isalnum() else max(map(len, _RUN.findall(text)), default=0)
    words = bits < _READABLE and switches < (1 if run >= _LONG else 2)
    if words and (letters or not near):
        return None
    identity = near and shapes.is_identity(text)
    if words and not identity:
        return None
    if identity and shapes.is_fingerprint(text) and context.names_fingerprint(token.start):
        return None
    if letters and context.is_within_word(token.start, token.end):
        return None
    return Features(
        surprise=bits,
        length=len(text),
        run=run,
        switches=switches,
        mixed=switches > 0,
        naming=ASSIGNED if near else UNNAMED,
        identity=identity,
        place=shapes.is_path(text) or context.in_link(token.start),
    )


def _is_named(features: Features, token: Token, context: Context) -> bool:
    """Whether `token` is named a credential, which is noted in `features`, or needs no name to be one."""
    if features.naming != UNNAMED:
        features.naming = context.naming(token.start, token.end)
    if features.naming != UNNAMED:
        return True
    if features.identity or features.length < _SHORTEST or context.named_id(token.start):
        return False
    return not (context.is_code(token.start, token.end) or context.is_mailbox(token.start, token.end))


# Each lets a token pass whatever its score.
_GUARDS = (
    shapes.is_time,
    shapes.is_integrity,
    shapes.is_layout,
    shapes.is_public,
    shapes.is_name,
    shapes.is_camel,
    shapes.is_host,
    shapes.is_alphabet,
    shapes.is_repeated,
)


def passes(token: Token, features: Features) -> bool:
    """Whether `token` has a shape that no secret has."""
    look = token.look
    for guard in _GUARDS:
        if guard(look):
            return True
    if features.naming == UNNAMED and shapes.is_marked(look):
        return True
    if features.surprise < shapes.RANDOM and shapes.is_placeholder(look, features.surprise):
        return True
    return _is_words(token, features)


def _is_words(token: Token, features: Features) -> bool:
    """Whether `token` is words with pieces between them, and no credential word is given it: then it may be a key."""
    return features.naming != ASSIGNED and shapes.is_slug(token.look)
