"""Reads what can still be read of a damaged store."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator

from keepmum.core.memory import KINDS, SCOPES, STATUSES, TIERS, Memory
from keepmum.stores.sqlite import files, rows

__all__ = ["salvage"]

_HEADER = 100  # bytes of the file header. Source: https://sqlite.org/fileformat2.html
_MAX_MISSES = 100_000  # consecutive unreadable row numbers after which the rest of the table counts as lost
_SELECT = f"SELECT seq, {', '.join(rows.COLUMNS)} FROM memories WHERE seq > ? ORDER BY seq"


def salvage(damaged: str, backups: list[str]) -> tuple[list[Memory], int]:
    """All memories that can be read from a damaged store, and how many of them came from its backups.

    A missing memory is read from the latest backup that has it (`backups` are oldest first). When nothing is missing
    the backups are not read, because they still hold memories that were purged later.
    """
    found, complete = _read(damaged)
    if not found:
        with _with_new_header(damaged) as copy:
            found, complete = _read(copy)
    own = len(found)
    for backup in () if complete else reversed(backups):
        for memory in _read(backup)[0].values():
            found.setdefault(memory.id, memory)
    return list(found.values()), len(found) - own


def _read(path: str) -> tuple[dict[str, Memory], bool]:
    """The memories of a store by id, and whether these are all it had."""
    memories: list[Memory | None] = []
    try:
        with contextlib.closing(sqlite3.connect(files.read_only_uri(path), uri=True)) as db:
            db.row_factory = sqlite3.Row
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")  # part of a text is better than none
            memories += _rows(db)
            indexed = db.execute("SELECT count(*) FROM words_docsize").fetchone()[0]
    except (sqlite3.Error, UnicodeDecodeError):  # SQLite quotes a broken schema unchanged
        indexed = None
    found = {memory.id: memory for memory in memories if memory is not None}
    return found, len(found) == len(memories) == indexed


def _rows(db: sqlite3.Connection) -> Iterator[Memory | None]:
    """The memories of a store row by row; None for each row number that cannot be read."""
    db.execute(f"EXPLAIN {_SELECT}", (0,))  # fails here when the schema itself is lost
    last, misses = -1, 0
    while misses < _MAX_MISSES:
        try:
            for row in db.execute(_SELECT, (last,)):
                last, misses = row["seq"], 0
                yield _memory(row)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise
            last, misses = last + 1, misses + 1  # skip the damaged page, one row number at a time
            yield None
        else:
            return


def _memory(row: sqlite3.Row) -> Memory | None:
    """The memory in a row; None when flipped bits made it invalid."""
    try:
        memory = rows.from_row(row)
        rows.to_row(memory)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    is_valid = memory.kind in KINDS and memory.scope in SCOPES and memory.tier in TIERS and memory.status in STATUSES
    return memory if is_valid and isinstance(memory.id, str) else None


@contextlib.contextmanager
def _with_new_header(damaged: str) -> Iterator[str]:
    """A copy of a store with a valid header, which is nearly the same for all our stores."""
    import shutil  # half a megabyte, and only needed here

    copy = f"{damaged}.{os.getpid()}.part"
    try:
        with contextlib.suppress(OSError):
            shutil.copyfile(damaged, copy)
            with open(copy, "r+b") as file:
                file.write(_sound_header())
            shutil.copyfile(damaged + "-wal", copy + "-wal")
        yield copy
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(copy + suffix)


def _sound_header() -> bytes:
    """The header of a WAL database with the default page size and an unspecified number of pages."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE t (c)")
        header = bytearray(db.serialize()[:_HEADER])
    header[18:20] = b"\2\2"  # WAL
    header[28:32] = bytes(4)  # number of pages: taken from the file size
    return bytes(header)
