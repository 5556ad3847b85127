"""Connections to a database file, with our settings, and what a file says of itself."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time

from keepmum.stores.sqlite import files, schema
from keepmum.stores.sqlite.errors import corrupt
from keepmum.stores.sqlite.ledger import ANY, Acknowledged

__all__ = ["BUSY_MS", "connect", "connect_current", "empty", "last_write", "probe"]

BUSY_MS = 10_000
_LAST = """
    SELECT (SELECT value FROM counters WHERE name = 'change'), (SELECT value FROM counters WHERE name = 'identity'),
           coalesce(max(seq), 0) FROM memories
"""


def connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection with our settings; a new file gets mode 0600.

    Raises: sqlite3.Error, UnicodeDecodeError (see `keepmum.stores.sqlite.errors`), OSError.
    """
    if target != ":memory:" and not uri and not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    db = sqlite3.connect(target, uri=uri, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    db.row_factory = sqlite3.Row
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA wal_autocheckpoint = 0")  # see keepmum.stores.sqlite.lock
        db.execute("PRAGMA secure_delete = ON")  # purged content is overwritten
        # KiB of page cache in each process. The system caches the file for all of them; four times as many KiB did not
        # make a search measurably faster.
        db.execute("PRAGMA cache_size = -512")
        db.execute("PRAGMA synchronous = FULL")  # an acknowledged write survives a power cut
        if uri:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # fails now if the file cannot be read
    except BaseException:
        db.close()
        raise
    return db


def connect_current(path: str) -> sqlite3.Connection | None:
    """A connection to a file of this schema version, migrated if needed; None when the file is newer."""
    db = connect(path)
    try:
        version = _version_of(db)
        if version <= len(schema.MIGRATIONS):
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                db.execute("PRAGMA journal_mode = WAL")
            if 0 < version < len(schema.MIGRATIONS):
                files.back_up(db, path, time.time())
            schema.migrate(db)
            return db
    except BaseException:
        db.close()
        raise
    db.close()
    return None


def _version_of(db: sqlite3.Connection) -> int:
    """The version of the tables.

    Raises: sqlite3.DatabaseError when it was overwritten: there are tables, and it says that there are none.
    """
    version = schema.version_of(db)
    if not version and db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'counters'").fetchone():
        raise corrupt("the version of the tables is lost")
    return version


def empty() -> sqlite3.Connection:
    """An empty database in memory."""
    db = connect(":memory:")
    schema.migrate(db)
    return db


def last_write(db: sqlite3.Connection) -> Acknowledged | None:
    """The state of the store as the ledger records it; None for one of the first version, which has no identity."""
    change, identity, memories = db.execute(_LAST).fetchone()
    return None if identity is None else Acknowledged(change, identity, memories)


def probe(path: str) -> Acknowledged | None:
    """The state of a store with its WAL, read without changing either; None when another version wrote it.

    A read-only connection does not fold the WAL into the file when it is closed.
    """
    with contextlib.closing(connect(files.read_only_uri(path), uri=True)) as db:
        if not schema.version_of(db):
            return Acknowledged(0, ANY, 0)
        return last_write(db) if schema.WITH_VECTORS <= schema.version_of(db) <= len(schema.MIGRATIONS) else None
