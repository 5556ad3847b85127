"""One database that the principals of a team server share: SQLite for a small team, PostgreSQL for a larger one.

Qdrant is for a team whose memories are there already.
"""

from __future__ import annotations

import abc
import contextlib
import itertools
import json
from collections.abc import Sequence
from sqlite3 import Connection
from typing import NamedTuple, Protocol

from keepmum.core.memory import Change
from keepmum.stores import sqlite
from keepmum.stores.base import Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.guarded import Faults, GuardedStore
from keepmum.stores.project_ids import ProjectIds
from keepmum.stores.quota import UNLIMITED, Quota, QuotaLimits, Usage, usage_of
from keepmum.stores.sqlite.database import Database
from keepmum.stores.sqlite.team_ids import TeamIds
from keepmum.stores.sqlite.team_records import SqliteTeamRecords, save_claim
from keepmum.stores.team import TeamRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.stores.postgres import Pool, PostgresStore
    from keepmum.stores.team_copy import Side

__all__ = ["PostgresSpec", "QdrantSpec", "SharedSpec", "SharedStore", "TeamSqliteSpec", "open_shared"]


_COUNTING = 60  # seconds that counting all memories may take
_USAGE = """SELECT coalesce(project, ''), count(*),
    sum(length(CAST(title AS BLOB)) + length(CAST(text AS BLOB))
        + coalesce(length(CAST(why AS BLOB)), 0) + coalesce(length(CAST(data AS BLOB)), 0)),
    sum(status = 'active'), max(updated_at) FROM memories
    WHERE ?1 IS NULL OR coalesce(project, '') IN (SELECT value FROM json_each(?1)) GROUP BY 1"""


class TeamSqliteSpec(NamedTuple):
    """One SQLite file, which one server process uses."""

    path: str


class PostgresSpec(NamedTuple):
    """A PostgreSQL database, by the address for the role of requests."""

    dsn: str
    pool: int = 8  # connections
    outdated: bool = False  # whether tables of an older version are read as far as this one can


class QdrantSpec(NamedTuple):
    """A collection of Qdrant with the memories; all else is in a SQLite file, which one server process uses."""

    url: str
    key: str
    collection: str
    path: str


SharedSpec = TeamSqliteSpec | PostgresSpec | QdrantSpec


class SharedStore(Protocol):
    """One database that many principals use."""

    shares_ids: bool  # whether a grant for several projects shows memories with the same id

    @property
    def faults(self) -> int:
        """How many memories were found that the grant does not allow; always 0 where the database itself isolates."""

    @property
    def records(self) -> TeamRecords:
        """People, keys, the audit log and kept answers."""

    def acting(self, grant: Grant) -> Store:
        """The store as this grant allows it; cheap, and closing it does nothing."""

    @property
    def limits(self) -> QuotaLimits:
        """How much may be stored."""

    def usage(self, grant: Grant) -> dict[str, Usage]:
        """What is stored, by project that the grant lets be read; "" is no project."""

    def side(self) -> Side:
        """The database as `copy_team` takes it."""

    def copy_to(self, path: str) -> None:
        """Copy everything into a new SQLite file, as it is at one moment.

        Raises: StoreError.
        """

    def close(self) -> None:
        """Finish writing and release all resources."""


def open_shared(spec: SharedSpec, limits: QuotaLimits = UNLIMITED) -> SharedStore:
    """The database that `spec` describes; writes that exceed the limits are refused.

    Raises: StoreError when it cannot be opened, or its role is not bound by row-level security; SettingsError when a
    key would travel unencrypted.
    """
    match spec:
        case TeamSqliteSpec():
            return _SharedSqlite(spec.path, limits)
        case PostgresSpec():
            from keepmum.stores.postgres import Pool

            return _SharedPostgres(Pool(*spec), limits)
        case QdrantSpec():
            return _SharedQdrant(spec, limits)


