"""Small TOML files: reading their values with line numbers, and replacing a file as a whole."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from keepmum.core.errors import SettingsError
from keepmum.system import private_files

__all__ = [
    "Path",
    "Statement",
    "TomlFile",
    "dotted",
    "literal",
    "parse",
    "read_text",
    "render",
    "statements",
    "values",
    "write_text",
]

_MOST = 64 * 1024  # bytes; a settings file has a few hundred
_LONGEST = 1000  # characters of a line; a dotted name of 40,000 costs the parser 15 s
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PART = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*""")
_STRING = re.compile(r'''"""(?:\\.|[^\\])*?"{3,5}(?!")|'{3}.*?'{3,5}(?!')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL)
_BLANK = re.compile(r"[ \t]*")

Path = tuple[str, ...]  # the keys that lead to a value


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The values of one file by dotted name, in the order of the file, and the line number of each."""

    path: str
    values: Mapping[str, object] = field(repr=False)
    lines: Mapping[str, int] = field(repr=False)

    def place(self, name: str) -> str:
        """`path:line` of a value, for messages and for `keepmum status`."""
        return f"{self.path}:{self.lines[name]}" if name in self.lines else self.path


@dataclass(frozen=True, slots=True)
class Statement:
    """One `[table]` header or one `key = value`, which may take several lines; all numbers are offsets in the text."""

    path: Path
    start: int
    last_key: int
    """Where the last part of a dotted key begins."""
    value: int
    end: int
    """After the last character that is neither a blank nor a comment."""
    is_header: bool = False


def read_text(path: str) -> str | None:
    """The content of the file at `path` with its line ends; None when there is no such file.

    Raises: SettingsError when it cannot be read, is too large, or is not UTF-8.
    """
    try:
        if not os.path.isfile(path):  # opening a pipe would wait for a writer
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


def write_text(path: str, text: str) -> None:
    """Replace the content of the file at `path` atomically.

    A new file has mode 0600; an existing one keeps its mode, and a symbolic link stays one.

    Raises: SettingsError when the disk or the permissions do not allow it; the old content is then unharmed.
    """
    target = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else 0o600
        private_files.replace_file(target, text)
        os.chmod(target, mode)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from None


def parse(path: str, text: str) -> TomlFile:
    """The values and line numbers of `text`, the content of `path`.

    Raises: SettingsError when it is not TOML or has an enormous line; the message names the line.
    """
    import tomllib

    body = text.removeprefix("\ufeff")
    for number, line in enumerate(body.split("\n"), 1):
        if len(line) > _LONGEST:
            raise SettingsError(f"{path}:{number} is longer than {_LONGEST} characters, which no setting needs")
    try:
        found = values(body)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"at line ([0-9]+)", str(error))
        line = place[1] if place else str(body.count("\n") + 1)
        raise SettingsError(f"{path}:{line} is not TOML. A line reads `name = value`, with text in quotes") from None
    lines = _lines(body, found)
    return TomlFile(
        path,
        {_name(keys): value for keys, value in found.items()},
        {_name(keys): number for keys, number in lines.items()},
    )


def values(text: str) -> dict[Path, object]:
    """Every value of a TOML text that is not a table, by its path; an empty table counts as a value.

    Raises: TOMLDecodeError; RecursionError when it is nested too deeply.
    """
    import tomllib

    # Windows editors write a byte-order mark, which TOML does not allow.
    return dict(_flat(tomllib.loads(text.removeprefix("\ufeff"))))


def statements(text: str) -> Iterator[Statement]:
    """Each header and each `key = value` of a valid TOML text, except those inside `[[arrays of tables]]`."""
    table: Path | None = ()
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _line_end(text, at)
        elif text[at] == "[":
            is_array = text.startswith("[[", at)
            keys, last_key, end = _key(text, at + 1 + is_array)
            table = None if is_array else keys
            yield Statement(keys, at, last_key, end, end + 1 + is_array, is_header=True)
            at = _line_end(text, end)
        else:
            keys, last_key, equals = _key(text, at)
            value = _BLANK.match(text, equals + 1).end()  # type: ignore[union-attr]  # it matches everywhere
            end = _value_end(text, value)
            if table is not None:
                yield Statement((*table, *keys), at, last_key, value, end)
            at = _line_end(text, end)


def render(tables: Mapping[str, Mapping[str, str]]) -> str:
    """A whole TOML file of tables of strings.

    Without tomli-w, which a command before the first installation may lack, by hand: the text then parses alike.
    """
    try:
        import tomli_w
    except ImportError:
        return "\n".join(
            f"[{dotted((name,))}]\n" + "".join(f"{dotted((key,))} = {literal(value)}\n" for key, value in table.items())
            for name, table in tables.items()
        )
    return tomli_w.dumps(tables)


def dotted(path: Iterable[str]) -> str:
    """The path as a TOML key; parts that need quotes have them."""
    return ".".join(key if _BARE.fullmatch(key) else literal(key) for key in path)


def literal(value: object) -> str:
    """A boolean, a whole number, a string or a list of strings in TOML; all that JSON escapes, TOML reads."""
    import json

    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _flat(table: Mapping[str, object], prefix: Path = ()) -> Iterator[tuple[Path, object]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, (*prefix, key))
        else:
            yield (*prefix, key), value


def _name(path: Path) -> str:
    return ".".join(f'"{key}"' if "." in key else key for key in path)  # "a.b" is one key, a.b is two


def _lines(body: str, paths: Iterable[Path]) -> dict[Path, int]:
    """The line number of each value; of one inside an inline table that of the table."""
    found: dict[Path, int] = {}
    line, counted = 1, 0
    for statement in statements(body):
        line += body.count("\n", counted, statement.start)
        counted = statement.start
        found.setdefault(statement.path, line)
    holders = (
        (path, next((path[:depth] for depth in range(len(path), 0, -1) if path[:depth] in found), ())) for path in paths
    )
    return {path: found[holder] for path, holder in holders if holder}


def _key(text: str, at: int) -> tuple[Path, int, int]:
    """A dotted key: its parts, where the last one begins, and where the key ends."""
    import tomllib

    parts: list[str] = []
    while found := _PART.match(text, at):
        parts.append(found[1] if found[1][0] not in "\"'" else tomllib.loads(f"key = {found[1]}")["key"])
        if not text.startswith(".", found.end()):
            return tuple(parts), found.start(1), found.end()
        at = found.end() + 1
    raise ValueError("not a TOML key")


def _value_end(text: str, at: int) -> int:
    """Where the value that begins at `at` ends: after its last character that is not a blank."""
    depth, last = 0, at
    while at < len(text):
        if string := _STRING.match(text, at):
            at = last = string.end()
        elif text[at] == "#" and depth:
            at = _line_end(text, at)
        elif not depth and text[at] in "#\n":
            break
        else:
            depth += (text[at] in "[{") - (text[at] in "]}")
            at += 1
            last = last if text[at - 1].isspace() else at
    return last


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found
