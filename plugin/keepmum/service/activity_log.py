"""The activity log as one agent writes it: who did what, when, to which memory, and which memories were used."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from keepmum.core.errors import StoreError
from keepmum.core.memory import Action, Activity, Change, Memory
from keepmum.stores import Receipt, Store

__all__ = ["ActivityLog"]

# Deferred entries: writing takes longer than a recall, so that one recall in a hundred writes; a kill loses these.
_DEFERRED = 100


class ActivityLog:
    """Writes changes with their entries in one transaction, and defers the entries of reads.

    A recall must not wait for the disk, so its entry is written with the next change, or at the end.
    """

    def __init__(self, store: Store, agent: str, clock: Callable[[], int]) -> None:
        self._store = store
        self._agent = agent
        self._clock = clock
        self._deferred: list[Activity] = []
        self._used: dict[str, None] = {}  # ids of memories; several uses between two writes count once
        self._last_use = 0

    def entry(self, action: Action, memory: Memory | None = None, detail: str = "", project: str = "") -> Activity:
        """An entry with the current time; about a purged memory it holds the id and the project only.

        `project` is where it happened, for a memory of all projects.
        """
        named = memory if action != "purged" else None
        return Activity(
            at=self._clock(),
            agent=self._agent,
            action=action,
            memory=memory.id if memory else None,
            key=named.key if named else None,
            project=(memory.project if memory else None) or project or None,
            detail=detail or (named.title if named else ""),
        )

    def commit(self, changes: Sequence[Change], entries: Sequence[Activity]) -> Receipt:
        """Apply all changes and write their entries and all deferred ones, or do nothing.

        Raises: StaleWrite, StoreError.
        """
        deferred = len(self._deferred)
        receipt = self._store.commit(changes, [*self._deferred, *entries])
        del self._deferred[:deferred]
        return receipt

    def defer(self, *entries: Activity) -> None:
        """Keep entries for the next write."""
        self._deferred += entries
        if len(self._deferred) >= _DEFERRED:
            with contextlib.suppress(StoreError):
                self.flush()

    def defer_use(self, memories: Sequence[str]) -> None:
        """Note that the texts of these memories were read, to be written with the deferred entries."""
        self._used.update(dict.fromkeys(memories))
        self._last_use = self._clock()

    def take(self) -> tuple[list[Activity], list[str], int]:
        """The deferred entries, the memories that were used and when; the caller writes them."""
        taken = self._deferred, list(self._used), self._last_use
        self._deferred, self._used = [], {}
        return taken

    def flush(self) -> None:
        """Write the deferred entries and uses, if the store is writable.

        Raises: StoreError; what was not written stays deferred.
        """
        if not self._store.capabilities.writable:
            return
        if deferred := tuple(self._deferred):
            self._store.log(deferred)
            del self._deferred[: len(deferred)]  # others were added meanwhile by the thread that checks citations
        if used := list(self._used):
            self._store.reinforce(used, self._last_use)
            for memory in used:
                self._used.pop(memory, None)
