"""Write-behind cache of server responses, so that a search does not wait for the disk; it knows what was just read."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Memory
from keepmum.stores.base import StaleWrite, Store

__all__ = ["WriteBehindCache"]

_Result = TypeVar("_Result")
_MAX_PENDING = 200  # memories
_FRESH_SECONDS = 0.3  # for which a memory is not requested again: one call of a tool may read it twice


class WriteBehindCache:
    """Holds memories from server responses in process memory until they are flushed to the mirror."""

    def __init__(self, mirror: Store, clock: Callable[[], float]) -> None:
        self._mirror = mirror
        self._clock = clock
        self._loaded_at: dict[str, float] = {}
        self._lock = threading.Lock()
        self._pending: dict[str, tuple[Memory, Memory | None]] = {}  # with the mirror's version at the response

    def add(self, memories: Sequence[Memory], known: Mapping[str, Memory], *, exact: bool = False) -> None:
        """Hold the memories that differ from `known`, the mirror's versions by id.

        With `exact`, their revisions are those of the server, and the mirror is to have the same.
        """
        with self._lock:
            for memory in memories:
                before = known.get(memory.id)
                if memory != before:
                    latest = memory if exact else _with_next_revision(memory, before)
                    self._pending[memory.id] = latest, before
            full = len(self._pending) >= _MAX_PENDING
        if full:
            self.flush()

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """These memories as the mirror will have them after the next flush, by id."""
        with self._lock:
            pending = {one: self._pending[one] for one in ids if one in self._pending}
        found = {memory.id: memory for memory in self._mirror.get(ids)}
        for one, (memory, before) in pending.items():
            if _revision(found.get(one)) == _revision(before):
                found[one] = memory
        return found

    def flush(self) -> None:
        """Write what is pending to the mirror. Errors are ignored: the server still has it.

        A memory that was written here after the response is not overwritten: the local version has fields that no
        response contains. The next response brings it up to date.
        """
        with self._lock:
            pending, self._pending = self._pending, {}
        if not pending or not self._mirror.capabilities.writable:
            return
        with contextlib.suppress(StoreError):
            stored = {memory.id: memory for memory in self._mirror.get(list(pending))}
            changes = [
                Change(stored.get(name), memory)
                for name, (memory, before) in pending.items()
                if _revision(stored.get(name)) == _revision(before)
            ]
            changes = [change for change in changes if change.before != change.after]
            try:
                self._mirror.commit(changes)
            except StaleWrite:  # another process has overtaken some of them, or a key has another holder now
                for change in changes:
                    with contextlib.suppress(StaleWrite):
                        self._mirror.commit([*self._released(change.after), change])

    def _released(self, memory: Memory | None) -> list[Change]:
        """The change that takes the key of a memory from the one that has it in the mirror, which is outdated."""
        if memory is None or memory.key is None or memory.status != "active":
            return []
        holder = self._mirror.by_key(memory.space, memory.key)
        return [] if holder is None or holder.id == memory.id else [Change(holder, replace(holder, key=None))]

    def flushed(self, fallback: Callable[[], _Result]) -> Callable[[], _Result]:
        """A function that flushes the cache, then returns what `fallback` reads in the mirror."""

        def read() -> _Result:
            self.flush()
            return fallback()

        return read

    def is_fresh(self, memory: str) -> bool:
        """Whether the mirror got this version of a memory from the server a moment ago."""
        return self._clock() - self._loaded_at.get(memory, -_FRESH_SECONDS) < _FRESH_SECONDS

    def mark_fresh(self, memories: Iterable[str]) -> None:
        """Note that the mirror has these memories as the server has them."""
        self._loaded_at |= dict.fromkeys(memories, self._clock())

    def mark_stale(self, memory: str) -> None:
        """Note that the server has another version of a memory than the mirror."""
        self._loaded_at.pop(memory, None)

    def remove(self, ids: Collection[str]) -> None:
        """Remove memories from the mirror that the server no longer has."""
        if ids and self._mirror.capabilities.writable:
            with contextlib.suppress(StoreError):
                active = [memory for memory in self._mirror.get(sorted(ids)) if memory.status == "active"]
                if active:
                    self._mirror.commit([Change(memory, None) for memory in active])


def _with_next_revision(memory: Memory, before: Memory | None) -> Memory:
    return memory if before is None else replace(memory, revision=max(memory.revision, before.revision + 1))


def _revision(memory: Memory | None) -> int:
    return 0 if memory is None else memory.revision
