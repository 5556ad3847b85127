"""Works out which points a transaction writes: all is read and checked before anything is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from keepmum.core import ids
from keepmum.core.memory import Change, Embedding, Memory
from keepmum.stores.base import StaleWrite
from keepmum.stores.qdrant.collection import LIGHT, Collection
from keepmum.stores.qdrant.conditions import in_space, one_of
from keepmum.stores.qdrant.payload import memory_of
from keepmum.stores.qdrant.point import Point, embedded, with_neighbours

__all__ = ["Draft", "Editor", "is_same"]

_SAME = 1e-3  # by which a number of a vector may differ after Qdrant has stored it

Points = dict[str, Point]  # by id of the memory
_Group = tuple[str, str]  # space and session


class Draft(NamedTuple):
    """What is to be written."""

    points: list[Point]
    purged: list[str]  # ids


class Editor:
    """Turns changes into drafts. One thread uses it at a time."""

    def __init__(self, collection: Collection, takes: Callable[[Embedding], bool]) -> None:
        """`takes` says whether a vector can be stored next to those that are there."""
        self._collection = collection
        self._takes = takes
        self._seq = 0

    def draft(self, changes: Sequence[Change]) -> Draft:
        """What the changes write.

        Raises: StaleWrite when Qdrant no longer holds what a change expects, or a key or id is taken.
        """
        states = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        before = self._read([memory.id for memory in states])
        after = dict(before)
        for change in changes:
            self._step(after, change)
        self._check_keys(after, frozenset(memory.id for memory in states))
        return Draft(self._with_neighbours(before, after), sorted(before.keys() - after.keys()))

    def embed(self, embeddings: Sequence[tuple[Memory, Embedding]]) -> Draft:
        """Vectors of memories whose text is unchanged."""
        before = self._read([memory.id for memory, _ in embeddings])
        after = dict(before)
        for memory, embedding in embeddings:
            if memory.id in before and embedded(before[memory.id].memory) == embedded(memory):
                after[memory.id] = before[memory.id].with_vector(embedding)
        fresh = {name: point for name, point in after.items() if point is not before[name]}
        return Draft(self._with_neighbours(before, fresh), [])

    def _step(self, points: Points, change: Change) -> None:
        before, after = change.before, change.after
        if before is None:
            if after is not None:
                if after.id in points:
                    raise StaleWrite("the id was taken meanwhile")
                self._seq = max(self._seq + 1, time.time_ns())
                points[after.id] = Point(after, self._seq).with_vector(self._taken(change.embedding))
            return
        point = points.get(before.id)
        if point is None or not is_same(before, point.memory):
            raise StaleWrite("the memory was changed meanwhile")
        if after is None:
            del points[before.id]
        else:
            points[after.id] = point.changed(after, self._taken(change.embedding))

    def _taken(self, embedding: Embedding | None) -> Embedding | None:
        return embedding if embedding is not None and self._takes(embedding) else None

    def _check_keys(self, points: Mapping[str, Point], concerned: frozenset[str]) -> None:
        """Check that each key has one active memory in its space; the `concerned` ids are those of `points`.

        Raises: StaleWrite.
        """
        keyed = [(one.memory.space, one.memory.key) for one in points.values() if _holds_key(one.memory)]
        held = set(keyed)
        taken = len(held) < len(keyed)
        if held and not taken:
            others = map(memory_of, self._collection.scroll([one_of("key", [key for _, key in held])], LIGHT))
            taken = any(
                _holds_key(other) and (other.space, other.key) in held and other.id not in concerned for other in others
            )
        if taken:
            raise StaleWrite("the key was taken meanwhile")

    def _with_neighbours(self, before: Points, after: Points) -> list[Point]:
        """The points to write: those of `after`, and others whose neighbours in a session changed."""
        written = {
            name: replace(point, context="", mixed=point.mixed if _group(point) is None else ())
            for name, point in after.items()
        }
        for group in sorted({group for point in [*before.values(), *after.values()] if (group := _group(point))}):
            known = self._session(*group)
            present = {name: point for name, point in known.items() if name not in before and name not in after}
            present |= {name: point for name, point in after.items() if _group(point) == group}
            for point in with_neighbours(list(present.values())):
                name = point.memory.id
                if name in after or _differs(point, known[name]):
                    written[name] = point
        return list(written.values())

    def _session(self, space: str, session: str) -> Points:
        """The active points of a session."""
        here = [in_space(space), one_of("session", [session]), one_of("status", ["active"])]
        found = map(Point.read, self._collection.scroll(here, vectors=True))
        return {point.memory.id: point for point in found if point.memory.status == "active"}

    def _read(self, memories: Iterable[str]) -> Points:
        uuids = [ids.to_uuid(memory) for memory in dict.fromkeys(memories)]
        found = map(Point.read, self._collection.points(uuids, vectors=True))
        return {point.memory.id: point for point in found}


def is_same(known: Memory, stored: Memory) -> bool:
    """Whether a memory was not written since it was read; a shared-agent-memory server counts no revisions."""
    return (known.revision, known.updated_at) == (stored.revision, stored.updated_at)


def _group(point: Point) -> _Group | None:
    """The space and session that a point has neighbours in."""
    memory = point.memory
    return (memory.space, memory.session) if memory.session and memory.status == "active" else None


def _holds_key(memory: Memory) -> bool:
    return memory.key is not None and memory.status == "active"


def _differs(point: Point, stored: Point) -> bool:
    return point.context != stored.context or not np.allclose(point.mixed, stored.mixed, atol=_SAME)
