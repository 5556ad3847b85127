"""The default store: one SQLite file that many processes share, without a server or extra packages."""

from __future__ import annotations

from keepmum.stores.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
