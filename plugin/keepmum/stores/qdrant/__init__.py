"""The store of a team server in Qdrant: opens the collection of a shared-agent-memory server as it is."""

from __future__ import annotations

from keepmum.stores.qdrant.collection import Collection, connect, create
from keepmum.stores.qdrant.store import QdrantStore

__all__ = ["Collection", "QdrantStore", "connect", "create"]
