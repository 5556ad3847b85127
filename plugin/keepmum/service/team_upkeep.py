"""What a server writes in the background: entries of the log, counts of use, expiry and backups."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence

from keepmum.core.errors import KeepmumError, StoreError, report_unexpected
from keepmum.core.memory import Activity
from keepmum.service import MemoryService
from keepmum.stores.grants import Grant
from keepmum.stores.shared import SharedStore

__all__ = ["TeamUpkeep"]

_FLUSH = 1.0  # seconds
_SWEEP = 3_600.0  # seconds
_MOST = 10_000  # entries that wait while the database is away; older ones are dropped


class TeamUpkeep:
    """Writes the log entries of requests once a second, so that no search waits for the disk."""

    def __init__(self, service: MemoryService, shared: SharedStore) -> None:
        """`service` may read and write every memory of the team."""
        self._service = service
        self._shared = shared
        self._lock = threading.Lock()
        self._entries: list[tuple[Grant, Activity]] = []
        self._used: dict[Grant, dict[str, int]] = {}  # ids of memories that were read, with the time
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="team-upkeep", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def take(self, read: Grant, entries: Sequence[Activity], used: Sequence[str], at: int) -> None:
        """Write these entries of the log, and that these memories were used, with the next flush.

        `read` is what the request might read: an id means a memory there, and nothing is noted elsewhere.
        """
        noting = read._replace(write=read.read)
        with self._lock:
            self._entries += [(noting, entry) for entry in entries]
            del self._entries[:-_MOST]
            if used:
                self._used.setdefault(noting, {}).update(dict.fromkeys(used, at))
        if not self._thread.is_alive():
            with contextlib.suppress(StoreError):
                self.flush()

    def flush(self) -> None:
        """Write all pending entries and uses.

        Raises: StoreError; what was not written is lost, since it is only a record of reads.
        """
        with self._lock:
            entries, used = self._entries, self._used
            self._entries, self._used = [], {}
        for noting in dict.fromkeys(grant for grant, _ in entries):
            self._shared.acting(noting).log([entry for grant, entry in entries if grant == noting])
        for noting, times in used.items():
            self._shared.acting(noting).reinforce(list(times), max(times.values()))

    def close(self) -> None:
        """Write what is pending, and stop."""
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
