"""The one door: text in, findings out."""

from __future__ import annotations

from keepmum_scanner import assignment, doors, phrases, prefixes, scored, spoken, structure, unnamed
from keepmum_scanner.context import ASSIGNED, Context
from keepmum_scanner.decode import decoded
from keepmum_scanner.expressions import compiled
from keepmum_scanner.finding import Finding
from keepmum_scanner.normalise import normalise
from keepmum_scanner.suspect import STATED, merged
from keepmum_scanner.tokens import Token, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Callable

    from keepmum_scanner.pem import Block
    from keepmum_scanner.suspect import Suspect

_LINES, _WIDTH = 4, 60  # of a file in base64: its lines at least, and their characters
_LOGIN = compiled(r"[\w.@+-]{1,64}:(?!//)\S{3}")  # "user:password", of which "auth" holds the base64
_BETWEEN = "\n\0\n"  # no expression of a rule reaches across, and no text holds it once it is normalised


def scan(text: str, key: bytes | Callable[[], bytes] | None = None) -> list[Finding]:
    """Findings in `text`, in order and not overlapping; with `key` each carries a fingerprint.

    The same secret has the same fingerprint under the same key, whatever invisible characters were put into it. A key
    that costs something to get may come as a function, which is called when something was found.
    """
    view = normalise(text)
    findings = []
    for rule, start, end, confidence in merged(_suspects(view.text)):
        key = key() if callable(key) else key
        print_ = _fingerprint(view.text[start:end], key) if key else ""
        findings.append(Finding(rule, *view.origin_span(start, end), confidence, print_))
    return findings


def _fingerprint(secret: str, key: bytes) -> str:
    from keepmum_scanner.fingerprint import fingerprint  # a module that a scan without a key does not need

    return fingerprint(secret, key)


def _suspects(text: str) -> list[Suspect]:
    context = Context(text)
    found = _open(tokens(text), context.blocks)
    more = _bodies(found, context)
    found = _open(found, more)
    context.blocks += more
    stated = [*_stated(context, found), *_encoded(found, context)]
    scores = scored.find(found, context, {(start, end) for _, start, end, _ in stated})
    return [*stated, *unnamed.passwords(text), *unnamed.keys(found, context), *scores]


def _bodies(found: list[Token], context: Context) -> list[Block]:
    """The files in lines of base64 that `found` makes likely."""
    if len(found) < _LINES or sum(len(token.text) >= _WIDTH for token in found) < _LINES:
        return []
    from keepmum_scanner.bodies import bodies  # a module that few texts need

    return bodies(context)


def _open(found: list[Token], blocks: list[Block]) -> list[Token]:
    """The tokens that lie outside of every block: the lines inside are judged together."""
    if not blocks:
        return found
    from bisect import bisect_right  # here and below: a library of its own, and few texts come so far

    starts = [block.start for block in blocks]
    ends = [0, *(block.end for block in blocks)]
    return [token for token in found if token.start >= ends[bisect_right(starts, token.start)]]


def _stated(context: Context, found: list[Token]) -> list[Suspect]:
    """Suspects that the text itself states: by a structure, a provider's prefix, or a name that is given a value."""
    text = context.text
    return [
        *[("private-key", block.start, block.end, 0.99) for block in context.blocks if block.private],
        *structure.find(text),
        *prefixes.find(found, text),
        *assignment.find(context),
        *phrases.find(context),
        *spoken.find(context),
        *doors.find(context),
        *_tabled(context),
    ]


def _tabled(context: Context) -> Iterator[Suspect]:
    """Suspects in tables, for which a text needs a credential's name and more than one line."""
    if not context.mentions or "\n" not in context.text:
        return
    from keepmum_scanner import tables  # a module that few texts need

    yield from tables.find(context)


def _encoded(found: list[Token], outer: Context) -> Iterator[Suspect]:
    """Tokens that state a secret once their encoding is undone; how an encoded text looks is nothing to go by.

    What they say is judged as one text, each on a line of its own: a judgement has its price, however short the text.
    """
    left = outer.crowd
    for token in found:
        if (
            left or "%" in token.text
        ):  # the look of a crowd says what a secret in base64 is as well, of other codes less
            token.plain = decoded(token.text)
            left -= token.plain is not None and "%" not in token.text
    speaking = [(token, token.plain) for token in found if token.plain]
    if not speaking:
        return
    for token, plain in speaking:
        if "%" not in token.text and _LOGIN.match(plain) and outer.naming(token.start, token.end) == ASSIGNED:
            yield ("http.basic", token.start, token.end, STATED)
    from bisect import bisect_right
    from itertools import accumulate

    text = _BETWEEN.join([plain for _, plain in speaking])
    starts = list(accumulate((len(plain) + len(_BETWEEN) for _, plain in speaking), initial=0))
    context = Context(text)
    context.looks = min(context.looks, outer.looks)
    suspects = _stated(context, [Token(text, 0)])
    outer.looks = context.looks
    for rule, start, _, confidence in suspects:
        token = speaking[bisect_right(starts, start) - 1][0]
        yield (rule, token.start, token.end, confidence)
