"""Vector search over several stores, some of which search by words only."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores.base import QueryVector, Store, VectorSearch, local
from keepmum.stores.composite.fusion import fused, has_own_scores
from keepmum.stores.composite.members import Members

__all__ = ["CompositeVectorSearch"]


class CompositeVectorSearch:
    """A `VectorSearch` over the stores of a composite."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._parts = [(store, store.features.vector_search) for store in members.parts.values()]
        self._searches: list[VectorSearch] = [search for _, search in self._parts if search is not None]

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """The results of every store, each memory once; lexical for a store without vectors."""
        vector = functools.cache(vector)  # each store asks for it; it is computed once
        far = self._members.far() if wanted.everywhere else ()
        asked = [*self._parts, *((store, store.features.vector_search) for store in far)]
        ours: dict[str, Candidate] = {}
        for store, vectors in (pair for pair in asked if not has_own_scores(pair[0])):
            own = vectors.search(words, vector, wanted, limit) if vectors else _lexical(store, words, wanted, limit)
            ours = self._current(store, own) | ours
        found = ours
        for store in (store for store, _ in asked if has_own_scores(store)):
            theirs = _lexical(store, words, wanted, limit)  # before the mirror is searched: it learns from the answer
            mirror = local(store).features.vector_search
            here = _by_id(mirror.search(words, vector, wanted, limit) if mirror is not None else ())
            found = self._current(store, fused(theirs, here, list(ours.values()), wanted)) | found
        return list(found.values())

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text in all stores with vectors, nearest first."""
        found: dict[str, tuple[Memory, float]] = {}
        for store, vectors in self._parts:
            own = [] if vectors is None else vectors.similar(embedding, wanted, limit)
            found |= {pair[0].id: pair for pair in self._members.current_pairs(store, own)}
        return sorted(found.values(), key=lambda pair: -pair[1])[:limit]

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        """The similar memories within each store."""
        found: dict[str, list[tuple[str, float]]] = {}
        for vectors in self._searches:
            found |= vectors.neighbours(ids, among, cosine, most)
        return found

    @property
    def problem(self) -> str:
        """Why vector search is off in one of the stores; empty when it works in all."""
        return next(filter(None, (vectors.problem for vectors in self._searches)), "")

    def other_model(self, model: str) -> str | None:
        return next(filter(None, (vectors.other_model(model) for vectors in self._searches)), None)

    def pending(self, model: str, limit: int) -> list[Memory]:
        return [memory for vectors in self._searches for memory in vectors.pending(model, limit)][:limit]

    def count_pending(self, model: str) -> int:
        return sum(vectors.count_pending(model) for vectors in self._searches)

    def is_ready(self, model: str) -> bool:
        return all(vectors.is_ready(model) for vectors in self._searches)

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        return sum(vectors.save(embedded) for vectors in self._searches)

    def update_index(self, model: str) -> None:
        for vectors in self._searches:
            vectors.update_index(model)

    def _current(self, store: Store, found: Sequence[Candidate]) -> dict[str, Candidate]:
        outdated = self._members.outdated(store, found)
        return _by_id(candidate for candidate in found if candidate.id not in outdated)


def _by_id(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    return {candidate.id: candidate for candidate in candidates}


def _lexical(store: Store, words: Sequence[str], wanted: Filter, limit: int) -> list[Candidate]:
    return [Candidate.lexical_only(*pair) for pair in store.search(words, wanted, limit)]
