"""A small TOML file whose keys know their lines, and in which one value can be changed with all else left alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from keepmum.errors import SettingsError

__all__ = ["TomlFile", "changed", "parse", "read_text", "replace_file"]

_MOST = 64 * 1024  # bytes; a settings file has a few hundred
_ASSIGNMENT = re.compile(
    r"""(?P<before> [^=]* = [ \t]* )
        (?P<value> true | false | [+-]?[0-9_]+ | "(?:[^"\\]|\\.)*" | '[^']*' )
        (?P<after> [ \t]* (?: \#.* )? )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The values of one file by dotted name, in the file's order, and the line that each stands on."""

    path: str
    values: Mapping[str, object] = field(repr=False)
    lines: Mapping[str, int] = field(repr=False)

    def place(self, name: str) -> str:
        """`path:line` of a value, for messages and for `keepmum status`."""
        return f"{self.path}:{self.lines[name]}" if name in self.lines else self.path


def read_text(path: str) -> str | None:
    """What the file at `path` holds, or None when there is no such file. Its bytes are kept, line ends and all.

    Raises: SettingsError when it cannot be read, is too large, or is not UTF-8.
    """
    try:
        if not os.path.isfile(path):  # a pipe would wait for a writer
            return None
        with open(path, "rb") as file:
            content = file.read(_MOST + 1)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > _MOST:
        raise SettingsError(f"{path} is larger than {_MOST // 1024} KiB, which no settings file needs")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}:{line} is not UTF-8; save the file as UTF-8") from None


def parse(path: str, text: str) -> TomlFile:
    """The values and lines of `text`, the content of `path`.

    Raises: SettingsError when it is not TOML; the message names the line.
    """
    import tomllib

    body = text.removeprefix("\ufeff")  # Windows editors write a byte-order mark, which TOML does not know
    try:
        tables = tomllib.loads(body)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"at line ([0-9]+)", str(error))
        line = found[1] if found else str(body.count("\n") + 1)
        raise SettingsError(
            f"{path}:{line} is not TOML. A line reads `name = value`, and text stands in quotes"
        ) from None
    values = dict(_flat(tables))
    return TomlFile(path, values, {name: line for name, line in _places(body) if name in values})


def changed(path: str, text: str, name: str, value: bool | int | str) -> str:  # noqa: FBT001 - the value is the point
    """`text` with `name` set to `value`; every other value, comment, line end and the order are as before.

    Raises: SettingsError when `text` is not TOML, or writes the value in a way that is better changed by hand.
    """
    before = parse(path, text)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    result = mark + _with_value(text.removeprefix("\ufeff"), before, name, _literal(value))
    try:
        done = parse(path, result).values == {**before.values, name: value}
    except SettingsError:
        done = False
    if not done:
        raise SettingsError(
            f"{before.place(name)} writes {name} in an unusual way; set it by hand to {_literal(value)}"
        )
    return result


def replace_file(path: str, text: str) -> None:
    """Make `text` the content of `path`, for the user's eyes alone, all of it or nothing. A symbolic link stays one.

    Raises: SettingsError when the disk or the permissions do not allow it; the old content is then unharmed.
    """
    target = os.path.realpath(path)
    beside = f"{target}.{os.getpid()}.new"
    try:
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, target)
        except OSError:
            _remove(beside)
            raise
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from None


def _remove(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every value that is not a table, by its dotted name; an empty table counts as a value, so that it is seen."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _places(body: str) -> Iterator[tuple[str, int]]:
    """Each dotted name with its line, last line first, so that the first one wins where they are collected."""
    found: list[tuple[str, int]] = []
    table = ""
    for number, line in enumerate(body.split("\n"), 1):
        names = _names_on(line)
        if line.lstrip().startswith("[") and names:
            table = names[0] + "."
            found.append((names[0], number))
        else:
            found.extend((table + name, number) for name in names)
    return reversed(found)


def _names_on(line: str) -> list[str]:
    """The dotted names that a line sets or opens. TOML itself reads the line, so that quoted and inline keys count."""
    import tomllib

    for candidate in (line, line.partition("=")[0] + "= 0"):  # the second where a value goes on over several lines
        try:
            return [name for name, _ in _flat(tomllib.loads(candidate))]
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
    return []


def _with_value(body: str, file: TomlFile, name: str, literal: str) -> str:
    lines = body.split("\n")
    ending = "\r" if "\r\n" in body else ""
    if name in file.lines:
        index = file.lines[name] - 1
        bare = lines[index].removesuffix("\r")
        if found := _ASSIGNMENT.fullmatch(bare):
            lines[index] = f"{found['before']}{literal}{found['after']}{lines[index][len(bare) :]}"
        return "\n".join(lines)
    group, _, key = name.rpartition(".")
    headers = {names: number for number, names in enumerate(map(_header, lines)) if names}
    if group and group in headers:
        lines.insert(headers[group] + 1, f"{key} = {literal}{ending}")
        return "\n".join(lines)
    if group and not any(known.startswith(group + ".") for known in file.values):
        gap = "" if not body or body.endswith("\n") else ending + "\n"
        blank = ending + "\n" if body.strip() else ""
        return f"{body}{gap}{blank}[{group}]{ending}\n{key} = {literal}{ending}\n"
    first_table = min(headers.values(), default=len(lines))
    last_above = max((number for number in file.lines.values() if number <= first_table), default=0)
    lines.insert(last_above, f"{name} = {literal}{ending}")
    return "\n".join(lines)


def _header(line: str) -> str:
    names = _names_on(line) if line.lstrip().startswith("[") else []
    return names[0] if names else ""


def _literal(value: bool | int | str) -> str:  # noqa: FBT001 - as above
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(letter):04x}" if ord(letter) < 32 or letter in '"\\\x7f' else letter for letter in value
        )
        return f'"{escaped}"'
    return str(value).lower()
