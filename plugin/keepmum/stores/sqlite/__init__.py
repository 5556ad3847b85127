"""The embedded store: one SQLite file that many processes share, with nothing to install and nothing to run."""

from __future__ import annotations

from keepmum.stores.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
