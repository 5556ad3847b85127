"""Similar memories of a place, compared once: comparing all pairs of 10,000 memories takes seconds.

What was found is kept, with the revisions that were compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepmum.core import similarity
from keepmum.core.memory import JsonValue, Memory, Outline
from keepmum.core.review import Near
from keepmum.service.calibrated_search import CalibratedSearch
from keepmum.service.context import ServiceContext
from keepmum.service.review.cache import CacheFile
from keepmum.stores.base import VectorSearch

__all__ = ["SimilarPairs"]

_NEAREST = 3  # similar memories that are kept for each
_COMPARED = 10_000  # memories, the latest first, that are compared with each other
_BATCH = 1_000  # memories whose texts are compared before the result is saved
_FORMAT = 2  # of the file


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
        self._seen, self._near = self._read()

    @property
    def near(self) -> Mapping[str, Sequence[Near]]:
        """For each memory the older ones that are similar: contradictions first, then what is most similar."""
        return self._near

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
        before = len(self._seen)
        for start in range(0, len(new), _BATCH):
            self._compare(vectors, new[start : start + _BATCH])
        if len(self._seen) > before:  # the others have no vector yet
            self._write()

    def _compare(self, vectors: VectorSearch | CalibratedSearch, new: Sequence[str]) -> None:
        found: dict[tuple[str, str], float] = {}
        near = vectors.neighbours(new, list(self._place), similarity.NEAR, _NEAREST)
        for memory, others in near.items():
            for other, cosine in others:
                newer, older = sorted((memory, other), key=self._place.__getitem__)
                if not (newer in self._seen and older in self._seen):
                    found[newer, older] = cosine
        texts = {memory.id: memory for memory in self._context.store.get(sorted({one for ids in found for one in ids}))}
        for (newer, older), cosine in found.items():
            if newer in texts and older in texts and _are_together(texts[newer], texts[older]):
                contradicts = similarity.compare(texts[newer], texts[older], cosine).contradicts
                known = [*self._near.get(newer, ()), Near(older, cosine, contradicts)]
                self._near[newer] = sorted(known, key=lambda each: (not each[2], -each[1], each[0]))
        self._seen |= {memory: self._revisions[memory] for memory in near}

    def _read(self) -> tuple[dict[str, int], dict[str, list[Near]]]:
        """What was compared before, as far as the memories are unchanged: revisions by id, and similar ones."""
        saved: Mapping[str, Any] = self._file.read()  # Any: what the file says is checked here
        try:
            if (saved["format"], saved["model"], saved["near"]) != (_FORMAT, self._model, similarity.NEAR):
                return {}, {}
            revisions: Mapping[str, int] = saved["seen"]
            seen = {
                memory: revision for memory, revision in self._revisions.items() if revisions.get(memory) == revision
            }
            similar: Mapping[str, list[Near]] = saved["similar"]
            return seen, {
                newer: known
                for newer, near in similar.items()
                if newer in seen and (known := [each for each in near if each[0] in seen])
            }
        except (KeyError, TypeError, AttributeError, IndexError):  # there is none, or it is damaged
            return {}, {}

    def _write(self) -> None:
        saved: dict[str, JsonValue] = {
            "format": _FORMAT, "model": self._model, "near": similarity.NEAR, "seen": self._seen,
            "similar": self._near,
        }  # fmt: skip
        self._file.write(saved)


def _are_together(one: Memory, other: Memory) -> bool:
    """Whether two memories are seen in one project; two projects may differ in what is true."""
    return one.project is None or other.project is None or one.project == other.project