class _Guarded(abc.ABC):
    """A database that isolates no projects, behind a guard; the team's records are in a SQLite file."""

    shares_ids = False

    def __init__(self, store: Store, records: Database, limits: QuotaLimits) -> None:
        self._store = store
        self._faults = Faults()
        self.limits = limits
        self._quota = Quota(limits, lambda: self.usage(Grant(ORGANISATION)))
        try:
            self.records = SqliteTeamRecords(records)
            self._ids = TeamIds(records)
        except BaseException:
            store.close()
            raise

    @property
    def faults(self) -> int:
        return self._faults.count

    def acting(self, grant: Grant) -> Store:
        guarded = GuardedStore(self._within(grant), grant, self._faults, self._quota)
        return ProjectIds(
            guarded, self._store, self._ids, grant.read, lambda project: self.acting(grant.among({project or ""}))
        )

    @abc.abstractmethod
    def usage(self, grant: Grant) -> dict[str, Usage]: ...

    def side(self) -> Side:
        from keepmum.stores.team_copy import Side

        return Side(self.acting, lambda: self.usage(Grant(ORGANISATION)), self.records)

    def close(self) -> None:
        self._store.close()

    def _along(self, db: Connection, changes: Sequence[Change]) -> None:  # noqa: ARG002 - their ids are the stored ones
        """Save the ids and the answer of a request in the transaction of its commit."""
        self._ids.save(db)
        save_claim(db, self._ids.changes)

    @abc.abstractmethod
    def _within(self, grant: Grant) -> Store:
        """The store that is guarded, limited to what the grant lets be read if it can limit itself."""


class _SharedSqlite(_Guarded):
    """One SQLite file."""

    def __init__(self, path: str, limits: QuotaLimits = UNLIMITED) -> None:
        self._sqlite = sqlite.SqliteStore(path, backed_up=True, along=self._along)
        super().__init__(self._sqlite, self._sqlite.database, limits)

    def usage(self, grant: Grant) -> dict[str, Usage]:
        names = None if grant.read is None else json.dumps(sorted(grant.read))
        found = self._sqlite.database.query(_USAGE, (names,))
        return {project: Usage(*numbers) for project, *numbers in found}

    def copy_to(self, path: str) -> None:
        self._sqlite.database.copy_to(path)

    def _within(self, grant: Grant) -> Store:
        return self._sqlite.within(grant.read)


class _SharedPostgres:
    """A pool of connections; row-level security isolates."""

    faults = 0
    shares_ids = True

    def __init__(self, pool: Pool, limits: QuotaLimits = UNLIMITED) -> None:
        from keepmum.stores.postgres import PostgresStore
        from keepmum.stores.postgres.team_records import PostgresTeamRecords
        from keepmum.stores.postgres.tokenizer import Tokenizer

        self._pool = pool
        self._tokenizer = Tokenizer()
        self._tenants: dict[str, int] = {}
        self._open = PostgresStore
        self.limits = limits
        self._quota = Quota(limits, lambda: self.acting(Grant(ORGANISATION)).usage(_COUNTING))
        self.records = PostgresTeamRecords(pool, ORGANISATION)

    def acting(self, grant: Grant) -> PostgresStore:
        return self._open(self._pool, grant, self._tokenizer, self._tenants, self._quota)

    def usage(self, grant: Grant) -> dict[str, Usage]:
        return self.acting(grant).usage()

    def side(self) -> Side:
        return self._side(self._pool)

    def copy_to(self, path: str) -> None:
        from keepmum.stores.team_copy import copy_team

        with self._pool.snapshot() as pool, contextlib.closing(_SharedSqlite(path)) as target:
            copy_team(self._side(pool), target.side())

    def _side(self, pool: Pool) -> Side:
        from keepmum.stores.postgres.team_records import PostgresTeamRecords
        from keepmum.stores.team_copy import Side

        def acting(grant: Grant) -> PostgresStore:
            return self._open(pool, grant, self._tokenizer, self._tenants)

        records = PostgresTeamRecords(pool, ORGANISATION)
        return Side(acting, lambda: acting(Grant(ORGANISATION)).usage(_COUNTING), records)

    def close(self) -> None:
        self._tokenizer.close()
        self._pool.close()


class _SharedQdrant(_Guarded):
    """A collection of Qdrant, with all else in a SQLite file."""

    def __init__(self, spec: QdrantSpec, limits: QuotaLimits = UNLIMITED) -> None:
        from keepmum.stores.qdrant import QdrantStore, connect

        collection = connect(spec.url, spec.key, spec.collection)
        try:
            ledger = sqlite.SqliteStore(spec.path, backed_up=True)
        except BaseException:
            collection.close()
            raise
        super().__init__(QdrantStore(collection, ledger, along=self._along), ledger.database, limits)

    def usage(self, grant: Grant) -> dict[str, Usage]:
        from keepmum.stores.team_copy import pages

        return usage_of(itertools.chain.from_iterable(pages(self.acting(grant))))

    def copy_to(self, path: str) -> None:
        from keepmum.stores.team_copy import copy_team

        with contextlib.closing(_SharedSqlite(path)) as target:
            copy_team(self.side(), target.side())

    def _within(self, grant: Grant) -> Store:  # noqa: ARG002 - Qdrant cannot
        return self._store
