"""What a server does in the background: seals the audit log, saves when keys were used, drops old answers."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Self

from keepmum.core.audit_chain import Head
from keepmum.core.errors import StoreError, report_unexpected
from keepmum.server.people.keys import KeyRing
from keepmum.service.team import TeamRecords

__all__ = ["Upkeep"]

_SEAL = 1.0  # seconds between seals
_SAVE = 60  # seals between the other tasks
_ANSWERS = timedelta(hours=24)  # that answers to repeated requests are kept
_STOP = 10.0  # seconds to wait for the thread


class Upkeep:
    """A thread with these tasks, from the start to the end of a `with` block; at the end each is done again."""

    def __init__(self, records: TeamRecords, ring: KeyRing, log_head: Callable[[Head], object]) -> None:
        """`log_head` is called with the head of the audit log once a minute if it changed, and at the end.

        A log that is kept elsewhere shows by it when rows were cut off later.
        """
        self._records = records
        self._ring = ring
        self._log_head = log_head
        self._logged: Head | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="upkeep", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(_STOP)
        with contextlib.suppress(StoreError):
            self._save(self._seal())

    def _work(self) -> None:
        rounds = 0
        while not self._stopping.wait(_SEAL):
            try:
                head = self._seal()
                if rounds % _SAVE == 0:
                    self._save(head)
                rounds += 1
            except StoreError:
                continue  # the database is busy or away: the next round tries again
            except Exception as error:  # noqa: BLE001 - a bug in a task must not end the others
                report_unexpected("upkeep", error)

    def _seal(self) -> Head:
        """Seal all rows that are not sealed; returns the head."""
        head = self._records.seal()
        while self._records.unsealed().rows and (sealed := self._records.seal()) != head:
            head = sealed
        return head

    def _save(self, head: Head) -> None:
        if head != self._logged:
            self._logged = head
            self._log_head(head)
        self._ring.save_uses()
        self._records.forget_answers(int((time.time() - _ANSWERS.total_seconds()) * 1000))
