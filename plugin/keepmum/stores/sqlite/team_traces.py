"""The traces of a team in the SQLite file of its memories (see `keepmum.stores.team_traces`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from keepmum.stores.sqlite.database import Database
from keepmum.stores.sqlite.team_schema import PREFIX
from keepmum.stores.team_traces import TRACES, Trace, Value

__all__ = ["SqliteTraces"]

_AT_ONCE = 1_000  # rows in memory
_AUDITED = "team_audited"  # the trigger that makes audit rows of the activity log
# The id by which the project of a memory knows it (see `team_ids`), and the one under which it is stored.
_OWN = "coalesce((SELECT i.id FROM team_ids i WHERE i.stored = memory), memory)"
_STORED = (
    "coalesce((SELECT i.stored FROM team_ids i WHERE i.id = memory AND i.project = coalesce(row.project, '')), memory)"
)
# A mark belongs to the project of its memory, or when that was purged to the one that its space names: "project", the
# project, the user.
_OF_MARK = """coalesce(
    (SELECT m.project FROM memories m WHERE m.id = wrong.memory AND m.space = wrong.space),
    CASE WHEN space GLOB 'project*' OR space GLOB 'shared*'
        THEN substr(space, instr(space, char(31)) + 1,
            length(rtrim(space, replace(space, char(31), ''))) - instr(space, char(31)) - 1) END)"""
_TABLES: Mapping[Trace, str] = {
    "activity": f"(SELECT seq, at, agent, action, {_OWN} AS memory, key, project, detail FROM activity)",
    "wrong": f"""(SELECT {_OWN} AS memory, space, digest, at, by, reason, model, vector, {_OF_MARK} AS project
        FROM wrong)""",
    "postponed": "postponed",
    "answers": f"{PREFIX}answers",
}


class SqliteTraces:
    """`Traces` of a server with one SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(self, trace: Trace) -> Iterator[tuple[Value, ...]]:
        order, copied = TRACES[trace]
        ordered = ", ".join(order)
        query = f"SELECT {ordered}, {', '.join(copied)} FROM {_TABLES[trace]}"
        tail = f"ORDER BY {ordered} LIMIT {_AT_ONCE}"
        found = self._database.query(f"{query} {tail}", ())
        while found:
            yield from (tuple(row)[len(order) :] for row in found)
            last = tuple(found[-1])[: len(order)]
            found = self._database.query(f"{query} WHERE ({ordered}) > ({_marks(order)}) {tail}", last)

    def count(self, trace: Trace) -> int:
        return int(self._database.query(f"SELECT count(*) FROM {_TABLES[trace]}", ())[0][0])

    def adopt(self, trace: Trace, rows: Sequence[Sequence[Value]]) -> None:
        copied = TRACES[trace].copied
        kept = [name for name in copied if (trace, name) != ("wrong", "project")]
        table = f"{PREFIX}answers" if trace == "answers" else trace
        given = ", ".join(f"? AS {name}" for name in copied)
        values = ", ".join(_STORED if name == "memory" else name for name in kept)
        with self._database.writing() as db:
            (trigger,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (_AUDITED,)).fetchone()
            db.execute(f"DROP TRIGGER {_AUDITED}")
            db.executemany(
                f"INSERT OR IGNORE INTO {table}({', '.join(kept)}) SELECT {values} FROM (SELECT {given}) AS row", rows
            )
            db.execute(trigger)


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))
