"""The traces of a team in PostgreSQL (see `keepmum.stores.team_traces`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from keepmum.stores.postgres.access import Database, Pool
from keepmum.stores.team_traces import TRACES, Trace, Value

__all__ = ["PostgresTraces"]

_AT_ONCE = 1_000  # rows in memory
_ADOPTING = "SELECT set_config('keepmum.adopting', 'on', true)"  # see the function `audit_activity`
_SEPARATOR = "E'\\x1f'"
# The project that a row belongs to, for tables with tenants.
_PROJECTS: Mapping[Trace, str] = {"activity": "row.project", "postponed": "NULL", "wrong": "row.project"}
# A mark belongs to the project of its memory, or when that was purged to the one that its space names: "project", the
# project, the user.
_MARKS = f"""(SELECT memory, space, digest, at, by, reason, model, vector, coalesce(
    (SELECT m.project FROM memories m WHERE m.tenant = wrong.tenant AND m.id = memory AND m.space = wrong.space),
    CASE WHEN space LIKE 'project%%' OR space LIKE 'shared%%' THEN split_part(space, {_SEPARATOR}, 2) END) AS project
    FROM wrong) AS wrong"""

_TYPES = {  # of the columns that are not text
    ("activity", "at"): "bigint",
    ("wrong", "at"): "bigint",
    ("wrong", "vector"): "bytea",
    ("postponed", "until"): "bigint",
    ("answers", "digest"): "bytea",
    ("answers", "at"): "bigint",
}


class PostgresTraces:
    """`Traces` of one organisation."""

    def __init__(self, pool: Pool, organisation: int) -> None:
        self._pool = pool
        self._organisation = organisation

    def rows(self, trace: Trace) -> Iterator[tuple[Value, ...]]:
        order, copied = TRACES[trace]
        ordered = ", ".join(order)
        last: tuple[Value, ...] = ()
        table = _MARKS if trace == "wrong" else trace
        while True:
            after = f"WHERE ({ordered}) > ({_marks(order)})" if last else ""
            with self._acting() as db:
                found = db.query(
                    f"SELECT {ordered}, {', '.join(copied)} FROM {table} {after} ORDER BY {ordered} LIMIT {_AT_ONCE}",
                    *last,
                )
            yield from (row[len(order) :] for row in found)
            if not found:
                return
            last = found[-1][: len(order)]

    def count(self, trace: Trace) -> int:
        with self._acting() as db:
            return int(db.query(f"SELECT count(*) FROM {trace}")[0][0])

    def adopt(self, trace: Trace, rows: Sequence[Sequence[Value]]) -> None:
        names = TRACES[trace].copied
        given = ", ".join(names)
        copied = ", ".join(name for name in names if (trace, name) != ("wrong", "project"))
        owner, value = "organisation", "%s::int"
        if trace in _PROJECTS:
            owner, value = "tenant", f"tenant_of(%s::int, coalesce({_PROJECTS[trace]}, ''))"
        values = ", ".join(f"%s::{_TYPES.get((trace, name), 'text')}" for name in names)
        with self._acting() as db:
            db.query(_ADOPTING)
            db.run_each(
                f"INSERT INTO {trace}({owner}, {copied}) SELECT {value}, {copied}"
                f" FROM (VALUES ({values})) AS row({given}) ON CONFLICT DO NOTHING",
                [(self._organisation, *row) for row in rows],
            )

    def _acting(self) -> AbstractContextManager[Database]:
        """A transaction over the organisation."""
        return self._pool.acting(None, None, self._organisation)


def _marks(names: Sequence[str]) -> str:
    return ", ".join(["%s"] * len(names))
