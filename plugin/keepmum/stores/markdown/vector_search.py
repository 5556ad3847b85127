"""Meaning over files: the index knows it, and looks at the files before it is asked what there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores.base import QueryVector, VectorSearch

__all__ = ["FileVectorSearch"]


class FileVectorSearch:
    """A `VectorSearch` that is brought into step with the files where that may change its answer, and only there."""

    def __init__(self, index: VectorSearch, follow: Callable[[], object]) -> None:
        self._index = index
        self._follow = follow

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Memories that hold any of `words`, and those that are nearest to `vector`."""
        self._follow()
        return self._index.search(words, vector, wanted, limit)

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, nearest first."""
        self._follow()
        return self._index.similar(embedding, wanted, limit)

    def pending(self, model: str, limit: int) -> list[Memory]:
        """Memories that have no vector of `model` yet."""
        self._follow()
        return self._index.pending(model, limit)

    def count_pending(self, model: str) -> int:
        """How many these are."""
        self._follow()
        return self._index.count_pending(model)

    def duplicates(self, ids: Sequence[str], cosine: float) -> dict[str, tuple[str, float]]:
        """Which of these memories, which were just found, say nearly the same as one before them."""
        return self._index.duplicates(ids, cosine)

    @property
    def problem(self) -> str:
        """Why no meaning is searched, in a sentence; empty otherwise."""
        return self._index.problem

    def other_model(self, model: str) -> str | None:
        """Another model that vectors of this store are of, if any."""
        return self._index.other_model(model)

    def is_ready(self, model: str) -> bool:
        """Whether nothing is left to embed of what the index has by now."""
        return self._index.is_ready(model)

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Keep vectors of memories that say still what they said; how many these were."""
        return self._index.save(embedded)

    def update_index(self, model: str) -> None:
        """Bring the index of vectors up to date."""
        self._index.update_index(model)
