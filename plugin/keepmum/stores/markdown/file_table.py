"""What was last seen of each file, on disk, so that a start reads only the files that changed since.

A cache: it may be deleted or damaged at any time, and is then made anew from the files. Each transaction has a number
and its rows carry it, so that another process takes over what is new and reads no row twice.
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
    path TEXT PRIMARY KEY, mark TEXT, digest TEXT, memory TEXT, name TEXT, problem TEXT, flawed INTEGER, change INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_change ON files(change);
CREATE TABLE IF NOT EXISTS gone (path TEXT PRIMARY KEY, change INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, mark TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_VERSION = 2
_DROPPED = "".join(f"DROP TABLE IF EXISTS {table};" for table in ("files", "gone", "days", "facts"))
_ROWS = "SELECT path, mark, digest, memory, name, problem, flawed FROM files"
_MOST_GONE = 1_000  # paths that are remembered to have gone; who has not looked since they went reads all rows anew


class Row(NamedTuple):
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
        except sqlite3.DatabaseError as error:
            if is_full(error) or is_busy(error):  # the file is as good as it was
                raise store_error(error, "open its cache") from None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            try:
                self._db = _connected(path)
            except sqlite3.Error as error:
                raise StoreError(f"the cache at {path} cannot be made ({error}); delete it and try again") from None
        self._seen = -1
        self._change = -1  # the number of the last transaction that was taken over
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
        with transaction(self._db, "DEFERRED"):  # one state of all tables
            self.days = dict(self._db.execute("SELECT day, mark FROM days"))
            self.facts = dict(self._db.execute("SELECT name, value FROM facts"))
            if self._change < int(self.facts.get("forgotten", "0")):
                self.files, self._paths = {}, {}
                self._change = -1
            gone = self._db.execute("SELECT path FROM gone WHERE change > ?", (self._change,)).fetchall()
            found = self._db.execute(f"{_ROWS} WHERE change > ?", (self._change,)).fetchall()
        self._take(list(map(Row._make, found)), [path for (path,) in gone])
        self._change = int(self.facts.get("change", "0"))

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
        with transaction(self._db):
            change = self._numbered()
            self._db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in removed])
            self._db.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?)", [(path, change) for path in removed])
            self._db.executemany("DELETE FROM gone WHERE path = ?", [(row.path,) for row in written])
            self._db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, change) for row in written],
            )
            self._forget_gone(change)
            self._db.executemany("DELETE FROM days WHERE day = ?", [(day,) for day in seen])
            kept = {day: mark for day, mark in seen.items() if mark is not None}
            self._db.executemany("INSERT INTO days VALUES (?, ?)", list(kept.items()))
        self._take(written, removed)
        self._change = change
        for day in seen:
            self.days.pop(day, None)
        self.days.update(kept)

    def note(self, name: str, value: str) -> None:
        """Keep a fact of the whole table."""
        if self.facts.get(name) != value:
            with transaction(self._db):
                self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
            self.facts[name] = value

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _take(self, written: Sequence[Row], removed: Sequence[str]) -> None:
        """Bring what is in memory to what is on disk."""
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

    def _numbered(self) -> int:
        """The number of this transaction; the caller holds it."""
        found = self._db.execute("SELECT value FROM facts WHERE name = 'change'").fetchone()
        change = int(found[0]) + 1 if found else 1
        self._db.execute("INSERT OR REPLACE INTO facts VALUES ('change', ?)", (str(change),))
        return change

    def _forget_gone(self, change: int) -> None:
        """Keep the list of what has gone short; whoever has yet to hear of it reads all rows anew."""
        if self._db.execute("SELECT count(*) FROM gone").fetchone()[0] > _MOST_GONE:
            self._db.execute("DELETE FROM gone")
            self._db.execute("INSERT OR REPLACE INTO facts VALUES ('forgotten', ?)", (str(change),))


def _connected(path: str) -> sqlite3.Connection:
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        db.execute("PRAGMA synchronous = OFF")  # what a power cut may lose here is made anew
        if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            db.executescript(_DROPPED)
        db.executescript(_TABLES)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        db.close()
        raise
    return db
