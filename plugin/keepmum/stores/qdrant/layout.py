"""The layout of a shared-agent-memory server in Qdrant: a collection of memories, and one of audit events.

Vectors are `dense` and `text-bm25`, the second weighted by how rare its words are.
Source: https://github.com/rbrcurtis/shared-agent-memory (src/storage.ts), read 2026-11-23.
"""

from __future__ import annotations

from qdrant_client import QdrantClient, models

from keepmum.stores.qdrant.payload import OURS

__all__ = ["BM25", "DENSE", "DIMENSIONS", "audit_of", "create", "length_of", "make_indexes", "missing_part"]

DENSE, BM25 = "dense", "text-bm25"
DIMENSIONS = 384  # of the vectors of a shared-agent-memory server
_SAMPLE = 10  # points that show the shape of a collection
_SHOWN = ("text", "project", "created_at")  # fields that every point has
_KEYWORD, _TIME, _INTEGER = (
    models.PayloadSchemaType.KEYWORD,
    models.PayloadSchemaType.DATETIME,
    models.PayloadSchemaType.INTEGER,
)
_INDEXED = {
    **dict.fromkeys(("project", "agent", "tags"), _KEYWORD),
    **dict.fromkeys(("created_at", "updated_at", "tombstoned_at"), _TIME),
    **{
        f"{OURS}.{name}": _KEYWORD
        for name in ("space", "key", "digest", "session", "user", "status", "scope", "kind", "tier", "trust", "model")
    },
    f"{OURS}.expires_at": _INTEGER,
}


def audit_of(name: str) -> str:
    """The collection with the audit events of another one."""
    return f"{name}_audit"


def create(client: QdrantClient, name: str, dimensions: int = DIMENSIONS) -> bool:
    """Create both collections, unless they are there; whether that of the memories was there."""
    dense = models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
    audit = models.VectorParams(size=1, distance=models.Distance.COSINE)
    sparse = models.SparseVectorParams(modifier=models.Modifier.IDF)
    found = client.collection_exists(name)
    if not found:
        client.create_collection(name, vectors_config={DENSE: dense}, sparse_vectors_config={BM25: sparse})
    if not client.collection_exists(audit_of(name)):
        client.create_collection(audit_of(name), vectors_config={"audit": audit})
    return found


def missing_part(client: QdrantClient, name: str) -> str:
    """What a collection of memories lacks of this layout; empty for nothing."""
    params = client.get_collection(name).config.params
    dense = params.vectors.get(DENSE) if isinstance(params.vectors, dict) else None
    sparse = (params.sparse_vectors or {}).get(BM25)
    if dense is None or dense.distance != models.Distance.COSINE:
        return f"a vector `{DENSE}` compared by cosine"
    if sparse is None or sparse.modifier != models.Modifier.IDF:
        return f"a sparse vector `{BM25}` with the modifier idf"
    sample = client.scroll(name, limit=_SAMPLE, with_payload=[*_SHOWN])[0]
    return "" if all(map(_is_memory, sample)) else "points with text, project and created_at"


def make_indexes(client: QdrantClient, name: str) -> None:
    """Create the payload indexes that filters use, and the collection of audit events, where they are missing."""
    create(client, name)
    for collection, indexed in ((name, _INDEXED), (audit_of(name), {"memoryId": _KEYWORD})):
        known = client.get_collection(collection).payload_schema
        for field, kind in indexed.items():
            if field not in known:
                client.create_payload_index(collection, field, kind)


def length_of(client: QdrantClient, name: str) -> int:
    """The length of dense vectors."""
    vectors = client.get_collection(name).config.params.vectors
    assert isinstance(vectors, dict)
    return vectors[DENSE].size


def _is_memory(point: models.Record) -> bool:
    payload = point.payload or {}
    return isinstance(point.id, str) and all(isinstance(payload.get(name), str) for name in _SHOWN)
