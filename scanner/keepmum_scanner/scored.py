"""Tokens that no fact names, judged by spelling and surroundings."""

from __future__ import annotations

import re

from keepmum_scanner import shapes
from keepmum_scanner.context import UNNAMED, Context
from keepmum_scanner.decode import is_text
from keepmum_scanner.score import THRESHOLD, Features, by_hand
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.score import Scorer
    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

_RUN = re.compile(r"[A-Za-z0-9]+")
_SWITCH = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_SHORTEST = 16  # characters of a token that gives itself away without a name
_LONG = 15  # letters and digits in one stretch
_READABLE = 5.0  # bits; below this and with at most one change of kind a token is words, whatever stands beside it


def find(found: Iterable[Token], context: Context, scorer: Scorer = by_hand) -> Iterator[Suspect]:
    """Suspects among the tokens of one text."""
    for whole in found:
        token = _behind_name(whole, context)
        features = measure(token, context)
        if features is None or _passes(token.text):
            continue
        confidence = scorer(features)
        if confidence >= THRESHOLD:
            rule = "secret.unnamed" if features.naming == UNNAMED else "secret.named"
            yield (rule, token.start, token.end, confidence)


def _behind_name(token: Token, context: Context) -> Token:
    """The part of `token` that a credential word inside it names ("deploy-key-…"), or `token` itself."""
    end = context.mention_inside(token.start, token.end - _LONG)
    return token if end < 0 else token.behind(end - token.start)


def measure(token: Token, context: Context) -> Features | None:
    """The features of `token`; None for words, which are most of any text, and for what nothing calls a credential."""
    text = token.text
    bits = surprise(text)
    switches = len(_SWITCH.findall(text))
    run = max(map(len, _RUN.findall(text)), default=0)
    identity = shapes.is_identity(text)
    if bits < _READABLE and not identity and switches < (1 if run >= _LONG else 2):
        return None
    naming = context.naming(token.start, token.end)
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


_GUARDS = (shapes.is_integrity, shapes.is_public, shapes.is_name, shapes.is_camel, shapes.is_placeholder, is_text)


def _passes(token: str) -> bool:
    return any(guard(token) for guard in _GUARDS)
