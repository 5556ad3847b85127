"""Similar memories of a place, compared once: comparing all pairs of 10,000 memories takes seconds.

What was found is kept, with the revisions that were compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepmum.core import similarity
from keepmum.core.memory import JsonValue, Memory, Outline
from keepmum.core.review import Pair
from keepmum.service.calibrated_search import CalibratedSearch
from keepmum.service.context import ServiceContext
from keepmum.service.review.cache import CacheFile
from keepmum.stores.base import VectorSearch

__all__ = ["SimilarPairs"]

_NEAREST = 3  # similar memories that are kept for each
_COMPARED = 10_000  # memories, the latest first, that are compared with each other
_BATCH = 1_000  # memories whose texts are compared before the result is saved
_FORMAT = 1  # of the file


class SimilarPairs:
    """The pairs of similar memories among some, from the cache; `update` compares what is new."""

    def __init__(self, context: ServiceContext, outlines: Iterable[Outline], *, everywhere: bool) -> None:
        latest = sorted(outlines, key=lambda outline: (-outline.updated_at, outline.id))
        self._context = context
        self._place = {outline.id: number for number, outline in enumerate(latest[:_COMPARED])}
        self._revisions = {outline.id: outline.revision for outline in latest[:_COMPARED]}
        self._left_out = max(0, len(latest) - _COMPARED)
        vectors = context.store.features.vector_search
        self._model = (vectors and vectors.other_model("")) or ""
        self._file = CacheFile(context, "pairs", everywhere=everywhere)
        self._seen, self._pairs = self._read()

    @property
    def pairs(self) -> list[Pair]:
        """The pairs that are known, the newer memory first in each."""
        place = self._place
        return [
            pair if place[pair.newer] < place[pair.older] else pair._replace(newer=pair.older, older=pair.newer)
            for pair in self._pairs
        ]

    @property
    def unchecked(self) -> int:
        """Number of memories that were not compared with the others."""
        return self._left_out + len(self._revisions) - len(self._seen)

    def update(self, limit: int | None = None) -> None:
        """Compare up to `limit` memories that are new or changed, or all of them, when a model is ready."""
        vectors = self._context.embeddings.search
        if vectors is None or not self._context.embeddings.usable:
            return
        new = [memory for memory in self._place if memory not in self._seen][:limit]
        for start in range(0, len(new), _BATCH):
            self._compare(vectors, new[start : start + _BATCH])
        if new:
            self._write()

    def _compare(self, vectors: VectorSearch | CalibratedSearch, new: Sequence[str]) -> None:
        near = vectors.neighbours(new, list(self._place), similarity.NEAR, _NEAREST)
        found: dict[tuple[str, str], float] = {}
        for memory, others in near.items():
            for other, cosine in others:
                newer, older = sorted((memory, other), key=self._place.__getitem__)
                found[newer, older] = cosine
        texts = {memory.id: memory for memory in self._context.store.get(sorted({one for ids in found for one in ids}))}
        self._pairs += [
            Pair(newer, older, cosine, similarity.compare(texts[newer], texts[older], cosine).contradicts)
            for (newer, older), cosine in found.items()
            if newer in texts
            and older in texts
            and not (newer in self._seen and older in self._seen)
            and _are_together(texts[newer], texts[older])
        ]
        self._seen |= {memory: self._revisions[memory] for memory in near}

    def _read(self) -> tuple[dict[str, int], list[Pair]]:
        """What was compared before, as far as the memories are unchanged: revisions by id, and pairs."""
        saved: Mapping[str, Any] = self._file.read()  # Any: what the file says is checked here
        try:
            if (saved["format"], saved["model"], saved["near"]) != (_FORMAT, self._model, similarity.NEAR):
                return {}, []
            revisions: Mapping[str, int] = saved["seen"]
            seen = {
                memory: revision for memory, revision in self._revisions.items() if revisions.get(memory) == revision
            }
            pairs = [Pair(*pair) for pair in saved["pairs"]]
        except (KeyError, TypeError, AttributeError):  # there is none, or it is damaged
            return {}, []
        return seen, [pair for pair in pairs if pair.newer in seen and pair.older in seen]

    def _write(self) -> None:
        saved: dict[str, JsonValue] = {
            "format": _FORMAT, "model": self._model, "near": similarity.NEAR, "seen": self._seen, "pairs": self._pairs,
        }  # fmt: skip
        self._file.write(saved)


def _are_together(one: Memory, other: Memory) -> bool:
    """Whether two memories are seen in one project; two projects may differ in what is true."""
    return one.project is None or other.project is None or one.project == other.project
