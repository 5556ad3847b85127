"""A store whose server assigns ids, wrapped so that it seems to keep the given ids.

The server breaks this one guarantee in every test; the wrapper lets the suite check all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from keepmum.core.memory import Activity, Change, Filter, LogFilter, Memory, Order
from keepmum.stores import Features, Receipt, Store
from keepmum.stores.base import EVERY_ENTRY

__all__ = ["OwnIds"]


class OwnIds:
    """Translates ids in both directions; `ours` maps the server's id to the given one."""

    def __init__(self, store: Store, ours: dict[str, str]) -> None:
        self._store = store
        self._ours = ours

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property
    def features(self) -> Features:
        features = self._store.features
        return features._replace(aging=features.aging and self)

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        asked = [Change(self._theirs(change.before), self._theirs(change.after)) for change in changes]
        translated = [replace(event, memory=event.memory and self._their_id(event.memory)) for event in activity]
        receipt = self._store.commit(asked, translated)
        self._ours |= {given: self._ours.get(wanted, wanted) for wanted, given in receipt.ids.items()}
        return receipt

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return self._back(self._store.get([self._their_id(one) for one in ids]))

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        return self._back(self._store.between(first, last, limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        return self._back_one(self._store.by_key(space, key))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        return self._back_one(self._store.last_by_key(space, key))

    def same_text(self, space: str, text: str) -> Memory | None:
        return self._back_one(self._store.same_text(space, text))

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        found = self._store.search(words, wanted, limit)
        return [(memory, score) for one, score in found for memory in self._back([one])]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        return self._back(self._store.browse(wanted, order=order, limit=limit, offset=offset))

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        aging = self._store.features.aging
        assert aging is not None
        return self._back(aging.fading(now, trashed_by, limit))

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        theirs = wanted._replace(memory=wanted.memory and self._their_id(wanted.memory))
        events = self._store.activity(limit, project, theirs, after)
        return [replace(event, memory=event.memory and self._ours.get(event.memory, event.memory)) for event in events]

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        self._store.reinforce([self._their_id(one) for one in ids], now)

    def _their_id(self, memory: str) -> str:
        return next((theirs for theirs, ours in reversed(self._ours.items()) if ours == memory), memory)

    def _theirs(self, memory: Memory | None) -> Memory | None:
        return memory and replace(memory, id=self._their_id(memory.id))

    def _back(self, memories: Sequence[Memory]) -> list[Memory]:
        return [replace(memory, id=self._ours.get(memory.id, memory.id)) for memory in memories]

    def _back_one(self, memory: Memory | None) -> Memory | None:
        return memory and self._back([memory])[0]
