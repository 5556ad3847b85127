"""A team's server over HTTP, with a mirror of it on this machine."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from keepmum.stores.base import LocalStore
from keepmum.stores.outbox import Outbox, SendLock, file_of
from keepmum.stores.rest.store import RestStore
from keepmum.stores.specs import RestSpec
from keepmum.workspace.credentials import Server

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api

__all__ = ["RestStore", "open_store"]


def open_store(spec: RestSpec, mirror: LocalStore) -> RestStore:
    """The store at a server, with `mirror` for what this machine has of it. Opening makes no request.

    Raises: StoreError when the queue of writes cannot be used.
    """
    outbox = Outbox(file_of(spec.home))
    name = hashlib.sha256(spec.server.origin.encode()).hexdigest()[:16]
    # The file's name must not change: servers of two versions may run at the same time and must share the lock.
    lock = SendLock(os.path.join(spec.home, f"outbox-{name}.turn"))
    return RestStore(spec, mirror, outbox, lock, connect=_connect)


def _connect(server: Server) -> Api:
    """The server's API. Imports the HTTP client, which takes a tenth of a second."""
    from keepmum.core.errors import StoreError

    try:
        from keepmum.stores.rest.http_client import HttpClient
    except ImportError:
        raise StoreError(
            "the package httpx is missing, which reaches a server; `keepmum install` installs it"
        ) from None
    from keepmum.stores.rest.api import Api

    return Api(HttpClient(server))
