"""A subset of TOML, read line by line: Python 3.9 has no parser, and importing `tomllib` triples a hook's run time.

The subset is booleans, decimal integers, strings on one line, and lists of such strings, under `[table]` and bare or
dotted keys. Other values are skipped, however many lines they take. For a valid TOML file the values are those that
`tomllib` reads; `knows` says for which keys that is certain.

Source: https://github.com/toml-lang/toml.io/blob/main/specs/en/v1.0.0.md, read 2026-11-21.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Union

    Path = tuple[str, ...]
    Value = Union[bool, int, str, tuple[str, ...]]

__all__ = ["Lines", "read"]

_KEY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = frozenset("0123456789")
_BLANK = " \t"
_SPACE = " \t\r\n"
_LONG = ('"""', "'''", "[", "{")
_MOST_PARTS = 16  # of a key; all parts are compared with each other, and a stranger may have written the file
_UNCLOSED = -1  # instead of the end of a value that is not closed


class Lines:
    """The values in a file; a value itself."""

    __slots__ = ("_skipped", "is_plain", "values")

    def __init__(self, values: dict[Path, Value], skipped: Collection[Path] = (), *, is_plain: bool) -> None:
        self.values = values  # by full path: ("capture", "every")
        self.is_plain = is_plain  # whether every line was understood; its value may have been skipped
        self._skipped = skipped  # the paths of skipped values

    def knows(self, path: Path) -> bool:
        """Whether `values` is complete for the path: a missing key is not in the file."""
        return self.is_plain and not any(path[:depth] in self._skipped for depth in range(1, len(path) + 1))


class _State:
    """The lines that were read, as a result."""

    def __init__(self) -> None:
        self.values: dict[Path, Value] = {}
        self.skipped: set[Path] = set()
        self.tables: dict[Path, bool] = {}  # True for tables with a header, False for those implied by dotted keys
        self.table: Path | None = ()  # the table of the following keys, or None when it is unknown
        self.is_plain = True


def read(text: str) -> Lines:
    """The values in `text`; the first one when a key occurs twice."""
    state = _State()
    position = 0
    while 0 <= position < len(text):
        end = _line_end(text, position)
        line = text[position:end].strip(_SPACE)
        if _has_control(line):
            state.is_plain = False
        elif line.startswith("["):
            _read_header(line, state)
        elif line and not line.startswith("#"):
            end = _read_pair(text, position, end, state)
        position = end + 1 if end >= 0 else _UNCLOSED
    return Lines(state.values, state.skipped, is_plain=state.is_plain)


def _read_header(line: str, state: _State) -> None:
    """Set the table of the following keys; the keys of a `[[table]]` are skipped."""
    is_list = line.startswith("[[")
    name, bracket, rest = line[1 + is_list :].partition("]" * (1 + is_list))
    path = _key(name) if bracket and _is_rest(rest) else None
    if path is None:
        state.is_plain = False
    elif is_list:
        state.skipped.add(path)
    elif not _open_table(path, state):
        state.is_plain = False
    state.table = None if is_list else path


def _read_pair(text: str, start: int, end: int, state: _State) -> int:
    """Read `key = value`; return the end of the line on which the value ends, or `_UNCLOSED`."""
    key, equals, _ = text[start:end].partition("=")
    path = _key(key)
    if path is None or not equals:
        state.is_plain = False
        return _UNCLOSED if _may_continue(text[start:end]) else end
    value, after = _value(text, start + len(key) + 1)
    if after == _UNCLOSED:
        state.is_plain = False
        return _UNCLOSED if _may_continue(text[start:end]) else end
    end = _line_end(text, after)
    if not _is_rest(text[after:end]):
        state.is_plain = False
    elif state.table is not None and _open_key(state.table, path, state):
        if value is None:
            state.skipped.add(state.table + path)
        else:
            state.values[state.table + path] = value
    return end


def _open_table(table: Path, state: _State) -> bool:
    """Record the table; whether TOML allows its header here."""
    above = [table[:depth] for depth in range(1, len(table) + 1)]
    allowed = table not in state.tables and not any(path in state.values for path in above)
    state.tables.setdefault(table, True)
    return allowed


def _open_key(table: Path, path: Path, state: _State) -> bool:
    """Record the tables that the key's dots imply; whether TOML allows the key here."""
    full = table + path
    inner = [table + path[:depth] for depth in range(1, len(path))]
    values, tables = state.values, state.tables
    if full in values or full in tables or any(part in values or tables.get(part, False) for part in inner):
        state.is_plain = False
        return False
    for part in inner:
        tables[part] = False
    return True


def _key(text: str) -> Path | None:
    """The parts of a bare or dotted key, or None for a quoted, an invalid or an enormous one."""
    parts = tuple(part.strip(_BLANK) for part in text.split(".", _MOST_PARTS))
    return parts if all(part and _KEY_CHARACTERS.issuperset(part) for part in parts) else None


def _value(text: str, start: int) -> tuple[Value | None, int]:
    """The value at `start`, or None when it is of another kind, and the position after it."""
    while text[start : start + 1] in (" ", "\t"):
        start += 1
    sign = text[start : start + 1]
    if sign in ('"', "'"):
        end = _string_end(text, start)
        return (_string(text[start:end]) if end > 0 else None), end
    if sign in ("[", "{"):
        end = _nested_end(text, start)
        return (_strings(text, start + 1, end - 1) if sign == "[" and end > 0 else None), end
    word = text[start : _line_end(text, start)].partition("#")[0].rstrip(_SPACE)
    if not word:
        return None, _UNCLOSED
    return (word == "true" if word in ("true", "false") else _integer(word)), start + len(word)


def _string(quoted: str) -> str | None:
    """The text of a string; None when it is multi-line or has escapes other than of quotes and backslashes."""
    body = quoted[1:-1]
    if quoted.startswith(_LONG):
        return None
    if quoted[0] == "'":
        return body
    pieces = [piece.replace('\\"', '"') for piece in body.split("\\\\")]
    return None if any("\\" in piece for piece in pieces) else "\\".join(pieces)


def _strings(text: str, position: int, end: int) -> tuple[str, ...] | None:
    """The strings of the list between the positions, or None when it contains anything else."""
    found: list[str] = []
    while position < end:
        sign = text[position]
        if sign in _SPACE or sign == ",":
            position += 1
        elif sign == "#":
            position = _line_end(text, position)
        else:
            after = _string_end(text, position) if sign in "\"'" else _UNCLOSED
            one = _string(text[position:after]) if after > 0 else None
            if one is None:
                return None
            found.append(one)
            position = after
    return tuple(found)


def _nested_end(text: str, position: int) -> int:
    """The end of the list or inline table that begins at the position, or `_UNCLOSED`."""
    depth = 0
    while 0 <= position < len(text):
        sign = text[position]
        if sign in "\"'":
            position = _string_end(text, position)
            continue
        if sign == "#":
            position = _line_end(text, position)
            continue
        depth += (sign in "[{") - (sign in "]}")
        position += 1
        if depth == 0:
            return position
    return _UNCLOSED


def _string_end(text: str, start: int) -> int:
    """The end of the string that begins at the position, or `_UNCLOSED`."""
    quote = text[start] * 3 if text.startswith(text[start] * 3, start) else text[start]
    position = start + len(quote)
    limit = len(text) if len(quote) == 3 else _line_end(text, start)
    while True:
        end = text.find(quote, position, limit)
        if end < 0:
            return _UNCLOSED
        escape = text.find("\\", position, end) if quote[0] == '"' else -1
        if escape < 0:
            break
        position = escape + 2
    end += len(quote)
    for _ in range(2 if len(quote) == 3 else 0):  # one or two quotes may precede the closing three
        end += text.startswith(quote[0], end)
    return end


def _integer(word: str) -> int | None:
    digits = word[1:] if word[:1] in ("+", "-") else word
    is_decimal = 0 < len(digits) < 19 and _DIGITS.issuperset(digits) and (digits == "0" or digits[0] != "0")
    return int(word) if is_decimal else None


def _may_continue(line: str) -> bool:
    """Whether the value in a line that was not understood may continue on the next lines."""
    value = line.partition("=")[2].strip(_SPACE)
    return value.startswith(_LONG) and _value(value, 0)[1] == _UNCLOSED


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end if end >= 0 else len(text)


def _is_rest(text: str) -> bool:
    """Whether the text is blank or a comment."""
    rest = text.strip(_SPACE)
    return not rest or rest.startswith("#")


def _has_control(line: str) -> bool:
    """Whether the line contains a character that TOML forbids even in comments."""
    return not line.isprintable() and any((char < " " and char != "\t") or char == "\x7f" for char in line)
