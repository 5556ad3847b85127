"""One database that the principals of a team server share: SQLite for a small team, PostgreSQL for a larger one."""

from __future__ import annotations

import contextlib
from typing import NamedTuple, Protocol

from keepmum.stores import sqlite
from keepmum.stores.base import Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.guarded import Faults, GuardedStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords, save_claim
from keepmum.stores.team import TeamRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.stores.postgres import Pool, PostgresStore

__all__ = ["PostgresSpec", "SharedSpec", "SharedStore", "TeamSqliteSpec", "open_shared"]


class TeamSqliteSpec(NamedTuple):
    """One SQLite file, which one server process uses."""

    path: str


class PostgresSpec(NamedTuple):
    """A PostgreSQL database, by the address for the role of requests."""

    dsn: str
    pool: int = 8  # connections


SharedSpec = TeamSqliteSpec | PostgresSpec


class SharedStore(Protocol):
    """One database that many principals use."""

    @property
    def faults(self) -> int:
        """How many memories were found that the grant does not allow; always 0 where the database itself isolates."""

    @property
    def records(self) -> TeamRecords:
        """People, keys, the audit log and kept answers."""

    def acting(self, grant: Grant) -> Store:
        """The store as this grant allows it; cheap, and closing it does nothing."""

    def copy_to(self, path: str) -> None:
        """Copy everything into a new SQLite file, as it is at one moment.

        Raises: StoreError.
        """

    def close(self) -> None:
        """Finish writing and release all resources."""


def open_shared(spec: SharedSpec) -> SharedStore:
    """The database that `spec` describes.

    Raises: StoreError when it cannot be opened, or its role is not bound by row-level security.
    """
    match spec:
        case TeamSqliteSpec():
            return _SharedSqlite(spec.path)
        case PostgresSpec():
            from keepmum.stores.postgres import Pool

            return _SharedPostgres(Pool(spec.dsn, spec.pool))


class _SharedSqlite:
    """One SQLite store behind a guard."""

    def __init__(self, path: str) -> None:
        self._store = sqlite.SqliteStore(path, backed_up=True, along=save_claim)
        self._faults = Faults()
        try:
            self.records = SqliteTeamRecords(self._store.database)
        except BaseException:
            self._store.close()
            raise

    @property
    def faults(self) -> int:
        return self._faults.count

    def acting(self, grant: Grant) -> Store:
        return GuardedStore(self._store, grant, self._faults)

    def copy_to(self, path: str) -> None:
        self._store.database.copy_to(path)

    def close(self) -> None:
        self._store.close()


class _SharedPostgres:
    """A pool of connections; row-level security isolates."""

    faults = 0

    def __init__(self, pool: Pool) -> None:
        from keepmum.stores.postgres import PostgresStore
        from keepmum.stores.postgres.team_records import PostgresTeamRecords
        from keepmum.stores.postgres.words import Tokenizer

        self._pool = pool
        self._tokenizer = Tokenizer()
        self._tenants: dict[str, int] = {}
        self._open = PostgresStore
        self.records = PostgresTeamRecords(pool, ORGANISATION)

    def acting(self, grant: Grant) -> PostgresStore:
        return self._open(self._pool, grant, self._tokenizer, self._tenants)

    def copy_to(self, path: str) -> None:
        from keepmum.stores.postgres.team_records import PostgresTeamRecords
        from keepmum.stores.team_copy import copy_team

        whole = Grant(ORGANISATION)
        with self._pool.snapshot() as pool, contextlib.closing(_SharedSqlite(path)) as target:
            store = self._open(pool, whole, self._tokenizer, self._tenants)
            copy_team((store, PostgresTeamRecords(pool, ORGANISATION)), (target.acting(whole), target.records))

    def close(self) -> None:
        self._tokenizer.close()
        self._pool.close()
