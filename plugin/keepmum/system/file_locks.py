"""Exclusive locks between processes, on open files; the kernel releases them when the process dies."""

from __future__ import annotations

import os
import sys

__all__ = ["release", "take"]

if sys.platform == "win32":
    import msvcrt

    _BUSY = OSError  # also raised where the file system has no locks

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    _BUSY = BlockingIOError

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def take(descriptor: int) -> bool:
    """Lock the file without waiting; False while another process holds the lock.

    Raises: OSError where the file system has no locks; never on Windows.
    """
    try:
        _lock(descriptor)
    except _BUSY:
        return False
    return True


def release(descriptor: int) -> None:
    """Unlock the file."""
    _unlock(descriptor)
