"""The folder of an operator, and the store of the server that is set up in it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from qdrant_client import QdrantClient

import postgres_server
from contract.stores import a_memory, an_event
from keepmum.core.memory import Change
from keepmum.service.team import open_shared
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.qdrant import create
from keepmum.stores.shared import PostgresSpec, QdrantSpec, SharedSpec, SharedStore
from qdrant_server import NAME

__all__ = ["Site", "wipe"]


class Site(NamedTuple):
    """Where an operator's commands find a server, and its store without them."""

    home: Path
    spec: SharedSpec

    @contextlib.contextmanager
    def opened(self) -> Iterator[SharedStore]:
        with contextlib.closing(open_shared(self.spec)) as shared:
            yield shared

    def write(self, text: str, by: str = "ada", project: str = "alpha") -> str:
        memory = a_memory(text, created_by=by, updated_by=by, project=project)
        with self.opened() as shared:
            store = shared.acting(Grant(ORGANISATION))
            store.commit([Change(None, memory)], [an_event(memory, agent=by)])
        return memory.id

    def texts(self) -> set[str]:
        with self.opened() as shared:
            return {memory.text for memory in shared.acting(Grant(ORGANISATION)).between("", "~", 100)}


def wipe(site: Site) -> None:
    """Lose the store, as with its disk; an engine with a server of its own gets an empty one."""
    if isinstance(site.spec, PostgresSpec):
        postgres_server.database("drill")
        return
    for path in (site.home / "server").glob("memory.db*"):
        path.unlink()
    if isinstance(site.spec, QdrantSpec):
        client = QdrantClient(url=site.spec.url, check_compatibility=False)
        client.delete_collection(NAME)
        client.delete_collection(f"{NAME}_audit")
        client.close()
        create(site.spec.url, "", NAME)
