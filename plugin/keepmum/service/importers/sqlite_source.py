"""Reads the SQLite database of another program: never writes to it, and never holds more than a row of it.

A database in WAL mode whose log is empty is opened as immutable, which creates no other files; if it is changed
meanwhile, that is reported, and the import can be run again.
Source: https://www.sqlite.org/uri.html and https://www.sqlite.org/wal.html ("Read-Only Databases"), read 2026-11-22.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

from keepmum.core.errors import InvalidInput
from keepmum.service.importers.item import ImportItem, NotKept

__all__ = ["Row", "SqliteSource", "is_sqlite", "tables_of"]

Row = dict[str, Any]  # Any: SQLite stores any type in any column
_MAGIC = b"SQLite format 3\x00"
_WAL_VERSION = 2  # bytes 18 and 19 of the header, in WAL mode
_TIMEOUT = 5.0  # seconds to wait for another program's lock
_LARGEST = 64 * 1024 * 1024  # bytes of one value
# Parts of the names of tables that hold indexes and bookkeeping, which are not content.
_SHADOWS = ("_fts", "_vec", "vec_", "fts_", "sqlite_", "_embeddings", "schema_", "migration", "sync_")
_LONGEST_NAME = 40


def is_sqlite(path: str) -> bool:
    """Whether a file begins like a SQLite database."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def tables_of(path: str) -> dict[str, frozenset[str]]:
    """The names of a database's tables, each with those of its columns.

    Raises: InvalidInput when it cannot be read.
    """
    with SqliteSource(path) as source:
        return source.tables


