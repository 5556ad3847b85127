"""Vector search over files: updates the index from the files first, where that may change the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores.base import QueryVector, VectorSearch

__all__ = ["FileVectorSearch"]


class FileVectorSearch:
    """The `VectorSearch` of an index, with `refresh` called before reads that must see the latest files."""

    def __init__(self, index: VectorSearch, refresh: Callable[[], object]) -> None:
        self._index = index
        self._refresh = refresh

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Memories that contain any of `words`, and those nearest to `vector`."""
        self._refresh()
        return self._index.search(words, vector, wanted, limit)

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, nearest first."""
        self._refresh()
        return self._index.similar(embedding, wanted, limit)

    def pending(self, model: str, limit: int) -> list[Memory]:
        """Memories that have no vector of `model` yet."""
        self._refresh()
        return self._index.pending(model, limit)

    def count_pending(self, model: str) -> int:
        """Number of memories that have no vector of `model` yet."""
        self._refresh()
        return self._index.count_pending(model)

    def duplicates(self, ids: Sequence[str], cosine: float) -> dict[str, tuple[str, float]]:
        """Memories at least `cosine` similar to an earlier one of `ids`."""
        return self._index.duplicates(ids, cosine)

    @property
    def problem(self) -> str:
        """Why vector search is off, in a sentence; empty when it works."""
        return self._index.problem

    def other_model(self, model: str) -> str | None:
        """Another model whose vectors the index holds, if any."""
        return self._index.other_model(model)

    def is_ready(self, model: str) -> bool:
        """Whether no memory in the index is pending."""
        return self._index.is_ready(model)

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Store vectors of memories whose text is unchanged; returns how many were stored."""
        return self._index.save(embedded)

    def update_index(self, model: str) -> None:
        """Update the vector index."""
        self._index.update_index(model)
