"""One lock file for every writer, checkpoint and repair of a store.

SQLite up to 3.51.2 can damage a WAL file when a checkpoint races another connection's write, and Python ships such
versions. The lock makes writers and checkpoints exclude each other. That costs nothing, since SQLite allows one writer
at a time anyway, and the lock is fairer than SQLite's own busy handler.
Source: https://sqlite.org/wal.html#walresetbug, read 2026-11-21.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from keepmum.core.errors import StoreBusy
from keepmum.system import file_locks

__all__ = ["PATIENCE", "WriterLock"]

_CLOSED = -1
PATIENCE = 10.0  # seconds that a writer waits for another one
_LONGEST = 0.1  # seconds that count between two attempts: more mean that this process was stopped, and perhaps all were


class WriterLock:
    """An exclusive, re-entrant lock between processes; the kernel releases it when its holder dies.

    A repair during a write takes it twice. Not safe between threads.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._depth = 0

    @property
    def descriptor(self) -> int:
        """The open file of the lock, where a store keeps its ledger."""
        return self._descriptor

    @contextlib.contextmanager
    def hold(self, patience: float | None = None) -> Iterator[None]:
        """Hold the lock during the block.

        Raises: StoreBusy when it is not free within `patience` seconds, by default `PATIENCE`.
        """
        if self._depth == 0:
            self._take(PATIENCE if patience is None else patience)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0 and self._descriptor != _CLOSED:
                file_locks.release(self._descriptor)

    def close(self) -> None:
        """Release the lock, if held, and close its file; the file stays on disk for other processes."""
        os.close(self._descriptor)
        self._descriptor = _CLOSED

    def _take(self, patience: float) -> None:
        left, pause, looked = patience, 0.0002, time.monotonic()
        while not file_locks.take(self._descriptor):
            now = time.monotonic()
            left, looked = left - min(now - looked, _LONGEST), now
            if left <= 0:
                raise StoreBusy(
                    f"another process has held the memory store for over {patience:.0f} s; nothing was stored. "
                    "Try again; `keepmum doctor` shows the store's state."
                )
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)
