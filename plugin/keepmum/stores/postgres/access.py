"""Connections to PostgreSQL: each transaction acts under a grant, which row-level security enforces.

`Pool.acting` is the only way to a connection. The grant is set for one explicit transaction on a connection in
autocommit mode, so that nothing of it outlives the transaction.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from keepmum.core.errors import KeyRefused, StoreBusy, StoreError, StoreReadOnly
from keepmum.stores.base import StaleWrite
from keepmum.stores.postgres import schema

__all__ = ["Database", "Pool"]

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # our errors say what it would print

_SETTINGS = "-c statement_timeout=5000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000"
_WAIT = 5.0  # seconds for a connection
# Seconds in which the pool tries again by itself, ever less often; then the next request does so at once. It thus
# notices soon that a database is back, however long that was away.
_RECONNECT = 2.0
_REASONS = {  # by a part of libpq's message
    "refused": "nothing listens there",
    "No such file": "nothing listens there",
    "resolve": "its host is not known",
    "translate host name": "its host is not known",
    "timeout": "it does not answer",
    "password": "it refuses the password",
    "authentication": "it refuses the role",
    "does not exist": "it has no such database or role",
    "too many": "it has too many connections",
    "starting up": "it is starting",
}
_GRANT = (
    "SELECT set_config('keepmum.organisation', %s, true),"
    " set_config('keepmum.read', %s, true), set_config('keepmum.write', %s, true),"
    " set_config('keepmum.read_organisations', %s, true), set_config('keepmum.write_organisations', %s, true)"
)


class Database:
    """Statements within one transaction."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    def act(self, read: Sequence[int] | None, write: Sequence[int] | None, organisation: int) -> None:
        """Go on under this grant (see `Pool.acting`)."""
        whole = str(organisation)
        self._connection.execute(
            _GRANT, (whole, _list(read), _list(write), whole if read is None else "", whole if write is None else "")
        )

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._connection.execute(sql.encode(), parameters).fetchall()

    def query_named(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows of a query with named parameters."""
        return self._connection.execute(sql.encode(), parameters).fetchall()

    def run(self, sql: str, *parameters: object) -> int:
        """Run a statement; returns the number of rows that it changed."""
        return self._connection.execute(sql.encode(), parameters).rowcount

    def run_each(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row of parameters."""
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(sql.encode(), rows)


class Pool:
    """A bounded pool of connections, as the role that row-level security binds."""

    def __init__(self, dsn: str, size: int = 8, outdated: bool = False) -> None:  # noqa: FBT001, FBT002 - as `PostgresSpec`
        """Open the pool; `outdated` accepts tables of an older version.

        Raises: StoreError when the database cannot be reached, or the role or the tables are not the right ones.
        """
        self._pool: ConnectionPool[psycopg.Connection[tuple[Any, ...]]] = ConnectionPool(
            dsn,
            min_size=1,
            max_size=size,
            timeout=_WAIT,
            reconnect_timeout=_RECONNECT,
            kwargs={"autocommit": True, "options": _SETTINGS, "application_name": "keepmum"},
            open=False,
        )
        try:
            self._pool.open(wait=True, timeout=_WAIT)
            with self._pool.connection() as connection:
                schema.check(connection, outdated=outdated)
        except PoolTimeout:
            self.close()
            raise StoreError(f"PostgreSQL cannot be reached with the given address: {_reason(dsn)}") from None
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def acting(self, read: Sequence[int] | None, write: Sequence[int] | None, organisation: int) -> Iterator[Database]:
        """A transaction that sees the tenants in `read` and changes those in `write`; None is the organisation.

        Raises: StaleWrite when another transaction got in its way, StoreBusy, StoreError.
        """
        with _translated(), self._pool.connection() as connection, connection.transaction():
            database = Database(connection)
            database.act(read, write, organisation)
            yield database

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Pool]:
        """A pool for one thread that only reads, and sees the database as it is at one moment.

        Raises: StoreError.
        """
        with _translated(), self._pool.connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Snapshot(connection)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Snapshot(Pool):
    """One transaction in the place of a pool."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    @contextlib.contextmanager
    def acting(self, read: Sequence[int] | None, write: Sequence[int] | None, organisation: int) -> Iterator[Database]:
        """The transaction under another grant: each use sets its own."""
        with _translated():
            database = Database(self._connection)
            database.act(read, write, organisation)
            yield database

    def close(self) -> None:
        """Do nothing: the transaction belongs to another pool."""


def _reason(dsn: str) -> str:
    """Why no connection can be made; not in the driver's words, which may quote the address with its password."""
    try:
        psycopg.connect(dsn, connect_timeout=2).close()
    except psycopg.Error as error:
        return next((reason for part, reason in _REASONS.items() if part in str(error)), "see its log")
    return "it answers too slowly"


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation):
        raise StaleWrite("the memory, its key or its id was changed meanwhile") from None
    except psycopg.errors.InsufficientPrivilege:
        raise KeyRefused("this key may not change that project") from None
    except (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable, PoolTimeout):
        raise StoreBusy("the database took too long to answer; try again") from None
    except (psycopg.errors.UndefinedColumn, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction):
        raise StoreError("the tables are of an older version, which this program cannot read") from None
    except psycopg.errors.ReadOnlySqlTransaction:
        raise StoreReadOnly("the database takes no writes at the moment; nothing was stored, try again") from None
    except psycopg.errors.DiskFull:
        raise StoreBusy("the disk of the database is full; nothing was stored, try again") from None
    except psycopg.OperationalError:
        raise StoreBusy("the connection to the database was lost; try again") from None


def _list(numbers: Sequence[int] | None) -> str:
    return ",".join(map(str, numbers or ()))
