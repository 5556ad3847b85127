"""Scans a text for secrets: `scan` runs all detectors and returns findings."""

from __future__ import annotations

from itertools import repeat

from keepmum_scanner import (
    assignment,
    bare_tokens,
    by_place,
    login_prompts,
    phrases,
    prefixes,
    scored_tokens,
    seed_phrases,
    sentences,
    structure,
    verdict,
)
from keepmum_scanner.candidates import DUMP_SIZE, EXPLICIT, merged
from keepmum_scanner.context import ASSIGNED, Context
from keepmum_scanner.decode import decoded, escaped_runs, percent_decoded
from keepmum_scanner.expressions import compiled
from keepmum_scanner.finding import Finding, fingerprint
from keepmum_scanner.normalise import normalise
from keepmum_scanner.tokens import Token, bulk_start, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Callable

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.pem import Block

_new = tuple.__new__  # skips `Finding.__new__`: a dump has thousands of findings
_BLOCK_LINES, _BLOCK_WIDTH = 4, 60  # of a base64 block, at least
_LOGIN = compiled(r"[\w.@+-]{1,64}:(?!//)\S{3}")  # "user:password", which the value of "auth" encodes
_BLOCK_LINE = compiled(r"\n[ \t>]{0,8}[A-Za-z0-9+/]{60}")
_BETWEEN = "\n\0\n"  # no expression matches across it, and no normalised text contains it


def scan(text: str, key: bytes | Callable[[], bytes] | None = None) -> list[Finding]:
    """Findings in `text`, in order and without overlap; with `key` each has a fingerprint.

    The same secret has the same fingerprint under the same key, even when invisible characters were inserted. A key
    that is expensive to get may be a function, which is called only when there is a finding.
    """
    view = normalise(text)
    candidates = _candidates(view.text)
    if not candidates:
        return []
    key = key() if callable(key) else key
    prints = [fingerprint(view.text[start:end], key) for _, start, end, _ in candidates] if key else repeat("")
    spans = view.origin_spans([(start, end) for _, start, end, _ in candidates])
    return [
        _new(Finding, (rule, start, end, confidence, print_))
        for (rule, _, _, confidence), (start, end), print_ in zip(candidates, spans, prints)
    ]


def _candidates(text: str) -> list[Candidate]:
    context, certain, proposed = candidates_of(text)
    return merged([*certain, *verdict.judged(certain, proposed, context)])


def candidates_of(text: str) -> tuple[Context, list[Candidate], list[Candidate]]:
    """The certain candidates of a normalised text, and those that the second stage judges.

    Certain are formats, and detectors that refused no text of any source without a secret. What is encoded is not
    spelled like what it encodes, and in the rest of a text with a bulk of tokens there is too much to judge.
    """
    context = Context(text)
    all_tokens = tokens(text)
    context.bulk_start = bulk_start(all_tokens, text)
    found = _outside(all_tokens, context.blocks)
    blocks = _base64_blocks(found, context)
    found = _outside(found, blocks)
    context.blocks = sorted(context.blocks + blocks, key=lambda block: block.start) if blocks else context.blocks
    maybe_encoded = found
    if context.bulk_start is not None:
        from keepmum_scanner import bulk  # few texts need it, as with the imports below

        maybe_encoded = [*found, *bulk.encoded(context, context.bulk_start)]
    certain, proposed = _explicit(context, found)
    encoded = list(_decoded_candidates(maybe_encoded, context))
    certain += [*encoded, *bare_tokens.passwords(text), *bare_tokens.keys(found, context)]
    explicit = [*certain, *proposed]
    certain += prefixes.aws_secret_keys(text, [one for one in explicit if one[0] == "aws.access-key"])
    proposed += scored_tokens.find(found, context, {(start, end) for _, start, end, _ in explicit})
    if context.bulk_start is not None:
        from keepmum_scanner import bulk

        ends = {start: end for _, start, end, _ in explicit}
        plain = {token.start: token.plain for token in maybe_encoded if token.plain}
        certain += bulk.find(context, context.bulk_start, ends, plain)
    return context, certain, proposed


def _base64_blocks(found: list[Token], context: Context) -> list[Block]:
    """The base64 blocks of a text; searched for only when it has enough long tokens."""
    few = len(found) < _BLOCK_LINES or sum(len(token.text) >= _BLOCK_WIDTH for token in found) < _BLOCK_LINES
    if few and (context.bulk_start is None or _BLOCK_LINE.search(context.text, context.bulk_start) is None):
        return []
    from keepmum_scanner.base64_blocks import base64_blocks

    return base64_blocks(context)


