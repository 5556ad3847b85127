"""Short secrets that a sentence tells without calling them so, known by their spelling: "use dipPr16Gg! there"."""

from __future__ import annotations

from itertools import islice

from keepmum_scanner import shapes
from keepmum_scanner.decode import spells_text
from keepmum_scanner.expressions import compiled
from keepmum_scanner.score import THRESHOLD
from keepmum_scanner.suspect import FLOOD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

_LONGEST = 32  # characters
_CROWD, _CROWD_EACH = 256, 64  # signs that are looked at, and characters of a text that add one
_CONFIDENCE = 0.6  # that a word is a password
# What people put into passwords, and seldom behind a letter else. One fixed sign is found faster than any of nine.
_SIGNS = {sign: compiled(rf"\{sign}(?<=[A-Za-z0-9].)") for sign in "!#$%&@^"}
_SIGNS.update(
    {sign: compiled(rf"\{sign}(?<=[A-Za-z0-9].)(?=[A-Za-z0-9])") for sign in "*~"}
)  # not those that Markdown sets
_BREAKS = " \n\t\"'`"
_REST = compiled(rf"[^\s\"'`]{{0,{_LONGEST + 1}}}")
_CLOSING = ".,;:)"
# Letters of both cases, digits and signs; what a link, a call or a sum has besides is in no such word.
_SPELLED = compiled(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[A-Za-z0-9][A-Za-z0-9!@#$%^&*~_-]{7,31}")
_SWITCH = compiled(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_SWITCHES = 2  # "Python3!" has one
# "action@v4", "repository#12", "a%20b", "HEAD~1", "x^2".
_CITED = compiled(r"@v?[0-9]+$|#[0-9]+$|[%~][0-9A-F]{2}|~[0-9]+$|\^[0-9]")

_DRAWN = compiled(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9]{12,15}")
_LONG = 16  # characters of a key that is scored however it stands
_KEY_SWITCHES = 3


def passwords(text: str) -> Iterator[Suspect]:
    """Suspects for words that are spelled as only passwords are."""
    for sign, behind_letter in _SIGNS.items():
        if sign in text:
            for found in islice(behind_letter.finditer(text), _CROWD + len(text) // _CROWD_EACH):
                start, word = _word_at(text, found.start())
                if _is_password(word):
                    yield ("secret.password", start, start + len(word), _CONFIDENCE)


def _word_at(text: str, place: int) -> tuple[int, str]:
    """Start and characters of the word around `place`, of one that is too long a piece that is too long as well."""
    first = max(0, place - _LONGEST)
    start = max(max(text.rfind(one, first, place) for one in _BREAKS) + 1, first)
    rest = _REST.match(text, place)
    assert rest is not None  # the expression also matches nothing
    return start, text[start : rest.end()].rstrip(_CLOSING)


def _is_password(word: str) -> bool:
    if _SPELLED.fullmatch(word) is None:
        return False
    return len(_SWITCH.findall(word)) >= _SWITCHES and _CITED.search(word) is None


def keys(found: Iterable[Token], context: Context) -> Iterator[Suspect]:
    """Suspects among the short tokens: drawn from letters of both cases and digits, and neither place nor id."""
    suspects = 0
    for token in found:
        if len(token.text) >= _LONG or _DRAWN.fullmatch(token.text) is None:
            continue
        if len(_SWITCH.findall(token.text)) >= _KEY_SWITCHES and (suspects >= FLOOD or _is_key(token, context)):
            suspects += 1
            yield ("secret.unnamed", token.start, token.end, THRESHOLD)


def _is_key(token: Token, context: Context) -> bool:
    if context.is_near(token.start, token.end):
        return False
    if context.is_told_apart(token.start) or context.in_link(token.start) or context.named_id(token.start):
        return False
    if shapes.is_marked(token.text):
        return False
    return not (shapes.is_camel(token.text) or shapes.is_identity(token.text) or spells_text(token.text))
