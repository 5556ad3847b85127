"""The store of a team server in PostgreSQL 15 or newer with pgvector."""

from __future__ import annotations

from keepmum.stores.grants import Grant
from keepmum.stores.postgres.access import Pool
from keepmum.stores.postgres.creation import Access, create_database
from keepmum.stores.postgres.schema import create_roles, migrate, missing, size_of
from keepmum.stores.postgres.store import PostgresStore

__all__ = [
    "Access",
    "Grant",
    "Pool",
    "PostgresStore",
    "create_database",
    "create_roles",
    "migrate",
    "missing",
    "size_of",
]
