"""Writes that wait for a server: kept on this machine until they have arrived, each exactly once."""

from __future__ import annotations

from keepmum.stores.outbox.drainer import Drainer
from keepmum.stores.outbox.queue import Item, Outbox, file_of

__all__ = ["Drainer", "Item", "Outbox", "file_of"]
