"""Tokens that no fact names, judged by spelling and surroundings."""

from __future__ import annotations

import re

from keepmum_scanner import shapes
from keepmum_scanner.context import UNNAMED, Context
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
_READABLE = 5.0  # bits; below this and with few changes of kind a token is words, whatever stands beside it


def find(found: Iterable[Token], context: Context, scorer: Scorer = by_hand) -> Iterator[Suspect]:
    """Suspects among the tokens of one text."""
    for token in found:
        if _passes(token.text):
            continue
        features = measure(token, context)
        confidence = 0.0 if features is None else scorer(features)
        if features is not None and confidence >= THRESHOLD:
            rule = "secret.unnamed" if features.naming == UNNAMED else "secret.named"
            yield (rule, token.start, token.end, confidence)


def measure(token: Token, context: Context) -> Features | None:
    """The features of `token`; None for what reads as words, which is most of any text."""
    bits = surprise(token.text)
    identity = shapes.is_identity(token.text)
    run = max(_RUN.findall(token.text), key=len)
    switches = len(_SWITCH.findall(run))
    if bits < _READABLE and switches < 3 and not identity:
        return None
    return Features(
        surprise=bits,
        length=len(token.text),
        run=len(run),
        switches=switches,
        naming=context.naming(token.start, token.end),
        identity=identity,
        in_link=context.in_link(token.start) or ("/" in token.text and "." in token.text.split("/", 1)[0]),
    )


def _passes(token: str) -> bool:
    return shapes.is_integrity(token) or shapes.is_public(token) or shapes.is_placeholder(token)
