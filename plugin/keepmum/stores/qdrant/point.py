"""A memory as a point, with what only its point has; and the share that neighbours in a session have in each other."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from keepmum.core import ids
from keepmum.core.memory import Embedding, Memory
from keepmum.stores import vectors as arrays
from keepmum.stores.qdrant import words
from keepmum.stores.qdrant.conditions import DEFAULT_MODEL
from keepmum.stores.qdrant.layout import BM25, DENSE
from keepmum.stores.qdrant.payload import OURS, Record, memory_of, own_fields, to_payload
from keepmum.stores.vectors import NEIGHBOUR_WEIGHTS

__all__ = ["Point", "embedded", "with_neighbours"]

_CONTEXT = 2_000  # characters of each neighbour in the context

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Point:
    """One point. Its vector is that of its text, mixed with those of its neighbours if its memory is of a session."""

    memory: Memory
    seq: int  # its place in the session
    model: str = ""  # of the vector; empty for none
    own: bytes = b""  # the vector of the text alone, as in `Embedding`
    mixed: tuple[float, ...] = ()  # as it was read; empty when it has to be computed
    context: str = ""  # what its neighbours say

    @classmethod
    def read(cls, record: Record) -> Point:
        """A point that was read with its vector."""
        ours = own_fields(record)
        found = record.vector.get(DENSE) if isinstance(record.vector, dict) else None
        mixed: tuple[float, ...] = tuple(found) if isinstance(found, list) else ()  # type: ignore[arg-type]  # of numbers
        own = base64.b64decode(ours.get("own", ""))
        return cls(
            memory_of(record), ours.get("seq", 0),
            model=ours.get("model", DEFAULT_MODEL) if mixed else "",
            own=own or (arrays.pack(np.array(mixed, np.float32)) if mixed else b""), mixed=mixed,
            context=ours.get("context", ""),
        )  # fmt: skip

    def changed(self, memory: Memory, embedding: Embedding | None) -> Point:
        """The point with its memory replaced; its vector stays while what is embedded does."""
        counted = replace(memory, access_count=self.memory.access_count, accessed_at=self.memory.accessed_at)
        kept = self if embedded(self.memory) == embedded(memory) else replace(self, model="", own=b"", mixed=())
        return replace(kept, memory=counted).with_vector(embedding)

    def with_vector(self, embedding: Embedding | None) -> Point:
        """The point with a vector of its text, if one is given."""
        return self if embedding is None else replace(self, model=embedding.model, own=embedding.vector, mixed=())

    def written(self) -> models.PointStruct:
        """The point as Qdrant takes it.

        Raises: InvalidInput when a time is beyond the year 9999.
        """
        payload = to_payload(self.memory, self.seq)
        ours: dict[str, Any] = payload[OURS]
        if self.context:
            ours["context"] = self.context
        weights = words.document(self.memory, self.context)
        vector: dict[str, Any] = {BM25: models.SparseVector(indices=list(weights), values=list(weights.values()))}
        if self.own:
            vector[DENSE] = list(self.mixed) or arrays.unpack_one(self.own).tolist()
            ours |= {"model": self.model} if self.model != DEFAULT_MODEL else {}
            ours |= {"own": base64.b64encode(self.own).decode()} if self.memory.session else {}
        return models.PointStruct(id=ids.to_uuid(self.memory.id), vector=vector, payload=payload)


def embedded(memory: Memory) -> tuple[object, ...]:
    """What the vector of a memory is of."""
    return (memory.title, memory.text, memory.tags)


def with_neighbours(points: Sequence[Point]) -> list[Point]:
    """All active points of one session and space, with their context and mixed vectors."""
    ordered = sorted(points, key=lambda point: (point.seq, point.memory.id))
    return [_placed(point, ordered[:place][::-1], ordered[place + 1 :]) for place, point in enumerate(ordered)]


def _placed(point: Point, earlier: Sequence[Point], later: Sequence[Point]) -> Point:
    context = "\n".join(side[0].memory.text[:_CONTEXT] for side in (earlier, later) if side)
    if not point.own:
        return replace(point, context=context)
    mixed = arrays.unpack_one(point.own)
    for step, weight in enumerate(NEIGHBOUR_WEIGHTS):
        near = [side[step] for side in (earlier, later) if step < len(side)]
        vectors = [arrays.unpack_one(one.own) for one in near if one.own and one.model == point.model]
        if vectors:
            mixed = mixed + np.float32(weight) * np.sum(vectors, axis=0) / np.float32(len(vectors))
    whole: Vector = arrays.normalised(mixed)
    return replace(point, context=context, mixed=tuple(whole.tolist()))
