"""What can still be read of a damaged store, and a sound store made of it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator

from keepmum.core.memory import KINDS, SCOPES, STATUSES, TIERS, Memory
from keepmum.stores.sqlite import files, rows

__all__ = ["salvage"]

_HEADER = 100  # bytes at the start of the file that say what it is. Source: https://sqlite.org/fileformat2.html
_MOST_MISSES = 100_000  # row numbers without a readable row after which the rest of the table is taken for lost
_SELECT = f"SELECT seq, {', '.join(rows.COLUMNS)} FROM memories WHERE seq > ? ORDER BY seq"


def salvage(damaged: str, backups: list[str]) -> tuple[list[Memory], int]:
    """All memories that can be read from a damaged store, its own first, and how many came from its backups.

    What is missing in the store is taken from the latest of the backups (oldest first) that has it. Where nothing is
    missing the backups are left alone: they hold what was purged since.
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
    """The memories of a store by id, and whether these are all that it held."""
    memories: list[Memory | None] = []
    try:
        with contextlib.closing(sqlite3.connect(files.read_only_uri(path), uri=True)) as db:
            db.row_factory = sqlite3.Row
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")  # half a text is better than none
            memories += _rows(db)
            indexed = db.execute("SELECT count(*) FROM words_docsize").fetchone()[0]
    except (sqlite3.Error, UnicodeDecodeError):  # SQLite quotes a broken schema as it is
        indexed = None
    found = {memory.id: memory for memory in memories if memory is not None}
    return found, len(found) == len(memories) == indexed


def _rows(db: sqlite3.Connection) -> Iterator[Memory | None]:
    """The memories of a store row by row; None for a row, or a row number, that cannot be read."""
    db.execute(f"EXPLAIN {_SELECT}", (0,))  # where the schema itself is lost there is nothing to step past
    last, misses = -1, 0
    while misses < _MOST_MISSES:
        try:
            for row in db.execute(_SELECT, (last,)):
                last, misses = row["seq"], 0
                yield _memory(row)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise
            last, misses = last + 1, misses + 1  # step past the broken page, one row number at a time
            yield None
        else:
            return


def _memory(row: sqlite3.Row) -> Memory | None:
    """The memory in a row, unless flipped bits made it one that cannot be kept again."""
    try:
        memory = rows.from_row(row)
        rows.to_row(memory)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    names = memory.kind in KINDS and memory.scope in SCOPES and memory.tier in TIERS and memory.status in STATUSES
    return memory if names and isinstance(memory.id, str) else None


@contextlib.contextmanager
def _with_new_header(damaged: str) -> Iterator[str]:
    """A copy of a store with a sound header: what it says is nearly the same for every store of ours."""
    import shutil  # half a megabyte that no sound store needs

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
    """The header of a WAL database with pages of the default size and as many of them as the file has."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE t (c)")
        header = bytearray(db.serialize()[:_HEADER])
    header[18:20] = b"\2\2"  # WAL
    header[28:32] = bytes(4)  # pages: ask the file
    return bytes(header)
