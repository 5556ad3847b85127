"""Makes the database of a team server: roles with passwords of their own, and the tables."""

from __future__ import annotations

import secrets
from typing import NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo

from keepmum.core.errors import StoreError
from keepmum.stores.postgres.schema import APP_ROLE, OWNER_ROLE, create_roles, migrate

__all__ = ["Access", "create_database"]


class Access(NamedTuple):
    """The addresses of a database, by role."""

    owner: str  # migrates the tables
    app: str  # serves requests, bound by row-level security


def create_database(admin: str) -> Access:
    """Create roles and tables in the database that `admin`, the address for a superuser, names.

    Roles that exist get new passwords, so that another server over this database needs the new address too.

    Raises: StoreError.
    """
    owner, app = (secrets.token_urlsafe(24) for _ in range(2))
    try:
        access = Access(
            make_conninfo(admin, user=OWNER_ROLE, password=owner), make_conninfo(admin, user=APP_ROLE, password=app)
        )
    except psycopg.ProgrammingError:
        raise StoreError("the address of the database is not one of PostgreSQL's (postgresql://...)") from None
    try:
        create_roles(admin, owner, app)
    except psycopg.errors.InsufficientPrivilege:
        raise StoreError("this role may not create roles or the extension `vector`; use a superuser") from None
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL refused ({type(error).__name__}); pgvector 0.8 or newer is needed") from None
    migrate(access.owner)
    return access
