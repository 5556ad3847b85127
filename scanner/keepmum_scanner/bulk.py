"""The rough check for the rest of a text that has more tokens than can be judged one by one.

It applies expressions to the text itself, at a tenth of the cost of `scored_tokens`, and prefers false alarms to missed
secrets: a token whose letters and digits alternate is a candidate unless it has the shape of a name, digest or path.
"""

from __future__ import annotations

from keepmum_scanner import bare_tokens, shapes
from keepmum_scanner.candidates import DUMP_SIZE
from keepmum_scanner.context import MARKER_CHARACTERS
from keepmum_scanner.decode import BASE64, HEXADECIMAL
from keepmum_scanner.expressions import compiled
from keepmum_scanner.scorer import THRESHOLD
from keepmum_scanner.surprise import surprise
from keepmum_scanner.tokens import CHARACTER, LONGEST, MINIMUM, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

_ALTERNATING = "(?:[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9])"
_ALTERNATING_MORE = "(?:[A-Za-z]+[0-9]+[A-Za-z]+[0-9]|[0-9]+[A-Za-z]+[0-9]+[A-Za-z])"
# Each expression begins with the delimiter before a token: `re` finds it fast and tries the rest only there.
_BEFORE = "[^A-Za-z0-9_+/.~%-][+/.~%-]*"
# A token with an alphanumeric part in which letters and digits alternate.
_TOKEN = compiled(
    rf"{_BEFORE}(?=(?P<token>{CHARACTER}{{11,}}[A-Za-z0-9_+/~%-]))"
    rf"(?:[A-Za-z]*(?:[0-9]+[A-Za-z]*)?[_+/.~%-])*?{_ALTERNATING}"
)
# An alphanumeric part that is neither digest nor commit. Group "maybe": a name with one number matches too.
_KEY_PART = compiled(
    "(?<![A-Za-z0-9])(?=[A-Za-z0-9]{16})(?!(?:[0-9a-f]+|[0-9A-F]+)(?![A-Za-z0-9]))"
    f"(?:{_ALTERNATING_MORE}|(?P<maybe>{_ALTERNATING}))"
)
_RANDOM = compiled(f"(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z]){_ALTERNATING_MORE}[A-Za-z0-9]*")
_SHORT = 16  # characters; a shorter token needs a credential word near it, or both cases and digits
# Percent-encoded text, an even number of hexadecimal digits, or base64.
_ENCODED = compiled(
    rf"{_BEFORE}(?P<token>{HEXADECIMAL}(?!{CHARACTER})|{BASE64}(?!{CHARACTER})|[A-Za-z0-9_+/.~-]*%{CHARACTER}+)"
)
_SLASHES = 2  # of a path


def find(context: Context, first: int, explicit: Mapping[int, int], plain: Mapping[int, str]) -> Iterator[Candidate]:
    """Candidates from `first` on; near a credential word fewer tokens are excluded.

    Args:
        context: the text.
        first: where the bulk begins.
        explicit: the end of each explicit candidate by its start; a token within one is skipped.
        plain: the decoded text of tokens by their start; they are judged by that.
    """
    candidates = 0
    for match in context.matches(_TOKEN, first):
        begin, end = match.span("token")
        token = match["token"]
        start = begin - 1
        if explicit.get(start, 0) >= end - 1:
            continue
        if start in plain:
            token = plain[start][:LONGEST]
            if compiled(_ALTERNATING).search(token) is None:
                continue
        in_dump = candidates >= DUMP_SIZE  # then the checks that could clear a token are skipped
        if context.is_near(start, end):
            is_clear = token.count("/") >= _SLASHES and _KEY_PART.search(token) is None
        elif len(token) < _SHORT:
            is_clear = _RANDOM.fullmatch(token) is None or not (in_dump or bare_tokens.is_key(token, start, context))
        else:
            is_clear = _is_no_key(token, start, context, in_dump=in_dump)
        if is_clear or (match.string[start] in MARKER_CHARACTERS and context.follows_public_marker(start)):
            continue
        if token.isalnum() or not shapes.is_integrity(token):
            candidates += 1
            yield ("secret.unnamed", start, end - 1, THRESHOLD)


def _is_no_key(token: str, start: int, context: Context, *, in_dump: bool) -> bool:
    """Whether a token without a credential word near it is a name, an id or a path, or has no part like a key."""
    part = _KEY_PART.search(token)
    if part is None or in_dump:
        return part is None
    if part.lastgroup and surprise(token) < shapes.WORD_BITS:
        return True
    return (
        shapes.is_identity(token) or shapes.is_path(token) or context.in_link(start) or context.follows_id_name(start)
    )


def encoded(context: Context, start: int) -> Iterator[Token]:
    """The tokens from `start` on that may encode a text."""
    for match in context.matches(_ENCODED, start):
        token = match["token"].rstrip(".")
        if len(token) >= MINIMUM:
            yield Token(token, match.start("token") - 1)
