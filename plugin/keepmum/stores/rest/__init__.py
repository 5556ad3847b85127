"""A team's server over HTTP, with what is known of it on this machine."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from keepmum.stores.base import LocalStore
from keepmum.stores.outbox import Outbox, file_of
from keepmum.stores.outbox.drainer import Turn
from keepmum.stores.rest.store import RestStore
from keepmum.stores.specs import RestSpec
from keepmum.workspace.credentials import Server

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api

__all__ = ["RestStore", "open_store"]


def open_store(spec: RestSpec, mirror: LocalStore) -> RestStore:
    """The store at a server, with `mirror` for what this machine knows of it. Opening makes no request.

    Raises: StoreError when the queue of writes cannot be used.
    """
    box = Outbox(file_of(spec.home))
    name = hashlib.sha256(spec.server.origin.encode()).hexdigest()[:16]
    turn = Turn(os.path.join(spec.home, f"outbox-{name}.turn"))
    return RestStore(
        spec.server, mirror, box, turn, connect=_connect, drains=spec.drains, trailer=spec.trailer,
        projects=spec.projects,
    )  # fmt: skip


def _connect(server: Server) -> Api:
    """The server's API, and with it the HTTP client, which costs a tenth of a second to import."""
    from keepmum.core.errors import StoreError

    try:
        from keepmum.stores.rest.wire import Wire
    except ImportError:
        raise StoreError("a server needs httpx: run installers/install.sh, or pip install httpx") from None
    from keepmum.stores.rest.api import Api

    return Api(Wire(server))
