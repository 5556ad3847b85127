"""What tests of the SQLite store share."""

from __future__ import annotations

from contract.stores import a_memory
from keepmum.core.memory import Change
from keepmum.stores.sqlite import SqliteStore

__all__ = ["put"]


def put(store: SqliteStore, text: str) -> None:
    """Store a memory with this text."""
    store.commit([Change(None, a_memory(text))])
