"""What SQLite's errors mean for a store and its user."""

from __future__ import annotations

import errno
import sqlite3

from keepmum.core.errors import StoreBusy, StoreError, StoreReadOnly

__all__ = ["FAILURES", "corrupt", "is_busy", "is_damage", "is_full", "store_error"]

FAILURES = (sqlite3.Error, UnicodeDecodeError)  # SQLite quotes a broken schema unchanged, which may not be UTF-8
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def is_damage(error: Exception) -> bool:
    """Whether the content of the file is damaged."""
    if isinstance(error, sqlite3.OperationalError) and not hasattr(error, "sqlite_errorcode"):
        return True  # raised by Python itself for text that is not UTF-8
    is_short = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHORT_READ  # a file that was truncated
    return isinstance(error, UnicodeDecodeError) or _code(error) in _DAMAGE or is_short


def corrupt(message: str) -> sqlite3.DatabaseError:
    """An error for damage that SQLite itself does not notice."""
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def is_full(error: Exception) -> bool:
    """Whether the disk is full or failing."""
    return _code(error) in _FULL or (isinstance(error, OSError) and error.errno in _NO_ROOM)


def is_busy(error: Exception) -> bool:
    """Whether another process holds a lock that is needed."""
    return _code(error) in _BUSY


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def store_error(error: Exception, doing: str) -> StoreError:
    """Our error for one of SQLite's. It shows only the name of the code: SQLite's message may quote values."""
    code = _code(error)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if is_busy(error):
        return StoreBusy(f"the memory store is busy ({name}); try again")
    if is_full(error):
        return StoreError(
            f"the disk is full or failing ({name}): nothing was stored, what was stored before is safe; make room, and "
            "try again"
        )
    if code == sqlite3.SQLITE_READONLY:
        return StoreReadOnly("the memory store cannot be written; nothing was stored. See `keepmum doctor`.")
    if is_damage(error):
        return StoreError(f"the memory store is damaged ({name}); see `keepmum doctor`")
    return StoreError(f"the memory store failed to {doing} ({name}); see `keepmum doctor`")
