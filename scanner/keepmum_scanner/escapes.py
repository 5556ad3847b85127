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
_BETWEEN = compiled(r"[A-Za-z0-9_.+/=~%-]{0,64}")  # what keys are spelled with
_BEFORE = compiled(r"[A-Za-z0-9_.+/=~%-]{1,64}$")
_SHORTEST = 12  # characters that a run says; an accent in a word hides nothing


def spelled(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each run in `text` that has such spellings, and what it says."""
    run: list[re.Match[str]] = []
    for match in _ESCAPE.finditer(text):
        if run and not _BETWEEN.fullmatch(text, run[-1].end(), match.start()):
            yield from _said(text, run)
            run = []
        run.append(match)
    if run:
        yield from _said(text, run)


def _said(text: str, run: list[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    before = _BEFORE.search(text, max(0, run[0].start() - 64), run[0].start())
    behind = _BETWEEN.match(text, run[-1].end())
    assert behind is not None  # the expression also matches nothing
    start, end = before.start() if before else run[0].start(), behind.end()
    said = _ESCAPE.sub(_character, text[start:end]).encode("utf-16-le", "surrogatepass")  # halves of one come together
    plain = normalise(said.decode("utf-16-le", "replace")).text
    if len(plain) >= _SHORTEST:
        yield start, end, plain


def _character(match: re.Match[str]) -> str:
    number = int(match[match.lastgroup or 0], 10 if match.lastgroup == "decimal" else 16)
    return chr(number) if number < 0x110000 else ""
