"""Finds secrets in the rows of a table with a credential's name in the header: "user | password".

Reads Markdown tables, values separated by commas, semicolons or tabs, and columns aligned by spaces.
"""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.credential_words import CHOSEN, CUE, ISSUED, names_only_credentials
from keepmum_scanner.expressions import compiled
from keepmum_scanner.shapes import is_identity
from keepmum_scanner.values import is_credential

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context
    from keepmum_scanner.credential_words import CredentialWord

    Cell = tuple[int, str]  # start within its line, text
    Column = tuple[int, bool]  # index of the cell in a row, whether people choose such values

_WIDEST = 1024  # characters of a row
_SEPARATORS = "|\t;,"
_LONG_ID = 26  # characters of a ULID; shorter ids are counters
_ALIGNED = ""  # no separator: aligned columns with two or more spaces between them
_WORDS = compiled(r"\S+(?: \S+)*")
_SPACES = " \t\r"
_FRAME = ("+", "-", "=", ":")
_MARKS = "*`\"'"  # bold, code or quotes around a cell
# What may follow the name in a header, and the characters of a header; most lines with a name fail these checks.
_AFTER_NAME = "|\t;, s_-(*`\"'\r\n"
_LINE = compiled(rf"[\w ./()#*`\"'|,;\t-]{{0,{_WIDEST}}}\r?\n")
# The cells of a header are short names; in a sentence the last one of a list follows "and".
_NAME = compiled(r"(?!(?:and|or)\b)[^\W\d_][\w ./()#*`\"'-]{0,39}|")
# After the name in its cell: "Passwords", "Password (initial)", "password_prod".
_REST = compiled(r"(?:s|[^\W\da-z_]{1,3})?(?: ?\([^()]*\)|[_ -](?:prod|dev|staging|test|value))?")
# A table of credentials also has one of these columns; a table of options, tests or features has none.
_OWNERS = compiled(
    r"(?:^|[ _-])(?:user(?: ?name)?|usr|login|account|e-?mail|mail|host(?:name)?|server|service|system|database|db|"
    r"site|url|role|who|env(?:ironment)?|machine|device|app|client|tenant|owner|vm|node|ip|address|ssid|instance|stage|"
    r"provider|vendor|network|name|"
    r"benutzer(?:name)?|nutzer|konto|dienst|gerät|rechner|umgebung|usuario|cuenta|servicio|servidor|equipo|entorno|"
    r"utilisateur|compte|serveur|environnement|identifiant|utente|servizio|ambiente|usuário|conta|serviço|"
    r"gebruiker|omgeving|użytkownik|usługa|serwer|środowisko|användare|tjänst|miljö|"
    r"пользователь|логин|сервис|сервер|система|окружение|учётка|kullan\u0131c\u0131|hesap|hizmet|sunucu|ortam)s?$|"
    r"(?:用户名?|账号|帐号|帳號|账户|使用者|环境|環境|系统|系統|服务器?|主机|名称|ユーザー?名?|アカウント|サービス|ホスト|"
    r"サーバー?|システム|사용자|계정|서비스|환경|서버|시스템|아이디)$"
)
_PIN_NAMES = compiled(
    r"(?:sim[ -]?)?(?:pin|puk)(?:[ -]?(?:code|kod))?|(?:door|alarm|gate|tür|zugangs)[ -]?codes?|暗証番号|핀번호"
)
_PIN = compiled(r"[0-9]{4,8}")


def find(context: Context) -> Iterator[Candidate]:
    """Candidates in the columns with a credential's name in the header; each line is read once."""
    text = context.text
    names = context.credential_words[: context.case_limit]
    done = 0
    for index, (name_end, start, kind, _) in enumerate(names):
        if kind == CUE or start < done or not _ends_name(text[name_end : name_end + 1]):
            continue
        begin, end = text.rfind("\n", 0, start) + 1, text.find("\n", start)
        if end < 0:
            return
        done = end
        if not (
            _LINE.match(text, begin)
            and _has_cells(text[begin:end])
            and _has_cells(text[end + 1 : text.find("\n", end + 1)])
        ):
            continue
        header = _Header(text[begin:end], context.lower[begin:end])
        columns = list(header.columns(names[index:], begin)) if header.is_header else []
        if columns:
            done = yield from _rows(header, columns, end + 1, context)


def _ends_name(character: str) -> bool:
    """Whether `character` may follow a name in a header; some languages have an ending there."""
    return character in _AFTER_NAME or not character.isascii()


