"""What a server writes behind its requests: entries of the log, counts of use, expiry and backups."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence

from keepmum.core.errors import KeepmumError, StoreError, report_unexpected
from keepmum.core.memory import Activity
from keepmum.service import MemoryService
from keepmum.stores import Store

__all__ = ["TeamUpkeep"]

_FLUSH = 1.0  # seconds
_SWEEP = 3_600.0  # seconds
_MOST = 10_000  # entries that wait while the database is away; older ones are dropped


class TeamUpkeep:
    """Writes what requests leave once a second, so that no search waits for the disk."""

    def __init__(self, service: MemoryService) -> None:
        """`service` may read and write every memory of the team."""
        self._service = service
        self._lock = threading.Lock()
        self._entries: list[Activity] = []
        self._used: dict[str, int] = {}  # ids of memories that were read, with the time
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="team-upkeep", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def take(self, entries: Sequence[Activity], used: Sequence[str], at: int) -> None:
        """Write these entries of the log, and that these memories were used, with the next flush."""
        with self._lock:
            self._entries += entries
            del self._entries[:-_MOST]
            self._used.update(dict.fromkeys(used, at))
        if not self._thread.is_alive():
            with contextlib.suppress(StoreError):
                self.flush()

    def flush(self) -> None:
        """Write everything that waits.

        Raises: StoreError; what was not written is lost, since it is only a record of reads.
        """
        with self._lock:
            entries, used = self._entries, self._used
            self._entries, self._used = [], {}
        store: Store = self._service.store
        if entries:
            store.log(entries)
        if used:
            store.reinforce(list(used), max(used.values()))

    def close(self) -> None:
        """Write what waits, and stop."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(StoreError):
            self.flush()

    def _work(self) -> None:
        swept = time.monotonic()
        while not self._closing.wait(_FLUSH):
            try:
                self.flush()
                if time.monotonic() > swept + _SWEEP:
                    swept = time.monotonic()
                    self._service.upkeep()
            except KeepmumError:
                continue  # the database is busy or away
            except Exception as error:  # noqa: BLE001 - a bug in one task must not end the others
                report_unexpected("upkeep", error)
