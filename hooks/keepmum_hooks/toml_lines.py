"""The plain part of TOML, read by lines: Python 3.9 has no parser of it, and `tomllib` triples the time of a hook.

Plain are: comments, `[table]`, bare and dotted keys, booleans, decimal integers, and strings on one line without
escapes. A file of such lines is read exactly as `tomllib` reads it, and `is_plain` is True. Any other line makes
`is_plain` False; it is skipped, and a value that may go on over the next lines ends the reading.

Source: https://github.com/toml-lang/toml.io/blob/main/specs/en/v1.0.0.md, read 2026-11-21.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Path = tuple[str, ...]
    Value = Union[bool, int, str]

__all__ = ["Lines", "read"]

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = frozenset("0123456789")
_BLANK = " \t"
_PAIRS = (('"""', '"""'), ("'''", "'''"), ("[", "]"), ("{", "}"))


class Lines:
    """What the plain lines of a file say; a value."""

    __slots__ = ("is_plain", "values")

    def __init__(self, values: dict[Path, Value], *, is_plain: bool) -> None:
        self.values = values  # by full path: ("capture", "every")
        self.is_plain = is_plain  # whether `values` is all that the file says


def read(text: str) -> Lines:
    """What the plain lines of `text` say, with the first value where a key is given twice."""
    values: dict[Path, Value] = {}
    tables: dict[Path, bool] = {}  # True for those with a header, False for those that dotted keys imply
    table: Path | None = ()
    is_plain = True
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        line = line.strip(_BLANK)
        if _has_control(line):
            is_plain = False
            continue
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            table = _header(line)
            is_plain = is_plain and table is not None and _opens(table, values, tables)
            continue
        key, equals, rest = line.partition("=")
        path, value = _key(key), _value(rest.strip(_BLANK))
        if not equals or path is None or value is None:
            is_plain = False
            if _goes_on(rest.strip(_BLANK)):
                break
        elif table is None:
            is_plain = False
        elif _assigns(table, path, values, tables):
            values[table + path] = value
        else:
            is_plain = False
    return Lines(values, is_plain=is_plain)


def _opens(table: Path, values: dict[Path, Value], tables: dict[Path, bool]) -> bool:
    """Whether TOML lets a header name this table here; notes it."""
    allowed = table not in tables and not any(table[:depth] in values for depth in range(1, len(table) + 1))
    tables.setdefault(table, True)
    return allowed


def _assigns(table: Path, path: Path, values: dict[Path, Value], tables: dict[Path, bool]) -> bool:
    """Whether TOML lets this key be set here; notes the tables that its dots imply."""
    full = table + path
    inner = [table + path[:depth] for depth in range(1, len(path))]
    if full in values or full in tables or any(part in values or tables.get(part, False) for part in inner):
        return False
    for part in inner:
        tables[part] = False
    return True


def _header(line: str) -> Path | None:
    """The path in `[a.b]  # comment`, or None for anything else, such as `[[a]]`."""
    name, bracket, rest = line[1:].partition("]")
    return _key(name) if bracket and _is_rest(rest) else None


def _key(text: str) -> Path | None:
    """The parts of a bare or dotted key, or None for a quoted or a broken one."""
    parts = tuple(part.strip(_BLANK) for part in text.split("."))
    return parts if all(part and _BARE.issuperset(part) for part in parts) else None


def _value(text: str) -> Value | None:
    """The boolean, integer or plain string that the text starts with, or None for anything else."""
    if text[:1] in ('"', "'"):
        body, quote, rest = text[1:].partition(text[0])
        is_plain = quote and (quote == "'" or "\\" not in body) and _is_rest(rest)
        return body if is_plain else None
    word = text.partition("#")[0].rstrip(_BLANK)
    if word in ("true", "false"):
        return word == "true"
    return _integer(word)


def _integer(word: str) -> int | None:
    digits = word[1:] if word[:1] in ("+", "-") else word
    is_decimal = 0 < len(digits) < 19 and _DIGITS.issuperset(digits) and (digits == "0" or digits[0] != "0")
    return int(word) if is_decimal else None


def _goes_on(value: str) -> bool:
    """Whether the value is of a kind that may take several lines, and nothing closes it on this one."""
    return any(value.startswith(opening) and closing not in value[len(opening) :] for opening, closing in _PAIRS)


def _is_rest(text: str) -> bool:
    """Whether nothing but a comment follows."""
    rest = text.strip(_BLANK)
    return not rest or rest.startswith("#")


def _has_control(line: str) -> bool:
    """Whether the line holds a character that TOML bans even from comments."""
    return not line.isprintable() and any((char < " " and char != "\t") or char == "\x7f" for char in line)
