"""Set or remove one value of a TOML text; comments, order, line ends and all other values keep their bytes.

The functions on text raise NotEditable and know nothing of files; `changed` and `without` serve our settings files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from keepmum.core.errors import SettingsError
from keepmum.workspace.toml_file import (
    Path,
    Statement,
    dotted,
    literal,
    parse,
    read_text,
    statements,
    values,
    write_text,
)

__all__ = [
    "NotEditable",
    "Scalar",
    "changed",
    "find",
    "remove",
    "remove_file",
    "set_value",
    "unset",
    "whole_lines",
    "without",
]

Scalar = bool | int | str


class NotEditable(ValueError):
    """The text writes the value in a way that only a person can change safely, such as an inline table."""


def find(text: str, path: Path) -> Statement | None:
    """The `key = value` that sets the value at `path`; None when there is none."""
    return next((each for each in statements(text) if each.path == path and not each.is_header), None)


def set_value(text: str, path: Path, value: object) -> str:
    """`text` with `value` at `path`.

    A new line goes below the last one of its table, else below the header, else into a new table at the end.

    Raises: NotEditable; TOMLDecodeError when `text` is not TOML.
    """
    found = find(text, path)
    if found is None:
        after = _inserted(text, path, literal(value))
    else:
        after = text[: found.value] + literal(value) + text[found.end :]
    _check(text, after, path, value)
    return after


def remove(text: str, path: Path) -> str:
    """`text` without the lines that set the value at `path`; the same text when it is not set.

    Raises: NotEditable; TOMLDecodeError when `text` is not TOML.
    """
    if path not in values(text):
        return text
    found = find(text, path)
    if found is None:
        raise NotEditable(dotted(path))
    start, end = whole_lines(text, found)
    after = text[:start] + text[end:]
    _check(text, after, path, None)
    return after


def whole_lines(text: str, statement: Statement) -> tuple[int, int]:
    """Where the first line of the statement begins, and where its last one ends, line end included."""
    start = text.rfind("\n", 0, statement.start) + 1
    line_end = text.find("\n", statement.end)
    return (start or _body(text)), (len(text) if line_end < 0 else line_end + 1)


def changed(path: str, text: str, name: str, value: Scalar) -> str:
    """`text`, the content of the settings file at `path`, with the setting `name` set to `value`.

    Raises: SettingsError when `text` is not TOML, or writes the value in a way that only a person can change safely.
    """
    return _edited(path, text, name, lambda keys: set_value(text, keys, value), f"set it by hand to {literal(value)}")


def without(path: str, text: str, name: str) -> str:
    """`text`, the content of the settings file at `path`, without the line that sets `name`.

    Raises: SettingsError as `changed`.
    """
    return _edited(path, text, name, lambda keys: remove(text, keys), "remove it by hand")


def unset(path: str, name: str) -> None:
    """Remove the line that sets `name` from the settings file at `path`, and the file if nothing else is in it.

    Raises: SettingsError as `changed`, or when the file cannot be written.
    """
    text = read_text(path)
    rest = without(path, text, name) if text else text
    if text and not rest:
        remove_file(path)
    elif rest is not None and rest != text:
        write_text(path, rest)


def remove_file(path: str) -> None:
    """Remove the file at `path` if there is one.

    Raises: SettingsError when the permissions do not allow it.
    """
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed: {error.strerror}") from None


def _edited(path: str, text: str, name: str, edit: Callable[[Path], str], by_hand: str) -> str:
    before = parse(path, text)
    try:
        after = edit(tuple(name.split(".")))
        parse(path, after)  # which also refuses a line that has become too long
    except NotEditable:
        raise SettingsError(f"{before.place(name)}: {name} is written in an unusual way; {by_hand}") from None
    return after


def _inserted(text: str, path: Path, value: str) -> str:
    """`text` with a new line for a value that is not set."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    known = list(statements(text))
    table = path[:-1]
    neighbour = next((each for each in reversed(known) if each.path[:-1] == table and not each.is_header), None)
    header = next((each for each in known if each.is_header and each.path == table and table), None)
    if neighbour:
        start, at = whole_lines(text, neighbour)
        line = text[start : neighbour.last_key] + f"{dotted(path[-1:])} = {value}"
    elif header:
        _, at = whole_lines(text, header)
        line = f"{dotted(path[-1:])} = {value}"
    elif table:
        at, blank = len(text), line_end if len(text) > _body(text) else ""
        line = f"{blank}[{dotted(table)}]{line_end}{dotted(path[-1:])} = {value}"
    else:
        above = list(itertools.takewhile(lambda each: not each.is_header, known))
        at = whole_lines(text, above[-1])[1] if above else _body(text)
        line = f"{dotted(path)} = {value}"
    unfinished = line_end if at > _body(text) and text[at - 1] != "\n" else ""
    return text[:at] + unfinished + line + line_end + text[at:]


def _body(text: str) -> int:
    """Where the text begins, after a byte-order mark."""
    return 1 if text.startswith("\ufeff") else 0


def _check(before: str, after: str, path: Path, value: object) -> None:
    """Compare what both texts say: an edit that went wrong is noticed here, whatever it broke.

    Raises: NotEditable when they differ in anything but the value at `path`.
    """
    try:
        is_set = repr(values(after).get(path)) == repr(value)
        if is_set and _others(before, path) == _others(after, path):
            return
    except (ValueError, RecursionError):
        pass
    raise NotEditable(dotted(path))


def _others(text: str, path: Path) -> list[str]:
    """All values but the one at `path`, without empty tables: one of them may get its first value."""
    return sorted(repr(each) for each in values(text).items() if each[0] != path and each[1] != {})  # NaN equals no NaN
