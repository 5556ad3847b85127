"""Connections to the database, each with the same settings."""

from __future__ import annotations

import os
import sqlite3
import time

from keepmum.stores.sqlite import files, schema

__all__ = ["BUSY_MS", "connect", "connect_current"]

BUSY_MS = 10_000


def connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection with our settings; a file that is new is its owner's alone.

    Raises: sqlite3.Error, UnicodeDecodeError (see `keepmum.stores.sqlite.faults`), OSError.
    """
    if target != ":memory:" and not uri and not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    db = sqlite3.connect(target, uri=uri, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    db.row_factory = sqlite3.Row
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA wal_autocheckpoint = 0")  # see keepmum.stores.sqlite.lock
        db.execute("PRAGMA secure_delete = ON")  # what is purged is overwritten
        # KiB of pages that each process keeps for itself; the system keeps the file for all of them, and no faster
        # search was measured with four times as many.
        db.execute("PRAGMA cache_size = -512")
        db.execute("PRAGMA synchronous = FULL")  # an acknowledged write survives a power cut
        if uri:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # whether it can be read shows here
    except BaseException:
        db.close()
        raise
    return db


def connect_current(path: str) -> sqlite3.Connection | None:
    """A connection to a store of this version, brought up to it where needed; None when the store is newer."""
    db = connect(path)
    try:
        if schema.version_of(db) <= len(schema.MIGRATIONS):
            _prepare(db, path)
            return db
    except BaseException:
        db.close()
        raise
    db.close()
    return None


def _prepare(db: sqlite3.Connection, path: str) -> None:
    """Turn on the WAL and bring the schema up to date, with a backup before an old file is changed."""
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        db.execute("PRAGMA journal_mode = WAL")
    if 0 < schema.version_of(db) < len(schema.MIGRATIONS):
        files.back_up(db, path, time.time())
    schema.migrate(db)
