"""The default store: one SQLite file that many processes share, without a server or extra packages."""

from __future__ import annotations

from keepmum.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
