"""Background delivery of queued writes, by one process of the machine at a time."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
from collections.abc import Callable

from keepmum.core.errors import KeepmumError, KeyRefused, StoreError, StoreUnavailable
from keepmum.stores.outbox.queue import Item, Outbox
from keepmum.system import file_locks

__all__ = ["Drainer", "SendLock"]

_FIRST_PAUSE = 1.0  # seconds; doubled for each failure in a row, then a random part of it is waited
_MAX_PAUSE = 300.0
_POLL_INTERVAL = 30.0  # seconds, while another process sends or the queue is empty
_CLOSE_TIMEOUT = 1.0  # seconds for a request under way


class SendLock:
    """Lets one process at a time send to a server. The kernel releases it when its holder dies."""

    def __init__(self, path: str) -> None:
        self._file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb")  # noqa: SIM115 - closed by `close`
        self._held = False

    def acquire(self) -> bool:
        """Whether this process holds the lock now; it keeps it until `close`."""
        with contextlib.suppress(OSError):  # a file system without locks: nothing is sent from there
            self._held = self._held or file_locks.take(self._file.fileno())
        return self._held

    def close(self) -> None:
        """Release the lock."""
        self._file.close()


class Drainer:
    """Sends the queued writes of one server.

    `send` returns the id that the server gave the memory, if any. Its exceptions decide what happens to the write:
    StoreUnavailable means a retry, KeyRefused pauses the server, any other KeepmumError marks the write as refused.
    `on_delivered` is called before the write leaves the queue, and again after a kill.
    """

    def __init__(
        self,
        outbox: Outbox,
        origin: str,
        lock: SendLock,
        send: Callable[[Item], str | None],
        on_delivered: Callable[[Item, str | None], None],
    ) -> None:
        self._outbox = outbox
        self._origin = origin
        self._lock = lock
        self._send = send
        self._on_delivered = on_delivered
        self._failures = 0
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start sending in a background thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="keepmum-outbox", daemon=True)
            self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Look at the queue now: a write was queued, or the server answers again."""
        self._failures = 0
        self._wake.set()

    def step(self) -> float:
        """Send one write, if one waits and this process holds the lock; returns seconds until the next step."""
        if self._outbox.pause_reason(self._origin) or not self._lock.acquire():
            return _POLL_INTERVAL
        item = self._outbox.next(self._origin)
        if item is None:
            return _POLL_INTERVAL
        try:
            server_id = self._send(item)
            self._on_delivered(item, server_id)
        except StoreUnavailable as error:
            self._outbox.mark_failed(item, str(error), sent=not error.unsent)
            return max(error.retry_after, self._pause())
        except KeyRefused as error:
            self._outbox.mark_failed(item, str(error), sent=False)
            self._outbox.pause(self._origin, str(error))
            return _POLL_INTERVAL
        except KeepmumError as error:
            self._outbox.mark_refused(item, str(error))
            return 0.0
        self._outbox.remove(item)
        self._failures = 0
        return 0.0

    def close(self) -> None:
        """Stop. The thread of a write under way keeps the lock until it ends, so that nobody else sends that write."""
        self._stop.set()
        self._wake.set()
        if self._thread is None:
            self._lock.close()
        else:
            self._thread.join(_CLOSE_TIMEOUT)

    def _pause(self) -> float:
        self._failures += 1
        return random.uniform(0, min(_MAX_PAUSE, _FIRST_PAUSE * 2 ** min(self._failures, 16)))  # noqa: S311 - jitter

    def _run(self) -> None:
        with contextlib.suppress(StoreError):
            self._outbox.resume(self._origin)  # the key may have changed since the pause; one try shows it
        while not self._stop.is_set():
            self._wake.clear()
            try:
                pause = self.step()
            except (KeepmumError, sqlite3.Error):  # the queue cannot be used now
                pause = _POLL_INTERVAL
            if pause > 0:
                self._wake.wait(pause)
        self._lock.close()
