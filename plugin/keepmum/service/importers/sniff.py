"""The outside of a file or folder: enough to recognise its format without reading it whole."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepmum.core.errors import InvalidInput
from keepmum.service.importers.field_values import json_object
from keepmum.service.importers.json_source import parts
from keepmum.service.importers.sqlite_source import is_sqlite, tables_of

__all__ = ["Sniff", "require_file", "sniff"]

_LONGEST_LINE = 1 << 20
_PARTS = 40  # of a JSON document
_TEXT = 1024  # bytes of a file that hold no NUL when it is a text


@dataclass(frozen=True, slots=True)
class Sniff:
    """The outside of a source."""

    path: str
    names: frozenset[str] = frozenset()  # in a folder
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of a database, with their columns
    line: Mapping[str, Any] = field(default_factory=dict)  # the first line, if it is a JSON object
    keys: tuple[str, ...] = ()  # the first names at the top of a JSON document
    firsts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # the first object under each of them

    @property
    def name(self) -> str:
        """The last part of the path."""
        return os.path.basename(os.path.abspath(self.path))

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return os.path.isdir(self.path)

    def has_columns(self, table: str, *columns: str) -> bool:
        """Whether it is a database with a table that has these columns."""
        return set(columns) <= self.tables.get(table, frozenset())

    def has_items(self, *names: str, under: tuple[str, ...] = ("", "memories", "results")) -> bool:
        """Whether it is a JSON document with a list whose first item has these names."""
        return any(set(names) <= self.firsts[key].keys() for key in under if key in self.firsts)


def sniff(path: str) -> Sniff:
    """The outside of the file or folder at `path`.

    Raises: InvalidInput when it cannot be read.
    """
    require_file(path)
    try:
        if os.path.isdir(path):
            return Sniff(path, names=frozenset(os.listdir(path)))
        with open(path, "rb") as file:
            first = file.readline(_LONGEST_LINE)
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None
    if is_sqlite(path):
        return Sniff(path, tables=tables_of(path))
    if b"\0" in first[:_TEXT]:
        return Sniff(path)
    keys: list[str] = []
    firsts: dict[str, Mapping[str, Any]] = {}
    for names, value in _some_parts(path):
        keys += [names[0]] if names and names[0] not in keys else []
        if isinstance(value, dict):
            firsts.setdefault(names[-1] if names else "", value)
    return Sniff(path, line=json_object(first) or {}, keys=tuple(keys), firsts=firsts)


def require_file(path: str) -> None:
    """Check that there is a regular file or a folder at `path`: a source is read twice, for the preview and the import.

    Raises: InvalidInput.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InvalidInput("file", f"{path} is not a regular file; save it to a file first")


def _some_parts(path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The first parts of a JSON document, and of each list in it the first."""
    seen: set[tuple[str, ...]] = set()
    try:
        for names, value in itertools.islice(parts(path), 20_000):
            if names not in seen:
                seen.add(names)
                yield names, value
            if len(seen) > _PARTS:
                return
    except InvalidInput:
        return
