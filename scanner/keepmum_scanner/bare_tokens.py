"""Finds short secrets that the text does not call a secret, by their spelling: "use dipPr16Gg! there"."""

from __future__ import annotations

from itertools import islice

from keepmum_scanner import shapes
from keepmum_scanner.candidates import DUMP_SIZE, case_limit
from keepmum_scanner.decode import encodes_text
from keepmum_scanner.expressions import compiled
from keepmum_scanner.scorer import THRESHOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context
    from keepmum_scanner.tokens import Token

_LONGEST = 32  # characters
_CHECKED = 3  # times `case_limit` occurrences of one symbol are checked
_CONFIDENCE = 0.6  # in a password
_SYMBOLS = "!@#$%^&*~_-"
_END = r"[.,;:)]*(?:[\s\"'`]|$)"  # of a word
# A symbol that passwords contain, after a letter or digit and inside one word. Searching for one fixed symbol at a time
# is faster than for any of nine; the group is possessive, so that matching does not backtrack.
_INSIDE_WORD = rf"(?<=[A-Za-z0-9].)(?=(?P<rest>[A-Za-z0-9{_SYMBOLS}]{{0,{_LONGEST}}}))(?P=rest){_END}"
_BY_SYMBOL = {symbol: compiled(rf"\{symbol}{_INSIDE_WORD}") for symbol in "!#$&@^"}
_BY_SYMBOL["%"] = compiled(rf"%(?![0-9A-F]{{2}}){_INSIDE_WORD}")  # not a percent-encoded character
_BY_SYMBOL.update({symbol: compiled(rf"\{symbol}(?=[A-Za-z0-9]){_INSIDE_WORD}") for symbol in "*~"})  # not Markdown
_BREAKS = "\n\t\"'`"
# Letters of both cases, digits and symbols, without the punctuation of links, calls and sums.
_PASSWORD = compiled(
    rf"(?=[A-Z0-9{_SYMBOLS}]*[a-z])(?=[a-z0-9{_SYMBOLS}]*[A-Z])(?=[A-Za-z{_SYMBOLS}]*[0-9])"
    rf"(?P<word>[A-Za-z0-9][A-Za-z0-9{_SYMBOLS}]{{7,31}}){_END}"
)
_SWITCHES = 2  # "Python3!" has one
# "action@v4", "repository#12", "a%20b", "HEAD~1", "x^2".
_NO_PASSWORD = compiled(r"@v?[0-9]+$|#[0-9]+$|[%~][0-9A-F]{2}|~[0-9]+$|\^[0-9]")

_SHORT_KEY = compiled(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9]{12,15}")
_SCORED = 16  # characters from which a token is scored instead
_KEY_SWITCHES = 3


def passwords(text: str) -> Iterator[Candidate]:
    """Candidates for words that are spelled as only passwords are."""
    candidates = 0
    seen = set()
    for start in _words_with_symbol(text):
        if start not in seen:
            seen.add(start)
            match = _PASSWORD.match(text, start)
            if match and (candidates >= DUMP_SIZE or _is_password(match["word"])):
                candidates += 1
                yield ("secret.password", start, match.end("word"), _CONFIDENCE)


def _words_with_symbol(text: str) -> Iterator[int]:
    """Where the words begin that contain a symbol, once for each symbol."""
    spaced = ""
    for symbol, inside_word in _BY_SYMBOL.items():
        if symbol in text:
            spaced = spaced or _spaced(text)
            for found in islice(inside_word.finditer(text), _CHECKED * case_limit(text)):
                start = spaced.rfind(" ", max(0, found.start() - _LONGEST), found.start()) + 1
                if start or found.start() < _LONGEST:
                    yield start


def _spaced(text: str) -> str:
    for character in _BREAKS:
        text = text.replace(character, " ")
    return text


def _is_password(word: str) -> bool:
    return len(shapes.SWITCH.findall(word)) >= _SWITCHES and _NO_PASSWORD.search(word) is None


def keys(tokens: Iterable[Token], context: Context) -> Iterator[Candidate]:
    """Candidates for short random `tokens` without a credential word near them."""
    candidates = 0
    for token in tokens:
        if len(token.text) >= _SCORED or _SHORT_KEY.fullmatch(token.text) is None:
            continue
        if len(shapes.SWITCH.findall(token.text)) < _KEY_SWITCHES or context.is_near(token.start, token.end):
            continue
        if candidates >= DUMP_SIZE or is_key(token.text, token.start, context):
            candidates += 1
            yield ("secret.unnamed", token.start, token.end, THRESHOLD)


def is_key(token: str, start: int, context: Context) -> bool:
    """Whether a short random `token` is not a path, id, name or encoded text."""
    if context.follows_public_marker(start) or context.in_link(start) or context.follows_id_name(start):
        return False
    if shapes.is_example(token) or shapes.is_format_string(token):
        return False
    return not (shapes.is_camel(token) or shapes.is_identity(token) or encodes_text(token))
