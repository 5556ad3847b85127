"""Writes that wait for a server: kept on this machine until they have arrived, each exactly once."""

from __future__ import annotations

from keepmum.outbox.drainer import Drainer
from keepmum.outbox.queue import Item, Outbox, file_of

__all__ = ["Drainer", "Item", "Outbox", "file_of"]
