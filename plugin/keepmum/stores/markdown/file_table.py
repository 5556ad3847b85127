"""The last known state of each file, on disk, so that a process reads only the files that changed since.

This is a cache: it may be deleted or damaged at any time, and is then rebuilt from the files. Each transaction has a
number, which its rows contain, so that another process reads only the rows that are new to it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from keepmum.core.errors import StoreError
from keepmum.stores.sqlite.errors import is_busy, is_full, store_error
from keepmum.stores.transactions import transaction
from keepmum.system import private_files

__all__ = ["FileTable", "Row"]

_TABLES = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, mark TEXT, digest TEXT, memory TEXT, file_id TEXT, problem TEXT,
    conflicting INTEGER, change INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_change ON files(change);
CREATE TABLE IF NOT EXISTS gone (path TEXT PRIMARY KEY, change INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, mark TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_VERSION = 3
_DROP_TABLES = "".join(f"DROP TABLE IF EXISTS {table};" for table in ("files", "gone", "days", "facts"))
_ROWS = "SELECT path, mark, digest, memory, file_id, problem, conflicting FROM files"
_MAX_GONE = 1_000  # removed paths in the table; a process that has missed older ones reads all rows again


class Row(NamedTuple):
    """One file: its state, its memory, and what is wrong with it."""

    path: str  # day/name
    mark: str  # see `FileState`; empty when another change might have the same mark
    digest: str
    memory: str = ""  # the id of its memory; empty when there is none
    file_id: str = ""  # the `id` in the file
    problem: str = ""
    conflicting: int = 0  # 1: has the id or key of another file, so it is read again when any file changes


class FileTable:
    """The rows, in memory and on disk. Writers hold the lock of the store."""

    def __init__(self, path: str) -> None:
        self._path = path
        private_files.make_folder(os.path.dirname(path))
        try:
            self._db = _connect(path)
        except sqlite3.DatabaseError as error:
            if is_full(error) or is_busy(error):  # the file is not damaged
                raise store_error(error, "open its cache") from None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            try:
                self._db = _connect(path)
            except sqlite3.Error as error:
                raise StoreError(f"the cache at {path} cannot be created ({error}); delete it and try again") from None
        self._data_version = -1
        self._change = -1  # the number of the last transaction that was read
        self.files: dict[str, Row] = {}
        self.days: dict[str, str] = {}
        self.facts: dict[str, str] = {}
        self._paths: dict[str, str] = {}  # by memory
        self.refresh()

    def refresh(self) -> None:
        """Read what other processes have written since."""
        version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        if version == self._data_version:
            return
        self._data_version = version
        with transaction(self._db, "DEFERRED"):  # a consistent state of all tables
            self.days = dict(self._db.execute("SELECT day, mark FROM days"))
            self.facts = dict(self._db.execute("SELECT name, value FROM facts"))
            if self._change < int(self.facts.get("forgotten", "0")):
                self.files, self._paths = {}, {}
                self._change = -1
            gone = self._db.execute("SELECT path FROM gone WHERE change > ?", (self._change,)).fetchall()
            rows = self._db.execute(f"{_ROWS} WHERE change > ?", (self._change,)).fetchall()
        self._update(list(map(Row._make, rows)), [path for (path,) in gone])
        self._change = int(self.facts.get("change", "0"))

    def path_of(self, memory: str) -> str | None:
        """The file of a memory."""
        return self._paths.get(memory)

    def with_file_id(self, file_id: str) -> list[str]:
        """Ids of the memories whose files have this id."""
        sql = "SELECT memory FROM files WHERE file_id = ? AND memory != '' ORDER BY path"
        return [row[0] for row in self._db.execute(sql, (file_id,))]

    @property
    def problems(self) -> list[Row]:
        """The files with a problem, by path."""
        return sorted((row for row in self.files.values() if row.problem), key=lambda row: row.path)

    def write(
        self, rows: Iterable[Row], gone: Iterable[str] = (), days: Mapping[str, str | None] | None = None
    ) -> None:
        """Write rows, remove paths and set the marks of days (None: removed), in one transaction."""
        written, removed, marks = list(rows), list(gone), dict(days or {})
        with transaction(self._db):
            change = self._next_number()
            self._db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in removed])
            self._db.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?)", [(path, change) for path in removed])
            self._db.executemany("DELETE FROM gone WHERE path = ?", [(row.path,) for row in written])
            self._db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, change) for row in written],
            )
            self._trim_gone(change)
            self._db.executemany("DELETE FROM days WHERE day = ?", [(day,) for day in marks])
            kept = {day: mark for day, mark in marks.items() if mark is not None}
            self._db.executemany("INSERT INTO days VALUES (?, ?)", list(kept.items()))
        self._update(written, removed)
        self._change = change
        for day in marks:
            self.days.pop(day, None)
        self.days.update(kept)

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact about the table."""
        if self.facts.get(name) != value:
            with transaction(self._db):
                self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
            self.facts[name] = value

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _update(self, written: Sequence[Row], removed: Sequence[str]) -> None:
        """Update the rows in memory."""
        for path in removed:
            row = self.files.pop(path, None)
            if row is not None and self._paths.get(row.memory) == path:
                del self._paths[row.memory]
        for row in written:
            former = self.files.get(row.path)
            if former is not None and former.memory != row.memory and self._paths.get(former.memory) == row.path:
                del self._paths[former.memory]
            self.files[row.path] = row
        self._paths |= {row.memory: row.path for row in written if row.memory}

    def _next_number(self) -> int:
        """The number of this transaction; the caller has begun it."""
        row = self._db.execute("SELECT value FROM facts WHERE name = 'change'").fetchone()
        change = int(row[0]) + 1 if row else 1
        self._db.execute("INSERT OR REPLACE INTO facts VALUES ('change', ?)", (str(change),))
        return change

    def _trim_gone(self, change: int) -> None:
        """Empty a long list of removed paths; processes that have not read it yet read all rows again."""
        if self._db.execute("SELECT count(*) FROM gone").fetchone()[0] > _MAX_GONE:
            self._db.execute("DELETE FROM gone")
            self._db.execute("INSERT OR REPLACE INTO facts VALUES ('forgotten', ?)", (str(change),))


def _connect(path: str) -> sqlite3.Connection:
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        db.execute("PRAGMA synchronous = OFF")  # what a power failure loses here is rebuilt
        if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            db.executescript(_DROP_TABLES)
        db.executescript(_TABLES)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        db.close()
        raise
    return db
