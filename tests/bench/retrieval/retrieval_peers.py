"""Other memories' ways of searching, on the same data and with the same model; each needs its own package."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contract.stores import a_memory
from keepmum.core import ranking

if TYPE_CHECKING:
    from bench.retrieval.retrieval_systems import ReadOnce

__all__ = ["QdrantEdge"]

_AT_ONCE = 500  # points that are put in at once
_DEEP = 3  # times as many from each leg as are wanted
_RRF = 2  # Source: https://qdrant.tech/documentation/concepts/hybrid-queries, read 2026-11-21


class QdrantEdge:
    """Qdrant in this process (the package qdrant-edge-py), as Shared Agent Memory uses it: BM25 and MiniLM, by RRF.

    It embeds what we embed, tags and opened identifiers among it, so that the search alone makes the difference.
    """

    def __init__(self, embedder: ReadOnce) -> None:
        import qdrant_edge

        self._edge = qdrant_edge
        self._embedder = embedder
        self._words = qdrant_edge.Bm25()
        self._folder = tempfile.TemporaryDirectory()
        self._ids: list[str] = []
        meaning = qdrant_edge.EdgeVectorParams(size=embedder.dimensions, distance=qdrant_edge.Distance.Cosine)
        words = qdrant_edge.EdgeSparseVectorParams(modifier=qdrant_edge.Modifier.Idf)
        config = qdrant_edge.EdgeConfig(vectors={"meaning": meaning}, sparse_vectors={"words": words})
        self._shard = qdrant_edge.EdgeShard.create(self._folder.name, config)

    def index(self, memories: Sequence[Mapping[str, Any]]) -> int:
        """Take titles, texts and tags in."""
        self._ids = [memory["id"] for memory in memories]
        self._embedder.filling = True
        points = [self._point(number, memory) for number, memory in enumerate(memories)]
        self._embedder.filling = False
        for start in range(0, len(points), _AT_ONCE):
            self._shard.update(self._edge.UpdateOperation.upsert_points(points[start : start + _AT_ONCE]))
        return 0

    def search(self, query: str, limit: int) -> list[str]:
        """Best first, by the places in both legs."""
        meaning, words = self._embedder.embed([query])[0].tolist(), self._words.embed_query(query)
        legs = [
            self._edge.Prefetch(limit=_DEEP * limit, query=self._edge.Query.Nearest(asked, using=name))
            for name, asked in (("meaning", meaning), ("words", words))
        ]
        fused = self._edge.QueryRequest(limit=limit, query=self._edge.Fusion.Rrf(k=_RRF), prefetches=legs)
        return [self._ids[found.id] for found in self._shard.query(fused)]

    def close(self) -> None:
        """Remove the shard."""
        self._shard.close()
        self._folder.cleanup()

    def _point(self, number: int, memory: Mapping[str, Any]) -> Any:
        tags = tuple(memory.get("tags") or ())
        said = "\n".join(filter(None, [memory.get("title"), memory["text"], *tags]))
        told = ranking.embedding_text(a_memory(memory["text"], title=memory.get("title") or "", tags=tags))
        vector = self._embedder.embed([told])[0].tolist()
        return self._edge.Point(number, {"meaning": vector, "words": self._words.embed_document(said)})
