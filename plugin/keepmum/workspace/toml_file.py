"""A small TOML file whose values know their lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from keepmum.core.errors import SettingsError

__all__ = ["TomlFile", "names_on", "parse", "read_text"]

_MOST = 64 * 1024  # bytes; a settings file has a few hundred
_LONGEST = 1000  # characters of a line; a dotted name of 40,000 costs the parser 15 s


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

    Raises: SettingsError when it is not TOML or has an enormous line; the message names the line.
    """
    import tomllib

    body = text.removeprefix("\ufeff")  # Windows editors write a byte-order mark, which TOML does not know
    for number, line in enumerate(body.split("\n"), 1):
        if len(line) > _LONGEST:
            raise SettingsError(f"{path}:{number} is longer than {_LONGEST} characters, which no setting needs")
    try:
        values = dict(_flat(tomllib.loads(body)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"at line ([0-9]+)", str(error))
        line = found[1] if found else str(body.count("\n") + 1)
        raise SettingsError(
            f"{path}:{line} is not TOML. A line reads `name = value`, and text stands in quotes"
        ) from None
    return TomlFile(path, values, {name: line for name, line in _places(body) if name in values})


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every value that is not a table, by its dotted name; an empty table counts as a value, so that it is seen."""
    for key, value in table.items():
        name = prefix + (f'"{key}"' if "." in key else key)  # "a.b" is one key, a.b is two
        if isinstance(value, dict) and value:
            yield from _flat(value, name + ".")
        else:
            yield name, value


def _places(body: str) -> Iterator[tuple[str, int]]:
    """Each dotted name with its line, last line first, so that the first one wins where they are collected."""
    found: list[tuple[str, int]] = []
    table = ""
    for number, line in enumerate(body.split("\n"), 1):
        names = names_on(line)
        if line.lstrip().startswith("[") and names:
            table = names[0] + "."
            found.append((names[0], number))
        else:
            found.extend((table + name, number) for name in names)
    return reversed(found)


def names_on(line: str) -> list[str]:
    """The dotted names that a line sets or opens. TOML itself reads the line, so that quoted and inline keys count."""
    import tomllib

    for candidate in (line, line.partition("=")[0] + "= 0"):  # the second where a value goes on over several lines
        try:
            return [name for name, _ in _flat(tomllib.loads(candidate))]
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
    return []
