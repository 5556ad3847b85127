"""Queue of writes for servers: kept on this machine until each was delivered exactly once."""

from __future__ import annotations

from keepmum.stores.outbox.drainer import Drainer, SendLock
from keepmum.stores.outbox.queue import Item, Outbox, file_of

__all__ = ["Drainer", "Item", "Outbox", "SendLock", "file_of"]
