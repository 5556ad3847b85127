"""Finds credentials in tables and lists of HTML: a cell below or after a cell that names one."""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.composed_passwords import is_composed
from keepmum_scanner.expressions import compiled
from keepmum_scanner.labels import NAMES, NONE, naming
from keepmum_scanner.values import is_credential

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

_CELL = compiled(
    r"<(?P<tag>tr|th|td|dt|dd)\b[^<>]{0,200}>(?:\s{0,8}<(?:b|code|strong|span|em|tt|kbd|p)\b[^<>]{0,80}>){0,3}\s{0,16}"
    r"(?P<text>[^<]{0,120})"
)
_LONGEST_NAME = 40  # characters
_ENTITIES = (("&amp;", "&"), ("&quot;", '"'), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"))


def find(context: Context) -> Iterator[Candidate]:
    """Candidates in the cells that other cells name."""
    named: set[int] = set()  # columns
    column = cells = 0
    after_name = False
    for match in _CELL.finditer(context.text):
        cells += 1
        if cells > context.case_limit or context.checks_left <= 0:
            return
        tag, text = match["tag"], match["text"].rstrip()
        if tag == "tr":
            column, after_name = 0, False
            continue
        strength = naming(text)[0] if text and len(text) <= _LONGEST_NAME else NONE
        if strength >= NAMES:
            if tag == "th":
                named.add(column)
        elif text and (after_name or (column in named and tag == "td")) and _is_given(context, text):
            yield ("secret.password", match.start("text"), match.start("text") + len(text), EXPLICIT)
        after_name = strength >= NAMES and tag != "dd"
        column += 1


def _is_given(context: Context, text: str) -> bool:
    for entity, character in _ENTITIES if "&" in text else ():
        text = text.replace(entity, character)
    return is_credential(text, context, chosen=True, certain=False) or is_composed(text, certain=True)
