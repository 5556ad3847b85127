"""Locks between processes, on open files; the kernel frees one when its holder dies."""

from __future__ import annotations

import os
import sys

__all__ = ["release", "take"]

if sys.platform == "win32":
    import msvcrt

    def take(descriptor: int) -> bool:
        """Whether the file is ours alone now; False while another process has it. Never waits.

        Raises: OSError where the file system has no locks; never on Windows, which does not tell that apart.
        """
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def release(descriptor: int) -> None:
        """Let the next one have it."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def take(descriptor: int) -> bool:
        """Whether the file is ours alone now; False while another process has it. Never waits.

        Raises: OSError where the file system has no locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(descriptor: int) -> None:
        """Let the next one have it."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
