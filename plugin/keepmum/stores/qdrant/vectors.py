"""Vector search in Qdrant: candidates by meaning and by words in one round trip, not fused; ranking is not its task."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from keepmum.core import ids
from keepmum.core.errors import StoreError
from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores import vectors as arrays
from keepmum.stores.base import Near, QueryVector
from keepmum.stores.qdrant import words as sparse
from keepmum.stores.qdrant.collection import EVERYTHING, LIGHT, NOTHING, Collection, Fields
from keepmum.stores.qdrant.conditions import (
    DEFAULT_MODEL,
    Condition,
    all_of,
    has_vector,
    none_of,
    of_model,
    searched,
    with_ids,
)
from keepmum.stores.qdrant.layout import BM25, DENSE
from keepmum.stores.qdrant.payload import OURS, memory_of, own_fields
from keepmum.stores.qdrant.point import Point

__all__ = ["QdrantVectors", "lexical_request"]

_GROWTH = 4  # nearest points per result that are compared by their own texts
_MOST_NEAR = 50  # points that are compared with one memory
_BYTES = 2  # of a number in `Embedding`

Vector = NDArray[np.float32]


class QdrantVectors:
    """The `VectorSearch` of a Qdrant store (see `keepmum.stores.base` for what each method returns)."""

    def __init__(
        self,
        collection: Collection,
        conditions: Callable[[Filter], list[Condition]],
        save: Callable[[Sequence[tuple[Memory, Embedding]]], int],
    ) -> None:
        """`conditions` are those of a filter; `save` writes vectors."""
        self._collection = collection
        self._conditions = conditions
        self._save = save
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why the vector that was given last can be neither stored nor compared here; empty when it can."""
        return self._problem

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Candidates of both searches. Every candidate that has a vector also has its cosine."""
        conditions, weights = self._conditions(wanted), sparse.query(words)
        asked = vector()
        point = None if asked is None else self._comparable(asked)
        requests = [lexical_request(weights, conditions, limit, LIGHT, searched(wanted))] if weights else []
        if asked is not None and point is not None:
            near = [*conditions, of_model(asked.model)]
            requests.append(_dense_request(point, near, limit, LIGHT, exact=not wanted.everywhere))
        answers = self._collection.query(requests)
        lexical = answers.pop(0) if weights else []
        nearest = answers.pop() if answers else []
        cosines = {one.id: one.score for one in nearest}
        missing = [str(one.id) for one in lexical if one.id not in cosines]
        if asked is not None and point is not None and missing:
            among = [with_ids(missing), of_model(asked.model)]
            (found,) = self._collection.query([_dense_request(point, among, len(missing), NOTHING)])
            cosines |= {one.id: one.score for one in found}
        known = {one.id for one in lexical}
        return [
            *(_candidate(one, one.score, cosines.get(one.id)) for one in lexical),
            *(_candidate(one, 0.0, one.score) for one in nearest if one.id not in known),
        ]

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, by their own text without neighbours."""
        point = self._comparable(embedding)
        if point is None:
            return []
        conditions = [*self._conditions(wanted), of_model(embedding.model)]
        (found,) = self._collection.query([_dense_request(point, conditions, limit * _GROWTH, EVERYTHING)])
        cosines = [(memory_of(one), _own_cosine(one, point)) for one in found]
        return sorted(cosines, key=lambda pair: -pair[1])[:limit]

    def pairs(
        self, memories: Sequence[str], conditions: Sequence[Condition], cosine: float
    ) -> tuple[list[Near], frozenset[str]]:
        """Those of `memories` with similar ones that pass, by their own texts; and the ids that were compared.

        None is compared while memories of the same model await vectors.
        """
        points = [point for point in self._read(memories) if point.own]
        if not points or self.count_pending(points[0].model):
            return [], frozenset()
        vectors = [arrays.unpack_one(point.own) for point in points]
        requests = [
            _dense_request(vector, [*conditions, of_model(point.model), _others(point.memory)], _MOST_NEAR, EVERYTHING)
            for point, vector in zip(points, vectors, strict=True)
        ]
        found = self._collection.query(requests)
        near = [
            Near(point.memory.id, memory_of(one), own)
            for point, vector, answer in zip(points, vectors, found, strict=True)
            for one in answer
            if (own := _own_cosine(one, vector)) >= cosine
        ]
        return near, frozenset(point.memory.id for point in points)

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        stored = {point.memory.id: point.own for point in self._read([*ids, *among]) if point.own}
        names = [name for name in dict.fromkeys([*ids, *among]) if name in stored]
        if not names:
            return {}
        matrix = arrays.unpack([stored[name] for name in names], self._collection.dimensions)
        return arrays.neighbours(names, matrix, frozenset(ids), cosine, most)

    def other_model(self, model: str) -> str | None:
        found = self._collection.first([has_vector(), none_of(of_model(model))], 1, [f"{OURS}.model"])
        return next((own_fields(one).get("model", DEFAULT_MODEL) for one in found), None)

    def pending(self, model: str, limit: int) -> list[Memory]:
        found = self._collection.first([none_of(of_model(model))], limit)
        return [memory_of(one) for one in found]

    def count_pending(self, model: str) -> int:
        return self._collection.count([none_of(of_model(model))])

    def is_ready(self, model: str) -> bool:
        return not self._collection.first([none_of(of_model(model))], 1, NOTHING)

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Store vectors of memories whose text is unchanged.

        Raises: StoreError when the vectors of the collection have another length.
        """
        for _, embedding in embedded:
            if problem := self._misfit(embedding):
                raise StoreError(problem)
        return self._save(embedded)

    def update_index(self, model: str) -> None:
        """Nothing: Qdrant updates its index."""

    def takes(self, embedding: Embedding) -> bool:
        """Whether a vector can be stored now: of the collection's length, and next to none of another model."""
        self._problem = self._misfit(embedding)
        return not self._problem and self.other_model(embedding.model) is None

    def _misfit(self, embedding: Embedding) -> str:
        """Why a vector cannot be stored next to those of the collection; empty when it has their length."""
        given, known = len(embedding.vector) // _BYTES, self._collection.dimensions
        if given == known:
            return ""
        return (
            f"the collection {self._collection.name} has vectors of {known} dimensions, and the model "
            f"{embedding.model} makes {given}; search is by words until a model of {known} dimensions is chosen"
        )

    def _comparable(self, embedding: Embedding) -> Vector | None:
        """The vector of a query; None when the collection can have none of its model.

        Raises: StoreError when the collection has vectors of that model with another length.
        """
        self._problem = self._misfit(embedding)
        if not self._problem:
            return arrays.unpack_one(embedding.vector)
        if not self._collection.first([of_model(embedding.model)], 1, NOTHING):
            return None
        raise StoreError(
            f"vectors of the model {embedding.model} have {self._collection.dimensions} dimensions here, and "
            f"{len(embedding.vector) // _BYTES} were given: they cannot be compared. Give the model of the embedder "
            "that changed another name"
        )

    def _read(self, memories: Sequence[str]) -> list[Point]:
        uuids = [ids.to_uuid(memory) for memory in dict.fromkeys(memories) if ids.complete_id(memory) is not None]
        return list(map(Point.read, self._collection.points(uuids, vectors=True)))