def _outside(found: list[Token], blocks: list[Block]) -> list[Token]:
    """The tokens outside of all `blocks`, which are judged as a whole."""
    if not blocks:
        return found
    from bisect import bisect_right

    starts = [block.start for block in blocks]
    ends = [0, *(block.end for block in blocks)]
    return [token for token in found if token.start >= ends[bisect_right(starts, token.start)]]


def _explicit(context: Context, found: list[Token]) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates by a structure, a provider's prefix or a name that is assigned a value: certain ones and others."""
    text = context.text
    certain = [
        *[("private-key", block.start, block.end, 0.99) for block in context.blocks if block.private],
        *structure.find(text),
        *prefixes.find(found, context),
        *login_prompts.find(context),
    ]
    proposed = [*assignment.find(context), *phrases.find(context), *sentences.find(context)]
    if not context.is_rough:  # the tokens in the decoded text of a dump are found already
        if by_place.may_name_values(context):
            from keepmum_scanner import named_values

            proposed += named_values.find(context, [*certain, *proposed])
        certain += _by_place(context)
    if "stringData:" in text or "kind: Secret" in text:
        from keepmum_scanner import kubernetes_secrets

        certain += kubernetes_secrets.find(context)
    if context.credential_words and ("<td" in text or "<dd" in text):
        from keepmum_scanner import html_cells

        certain += html_cells.find(context)
    if context.credential_words and "\n" in text:
        from keepmum_scanner import tables

        certain += tables.find(context)
    return certain, proposed


def _by_place(context: Context) -> Iterator[Candidate]:
    """Candidates at places that certain words announce."""
    if by_place.may_have_commands(context):
        from keepmum_scanner import command_values

        yield from command_values.find(context)
    if by_place.may_have_pins(context):
        from keepmum_scanner import pins

        yield from pins.find(context)
    if by_place.may_have_codes(context):
        from keepmum_scanner import recovery_codes

        yield from recovery_codes.find(context)
    yield from seed_phrases.find(context)


def _decode(found: list[Token], limit: int) -> None:
    """Set `plain` of each token that encodes a text; in base64 of at most `limit`, the rest gets the rough check."""
    escaped = [token for token in found if "%" in token.text]
    if escaped:
        for token, plain in zip(escaped, percent_decoded([token.text for token in escaped])):
            token.plain = plain if plain != token.text else None
    for token in found:
        if "%" not in token.text:
            token.plain = decoded(token.text)
            limit -= token.plain is not None
            if limit <= 0:
                return


def _decoded_candidates(found: list[Token], outer: Context) -> Iterator[Candidate]:
    """Explicit candidates within the decoded text of tokens; the spelling of decoded text is not judged.

    All decoded texts are scanned as one, each on a line of its own, since a scan has a fixed cost.
    """
    _decode(found, outer.case_limit)
    encoded = [*((token, token.plain) for token in found if token.plain), *_escaped(outer.text)]
    if not encoded:
        return
    for token, plain in encoded:
        if "%" not in token.text and _LOGIN.match(plain) and outer.naming(token.start, token.end) == ASSIGNED:
            yield ("http.basic", token.start, token.end, EXPLICIT)
    from bisect import bisect_right
    from itertools import accumulate

    text = _BETWEEN.join([plain for _, plain in encoded])
    starts = list(accumulate((len(plain) + len(_BETWEEN) for _, plain in encoded), initial=0))
    context = Context(text)
    context.checks_left = min(context.checks_left, outer.checks_left)
    if outer.bulk_start is not None:
        context.is_rough = True
        context.case_limit = DUMP_SIZE  # fewer cases of a text with a bulk are checked, encoded or not
    certain, proposed = _explicit(context, [Token(text, 0)])
    outer.checks_left = context.checks_left
    for rule, start, _, confidence in [*certain, *proposed]:
        token = encoded[bisect_right(starts, start) - 1][0]
        yield (rule, token.start, token.end, confidence)


def _escaped(text: str) -> Iterator[tuple[Token, str]]:
    """The runs of `text` that contain escapes, each with its decoded text."""
    if any(mark in text for mark in ("\\x", "\\u", "&#")):
        for start, end, plain in escaped_runs(text):
            yield Token(text[start:end], start), plain
