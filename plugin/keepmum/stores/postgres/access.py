"""Connections to PostgreSQL: each transaction acts under a grant, which row-level security enforces.

`Pool.acting` is the only way to a connection. The grant is set for one explicit transaction on a connection in
autocommit mode, so that nothing of it outlives the transaction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from keepmum.core.errors import KeyRefused, StoreBusy, StoreError
from keepmum.stores.base import StaleWrite
from keepmum.stores.postgres import schema

__all__ = ["Database", "Pool"]

_SETTINGS = "-c statement_timeout=5000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000"
_WAIT = 5.0  # seconds for a connection
_GRANT = (
    "SELECT set_config('keepmum.organisation', %s, true),"
    " set_config('keepmum.read', %s, true), set_config('keepmum.write', %s, true),"
    " set_config('keepmum.read_organisations', %s, true), set_config('keepmum.write_organisations', %s, true)"
)


class Database:
    """Statements within one transaction."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

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

    def __init__(self, dsn: str, size: int = 8) -> None:
        """Open the pool.

        Raises: StoreError when the database cannot be reached, or the role or the tables are not the right ones.
        """
        self._pool: ConnectionPool[psycopg.Connection[tuple[Any, ...]]] = ConnectionPool(
            dsn,
            min_size=1,
            max_size=size,
            timeout=_WAIT,
            kwargs={"autocommit": True, "options": _SETTINGS, "application_name": "keepmum"},
            open=False,
        )
        try:
            self._pool.open(wait=True, timeout=_WAIT)
            with self._pool.connection() as connection:
                schema.check(connection)
        except PoolTimeout:
            self.close()
            raise StoreError("PostgreSQL cannot be reached with the given address; see its log") from None
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def acting(self, read: Sequence[int] | None, write: Sequence[int] | None, organisation: int) -> Iterator[Database]:
        """A transaction that sees the tenants in `read` and changes those in `write`; None is the organisation.

        Raises: StaleWrite when another transaction got in its way, StoreBusy, StoreError.
        """
        with _translated(), self._pool.connection() as connection, connection.transaction():
            yield _granted(connection, read, write, organisation)

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
            yield _granted(self._connection, read, write, organisation)

    def close(self) -> None:
        """Do nothing: the transaction belongs to another pool."""


def _granted(
    connection: psycopg.Connection[tuple[Any, ...]],
    read: Sequence[int] | None,
    write: Sequence[int] | None,
    organisation: int,
) -> Database:
    """A transaction under a grant."""
    whole = str(organisation)
    connection.execute(
        _GRANT, (whole, _list(read), _list(write), whole if read is None else "", whole if write is None else "")
    )
    return Database(connection)


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
    except psycopg.OperationalError:
        raise StoreBusy("the connection to the database was lost; try again") from None


def _list(numbers: Sequence[int] | None) -> str:
    return ",".join(map(str, numbers or ()))
