"""What was last seen of each file, on disk, so that a start reads only the files that changed since.

A cache: it may be deleted or damaged at any time, and is then made anew from the files.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from keepmum import private_files
from keepmum.errors import StoreError

__all__ = ["FileTable", "Row"]

_TABLES = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, mark TEXT, digest TEXT, memory TEXT, name TEXT, problem TEXT, flawed INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, mark TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One file: how it looked, what it held, and what is wrong with it."""

    path: str  # day/name
    mark: str  # empty where a change could hide behind it
    digest: str
    memory: str = ""  # the id of its memory; empty when it was not read
    name: str = ""  # the id that the file itself gives
    problem: str = ""
    flawed: int = 0  # 1: to be read again when another file changes: the problem lies between the two


class FileTable:
    """The rows, in memory and on disk; writers hold the lock of the store."""

    def __init__(self, path: str) -> None:
        self._path = path
        private_files.make_folder(os.path.dirname(path))
        try:
            self._db = _connected(path)
        except sqlite3.DatabaseError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            try:
                self._db = _connected(path)
            except sqlite3.Error as error:
                raise StoreError(f"the cache at {path} cannot be made ({error}); delete it and try again") from None
        self._seen = -1
        self.files: dict[str, Row] = {}
        self.days: dict[str, str] = {}
        self.facts: dict[str, str] = {}
        self._paths: dict[str, str] = {}  # by memory
        self.follow()

    def follow(self) -> None:
        """Take over what another process wrote since."""
        version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        if version == self._seen:
            return
        self._seen = version
        found = self._db.execute("SELECT path, mark, digest, memory, name, problem, flawed FROM files")
        self.files = {row.path: row for row in (Row(*values) for values in found)}
        self.days = dict(self._db.execute("SELECT day, mark FROM days"))
        self.facts = dict(self._db.execute("SELECT name, value FROM facts"))
        self._paths = {row.memory: row.path for row in self.files.values() if row.memory}

    def path_of(self, memory: str) -> str | None:
        """The file of a memory."""
        return self._paths.get(memory)

    def called(self, name: str) -> list[str]:
        """The memories whose files give this id."""
        found = self._db.execute("SELECT memory FROM files WHERE name = ? AND memory != '' ORDER BY path", (name,))
        return [row[0] for row in found]

    @property
    def problems(self) -> list[Row]:
        """The files with which something is wrong, by path."""
        return sorted((row for row in self.files.values() if row.problem), key=lambda row: row.path)

    def write(
        self, rows: Iterable[Row], gone: Iterable[str] = (), days: Mapping[str, str | None] | None = None
    ) -> None:
        """Put rows in, take paths out, note how days look (None: no longer there), in one transaction."""
        written, removed, seen = list(rows), list(gone), dict(days or {})
        with self._transaction():
            self._db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in removed])
            self._db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", [_values(row) for row in written]
            )
            self._db.executemany("DELETE FROM days WHERE day = ?", [(day,) for day in seen])
            kept = {day: mark for day, mark in seen.items() if mark is not None}
            self._db.executemany("INSERT INTO days VALUES (?, ?)", list(kept.items()))
        for path in removed:
            row = self.files.pop(path, None)
            if row is not None and self._paths.get(row.memory) == path:
                del self._paths[row.memory]
        for row in written:
            former = self.files.get(row.path)
            if former is not None and former.memory != row.memory and self._paths.get(former.memory) == row.path:
                del self._paths[former.memory]
            self.files[row.path] = row
            if row.memory:
                self._paths[row.memory] = row.path
        for day in seen:
            self.days.pop(day, None)
        self.days.update(kept)

    def note(self, name: str, value: str) -> None:
        """Keep a fact of the whole table."""
        if self.facts.get(name) != value:
            with self._transaction():
                self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
            self.facts[name] = value

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


def _values(row: Row) -> tuple[str | int, ...]:
    return row.path, row.mark, row.digest, row.memory, row.name, row.problem, row.flawed


def _connected(path: str) -> sqlite3.Connection:
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        db.execute("PRAGMA synchronous = OFF")  # what a power cut may lose here is made anew
        if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            db.executescript("DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS days; DROP TABLE IF EXISTS facts;")
        db.executescript(_TABLES)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        db.close()
        raise
    return db