class SqliteSource:
    """A database that is only read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._state = self._file_state()
        immutable = self._is_wal() and not self._size_of("-wal")
        uri = f"file:{quote(os.path.abspath(path))}?mode=ro{'&immutable=1' if immutable else ''}"
        try:
            self._db = sqlite3.connect(uri, uri=True, timeout=_TIMEOUT)
            self._db.row_factory = sqlite3.Row
            self._db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
            self._db.execute("PRAGMA query_only = ON")
            self._db.execute("PRAGMA trusted_schema = OFF")
            self.tables = self._read_tables()
        except sqlite3.Error as error:
            raise InvalidInput("file", f"{path} {_explained(error)}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[str, Row | None, str]]:
        """Place, values and problem of each row, in the order in which they were written.

        Columns that this version of the table lacks are None. After a row that is too large to read, reading continues
        with the next; after damage it ends.
        """
        known = [name for name in columns if name in self.tables[table]]
        chosen = ", ".join(['rowid AS "rowid"', *(f'"{name}"' for name in known)])
        # Names of tables and columns without a quotation mark; `_read_tables` leaves out the others.
        query = f'SELECT {chosen} FROM "{table}" WHERE rowid > ? ORDER BY rowid'  # noqa: S608
        last, is_done = -(1 << 63), False
        while not is_done:
            try:
                for row in self._db.execute(query, (last,)):
                    last = int(row[0])
                    values = {**dict.fromkeys(columns), **dict(zip(row.keys(), row, strict=True))}
                    yield f"{table}, row {last}", values, ""
                is_done = True
            except sqlite3.DataError:
                large = self._next_row(table, last)
                is_done = large is None
                if large is not None:
                    last = large
                    yield f"{table}, row {last}", None, f"has a value of more than {_LARGEST // 1024**2} MiB"
            except sqlite3.Error as error:
                is_done = True
                yield f"{table}, after row {last}", None, f"{_explained(error)}. What is above it was read"

    def grouped(self, table: str, group: str, columns: Sequence[str]) -> Iterator[Row]:
        """The rows of a table by the value of a column, and of one value in the order in which they were written.

        Raises: InvalidInput when the database is damaged.
        """
        chosen = ", ".join(f'"{name}"' for name in columns if name in self.tables[table])
        try:
            for row in self._db.execute(f'SELECT {chosen} FROM "{table}" ORDER BY "{group}", rowid'):  # noqa: S608
                yield {**dict.fromkeys(columns), **dict(zip(row.keys(), row, strict=True))}
        except sqlite3.Error as error:
            raise InvalidInput("file", f"{self._path} {_explained(error)}") from None

    def all(self, query: str, *values: object) -> list[Row]:
        """The rows of a query that gives few; none when the database is damaged there."""
        try:
            return [dict(zip(row.keys(), row, strict=True)) for row in self._db.execute(query, values)]
        except sqlite3.Error:
            return []

    def not_kept(self, used: Mapping[str, Sequence[str]]) -> Iterator[NotKept]:
        """The tables and columns that are not in `used` and hold something, with the number of rows."""
        for table, columns in self.tables.items():
            if table not in used:
                rows = f'SELECT count(*) FROM "{table}"'  # noqa: S608 - as in `rows`
                yield from self._counted(f"rows of the table {_shown(table)}", rows)
                continue
            for column in sorted(columns - set(used[table])):
                filled = f"\"{column}\" IS NOT NULL AND \"{column}\" NOT IN ('', 0, '[]', '{{}}')"
                yield from self._counted(
                    f"values of {_shown(table)}.{_shown(column)}",
                    f'SELECT count(*) FROM "{table}" WHERE {filled}',  # noqa: S608 - as in `rows`
                )

    def changed(self) -> Iterator[ImportItem]:
        """A problem when the file was changed while it was read, as by the program that it belongs to."""
        if self._file_state() != self._state:
            yield ImportItem(os.path.basename(self._path), None, "was changed while it was read; run the import again")

    def _counted(self, what: str, query: str) -> Iterator[NotKept]:
        with contextlib.suppress(sqlite3.Error):  # damage is reported where rows are read
            (count,) = self._db.execute(query).fetchone()
            if count:
                yield NotKept(what, count)

    def _next_row(self, table: str, last: int) -> int | None:
        with contextlib.suppress(sqlite3.Error):
            query = f'SELECT min(rowid) FROM "{table}" WHERE rowid > ?'  # noqa: S608 - as in `rows`
            (found,) = self._db.execute(query, (last,)).fetchone()
            return int(found) if found is not None else None
        return None

    def _read_tables(self) -> dict[str, frozenset[str]]:
        """Virtual tables and the tables below them are indexes, so they are left out."""
        listed = self._db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND "
            "sql NOT LIKE '%WITHOUT ROWID%' AND instr(name, '\"') = 0 ORDER BY name"
        ).fetchall()
        names = [str(row[0]) for row in listed if not any(part in str(row[0]) for part in _SHADOWS)]
        return {
            name: frozenset(
                str(row["name"]) for row in self._db.execute(f'PRAGMA table_info("{name}")') if '"' not in row["name"]
            )
            for name in names
        }

    def _is_wal(self) -> bool:
        try:
            with open(self._path, "rb") as file:
                header = file.read(20)
        except OSError as error:
            raise InvalidInput("file", f"{self._path}: {error.strerror}") from None
        return header[18:20] == bytes([_WAL_VERSION, _WAL_VERSION])

    def _size_of(self, suffix: str) -> int:
        try:
            return os.path.getsize(self._path + suffix)
        except OSError:
            return 0

    def _file_state(self) -> tuple[int, int, int]:
        try:
            about = os.stat(self._path)
        except OSError as error:
            raise InvalidInput("file", f"{self._path}: {error.strerror}") from None
        return about.st_size, about.st_mtime_ns, self._size_of("-wal")


def _shown(name: str) -> str:
    """A name from the database, if it can be shown: it is chosen by others."""
    plain = len(name) <= _LONGEST_NAME and name.isascii() and name.replace("_", "a").isalnum()
    return name if plain else "(a name)"


def _explained(error: sqlite3.Error) -> str:
    """What is wrong with a database and what to do, to follow its name."""
    text = str(error).lower()
    if "locked" in text or "busy" in text:
        return "is locked by another program; close that program and run the import again"
    if "malformed" in text or "not a database" in text or "corrupt" in text or "disk i/o" in text:
        return (
            "is a damaged database; restore it from a backup, or run `sqlite3 FILE .recover` to copy what is readable"
        )
    if "unable to open" in text or "readonly" in text or "read-only" in text:
        return (
            "cannot be opened without writing to it, because its program did not close it; start that program once, or "
            "copy the file and those next to it (-wal, -shm, -journal), open the copy with `sqlite3 COPY .tables`, and "
            "import the copy"
        )
    if "unsupported file format" in text:
        return "has a newer format than this SQLite can read; export it with the program that it belongs to"
    return f"cannot be read ({type(error).__name__}); export it with the program that it belongs to"
