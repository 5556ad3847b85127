"""Set a key of a table in somebody else's TOML and take it out again, byte for byte.

Comments, order, line ends and the way in which other values are written stay: only the bytes of one value change, or
one line comes below its neighbour. `strip(*merge(text, path, value)) == text`, as in `keepmum_installers.merge`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepmum_installers.errors import NotPlainJson
from keepmum_installers.merge import Undo

__all__ = ["by_hand", "merge", "parse", "strip"]

_BYTE_ORDER_MARK = "\ufeff"
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}(?!")|\'{3}.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'''', re.DOTALL
)
_PART = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')[ \t]*""")
_UNUSUAL = "it is written in a way that is better changed by hand"


@dataclass(frozen=True, slots=True)
class _Statement:
    """One `key = value`, by place; the value may go on over several lines."""

    path: tuple[str, ...]
    start: int
    last_part: int
    """Where the last part of a dotted key begins."""
    value: int
    end: int


def parse(text: str) -> dict[str, Any]:
    """What the text says.

    Raises: NotPlainJson naming the line of the first fault.
    """
    try:
        return tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, None)
        raise NotPlainJson(line, "not TOML", column) from None


def merge(text: str, path: Sequence[str], value: object) -> tuple[str, Undo | None]:
    """The text with value at path, and how to undo it; the same text and None when it says so already.

    Raises: NotPlainJson when the text is damaged, or has no table to put the value into where it can be seen.
    """
    before, full = parse(text), tuple(path)
    literal = _literal(value)
    statements = list(_statements(text))
    found = next((each for each in statements if each.path == full), None)
    if found is not None:
        if _at(before, full) == value:
            return text, None
        undo = Undo(full, literal, was=text[found.value : found.end])
        after = text[: found.value] + literal + text[found.end :]
    else:
        neighbour = next((each for each in statements if each.path[:-1] == full[:-1]), None)
        if neighbour is None:
            raise NotPlainJson(1, f"{'.'.join(full[:-1])} has no table of its own: {_UNUSUAL}")
        after, undo = _beside(text, neighbour, full, literal)
    if not _differ_by(before, parse(after), full, value):
        raise NotPlainJson(1, f"{'.'.join(full)}: {_UNUSUAL}")
    return after, undo


def strip(text: str, undo: Undo | None) -> str:
    """The text without what merge put in; what others changed since stays as they left it.

    Raises: NotPlainJson when the text can no longer be edited without harm.
    """
    if undo is None:
        return text
    parse(text)
    found = next((each for each in _statements(text) if each.path == undo.path), None)
    if found is None:
        return text
    if undo.was is not None:
        untouched = text[found.value : found.end] == undo.now
        return text[: found.value] + undo.was + text[found.end :] if untouched else text
    start, end = _whole_lines(text, found)
    if undo.blank and end == len(text):  # it came behind a last line that had no end
        start -= len(undo.blank)
    return text[:start] + text[end:]


def by_hand(wanted: Sequence[tuple[Sequence[str], object]]) -> str:
    """Lines that say the same, for whoever has to write them."""
    return "\n".join(f"{'.'.join(map(_literal_key, keys))} = {_literal(value)}" for keys, value in wanted)


def _beside(text: str, neighbour: _Statement, path: tuple[str, ...], literal: str) -> tuple[str, Undo]:
    """The text with a line below the neighbour's, which begins as that does."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    start, end = _whole_lines(text, neighbour)
    line = text[start : neighbour.last_part] + f"{_literal_key(path[-1])} = {literal}"
    if text[:end].endswith("\n"):
        return text[:end] + line + line_end + text[end:], Undo(path, literal, made=1)
    return text + line_end + line, Undo(path, literal, made=1, blank=line_end)


def _whole_lines(text: str, statement: _Statement) -> tuple[int, int]:
    """The place of the statement with all of its lines, the last one's end among them."""
    start = text.rfind("\n", 0, statement.start) + 1
    behind = text.find("\n", statement.end)
    return (start or len(_mark(text))), (len(text) if behind < 0 else behind + 1)


def _mark(text: str) -> str:
    return _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""


def _statements(text: str) -> Iterator[_Statement]:
    """Every statement outside arrays of tables. The text is TOML, which a parser has seen."""
    table: tuple[str, ...] | None = ()
    at = len(_mark(text))
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _end_of_line(text, at)
        elif text[at] == "[":
            is_array = text.startswith("[[", at)
            path, _, at = _key(text, at + 1 + is_array)
            table = None if is_array else path
            at = _end_of_line(text, at)
        else:
            path, last_part, behind = _key(text, at)
            value = behind + 1 + len(text[behind + 1 :]) - len(text[behind + 1 :].lstrip(" \t"))
            end = _value_end(text, value)
            if table is not None:
                yield _Statement((*table, *path), at, last_part, value, end)
            at = _end_of_line(text, end)


def _key(text: str, at: int) -> tuple[tuple[str, ...], int, int]:
    """A dotted key, where its last part begins, and where it ends."""
    parts: list[str] = []
    while True:
        found = _PART.match(text, at)
        if found is None:
            raise NotPlainJson(text.count("\n", 0, at) + 1, _UNUSUAL)
        (name,) = tomllib.loads(f"{found[1]} = 0")
        parts.append(name)
        if not text.startswith(".", found.end()):
            return tuple(parts), found.start(1), found.end()
        at = found.end() + 1


def _value_end(text: str, at: int) -> int:
    """Where the value that begins there ends: behind its last character that is no space."""
    depth, last = 0, at
    while at < len(text):
        string = _STRING.match(text, at)
        if string:
            at = last = string.end()
        elif text[at] == "#":
            if not depth:
                break
            at = _end_of_line(text, at)
            continue
        elif text[at] == "\n" and not depth:
            break
        else:
            depth += (text[at] in "[{") - (text[at] in "]}")
            at += 1
            last = last if text[at - 1].isspace() else at
            continue
    return last


def _end_of_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _at(values: Mapping[str, Any], path: Sequence[str]) -> object:
    value: Any = values
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _differ_by(before: dict[str, Any], after: dict[str, Any], path: Sequence[str], value: object) -> bool:
    """Whether the value at path is all in which two texts differ; compared as text, in which NaN is like NaN."""
    said = _at(after, path)
    for values in (before, after):
        holder = _at(values, path[:-1])
        if isinstance(holder, dict):
            holder.pop(path[-1], None)
    return said == value and repr(before) == repr(after)


def _literal(value: object) -> str:
    """Text or a list of texts as TOML; what JSON escapes, TOML reads."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _literal(key)
