"""Exclusive locks between processes, on open files; the kernel releases them when the process dies."""

from __future__ import annotations

import os
import sys

__all__ = ["release", "take"]

if sys.platform == "win32":
    import msvcrt

    def take(descriptor: int) -> bool:
        """Lock the file without waiting; False while another process holds the lock.

        Raises: OSError where the file system has no locks; never on Windows, which reports both cases alike.
        """
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def release(descriptor: int) -> None:
        """Unlock the file."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def take(descriptor: int) -> bool:
        """Lock the file without waiting; False while another process holds the lock.

        Raises: OSError where the file system has no locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(descriptor: int) -> None:
        """Unlock the file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
