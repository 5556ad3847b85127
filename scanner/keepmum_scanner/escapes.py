r"""Characters that a text spells by their numbers, as JSON, programs and web pages do: `\u0067`, `\x67`, `&#103;`."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.normalise import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_ESCAPE = compiled(
    r"\\{1,4}x(?P<byte>[0-9A-Fa-f]{2})|\\{1,4}u(?:(?P<unit>[0-9A-Fa-f]{4})|\{(?P<point>[0-9A-Fa-f]{1,6})\})|"
    r"&#(?:x(?P<hexadecimal>[0-9A-Fa-f]{1,6})|(?P<decimal>[0-9]{1,7}));"
)
_KEY = "[A-Za-z0-9_.+/=~%-]"  # what keys are spelled with
_ANY = r"(?:\\{1,4}(?:x[0-9A-Fa-f]{2}|u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\}))|&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});)"
_RUN = compiled(rf"{_ANY}(?:{_KEY}{{0,64}}{_ANY})*{_KEY}{{0,64}}")
_BEFORE = compiled(rf"{_KEY}{{1,64}}$")
_SHORTEST = 12  # characters that a run says; an accent in a word hides nothing
_MOST = 1024  # spellings that are kept
_letters: dict[str, str] = {}  # by their spelling: a text says the same few many times


def spelled(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each run in `text` that has such spellings, and what it says."""
    for run in _RUN.finditer(text):
        before = _BEFORE.search(text, max(0, run.start() - 64), run.start())
        start = before.start() if before else run.start()
        said = _ESCAPE.sub(_letter, text[start : run.end()])
        plain = normalise(said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")).text
        if len(plain) >= _SHORTEST:  # of one character two halves have come together
            yield start, run.end(), plain


def _letter(match: re.Match[str]) -> str:
    spelling = match.group()
    letter = _letters.get(spelling)
    if letter is None:
        letter = _character(match)
        if len(_letters) < _MOST:
            _letters[spelling] = letter
    return letter


def _character(match: re.Match[str]) -> str:
    number = int(match[match.lastgroup or 0], 10 if match.lastgroup == "decimal" else 16)
    return chr(number) if number < 0x110000 else ""
