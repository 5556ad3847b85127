"""The plain part of TOML, read by lines: Python 3.9 has no parser of it, and `tomllib` triples the time of a hook.

Read are booleans, decimal integers, strings on one line, and lists of such strings, under `[table]` and bare or
dotted keys. Values of any other kind are stepped over, however many lines they take. What is read of a file that is
TOML is what `tomllib` reads; `knows` tells for which keys that is certain.

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

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = frozenset("0123456789")
_BLANK = " \t"
_SPACE = " \t\r\n"
_LONG = ('"""', "'''", "[", "{")
_NOWHERE = -1  # where a value ends that is not closed


class Lines:
    """What the plain lines of a file say; a value."""

    __slots__ = ("_skipped", "is_plain", "values")

    def __init__(self, values: dict[Path, Value], skipped: Collection[Path] = (), *, is_plain: bool) -> None:
        self.values = values  # by full path: ("capture", "every")
        self.is_plain = is_plain  # whether each line was understood, be its value stepped over
        self._skipped = skipped  # the paths of values that were stepped over

    def knows(self, path: Path) -> bool:
        """Whether `values` has all that the file says of the path."""
        return self.is_plain and not any(path[:depth] in self._skipped for depth in range(1, len(path) + 1))


class _Notes:
    """What was read so far."""

    def __init__(self) -> None:
        self.values: dict[Path, Value] = {}
        self.skipped: set[Path] = set()
        self.tables: dict[Path, bool] = {}  # True for those with a header, False for those that dotted keys imply
        self.table: Path | None = ()  # where keys belong to, or None where that is not known
        self.is_plain = True


def read(text: str) -> Lines:
    """What the plain lines of `text` say, with the first value where a key is given twice."""
    notes = _Notes()
    place = 0
    while 0 <= place < len(text):
        end = _line_end(text, place)
        line = text[place:end].strip(_SPACE)
        if _has_control(line):
            notes.is_plain = False
        elif line.startswith("["):
            _note_header(line, notes)
        elif line and not line.startswith("#"):
            end = _note_pair(text, place, end, notes)
        place = end + 1 if end >= 0 else _NOWHERE
    return Lines(notes.values, notes.skipped, is_plain=notes.is_plain)


def _note_header(line: str, notes: _Notes) -> None:
    """Note that the keys below `[table]` belong to it; those of `[[table]]` are told to be stepped over."""
    is_list = line.startswith("[[")
    name, bracket, rest = line[1 + is_list :].partition("]" * (1 + is_list))
    path = _key(name) if bracket and _is_rest(rest) else None
    if path is None:
        notes.is_plain = False
    elif is_list:
        notes.skipped.add(path)
    elif not _opens(path, notes):
        notes.is_plain = False
    notes.table = None if is_list else path


def _note_pair(text: str, start: int, end: int, notes: _Notes) -> int:
    """Note a `key = value`; gives the end of the line that the value ends on, or `_NOWHERE`."""
    key, equals, _ = text[start:end].partition("=")
    path = _key(key)
    if path is None or not equals:
        notes.is_plain = False
        return _NOWHERE if _goes_on(text[start:end]) else end
    value, behind = _value(text, start + len(key) + 1)
    if behind == _NOWHERE:
        notes.is_plain = False
        return _NOWHERE if _goes_on(text[start:end]) else end
    end = _line_end(text, behind)
    if not _is_rest(text[behind:end]):
        notes.is_plain = False
    elif notes.table is not None and _assigns(notes.table, path, notes):
        if value is None:
            notes.skipped.add(notes.table + path)
        else:
            notes.values[notes.table + path] = value
    return end


def _opens(table: Path, notes: _Notes) -> bool:
    """Whether TOML lets a header name this table here; notes it."""
    above = [table[:depth] for depth in range(1, len(table) + 1)]
    allowed = table not in notes.tables and not any(path in notes.values for path in above)
    notes.tables.setdefault(table, True)
    return allowed


def _assigns(table: Path, path: Path, notes: _Notes) -> bool:
    """Whether TOML lets this key be set here; notes the tables that its dots imply, and its own fault."""
    full = table + path
    inner = [table + path[:depth] for depth in range(1, len(path))]
    values, tables = notes.values, notes.tables
    if full in values or full in tables or any(part in values or tables.get(part, False) for part in inner):
        notes.is_plain = False
        return False
    for part in inner:
        tables[part] = False
    return True


def _key(text: str) -> Path | None:
    """The parts of a bare or dotted key, or None for a quoted or a broken one."""
    parts = tuple(part.strip(_BLANK) for part in text.split("."))
    return parts if all(part and _BARE.issuperset(part) for part in parts) else None


def _value(text: str, start: int) -> tuple[Value | None, int]:
    """The value that follows, or None for one of another kind, and where it ends."""
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
        return None, _NOWHERE
    return (word == "true" if word in ("true", "false") else _integer(word)), start + len(word)


def _string(quoted: str) -> str | None:
    """The text of a string on one line, or None when it takes several, or escapes more than quotes and backslashes."""
    body = quoted[1:-1]
    if quoted.startswith(_LONG):
        return None
    if quoted[0] == "'":
        return body
    pieces = [piece.replace('\\"', '"') for piece in body.split("\\\\")]
    return None if any("\\" in piece for piece in pieces) else "\\".join(pieces)


def _strings(text: str, place: int, end: int) -> tuple[str, ...] | None:
    """The strings of the list between the places, or None when it holds anything else."""
    found: list[str] = []
    while place < end:
        sign = text[place]
        if sign in _SPACE or sign == ",":
            place += 1
        elif sign == "#":
            place = _line_end(text, place)
        else:
            behind = _string_end(text, place) if sign in "\"'" else _NOWHERE
            one = _string(text[place:behind]) if behind > 0 else None
            if one is None:
                return None
            found.append(one)
            place = behind
    return tuple(found)


def _nested_end(text: str, place: int) -> int:
    """Where the list or inline table ends that begins at the place, or `_NOWHERE`."""
    depth = 0
    while 0 <= place < len(text):
        sign = text[place]
        if sign in "\"'":
            place = _string_end(text, place)
            continue
        if sign == "#":
            place = _line_end(text, place)
            continue
        depth += (sign in "[{") - (sign in "]}")
        place += 1
        if depth == 0:
            return place
    return _NOWHERE


def _string_end(text: str, start: int) -> int:
    """Where the string ends that begins at the place, or `_NOWHERE`."""
    quote = text[start] * 3 if text.startswith(text[start] * 3, start) else text[start]
    place = start + len(quote)
    limit = len(text) if len(quote) == 3 else _line_end(text, start)
    while True:
        end = text.find(quote, place, limit)
        if end < 0:
            return _NOWHERE
        escape = text.find("\\", place, end) if quote[0] == '"' else -1
        if escape < 0:
            break
        place = escape + 2
    end += len(quote)
    for _ in range(2 if len(quote) == 3 else 0):  # one or two quotes may stand before the three that close
        end += text.startswith(quote[0], end)
    return end


def _integer(word: str) -> int | None:
    digits = word[1:] if word[:1] in ("+", "-") else word
    is_decimal = 0 < len(digits) < 19 and _DIGITS.issuperset(digits) and (digits == "0" or digits[0] != "0")
    return int(word) if is_decimal else None


def _goes_on(line: str) -> bool:
    """Whether the value in a line that was not understood is of a kind that may take several."""
    value = line.partition("=")[2].strip(_SPACE)
    return value.startswith(_LONG) and _value(value, 0)[1] == _NOWHERE


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return end if end >= 0 else len(text)


def _is_rest(text: str) -> bool:
    """Whether nothing but a comment follows."""
    rest = text.strip(_SPACE)
    return not rest or rest.startswith("#")


def _has_control(line: str) -> bool:
    """Whether the line holds a character that TOML bans even from comments."""
    return not line.isprintable() and any((char < " " and char != "\t") or char == "\x7f" for char in line)
