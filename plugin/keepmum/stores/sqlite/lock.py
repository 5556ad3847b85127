"""One lock file that every writer, every checkpoint and every repair of a store takes.

SQLite up to 3.51.2 can damage a WAL file when a checkpoint races another connection's write, and Python ships older
ones. So writers and checkpoints exclude each other here; since SQLite lets in one writer at a time anyway, that costs
nothing, and waiting on this lock is fairer than SQLite's own busy handler.
Source: https://sqlite.org/wal.html#walresetbug, read 2026-11-21.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from keepmum.core.errors import StoreBusy
from keepmum.system import file_locks

__all__ = ["WriterLock"]

_CLOSED = -1


class WriterLock:
    """An exclusive lock between processes; the kernel frees it when its holder dies.

    A holder may take it again, as a repair in the middle of a write does. Not safe between threads.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._depth = 0

    @contextlib.contextmanager
    def hold(self, patience: float = 10.0) -> Iterator[None]:
        """Hold the lock for the `with` block, waiting up to `patience` seconds for it.

        Raises: StoreBusy when it could not be had.
        """
        if self._depth == 0:
            self._take(patience)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0 and self._descriptor != _CLOSED:
                file_locks.release(self._descriptor)

    def close(self) -> None:
        """Let go of the lock, held or not; its file stays on disk for the others."""
        os.close(self._descriptor)
        self._descriptor = _CLOSED

    def _take(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        pause = 0.0002
        while not file_locks.take(self._descriptor):
            if time.monotonic() >= deadline:
                raise StoreBusy(
                    f"another process has held the memory store for over {patience:.0f} s; nothing was stored. "
                    "Try again; `keepmum doctor` shows the store's state."
                )
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)
