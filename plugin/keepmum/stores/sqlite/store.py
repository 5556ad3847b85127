"""The SQLite store: one file with rows, search index, history and activity."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from keepmum.core import similarity
from keepmum.core.errors import InvalidInput, StoreBusy
from keepmum.core.memory import (
    Activity,
    Change,
    Citation,
    DayCount,
    Facets,
    Filter,
    JsonValue,
    LogFilter,
    Memory,
    Order,
    Outline,
    Revision,
)
from keepmum.core.retention import DAY_MS
from keepmum.stores.base import EVERY_ENTRY, STORED, Capabilities, Features, Near, Receipt, Redact
from keepmum.stores.sqlite import edits, files, rows, schema
from keepmum.stores.sqlite.database import Database
from keepmum.stores.sqlite.errors import is_damage
from keepmum.stores.sqlite.lexical import LexicalSearch, filtered
from keepmum.stores.sqlite.review_state import SqliteReviewState
from keepmum.stores.sqlite.vector_search import SqliteVectorSearch

__all__ = ["SqliteStore"]

_ACTIVITY_DAYS = 90
_ORDERS: dict[Order, str] = {
    "updated": "m.updated_at DESC, m.id DESC",
    "created": "m.created_at DESC, m.id DESC",
    "accessed": "m.accessed_at DESC, m.id DESC",
    "importance": "m.importance DESC, m.updated_at DESC, m.id DESC",
}
_SHARING = 8  # memories that share words with another one, the latest first
_COUNTS = {
    "memories": "SELECT 'all', count(*) FROM memories",
    "indexed": "SELECT 'all', count(*) FROM words_docsize",
    "statuses": "SELECT status, count(*) FROM memories GROUP BY status",
}
_LOGGED = ("at", "agent", "action", "memory", "key", "project", "detail")
_LONGEST_CURSOR = 19  # digits, of a 64-bit integer
_OUTLINE = ", ".join(f"m.{name}" for name in Outline._fields)
_FACETS = """WITH found AS MATERIALIZED (SELECT m.seq, m.kind, m.agent, m.status, m.trust FROM memories m WHERE {})
    SELECT 'kinds', kind, count(*) FROM found GROUP BY kind
    UNION ALL SELECT 'agents', agent, count(*) FROM found GROUP BY agent
    UNION ALL SELECT 'tags', t.tag, count(*) FROM found JOIN tags t ON t.memory = found.seq GROUP BY t.tag
    UNION ALL SELECT 'statuses', status, count(*) FROM found GROUP BY status
    UNION ALL SELECT 'trusts', trust, count(*) FROM found GROUP BY trust"""
_FIELDS = ", ".join(f"m.{column}" for column in rows.COLUMNS)
_LIMITED = "(SELECT * FROM memories WHERE coalesce(project, '') IN (SELECT value FROM json_each(?)))"


class _Source(NamedTuple):
    """What memories are read from."""

    table: str  # or a query
    parameters: tuple[rows.SqlValue, ...] = ()


class SqliteStore:
    """A `Store` in one SQLite file (see `keepmum.stores.base` for what each method returns)."""

    def __init__(
        self,
        path: str,
        refresh: Callable[[], object] = lambda: None,
        *,
        cache: bool = False,
        backed_up: bool = False,
        along: Callable[[sqlite3.Connection, Sequence[Change]], None] | None = None,
    ) -> None:
        """Open the store: created when it is new, repaired when it is damaged, restored when it was lost.

        `refresh` is called before each vector search; a store that is the index of files updates it there. A `cache`
        is created again when it was lost. With `backed_up`, backups are made after the first writes of a day too.
        `along` writes more in the transaction of each commit, before it.

        Raises: StoreError when it can be neither read nor created.
        """
        self._database = Database(path, cache=cache)
        self._backed_up = backed_up
        self._along = along
        self._query = self._database.query
        self._source = _Source("memories")
        self.path = self._database.path
        folder = os.path.join(os.path.dirname(self.path), "cache")
        self._lexical = LexicalSearch(self._query)
        self._vectors = SqliteVectorSearch(self._query, self._database.writing, self._lexical, folder, refresh)
        version = self._database.schema_version
        self.features = Features(
            vector_search=self._vectors if version >= schema.WITH_VECTORS else None,
            aging=self,
            maintenance=self,
            erasure=self,
            local_state=self,
            citations=self,
            versions=self,
            review_state=(
                SqliteReviewState(self._query, self._database.writing) if version >= schema.WITH_REVIEW else None
            ),
        )

    @property
    def capabilities(self) -> Capabilities:
        """Whether the file can be written."""
        return self._database.capabilities

    @property
    def notice(self) -> str:
        """The last repair of the file, in a sentence; empty for none."""
        return self._database.notice

    @property
    def database(self) -> Database:
        """The file, for tables that a server keeps in it."""
        return self._database

    @property
    def identity(self) -> int:
        """A random number of this store; a repair gives it another."""
        found = self._query("SELECT value FROM counters WHERE name = 'identity'", ())
        return int(found[0][0]) if found else 0

    def within(self, projects: Iterable[str] | None) -> SqliteStore:
        """This store, whose reads by id, key or text find memories of these projects only; None for all."""
        if projects is None:
            return self
        view = copy.copy(self)
        view._source = _Source(_LIMITED, (json.dumps(sorted(projects)),))  # noqa: SLF001 - of the same class
        return view

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        with self._database.writing() as db:
            if self._along is not None:
                self._along(db, changes)
            purged = edits.write(db, changes, activity)
        if purged:
            self._database.checkpoint()  # overwrites the purged text in the file now, not with the next checkpoint
        if self._backed_up:
            self._database.back_up_writes(closing=False)
        return STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes, redact history and activity, leave no old byte in file, WAL, indexes or backups."""
        with self._database.writing() as db:
            purged = edits.write(db, changes, activity)
            db.executemany("DELETE FROM wrong WHERE memory = ?", [(memory,) for memory in purged])
            edits.redact_past(db, redact)
        with self._database.using("rewrite", alone=True) as db:
            schema.rebuild_index(db)
            db.execute("VACUUM")
            if not self._database.fold():
                raise StoreBusy("another process is reading, so the old words are still in the file; run it again")
            removed = files.remove_copies(self.path)
            self._vectors.discard()
            self._database.back_up()
        return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        with self._database.writing() as db:
            db.executemany(
                "UPDATE memories SET access_count = access_count + 1, accessed_at = ? WHERE id = ?",
                [(now, memory) for memory in ids],
            )

    def log(self, activity: Sequence[Activity]) -> None:
        if activity:
            with self._database.writing() as db:
                edits.append(db, activity)

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`, at most once a day."""
        known = self._query(
            "SELECT 1 FROM roots WHERE root = ? AND project = ? AND name = ? AND seen_at > ?",
            (root, project, name, now - DAY_MS),
        )
        if not known:
            with self._database.writing() as db:
                db.execute("INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?)", (root, project, name, now))

    def cite(self, resolved: Sequence[tuple[Memory, tuple[Citation, ...]]]) -> int:
        with self._database.writing() as db:
            return sum(
                db.execute(
                    "UPDATE memories SET citations = ? WHERE id = ? AND revision = ?",
                    (rows.encoded(tuple(map(dataclasses.asdict, citations))), memory.id, memory.revision),
                ).rowcount
                for memory, citations in resolved
            )

    def tick(self, now: int) -> int:
        with self._database.writing() as db:
            previous = int(db.execute("SELECT value FROM counters WHERE name = 'clock'").fetchone()[0])
            db.execute("UPDATE counters SET value = ? WHERE name = 'clock'", (now,))
        return previous

    def upkeep(self, now: int) -> None:
        """Back up once a day, prune the activity log, fold the WAL into the file."""
        if self.capabilities.writable:
            with self._database.maintaining(), self._database.writing() as db:
                db.execute("DELETE FROM activity WHERE at < ?", (now - _ACTIVITY_DAYS * DAY_MS,))

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        found = self._memories("WHERE m.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))
        by_id = {memory.id: memory for memory in found}
        return [by_id[memory] for memory in ids if memory in by_id]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        return self._memories("WHERE m.id BETWEEN ? AND ? ORDER BY m.id LIMIT ?", (first, last, limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        found = self._memories("WHERE m.space = ? AND m.key = ? AND m.status = 'active'", (space, key))
        return found[0] if found else None

    def last_by_key(self, space: str, key: str) -> Memory | None:
        found = self._memories(
            "WHERE m.space = ? AND m.key = ? ORDER BY m.status = 'active' DESC, m.updated_at DESC, m.id DESC LIMIT 1",
            (space, key),
        )
        return found[0] if found else None

    def same_text(self, space: str, text: str) -> Memory | None:
        found = self._memories(
            "WHERE m.space = ? AND m.digest = ? AND m.status = 'active' LIMIT 1", (space, rows.digest(text))
        )
        return found[0] if found else None

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first by BM25."""
        return [(rows.from_row(row), fit) for row, fit in self._lexical.best(_FIELDS, words, wanted, limit)]

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """The memories that are similar to one of `memories`: by vectors if each has one, else by shared words."""
        numbers = self._numbers([memory.id for memory in memories])
        ids = {number: memory for memory, number in numbers.items()}
        pairs: list[tuple[str, int, float | None]] = []
        by_vectors = None
        if cosine is not None and ids:
            by_vectors = self._vectors.near_pairs(list(ids), cosine, lambda: list(self._numbers(among).values()))
        if by_vectors is not None:
            pairs = [(ids[one], other, found) for one, other, found in by_vectors]
        left = [memory for memory in memories if by_vectors is None or memory.id not in numbers]
        shared = self._lexical.sharing([similarity.lookup_terms(memory) for memory in left], _SHARING)
        pairs += [
            (memory.id, other, None)
            for memory, others in zip(left, shared, strict=True)
            for other in others
            if other != numbers.get(memory.id)
        ]
        passed = filtered(self._query, _FIELDS, [(other, 0.0) for other in {pair[1] for pair in pairs}], wanted)
        known = {row[0]: rows.from_row(row) for row, _ in passed}
        return [Near(one, known[other], found) for one, other, found in pairs if other in known]

    def _numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The row numbers of the memories with these ids."""
        found = self._query("SELECT m.id, m.seq FROM json_each(?) CROSS JOIN memories m ON m.id = value",
                            (json.dumps(list(ids)),))  # fmt: skip
        return {row[0]: row[1] for row in found}

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        condition, parameters = rows.where(wanted)
        tail = f"WHERE {condition} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?"
        return self._memories(tail, (*parameters, limit, offset))

    def count(self, wanted: Filter) -> int:
        condition, parameters = rows.where(wanted)
        return int(self._query(f"SELECT count(*) FROM memories m WHERE {condition}", tuple(parameters))[0][0])

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        return self._memories(
            "WHERE (m.status = 'trashed' AND coalesce(m.trashed_at, m.updated_at) <= ?)"
            " OR (m.status = 'active' AND (m.expires_at <= ? OR (m.tier != 'long' AND NOT m.pinned)))"
            " ORDER BY m.status = 'trashed' OR coalesce(m.expires_at <= ?, FALSE) DESC,"
            " max(coalesce(m.accessed_at, 0), m.updated_at) LIMIT ?",
            (trashed_by, now, now, limit),
        )

    def history(self, memory: str) -> list[Revision]:
        found = self._query("SELECT * FROM history WHERE memory = ? ORDER BY seq DESC", (memory,))
        return [
            Revision(row["memory"], row["revision"], row["at"], row["agent"], row["action"], json.loads(row["before"]))
            for row in found
        ]

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        if after and not (after.isdecimal() and len(after) < _LONGEST_CURSOR):
            raise InvalidInput("cursor", "is not one that a page of the activity log ended with")
        terms: dict[str, rows.SqlValue] = {
            "project IS ?": project,
            "agent = ?": wanted.agent,
            "memory = ?": wanted.memory,
            "at >= ?": wanted.since,
            "seq < ?": int(after) if after else None,
        }
        given = {term: value for term, value in terms.items() if value is not None}
        actions = [f"action IN ({', '.join('?' * len(wanted.actions))})"] if wanted.actions else []
        projects = wanted.projects
        among = [] if projects is None else [f"coalesce(project, '') IN ({', '.join('?' * len(projects))})"]
        condition = " AND ".join([*given, *actions, *among]) or "TRUE"
        found = self._query(
            f"SELECT *, seq AS cursor FROM activity WHERE {condition} ORDER BY seq DESC LIMIT ?",
            (*given.values(), *wanted.actions, *(projects or ()), limit),
        )
        return [Activity(**{name: row[name] for name in _LOGGED}, cursor=str(row["cursor"])) for row in found]

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        found = self._query(
            f"SELECT at / {DAY_MS} AS day, agent, action, coalesce(project, ''), count(*) FROM activity"
            " WHERE at >= ? AND (? IS NULL OR project IS ?) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
            (since, project, project),
        )
        return [DayCount(*row) for row in found]

    def facets(self, wanted: Filter) -> Facets:
        condition, parameters = rows.where(wanted)
        counts: dict[str, dict[str, int]] = {name: {} for name in Facets._fields}
        for facet, value, count in self._query(_FACETS.format(condition), tuple(parameters)):
            counts[facet][value] = count
        return Facets(**counts)

    def outlines(self, wanted: Filter) -> list[Outline]:
        condition, parameters = rows.where(wanted)
        found = self._query(f"SELECT {_OUTLINE} FROM memories m WHERE {condition}", tuple(parameters))
        return list(map(Outline._make, found))

    def changes(self) -> int:
        found = self._query("SELECT value FROM counters WHERE name = 'change'", ())
        return int(found[0][0]) if found else 0

    def uncited(self, project: str, limit: int) -> list[Memory]:
        return self._memories(
            "WHERE m.citations IS NULL AND m.status = 'active' AND m.project = ? ORDER BY m.seq DESC LIMIT ?",
            (project, limit),
        )

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        found = self._query("SELECT root, project, name FROM roots WHERE seen_at >= ? ORDER BY seen_at DESC", (since,))
        return [(row["root"], row["project"], row["name"]) for row in found]

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor. Reads the whole file once; reports damage without repairing it."""
        with self._database.using("health") as db:
            sound = self._database.is_sound()
            counts = {name: _counts(db, sql) for name, sql in _COUNTS.items()}
            version = schema.version_of(db)
        saved = files.backups(self.path)
        return {
            "path": self.path,
            "writable": self.capabilities.writable,
            "reason": self.capabilities.reason,
            "notice": " ".join(files.reports(self.path)) or self.notice,
            "integrity": "ok" if sound else "damaged",
            "memories": counts["memories"].get("all", 0),
            "indexed": counts["indexed"].get("all", 0),
            "statuses": counts["statuses"],
            "schema": version,
            "newest_schema": len(schema.MIGRATIONS),
            "bytes": sum(files.size_of(self.path + suffix) for suffix in ("", "-wal")),
            "sqlite": sqlite3.sqlite_version,
            "backups": len(saved),
            "last_backup": os.path.basename(saved[-1]) if saved else None,
        }

    def close(self) -> None:
        self._vectors.close()
        if self._backed_up:
            self._database.back_up_writes(closing=True)
        self._database.close()

    def _memories(self, tail: str, parameters: Sequence[rows.SqlValue]) -> list[Memory]:
        query = f"SELECT {_FIELDS} FROM {self._source.table} m {tail}"
        return [rows.from_row(row) for row in self._query(query, (*self._source.parameters, *parameters))]


def _counts(db: sqlite3.Connection, sql: str) -> dict[str, int]:
    """Counts by name; empty when the file is damaged."""
    try:
        return {row[0]: row[1] for row in db.execute(sql)}
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return {}
