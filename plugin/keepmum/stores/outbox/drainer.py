"""Sending what waits: one process of the machine at a time, in the background, until everything has arrived."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
from collections.abc import Callable

from keepmum.core.errors import KeepmumError, KeyRefused, StoreError, StoreUnavailable
from keepmum.stores.outbox.queue import Item, Outbox

__all__ = ["Drainer", "Turn"]

_FIRST_PAUSE = 1.0  # seconds; doubled with each failure in a row, and a random part of it is waited
_LONGEST_PAUSE = 300.0
_LOOKING = 30.0  # seconds between two looks, while another process sends or nothing waits
_JOIN = 1.0  # seconds that closing waits for a request under way


class Turn:
    """Whose turn it is to send to one server; the kernel passes it on when its holder dies.

    It is the write lock of an empty database, which every system has and no two processes hold at once.
    """

    def __init__(self, path: str) -> None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._db = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        self._held = False

    def take(self) -> bool:
        """Whether it is our turn now; it stays ours until `close`."""
        if not self._held:
            try:
                self._db.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                return False
            self._held = True
        return True

    def close(self) -> None:
        """Leave the turn to others."""
        self._db.close()
        self._held = False


class Drainer:
    """Sends the writes that wait for one server.

    `send` gives the id that the server knows the memory by, if it gave one; what it raises decides what becomes of
    the write: StoreUnavailable is tried again, KeyRefused pauses the server, any other KeepmumError lays the write
    aside. `arrived` is told before the write leaves the queue, so it may be told twice.
    """

    def __init__(
        self,
        box: Outbox,
        origin: str,
        turn: Turn,
        send: Callable[[Item], str | None],
        arrived: Callable[[Item, str | None], None],
    ) -> None:
        self._box = box
        self._origin = origin
        self._turn = turn
        self._send = send
        self._arrived = arrived
        self._failures = 0
        self._woken = threading.Event()
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Send in the background, from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="keepmum-outbox", daemon=True)
            self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Look at once: something was queued, or the server answers again."""
        self._failures = 0
        self._woken.set()

    def step(self) -> float:
        """Send one write, if it is our turn and one waits; seconds until there is reason to look again."""
        if self._box.paused(self._origin) or not self._turn.take():
            return _LOOKING
        item = self._box.next(self._origin)
        if item is None:
            return _LOOKING
        try:
            server_id = self._send(item)
            self._arrived(item, server_id)
        except StoreUnavailable as error:
            self._box.failed(item, str(error), sent=not error.unsent)
            return max(error.retry_after, self._pause())
        except KeyRefused as error:
            self._box.failed(item, str(error), sent=False)
            self._box.pause(self._origin, str(error))
            return _LOOKING
        except KeepmumError as error:
            self._box.refuse(item, str(error))
            return 0.0
        self._box.done(item)
        self._failures = 0
        return 0.0

    def close(self) -> None:
        """Stop. A write under way keeps its turn, so that nobody sends it beside us."""
        self._ends.set()
        self._woken.set()
        if self._thread is None:
            self._turn.close()
        else:
            self._thread.join(_JOIN)

    def _pause(self) -> float:
        self._failures += 1
        return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(self._failures, 16)))  # noqa: S311 - jitter

    def _run(self) -> None:
        with contextlib.suppress(StoreError):
            self._box.resume(self._origin)  # the key may be another since the pause; one try will show
        while not self._ends.is_set():
            self._woken.clear()
            try:
                pause = self.step()
            except (KeepmumError, sqlite3.Error):  # the queue cannot be used just now
                pause = _LOOKING
            if pause > 0:
                self._woken.wait(pause)
        self._turn.close()
