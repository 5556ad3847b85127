"""The memories that are near to others, kept between searches until the store changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepmum.core.memory import Filter, Memory
from keepmum.service.sizes import Sizes
from keepmum.stores import Store
from keepmum.stores.base import Near

__all__ = ["NearMemories"]

_MOST = 2_000  # memories whose near ones are kept
_LARGE = 10_000  # memories, from which on a store may compare only some, which depend on the search


class NearMemories:
    """Near memories of one store, for the last filter that was asked for.

    Looking them up takes longer than the rest of a search, and most searches find memories that another one found.
    """

    def __init__(self, store: Store, sizes: Sizes, *, keeps: bool = True) -> None:
        """Unless it `keeps` any, the store is not asked either whether it has changed."""
        self._store = store
        self._sizes = sizes
        self._keeps = keeps
        self._state: object = None
        self._known: dict[str, list[Near]] = {}

    def of(self, memories: Sequence[Memory], wanted: Filter, cosine: float, among: Sequence[str]) -> list[Near]:
        """The memories near to `memories` (see `keepmum.stores.base.VersionSearch`); none without that feature."""
        search = self._store.features.versions
        if search is None:
            return []
        if not self._keeps or self._sizes.of(wanted) > _LARGE:
            return search.near(memories, wanted, cosine, among)
        state = (self._store.changes(), replace(wanted, now=0), cosine)
        if state != self._state or len(self._known) > _MOST:
            self._state, self._known = state, {}
        if unknown := [memory for memory in memories if memory.id not in self._known]:
            self._known |= {memory.id: [] for memory in unknown}
            for near in search.near(unknown, wanted, cosine, among):
                self._known[near.id].append(near)
        found = [near for memory in memories for near in self._known[memory.id]]
        return [near for near in found if not _has_expired(near.memory, wanted.now)]


def _has_expired(memory: Memory, now: int) -> bool:
    return memory.status == "active" and memory.expires_at is not None and memory.expires_at <= now
