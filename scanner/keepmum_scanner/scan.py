"""The one door: text in, findings out."""

from __future__ import annotations

from itertools import repeat

from keepmum_scanner import assignment, doors, phrases, prefixes, scored, spoken, structure, unnamed
from keepmum_scanner.context import ASSIGNED, Context
from keepmum_scanner.decode import decoded, unescaped
from keepmum_scanner.expressions import compiled
from keepmum_scanner.finding import Finding
from keepmum_scanner.normalise import normalise
from keepmum_scanner.suspect import FLOOD, STATED, merged
from keepmum_scanner.tokens import Token, crowd_begins, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Callable

    from keepmum_scanner.pem import Block
    from keepmum_scanner.suspect import Suspect

_made = tuple.__new__  # what `Finding` calls: a dump has thousands
_LINES, _WIDTH = 4, 60  # of a file in base64: its lines at least, and their characters
_LOGIN = compiled(r"[\w.@+-]{1,64}:(?!//)\S{3}")  # "user:password", of which "auth" holds the base64
_BODY_LINE = compiled(r"\n[ \t>]{0,8}[A-Za-z0-9+/]{60}")
_BETWEEN = "\n\0\n"  # no expression of a rule reaches across, and no text holds it once it is normalised


def scan(text: str, key: bytes | Callable[[], bytes] | None = None) -> list[Finding]:
    """Findings in `text`, in order and not overlapping; with `key` each carries a fingerprint.

    The same secret has the same fingerprint under the same key, whatever invisible characters were put into it. A key
    that costs something to get may come as a function, which is called when something was found.
    """
    view = normalise(text)
    suspects = merged(_suspects(view.text))
    if not suspects:
        return []
    key = key() if callable(key) else key
    prints = [_fingerprint(view.text[start:end], key) for _, start, end, _ in suspects] if key else repeat("")
    places = view.origin_spans([(start, end) for _, start, end, _ in suspects])
    return [
        _made(Finding, (rule, start, end, confidence, print_))
        for (rule, _, _, confidence), (start, end), print_ in zip(suspects, places, prints)
    ]


def _fingerprint(secret: str, key: bytes) -> str:
    from keepmum_scanner.fingerprint import fingerprint  # a module that a scan without a key does not need

    return fingerprint(secret, key)


def _suspects(text: str) -> list[Suspect]:
    context = Context(text)
    cut = tokens(text)
    context.crowd_begins = crowd_begins(cut, text)
    found = _open(cut, context.blocks)
    more = _bodies(found, context)
    found = _open(found, more)
    context.blocks = sorted(context.blocks + more, key=lambda block: block.start) if more else context.blocks
    coded = [*found, *_coded(context)]
    stated = [*_stated(context, found), *_encoded(coded, context)]
    stated += _halves(text, stated)
    suspects = [*stated, *unnamed.passwords(text), *unnamed.keys(found, context)]
    suspects += scored.find(found, context, {(start, end) for _, start, end, _ in stated})
    if context.crowd_begins is not None:
        from keepmum_scanner import crowd  # here and below: a module that few texts need

        ends = {start: end for _, start, end, _ in stated}
        plain = {token.start: token.plain for token in coded if token.plain}
        suspects += crowd.find(context, context.crowd_begins, ends, plain)
    return suspects


def _coded(context: Context) -> Iterable[Token]:
    """The tokens of a crowd that may encode a text."""
    if context.crowd_begins is None:
        return ()
    from keepmum_scanner import crowd

    return crowd.encoded(context, context.crowd_begins)


def _bodies(found: list[Token], context: Context) -> list[Block]:
    """The files in lines of base64 that `found` makes likely."""
    few = len(found) < _LINES or sum(len(token.text) >= _WIDTH for token in found) < _LINES
    if few and (context.crowd_begins is None or _BODY_LINE.search(context.text, context.crowd_begins) is None):
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
        *prefixes.find(found, context),
        *assignment.find(context),
        *phrases.find(context),
        *spoken.find(context),
        *doors.find(context),
        *_tabled(context),
    ]


def _halves(text: str, suspects: list[Suspect]) -> Iterator[Suspect]:
    """Keys whose public half is among `suspects`."""
    ids = [suspect for suspect in suspects if suspect[0] == "aws.access-key"]
    if ids:
        from keepmum_scanner import halves  # a module that few texts need

        yield from halves.find(text, ids)


def _tabled(context: Context) -> Iterator[Suspect]:
    """Suspects in tables, for which a text needs a credential's name and more than one line."""
    if not context.mentions or "\n" not in context.text:
        return
    from keepmum_scanner import tables  # a module that few texts need

    yield from tables.find(context)


def _decode(found: list[Token], most: int) -> None:
    """Note what each token encodes; of a crowd in base64 the first `most`: its look says the same of the others."""
    escaped = [token for token in found if "%" in token.text]
    if escaped:
        for token, plain in zip(escaped, unescaped([token.text for token in escaped])):
            token.plain = plain if plain != token.text else None
    for token in found:
        if "%" not in token.text:
            token.plain = decoded(token.text)
            most -= token.plain is not None
            if most <= 0:
                return


def _encoded(found: list[Token], outer: Context) -> Iterator[Suspect]:
    """Tokens that state a secret once their encoding is undone; how an encoded text looks is nothing to go by.

    What they say is judged as one text, each on a line of its own: a judgement has its price, however short the text.
    """
    _decode(found, outer.crowd)
    speaking = [*((token, token.plain) for token in found if token.plain), *_spelled(outer.text)]
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
    if outer.crowd_begins is not None:
        context.crowd = FLOOD  # what stands in a crowd is looked at less closely, encoded or not
    suspects = _stated(context, [Token(text, 0)])
    outer.looks = context.looks
    for rule, start, _, confidence in suspects:
        token = speaking[bisect_right(starts, start) - 1][0]
        yield (rule, token.start, token.end, confidence)


def _spelled(text: str) -> Iterator[tuple[Token, str]]:
    """The runs of `text` that spell characters by their numbers, each with what it says."""
    if not any(mark in text for mark in ("\\x", "\\u", "&#")):
        return
    from keepmum_scanner.escapes import spelled  # a module that few texts need

    for start, end, plain in spelled(text):
        yield Token(text[start:end], start), plain
