"""Changing one value of a TOML file while its other values, comments, line ends and order stay as they are."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

from keepmum.core.errors import SettingsError
from keepmum.system import private_files
from keepmum.workspace.toml_file import TomlFile, names_on, parse

__all__ = ["Scalar", "changed", "remove_file", "replace_file", "without"]

Scalar = bool | int | str

_ASSIGNMENT = re.compile(
    r"""(?P<before> [^=]* = [ \t]* )
        (?P<value> true | false | [+-]?[0-9_]+ | "(?:[^"\\]|\\.)*" | '[^']*' )
        (?P<after> [ \t]* (?: \#.* )? )""",
    re.VERBOSE,
)


def changed(path: str, text: str, name: str, value: Scalar) -> str:
    """`text` with `name` set to `value`; every other value, comment, line end and the order are as before.

    Raises: SettingsError when `text` is not TOML, or writes the value in a way that is better changed by hand.
    """
    before = parse(path, text)
    literal = _literal(value)
    edit = _replaced if name in before.lines else _inserted
    result = _edited(text, lambda body: edit(body, before, name, literal))
    if not _says(path, result, {**_values(before), name: value}):
        raise SettingsError(f"{before.place(name)}: {name} is written in an unusual way; set it by hand to {literal}")
    return result


def without(path: str, text: str, name: str) -> str:
    """`text` without the line that sets `name`; the same text when it does not say it.

    Raises: SettingsError when `text` is not TOML, or writes the value in a way that is better changed by hand.
    """
    before = parse(path, text)
    if name not in before.values:
        return text
    result = _edited(text, lambda body: _removed(body, before.lines.get(name, 1)))
    if not _says(path, result, {key: value for key, value in _values(before).items() if key != name}):
        raise SettingsError(f"{before.place(name)}: {name} is written in an unusual way; take it out by hand")
    return result


def replace_file(path: str, text: str) -> None:
    """Make `text` the content of `path`, all of it or nothing.

    A new file is for its owner alone; one that was there keeps its permissions, and a symbolic link stays one.

    Raises: SettingsError when the disk or the permissions do not allow it; the old content is then unharmed.
    """
    target = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else 0o600
        private_files.replace_file(target, text)
        os.chmod(target, mode)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from None


def remove_file(path: str) -> None:
    """Take away the file at `path`, if there is one.

    Raises: SettingsError when the permissions do not allow it.
    """
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed: {error.strerror}") from None


def _edited(text: str, edit: Callable[[str], str]) -> str:
    """`text` with its body edited, and the byte-order mark in front of it left where it was."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + edit(text.removeprefix(mark))


def _says(path: str, text: str, wanted: dict[str, object]) -> bool:
    """Whether `text` holds these values and no others; an edit that went wrong is seen here, whatever it broke."""
    try:
        return _values(parse(path, text)) == wanted
    except SettingsError:
        return False


def _values(file: TomlFile) -> dict[str, object]:
    """The values of a file, without its empty tables: one of them may get its first value."""
    return {name: value for name, value in file.values.items() if value != {}}


def _replaced(body: str, file: TomlFile, name: str, literal: str) -> str:
    lines = body.split("\n")
    index = file.lines[name] - 1
    line = lines[index].removesuffix("\r")
    if found := _ASSIGNMENT.fullmatch(line):
        lines[index] = found["before"] + literal + found["after"] + lines[index][len(line) :]
    return "\n".join(lines)


def _removed(body: str, line: int) -> str:
    lines = body.split("\n")  # as the parser counts them; `splitlines` would count more
    del lines[line - 1]
    if line > len(lines):  # the last one, without a line end: the one before it keeps its own
        lines.append("")
    return "\n".join(lines)


def _inserted(body: str, file: TomlFile, name: str, literal: str) -> str:
    """`body` with a new line: under the table it belongs to, in a new table at the end, or above the first table."""
    ending = "\r\n" if "\r\n" in body else "\n"
    if body and not body.endswith("\n"):
        body += ending
    lines = [line + "\n" for line in body.split("\n")[:-1]]
    group, _, key = name.rpartition(".")
    headers = {header: number for number, line in enumerate(lines) if (header := _header(line))}
    if group in headers:
        lines.insert(headers[group] + 1, f"{key} = {literal}{ending}")
    elif group and not any(known.startswith(f"{group}.") for known in file.values):
        lines.append(f"{ending if lines else ''}[{group}]{ending}{key} = {literal}{ending}")
    else:
        first_table = min(headers.values(), default=len(lines))
        last_above = max((number for number in file.lines.values() if number <= first_table), default=0)
        lines.insert(last_above, f"{name} = {literal}{ending}")
    return "".join(lines)


def _header(line: str) -> str:
    names = names_on(line) if line.lstrip().startswith("[") else []
    return names[0] if names else ""


def _literal(value: Scalar) -> str:
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(letter):04x}" if ord(letter) < 32 or letter in '"\\\x7f' else letter for letter in value
        )
        return f'"{escaped}"'
    return str(value).lower()
