"""Short secrets that a sentence tells without calling them so, known by their spelling: "use dipPr16Gg! there"."""

from __future__ import annotations

from itertools import islice

from keepmum_scanner import shapes
from keepmum_scanner.decode import spells_text
from keepmum_scanner.expressions import compiled
from keepmum_scanner.score import THRESHOLD
from keepmum_scanner.suspect import FLOOD, crowd_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

_LONGEST = 32  # characters
_MOST = 3  # crowds of one sign that are looked at
_CONFIDENCE = 0.6  # that a word is a password
_SIGNED = "!@#$%^&*~_-"
_END = r"[.,;:)]*(?:[\s\"'`]|$)"  # of a word
# What people put into passwords, and seldom behind a letter else, in a word that goes on as they do. One fixed sign is
# found faster than any of nine; the group takes all that it can and gives nothing back.
_BEHIND_LETTER = rf"(?<=[A-Za-z0-9].)(?=(?P<rest>[A-Za-z0-9{_SIGNED}]{{0,{_LONGEST}}}))(?P=rest){_END}"
_SIGNS = {sign: compiled(rf"\{sign}{_BEHIND_LETTER}") for sign in "!#$&@^"}
_SIGNS["%"] = compiled(rf"%(?![0-9A-F]{{2}}){_BEHIND_LETTER}")  # an escape is in no password
_SIGNS.update({sign: compiled(rf"\{sign}(?=[A-Za-z0-9]){_BEHIND_LETTER}") for sign in "*~"})  # not those of Markdown
_BREAKS = "\n\t\"'`"
# Letters of both cases, digits and signs; what a link, a call or a sum has besides is in no such word.
_SPELLED = compiled(
    rf"(?=[A-Z0-9{_SIGNED}]*[a-z])(?=[a-z0-9{_SIGNED}]*[A-Z])(?=[A-Za-z{_SIGNED}]*[0-9])"
    rf"(?P<word>[A-Za-z0-9][A-Za-z0-9{_SIGNED}]{{7,31}}){_END}"
)
_SWITCHES = 2  # "Python3!" has one
# "action@v4", "repository#12", "a%20b", "HEAD~1", "x^2".
_CITED = compiled(r"@v?[0-9]+$|#[0-9]+$|[%~][0-9A-F]{2}|~[0-9]+$|\^[0-9]")

_DRAWN = compiled(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9]{12,15}")
_LONG = 16  # characters of a key that is scored however it stands
_KEY_SWITCHES = 3


def passwords(text: str) -> Iterator[Suspect]:
    """Suspects for words that are spelled as only passwords are."""
    suspects = 0
    seen = set()
    for start in _signed(text):
        if start not in seen:
            seen.add(start)
            match = _SPELLED.match(text, start)
            if match and (suspects >= FLOOD or _is_password(match["word"])):
                suspects += 1
                yield ("secret.password", start, match.end("word"), _CONFIDENCE)


def _signed(text: str) -> Iterator[int]:
    """Where the words begin that have one of the signs in them; a word with several comes as often."""
    spaced = ""
    for sign, behind_letter in _SIGNS.items():
        if sign in text:
            spaced = spaced or _spaced(text)
            for found in islice(behind_letter.finditer(text), _MOST * crowd_of(text)):
                start = spaced.rfind(" ", max(0, found.start() - _LONGEST), found.start()) + 1
                if start or found.start() < _LONGEST:
                    yield start


def _spaced(text: str) -> str:
    for sign in _BREAKS:
        text = text.replace(sign, " ")
    return text


def _is_password(word: str) -> bool:
    return len(shapes.SWITCH.findall(word)) >= _SWITCHES and _CITED.search(word) is None


def keys(found: Iterable[Token], context: Context) -> Iterator[Suspect]:
    """Suspects among the short tokens: drawn from letters of both cases and digits, and neither place nor id."""
    suspects = 0
    for token in found:
        if len(token.text) >= _LONG or _DRAWN.fullmatch(token.text) is None:
            continue
        if len(shapes.SWITCH.findall(token.text)) < _KEY_SWITCHES or context.is_near(token.start, token.end):
            continue
        if suspects >= FLOOD or is_key(token.text, token.start, context):
            suspects += 1
            yield ("secret.unnamed", token.start, token.end, THRESHOLD)


def is_key(token: str, start: int, context: Context) -> bool:
    """Whether a short `token` that is drawn, and that no credential word stands near, is no place, name or text."""
    if context.is_told_apart(start) or context.in_link(start) or context.named_id(start):
        return False
    if shapes.is_marked(token) or shapes.is_layout(token):
        return False
    return not (shapes.is_camel(token) or shapes.is_identity(token) or spells_text(token))
