"""Transactions of a SQLite database."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

__all__ = ["transaction"]


@contextlib.contextmanager
def transaction(db: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """Run the block in a transaction: commit when it ends, roll back when it raises."""
    db.execute(f"BEGIN {kind}")
    try:
        yield db
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk may have ended it; then the first error counts
            db.execute("ROLLBACK")
        raise
