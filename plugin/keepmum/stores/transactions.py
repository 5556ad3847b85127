"""One transaction of a database: all of it, or nothing."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

__all__ = ["transaction"]


@contextlib.contextmanager
def transaction(db: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """The database while a transaction of it runs: kept when the block ends, rolled back when it raises."""
    db.execute(f"BEGIN {kind}")
    try:
        yield db
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a disk that is full may have ended it, and that is what is to be told
            db.execute("ROLLBACK")
        raise
