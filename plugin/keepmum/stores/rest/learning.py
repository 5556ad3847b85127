"""What is seen of a server, kept in the mirror; a search does not wait for the disk."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Memory
from keepmum.stores.base import StaleWrite, Store

__all__ = ["Learning"]

_MOST_HELD = 200  # memories


class Learning:
    """Puts what the server showed into the mirror: at the next write, the next look at it, or the end."""

    def __init__(self, mirror: Store) -> None:
        self._mirror = mirror
        self._lock = threading.Lock()
        self._held: dict[str, tuple[Memory, Memory | None]] = {}  # with what was known when it was seen

    def add(self, memories: Sequence[Memory], known: Mapping[str, Memory]) -> None:
        """Hold what is new against what is `known`."""
        with self._lock:
            seen = ((memory, known.get(memory.id)) for memory in memories)
            self._held |= {memory.id: (memory, before) for memory, before in seen if memory != before}
            full = len(self._held) >= _MOST_HELD
        if full:
            self.flush()

    def held(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Those of these memories that are not in the mirror yet, by id."""
        with self._lock:
            return {one: self._held[one][0] for one in ids if one in self._held}

    def flush(self) -> None:
        """Keep what was held; a mirror that cannot be written loses nothing that the server has not.

        What was written here since it was seen has parts that no answer of the server tells: it stays, and the server
        is heard again with the next look.
        """
        with self._lock:
            seen, self._held = self._held, {}
        if not seen or not self._mirror.capabilities.writable:
            return
        with contextlib.suppress(StoreError):
            held = {memory.id: memory for memory in self._mirror.get(list(seen))}
            changes = [
                Change(held.get(name), _onto(memory, held.get(name)))
                for name, (memory, before) in seen.items()
                if _revision(held.get(name)) == _revision(before)
            ]
            changes = [change for change in changes if change.before != change.after]
            try:
                self._mirror.commit(changes)
            except StaleWrite:
                self._one_by_one(changes)

    def forget(self, gone: Collection[str]) -> None:
        """Take out of the mirror what the server no longer has."""
        if gone and self._mirror.capabilities.writable:
            with contextlib.suppress(StoreError):
                held = [one for one in self._mirror.get(sorted(gone)) if one.status == "active"]
                if held:
                    self._mirror.commit([Change(memory, None) for memory in held])

    def _one_by_one(self, changes: Sequence[Change]) -> None:
        """Whatever can be kept, when another process was faster with a part of it."""
        for change in changes:
            with contextlib.suppress(StaleWrite):
                self._mirror.commit([change])


def _onto(memory: Memory, held: Memory | None) -> Memory:
    return memory if held is None else replace(memory, revision=max(memory.revision, held.revision + 1))


def _revision(memory: Memory | None) -> int:
    return 0 if memory is None else memory.revision
