"""Several stores as one: reads go to all of them, a new memory to the one that its scope is routed to."""

from __future__ import annotations

from keepmum.stores.joined.members import Placed, Reach
from keepmum.stores.joined.store import JoinedStore

__all__ = ["JoinedStore", "Placed", "Reach"]
