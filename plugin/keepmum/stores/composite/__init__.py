"""Several stores in one: reads ask all of them, and the scope of a new memory decides which one stores it."""

from __future__ import annotations

from keepmum.stores.composite.store import CompositeStore

__all__ = ["CompositeStore"]
