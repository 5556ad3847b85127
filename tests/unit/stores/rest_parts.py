"""Helpers for the tests of the REST store."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from keepmum.core.memory import Change, Memory
from keepmum.stores import Receipt, RestSpec, SqliteSpec, Store, sqlite
from keepmum.stores.rest import RestStore, open_store
from keepmum.workspace.credentials import Server
from rest_server import KEY

__all__ = ["Opener", "open_at", "put", "raw_server"]

Opener = Callable[..., RestStore]


def open_at(origin: str, folder: Path, *, key: str | None = KEY, **options: Any) -> RestStore:
    """The store at `origin`, with its mirror and outbox in `folder`."""
    server = Server(origin, key, no_key="" if key else "there is no key for it")
    mirror = SqliteSpec(str(folder / "mirror.db"))
    return open_store(RestSpec(server, mirror, str(folder), **options), sqlite.SqliteStore(mirror.path))


def put(store: Store, *memories: Memory) -> Receipt:
    """The receipt of writing these memories."""
    return store.commit([Change(None, memory) for memory in memories])


@contextlib.contextmanager
def raw_server(serve: Callable[[socket.socket], None], address: str = "127.0.0.1") -> Iterator[str]:
    """The origin of a server that calls `serve` for each connection, in a thread of its own."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as listening:

        def handle(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                serve(connection)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
