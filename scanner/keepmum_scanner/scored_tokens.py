"""Judges tokens without a provider prefix by their spelling and surroundings."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.candidates import DUMP_SIZE
from keepmum_scanner.context import ASSIGNED, UNNAMED, Context
from keepmum_scanner.decode import decoded, is_readable
from keepmum_scanner.expressions import compiled
from keepmum_scanner.scorer import THRESHOLD, Features, trained_score
from keepmum_scanner.surprise import surprise
from keepmum_scanner.tokens import Token, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.scorer import Scorer

    Span = tuple[int, int]

_RUN = compiled(r"[A-Za-z0-9]+")
_SHORTEST = 16  # characters of a token that is judged without a credential word near it
_LONG_RUN = 15  # letters and digits
_READABLE_BITS = 5.0  # below this and with at most one switch a token is words, whatever the surroundings


def find(
    found: Iterable[Token], context: Context, explicit: Collection[Span] = (), scorer: Scorer = trained_score
) -> Iterator[Candidate]:
    """Candidates among the tokens of one text, without those whose span is in `explicit`.

    In a dump the rest is left to `bulk`, and `context.bulk_start` is set.
    """
    shortest = 0 if context.credential_words else _SHORTEST
    left = iter([one for one in found if len(one.text) >= shortest and (one.start, one.end) not in explicit])
    candidates = 0
    for whole in left:
        if context.follows_public_marker(whole.start):
            continue
        token = _after_name(whole, context) if context.credential_words else whole
        near = context.is_near(token.start, token.end)
        if not near and _is_harmless_alone(token.text):
            continue
        if whole.plain and is_readable(whole.plain):  # its content was judged before
            continue
        context.checks_left -= 1
        judged = _longest_part(token) if "%" in token.text else token
        features = _spelling(judged, context, near=near)
        confidence = _confidence(features, judged, context, scorer) if features else 0.0
        if features and confidence >= THRESHOLD:
            candidates += 1
            rule = "secret.unnamed" if features.naming == UNNAMED else "secret.named"
            yield (rule, token.start, token.end, confidence)
        if candidates >= DUMP_SIZE or context.checks_left <= 0:
            rest = next(left, None)
            if rest is not None:
                context.bulk_start = rest.start
            return


def _longest_part(token: Token) -> Token:
    """The longest token within a percent-decoded `token`: percent signs make the words of a query look random."""
    parts = tokens(decoded(token.text) or token.text)
    longest = Token(max((part.text for part in parts), key=len, default=""), token.start)
    longest.end = token.end
    return longest


def _confidence(features: Features, token: Token, context: Context, scorer: Scorer) -> float:
    """Confidence that `token` is a secret.

    Scores it first as if it were assigned: most tokens fail even then, and the naming is expensive to find out.
    """
    confidence, assumed = scorer(features), features.naming
    if confidence < THRESHOLD or passes(token, features) or not _set_naming(features, token, context):
        return 0.0
    if features.naming != assumed:
        confidence = scorer(features)
        if confidence >= THRESHOLD and _is_slug(token, features):
            return 0.0
    return confidence


def _after_name(token: Token, context: Context) -> Token:
    """The part of `token` after a credential word inside it ("deploy-key-…"), or `token` itself."""
    end = context.credential_word_end(token.start, token.end - _LONG_RUN)
    text = token.sample
    if end < 0 or shapes.is_integrity(text) or shapes.is_public(text) or shapes.POD_NAME.fullmatch(text):
        return token
    return token.rest(end - token.start)


def measure(token: Token, context: Context) -> Features | None:
    """The features of `token`, for training; None for words and ids, which are not scored."""
    near = context.is_near(token.start, token.end)
    if context.follows_public_marker(token.start) or (not near and _is_harmless_alone(token.text)):
        return None
    features = _spelling(token, context, near=near)
    return features if features and _set_naming(features, token, context) else None


def _is_harmless_alone(text: str) -> bool:
    """Whether a token is not a secret without a credential word near it: a short one, or an id."""
    return len(text) < _SHORTEST or shapes.is_identity(text)


def _spelling(token: Token, context: Context, *, near: bool) -> Features | None:
    """The features of `token`, with naming ASSIGNED when a credential word is near; see `_set_naming`.

    None when it is not a secret whatever its naming is.
    """
    text = token.sample
    letters = text.isalpha()
    switches = 0 if letters else len(shapes.SWITCH.findall(text))
    bits = surprise(text)
    run = len(text) if text.isalnum() else max(map(len, _RUN.findall(text)), default=0)
    words = bits < _READABLE_BITS and switches < (1 if run >= _LONG_RUN else 2)
    if words and (letters or not near):
        return None
    identity = near and shapes.is_identity(text)
    if words and not identity:
        return None
    if identity and shapes.OPENPGP_ID.fullmatch(text) and context.names_fingerprint(token.start):
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
        path=shapes.is_path(text) or context.in_link(token.start),
    )


def _set_naming(features: Features, token: Token, context: Context) -> bool:
    """Set the naming of `features`; returns whether `token` is named a credential or can be one without a name."""
    if features.naming != UNNAMED:
        features.naming = context.naming(token.start, token.end)
    if features.naming != UNNAMED:
        return True
    if features.identity or features.length < _SHORTEST or context.follows_id_name(token.start):
        return False
    return not (context.is_code(token.start, token.end) or context.is_mailbox(token.start, token.end))


# A token with one of these shapes is not a secret, whatever its score.
_HARMLESS_SHAPES = (
    shapes.is_time,
    shapes.is_integrity,
    shapes.is_format_string,
    shapes.is_public,
    shapes.is_name,
    shapes.is_camel,
    shapes.is_host,
    shapes.is_alphabet,
    shapes.is_repeated,
)


def has_harmless_shape(text: str) -> bool:
    """Whether `text` has a shape that no secret has, whatever is said about it."""
    for has_shape in _HARMLESS_SHAPES:  # noqa: SIM110 - a generator takes longer
        if has_shape(text):
            return True
    return False


def passes(token: Token, features: Features) -> bool:
    """Whether `token` has a shape that no secret has."""
    text = token.sample
    if has_harmless_shape(text):
        return True
    if features.naming == UNNAMED and shapes.is_example(text):
        return True
    if features.surprise < shapes.RANDOM_BITS and shapes.is_placeholder(text, features.surprise):
        return True
    return _is_slug(token, features)


def _is_slug(token: Token, features: Features) -> bool:
    """Whether `token` is words with short parts between them; one that is assigned to a name may still be a key."""
    return features.naming != ASSIGNED and shapes.is_slug(token.sample)
