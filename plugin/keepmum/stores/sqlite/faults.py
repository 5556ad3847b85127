"""What SQLite's errors mean for a store, and for its user."""

from __future__ import annotations

import errno
import sqlite3

from keepmum.core.errors import StoreBusy, StoreError, StoreReadOnly

__all__ = ["FAILURES", "is_busy", "is_damage", "is_full", "store_error"]

FAILURES = (sqlite3.Error, UnicodeDecodeError)  # SQLite quotes a broken schema as it is, which Python cannot decode
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file is not what it was."""
    if isinstance(error, sqlite3.OperationalError) and not hasattr(error, "sqlite_errorcode"):
        return True  # Python's own word on a text that is none
    return isinstance(error, UnicodeDecodeError) or _code(error) in _DAMAGE


def is_full(error: Exception) -> bool:
    """Whether an error says that the disk takes no more, or fails."""
    return _code(error) in _FULL or (isinstance(error, OSError) and error.errno in _NO_ROOM)


def is_busy(error: Exception) -> bool:
    """Whether an error says that another process has what is wanted just now."""
    return _code(error) in _BUSY


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 for errors that are not its own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def store_error(error: Exception, doing: str) -> StoreError:
    """Our error for one of SQLite's; SQLite's own message may quote values, so only its name is shown."""
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