def lexical_request(
    weights: Mapping[int, float],
    conditions: Sequence[Condition],
    limit: int,
    fields: Fields,
    among: Sequence[Condition] = (),
) -> models.QueryRequest:
    """The points that hold any of the tokens, best first.

    How rare a token is counts `among` these points; Qdrant 1.18 and older counts among all points of the collection.
    """
    asked = models.SparseVector(indices=list(weights), values=list(weights.values()))
    counted = models.SearchParams(idf=models.IdfCorpusParams(corpus=all_of(*among))) if among else None
    return models.QueryRequest(
        query=asked, using=BM25, filter=all_of(*conditions), limit=limit, with_payload=fields, params=counted
    )


def _dense_request(
    vector: Vector, conditions: Sequence[Condition], limit: int, fields: Fields, *, exact: bool = True
) -> models.QueryRequest:
    """The points nearest to a vector."""
    return models.QueryRequest(
        query=vector.tolist(),
        using=DENSE,
        filter=all_of(*conditions),
        limit=limit,
        with_payload=fields,
        with_vector=[DENSE] if fields is EVERYTHING else None,
        params=models.SearchParams(exact=exact),
    )


def _others(memory: Memory) -> Condition:
    return none_of(with_ids([ids.to_uuid(memory.id)]))


def _candidate(point: models.ScoredPoint, lexical: float, cosine: float | None) -> Candidate:
    return Candidate.lexical_only(memory_of(point), lexical)._replace(cosine=cosine)


def _own_cosine(point: models.ScoredPoint, vector: Vector) -> float:
    """The cosine with the vector of the point's text alone."""
    own = own_fields(point).get("own")
    return float(arrays.unpack_one(base64.b64decode(own)) @ vector) if own else point.score
