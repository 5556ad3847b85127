"""A team's server over HTTP, with what is known of it on this machine."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from keepmum.stores.base import Store
from keepmum.stores.outbox import Outbox, file_of
from keepmum.stores.outbox.drainer import Turn
from keepmum.stores.rest.store import RestStore
from keepmum.workspace.credentials import Server

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api

__all__ = ["RestStore", "open_store"]


def open_store(mirror: Store, *, server: Server, home: str, **options: Any) -> RestStore:
    """The store at `server`, with `mirror` for what is known of it here; the network is not touched yet.

    Options: with `drains`, writes that wait for the server are sent in the background; with `trailer`, what the first
    API cannot hold travels at the end of the text; `projects` are names to call projects by, by id.

    Raises: StoreError when the queue of writes cannot be used.
    """
    box = Outbox(file_of(home))
    name = hashlib.sha256(server.origin.encode()).hexdigest()[:16]
    turn = Turn(os.path.join(home, f"outbox-{name}.turn"))
    return RestStore(server, mirror, box, turn, connect=_connect, **options)


def _connect(server: Server) -> Api:
    """The server's API, and with it the HTTP client, which costs a tenth of a second to import."""
    from keepmum.core.errors import StoreError

    try:
        from keepmum.stores.rest.wire import Wire
    except ImportError:
        raise StoreError("a server needs httpx: run installers/install.sh, or pip install httpx") from None
    from keepmum.stores.rest.api import Api

    return Api(Wire(server))
