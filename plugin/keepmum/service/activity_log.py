"""The activity log as one agent writes it: who did what, when, to which memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from keepmum.core.errors import StoreError
from keepmum.core.memory import Action, Activity, Change, Memory
from keepmum.stores import Receipt, Store

__all__ = ["Journal"]

# Entries: to write them takes longer than a recall does, so one recall in a hundred pays for it; a kill loses these.
_HELD_BACK = 100


class Journal:
    """Writes changes with their entries in one transaction, and holds back what mere reading does.

    A recall must not wait for the disk, so its entry goes out with the next write, or at the end.
    """

    def __init__(self, store: Store, agent: str, clock: Callable[[], int]) -> None:
        self._store = store
        self._agent = agent
        self._clock = clock
        self._held_back: list[Activity] = []

    def entry(self, action: Action, memory: Memory | None = None, detail: str = "", project: str = "") -> Activity:
        """An entry of now; one on a purged memory tells its id and nothing else."""
        told = memory if action != "purged" else None
        return Activity(
            at=self._clock(),
            agent=self._agent,
            action=action,
            memory=memory.id if memory else None,
            key=told.key if told else None,
            project=memory.project if memory else project or None,
            detail=detail or (told.title if told else ""),
        )

    def commit(self, changes: Sequence[Change], entries: Sequence[Activity]) -> Receipt:
        """Apply all changes and write their entries, with those that were held back, or do nothing.

        Raises: StaleWrite, StoreError.
        """
        held = len(self._held_back)
        receipt = self._store.commit(changes, [*self._held_back, *entries])
        del self._held_back[:held]
        return receipt

    def hold_back(self, *entries: Activity) -> None:
        """Keep entries for the next write."""
        self._held_back += entries
        if len(self._held_back) >= _HELD_BACK:
            with contextlib.suppress(StoreError):
                self.flush()

    def flush(self) -> None:
        """Write what was held back, if the store can be written.

        Raises: StoreError; what was held back is then still held back.
        """
        if self._held_back and self._store.capabilities.writable:
            self._store.log(self._held_back)
            self._held_back.clear()