def _has_cells(line: str) -> bool:
    """Whether `line` contains a separator of cells, or is the frame of a table."""
    return "|" in line or "\t" in line or ";" in line or "," in line or "  " in line or line.startswith(_FRAME)


def _is_composed(value: str, *, chosen: bool) -> bool:
    from keepmum_scanner.composed_passwords import is_composed  # few texts need it

    return is_composed(value, certain=True, chosen=chosen)


def _rows(header: _Header, columns: list[Column], start: int, context: Context) -> Generator[Candidate, None, int]:
    """Candidates in the rows from `start` on; returns the end of the table."""
    text = context.text
    while start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        row = text[start:end]
        if len(row) > _WIDEST or not row.strip() or (any(map(str.isalnum, row)) and header.separator not in row):
            break
        for chosen, column_start, value in header.values(row, columns):
            # An id as long as a UUID may be a key.
            is_long_id = not chosen and len(value) >= _LONG_ID and is_identity(value)
            if (
                is_long_id
                or is_credential(value, context, chosen=chosen, certain=not chosen)
                or (context.checks_left > 0 and _is_composed(value, chosen=chosen))
            ):
                begin = start + column_start
                yield ("secret.password" if chosen else "secret.named", begin, begin + len(value), EXPLICIT)
        start = end + 1
    return start


def _bare(cell: str) -> Cell:
    """The text of `cell` without spaces and marks around it; a mark at one end only belongs to a password."""
    value = cell.strip(_SPACES)
    start = cell.find(value)
    while len(value) > 1 and value[0] in _MARKS and value[0] == value[-1]:
        start, value = start + 1, value[1:-1]
    return start, value


class _Header:
    """The header line of a table."""

    __slots__ = ("_cells", "_lower", "separator")

    def __init__(self, line: str, lower: str) -> None:
        self._lower = lower
        self.separator = next((separator for separator in _SEPARATORS if separator in line), _ALIGNED)
        self._cells = self._split(line)

    @property
    def is_header(self) -> bool:
        """Whether the line can be the header of a table of credentials and their owners."""
        names = [_bare(cell)[1] for _, cell in self._cells]
        return (
            sum(map(bool, names)) > 1
            and all(map(_NAME.fullmatch, names))
            and any(_OWNERS.search(name.lower()) for name in names)
        )

    def columns(self, names: list[CredentialWord], begin: int) -> Iterator[Column]:
        """The columns that `names` call credentials; `begin` is the index of the line in the text."""
        column = 0
        for end, start, kind, _ in names:
            if start - begin >= len(self._lower):
                return
            while column + 1 < len(self._cells) and self._cells[column + 1][0] <= start - begin:
                column += 1
            left, cell = self._cells[column]
            rest = cell[end - begin - left :].strip(_MARKS + _SPACES)
            if kind == ISSUED and rest.startswith("s"):
                continue  # "Tokens" counts the input of a language model
            if (
                kind != CUE
                and names_only_credentials(self._lower, start - begin, end - begin)
                and _REST.fullmatch(rest)
            ):
                yield (column, kind == CHOSEN)

    def values(self, row: str, columns: list[Column]) -> Iterator[tuple[bool, int, str]]:
        """For each of `columns` in `row`: whether people choose such values, start within the row, value."""
        cells = self._split(row) if self.separator else []
        fits = len(cells) == len(self._cells)
        for column, chosen in columns:
            left, cell = 0, ""
            if not self.separator:
                left, cell = self._aligned_cell(row, column)
            elif fits or (self.separator == "|" and len(cells) > column):
                left, cell = cells[column]
            offset, value = _bare(cell)
            if value:
                yield chosen, left + offset, value

    def _aligned_cell(self, row: str, column: int) -> Cell:
        """The cell of `row` below the header of `column`."""
        left = self._cells[column][0]
        if row[max(left - 1, 0) : left].strip():
            return left, ""  # within a word
        cell = row[left:].partition("  ")[0]
        if column + 1 < len(self._cells) and left + len(cell) > self._cells[column + 1][0]:
            cell = cell.partition(" ")[0]  # the cell reaches into the next column
        return left, cell

    def _split(self, line: str) -> list[Cell]:
        if not self.separator:
            return [(match.start(), match.group()) for match in _WORDS.finditer(line)]
        cells: list[Cell] = []
        left = 0
        is_quoted = False
        for piece in line.split(self.separator):
            if is_quoted:
                first, before = cells.pop()
                cells.append((first, f"{before}{self.separator}{piece}"))
            else:
                cells.append((left, piece))
            left += len(piece) + 1
            is_quoted ^= self.separator != "|" and piece.count('"') % 2 == 1
        return cells
