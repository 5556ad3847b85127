"""Secrets in the rows of a table whose head alone says what they are: "user | password", and below it a row for each.

Read are tables of Markdown, values separated by commas, semicolons or tabs, and columns aligned by spaces.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, CUE, ISSUED, is_sure
from keepmum_scanner.shapes import is_identity
from keepmum_scanner.suspect import STATED
from keepmum_scanner.values import is_credential

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.mentions import Mention
    from keepmum_scanner.suspect import Suspect

    Cell = tuple[int, str]  # where it begins in its line, and its characters
    Column = tuple[int, bool]  # which cell of a row, and whether people choose what stands there

_WIDEST = 1024  # characters of a row
_SEPARATORS = "|\t;,"
_LONG_ID = 26  # characters of a ULID; shorter ones are counters
_ALIGNED = ""  # no separator: cells stand below each other, two spaces between them at least
_WORDS = compiled(r"\S+(?: \S+)*")
_SPACES = " \t\r"
_FRAME = ("+", "-", "=", ":")
_MARKS = "*`\"'"  # what sets a cell off, on both of its sides
# What may follow the word in a head, and all that a head is made of: most lines are told apart by these.
_BEHIND = "|\t;, s_-(*`\"'\r\n"
_LINE = compiled(rf"[\w ./()#*`\"'|,;\t-]{{0,{_WIDEST}}}\r?\n")
# Cells of a head are short names; the last of a list in a sentence stands behind "and".
_NAME = compiled(r"(?!(?:and|or)\b)[^\W\d_][\w ./()#*`\"'-]{0,39}|")
# Behind the word in its cell: "Passwords", "Password (initial)", "password_prod".
_REST = compiled(r"s?(?: ?\([^()]*\)|[_ -](?:prod|dev|staging|test|value))?")
# What a table of credentials has beside them; one about options, tests or features has no such column.
_WHOSE = compiled(
    r"(?:^|[ _-])(?:user(?: ?name)?|usr|login|account|e-?mail|mail|host(?:name)?|server|service|system|database|db|"
    r"site|url|role|who|env(?:ironment)?|machine|device|app|client|tenant|owner|vm|node|ip|address|ssid|instance|stage|"
    r"provider|vendor|network|benutzer(?:name)?|konto|usuario|utilisateur|compte)s?$"
)


def find(context: Context) -> Iterator[Suspect]:
    """Suspects in the columns whose head is a credential's name; each line is looked at once."""
    text = context.text
    names = context.mentions[: context.crowd]
    done = 0
    for index, (behind, start, kind, _) in enumerate(names):
        if kind == CUE or start < done or text[behind : behind + 1] not in _BEHIND:
            continue
        begin, end = text.rfind("\n", 0, start) + 1, text.find("\n", start)
        if end < 0:
            return
        done = end
        if not (
            _LINE.match(text, begin) and _is_cut(text[begin:end]) and _is_cut(text[end + 1 : text.find("\n", end + 1)])
        ):
            continue
        head = _Head(text[begin:end], context.lower[begin:end])
        columns = list(head.columns(names[index:], begin)) if head.is_one else []
        if columns:
            done = yield from _below(head, columns, end + 1, context)


def _is_cut(line: str) -> bool:
    """Whether `line` has what separates cells, or is the frame of a table."""
    return "|" in line or "\t" in line or ";" in line or "," in line or "  " in line or line.startswith(_FRAME)


def _below(head: _Head, columns: list[Column], start: int, context: Context) -> Generator[Suspect, None, int]:
    """Suspects in the rows from `start` on; returns where the table ends."""
    text = context.text
    while start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        row = text[start:end]
        if len(row) > _WIDEST or not row.strip() or (any(map(str.isalnum, row)) and head.separator not in row):
            break
        for chosen, place, value in head.values(row, columns):
            if is_credential(value, context, chosen=chosen, sure=not chosen) or (not chosen and _is_long_id(value)):
                begin = start + place
                yield ("secret.password" if chosen else "secret.named", begin, begin + len(value), STATED)
        start = end + 1
    return start


def _is_long_id(value: str) -> bool:
    """Whether `value` is a UUID or the like, which a key may well be."""
    return len(value) >= _LONG_ID and is_identity(value)


def _bare(cell: str) -> Cell:
    """What stands in `cell` without spaces and marks around it; a sign at one end alone belongs to a password."""
    value = cell.strip(_SPACES)
    start = cell.find(value)
    while len(value) > 1 and value[0] in _MARKS and value[0] == value[-1]:
        start, value = start + 1, value[1:-1]
    return start, value


class _Head:
    """The line above the rows of a table."""

    __slots__ = ("_cells", "_lower", "separator")

    def __init__(self, line: str, lower: str) -> None:
        self._lower = lower
        self.separator = next((sign for sign in _SEPARATORS if sign in line), _ALIGNED)
        self._cells = self._cut(line)

    @property
    def is_one(self) -> bool:
        """Whether the line can be a head, of a table that says whose its credentials are."""
        names = [_bare(cell)[1] for _, cell in self._cells]
        return (
            sum(map(bool, names)) > 1
            and all(map(_NAME.fullmatch, names))
            and any(_WHOSE.search(name.lower()) for name in names)
        )

    def columns(self, names: list[Mention], begin: int) -> Iterator[Column]:
        """The columns that `names` call credentials; the line begins at `begin` of the text."""
        column = 0
        for end, start, kind, _ in names:
            if start - begin >= len(self._lower):
                return
            while column + 1 < len(self._cells) and self._cells[column + 1][0] <= start - begin:
                column += 1
            place, cell = self._cells[column]
            rest = cell[end - begin - place :].strip(_MARKS + _SPACES)
            if kind == ISSUED and rest.startswith("s"):
                continue  # "Tokens" counts what a language model read
            if kind != CUE and is_sure(self._lower, start - begin, end - begin) and _REST.fullmatch(rest):
                yield (column, kind == CHOSEN)

    def values(self, row: str, columns: list[Column]) -> Iterator[tuple[bool, int, str]]:
        """What `row` has in each of `columns`: whether people choose it, where it begins in the row, the value."""
        cells = self._cut(row) if self.separator else []
        fits = len(cells) == len(self._cells)
        for column, chosen in columns:
            place, cell = 0, ""
            if not self.separator:
                place, cell = self._below(row, column)
            elif fits or (self.separator == "|" and len(cells) > column):
                place, cell = cells[column]
            offset, value = _bare(cell)
            if value:
                yield chosen, place + offset, value

    def _below(self, row: str, column: int) -> Cell:
        """What stands in `row` below the name of `column`."""
        place = self._cells[column][0]
        if row[max(place - 1, 0) : place].strip():
            return place, ""  # in the midst of a word
        cell = row[place:].partition("  ")[0]
        if column + 1 < len(self._cells) and place + len(cell) > self._cells[column + 1][0]:
            cell = cell.partition(" ")[0]  # it reaches into the next column
        return place, cell

    def _cut(self, line: str) -> list[Cell]:
        if not self.separator:
            return [(match.start(), match.group()) for match in _WORDS.finditer(line)]
        cells: list[Cell] = []
        place = 0
        is_quoted = False
        for piece in line.split(self.separator):
            if is_quoted:
                first, before = cells.pop()
                cells.append((first, f"{before}{self.separator}{piece}"))
            else:
                cells.append((place, piece))
            place += len(piece) + 1
            is_quoted ^= self.separator != "|" and piece.count('"') % 2 == 1
        return cells
