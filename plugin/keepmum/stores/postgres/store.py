"""The PostgreSQL store: many projects of many organisations in one database, each isolated by row-level security."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from keepmum.core import similarity
from keepmum.core.errors import InvalidInput, KeyRefused
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
from keepmum.stores.grants import Grant
from keepmum.stores.guarded import NO_FOLDERS
from keepmum.stores.postgres import rows
from keepmum.stores.postgres.access import Database, Pool
from keepmum.stores.postgres.edits import OF_PURGED, Editor, redact_past
from keepmum.stores.postgres.review_state import PostgresReviewState
from keepmum.stores.postgres.team_records import save_claim
from keepmum.stores.postgres.tokenizer import Tokenizer
from keepmum.stores.postgres.vectors import PostgresVectors
from keepmum.stores.postgres.words import LexicalSearch
from keepmum.stores.quota import Quota, Usage
from keepmum.stores.sqlite.rows import digest, encoded

__all__ = ["PostgresStore"]

_ACTIVITY_DAYS = 90
_SHARING = 8  # memories that share words with another one, the latest first
_CHANGES = 100_000  # numbers of changes that are kept
# Without the numbers after that of a transaction that still runs, so that none is skipped for ever.
_LAST_CHANGE = "SELECT coalesce(max(seq), 0) FROM changes WHERE transaction < pg_snapshot_xmin(pg_current_snapshot())"
_ORDERS: dict[Order, str] = {
    "updated": "m.updated_at DESC, m.id DESC",
    "created": "m.created_at DESC, m.id DESC",
    "accessed": "m.accessed_at DESC NULLS LAST, m.id DESC",
    "importance": "m.importance DESC, m.updated_at DESC, m.id DESC",
}
_LONGEST_CURSOR = 19  # digits, of a 64-bit integer
_OUTLINE = ", ".join(f"m.{name}" for name in Outline._fields)
_EVENT = ("at", "agent", "action", "memory", "key", "project", "detail")


class PostgresStore:
    """A `Store` in PostgreSQL for one grant (see `keepmum.stores.base` for what each method returns).

    Memories of one session are found in their project only. Any number of these stores share one pool.
    """

    notice = ""

    def __init__(
        self,
        pool: Pool,
        grant: Grant,
        tokenizer: Tokenizer | None = None,
        tenants: dict[str, int] | None = None,
        quota: Quota | None = None,
    ) -> None:
        """See `Grant`. Stores of one server share `tokenizer`, `tenants`, the numbers of its projects, and `quota`."""
        self._quota = quota
        self._pool = pool
        self._grant = grant
        self._tokenizer = tokenizer or Tokenizer()
        self._closes = tokenizer is None
        self._lexical = LexicalSearch(self._tokenizer)
        self._tenants = {} if tenants is None else tenants  # by project; they are never removed or renumbered
        self._open = threading.local()  # `db`: the transaction of each thread
        self.capabilities = Capabilities(cannot=NO_FOLDERS)
        self._vectors = PostgresVectors(self._acting, self._lexical, self._condition)
        self.features = Features(
            vector_search=self._vectors,
            versions=self,
            aging=self,
            maintenance=self,
            erasure=self,
            citations=self,
            review_state=PostgresReviewState(self._acting, self._ensured),
            transactions=self,
            alone=self._alone,
        )

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        self._write(changes, activity)
        return STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes and redact history and activity. Old row versions stay until the next VACUUM."""
        purged = self._write(changes, activity)
        with self._acting() as db:
            db.run_each(f"DELETE FROM wrong t WHERE {OF_PURGED}", purged)
            redact_past(db, redact)
        return []

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        with self._acting() as db:
            for memory in ids:
                db.run(
                    "UPDATE memories SET access_count = access_count + 1, accessed_at = %s WHERE id = %s", now, memory
                )

    def log(self, activity: Sequence[Activity]) -> None:
        if activity := self._loggable(activity):
            tenants = self._ensured(event.project for event in activity)
            with self._acting() as db:
                Editor(db, self._lexical, tenants).append(activity)

    def cite(self, resolved: Sequence[tuple[Memory, tuple[Citation, ...]]]) -> int:
        with self._acting() as db:
            return sum(
                db.run(
                    "UPDATE memories SET citations = %s WHERE id = %s AND revision = %s",
                    encoded(tuple(map(dataclasses.asdict, citations))), memory.id, memory.revision,
                )
                for memory, citations in resolved
            )  # fmt: skip

    def upkeep(self, now: int) -> None:
        """Prune the activity log and the numbers of former changes."""
        with self._acting() as db:
            db.run("DELETE FROM activity WHERE at < %s", now - _ACTIVITY_DAYS * DAY_MS)
            db.run("DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes) - %s", _CHANGES)

    # -- reading

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All reads of this thread inside the block are in one transaction.

        Their plans are made once for each connection. PostgreSQL would make one for each search, since it expects to
        gain more by leaving out partitions early than planning costs: among 200 memories a search then took 21 ms of
        its time instead of 6; among 4,000 the two take about as long.
        """
        with self._acting() as db:
            db.run("SET LOCAL plan_cache_mode = force_generic_plan")
            yield

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids; under a grant for several projects with one id, all of those."""
        found: dict[str, list[Memory]] = {}
        for memory in self._memories("WHERE m.id = ANY (%s) ORDER BY m.tenant", list(ids)):
            found.setdefault(memory.id, []).append(memory)
        return [memory for wanted in ids for memory in found.get(wanted, ())]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        return self._memories("WHERE m.id BETWEEN %s AND %s ORDER BY m.id, m.tenant LIMIT %s", first, last, limit)

    def by_key(self, space: str, key: str) -> Memory | None:
        found = self._memories("WHERE m.space = %s AND m.key = %s AND m.status = 'active'", space, key)
        return found[0] if found else None

    def last_by_key(self, space: str, key: str) -> Memory | None:
        found = self._memories(
            "WHERE m.space = %s AND m.key = %s ORDER BY m.status = 'active' DESC, m.updated_at DESC, m.id DESC LIMIT 1",
            space, key,
        )  # fmt: skip
        return found[0] if found else None

    def same_text(self, space: str, text: str) -> Memory | None:
        found = self._memories(
            "WHERE m.space = %s AND m.digest = %s AND m.status = 'active' LIMIT 1", space, digest(text)
        )
        return found[0] if found else None

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first by BM25."""
        with self._acting() as db:
            condition = self._condition(wanted)
            found = self._lexical.best(db, rows.FIELDS, words, condition, limit)
        return [(rows.from_row(row), row[-1]) for row in found]

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """The memories that are similar to one of `memories`: by vectors where it has one, else by shared words."""
        with self._acting() as db:
            condition = self._condition(wanted)
            found, compared = (
                ([], frozenset[str]())
                if cosine is None
                else self._vectors.near_by_vectors(db, [memory.id for memory in memories], condition, cosine, among)
            )
            left = [(memory.id, similarity.lookup_terms(memory)) for memory in memories if memory.id not in compared]
            shared = self._lexical.sharing(db, rows.FIELDS, left, condition, _SHARING)
        return [
            *(Near(row[-1], rows.from_row(row), row[-2]) for row in found),
            *(Near(row[-2], rows.from_row(row), None) for row in shared),
        ]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        tail = f"ORDER BY {_ORDERS[order]} LIMIT %(limit)s OFFSET %(offset)s"
        found = self._filtered(f"{rows.FIELDS}", wanted, tail, limit=limit, offset=offset)
        return list(map(rows.from_row, found))

    def count(self, wanted: Filter) -> int:
        return int(self._filtered("count(*)", wanted)[0][0])

    def uncited(self, project: str, limit: int) -> list[Memory]:
        return self._memories(
            "WHERE m.citations IS NULL AND m.status = 'active' AND m.project = %s ORDER BY m.seq DESC LIMIT %s",
            project, limit,
        )  # fmt: skip

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        return self._memories(
            "WHERE (m.status = 'trashed' AND coalesce(m.trashed_at, m.updated_at) <= %s)"
            " OR (m.status = 'active' AND (m.expires_at <= %s OR (m.tier != 'long' AND NOT m.pinned)))"
            " ORDER BY m.status = 'trashed' OR coalesce(m.expires_at <= %s, FALSE) DESC,"
            " greatest(coalesce(m.accessed_at, 0), m.updated_at) LIMIT %s",
            trashed_by, now, now, limit,
        )  # fmt: skip

    def history(self, memory: str) -> list[Revision]:
        with self._acting() as db:
            found = db.query(
                "SELECT memory, revision, at, agent, action, before FROM history WHERE memory = %s ORDER BY seq DESC",
                memory,
            )
        return [
            Revision(memory, revision, at, agent, action, json.loads(before))
            for memory, revision, at, agent, action, before in found
        ]

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        if after and not (after.isdecimal() and len(after) < _LONGEST_CURSOR):
            raise InvalidInput("cursor", "is not one that a page of the activity log ended with")
        terms: dict[str, object] = {
            "project = %s": project,
            "agent = %s": wanted.agent,
            "memory = %s": wanted.memory,
            "at >= %s": wanted.since,
            "seq < %s": int(after) if after else None,
            "action = ANY (%s)": list(wanted.actions) or None,
            "coalesce(project, '') = ANY (%s)": None if wanted.projects is None else list(wanted.projects),
        }
        given = {term: value for term, value in terms.items() if value is not None}
        with self._acting() as db:
            found = db.query(
                f"SELECT {', '.join(_EVENT)}, seq FROM activity WHERE {' AND '.join(given) or 'TRUE'}"
                " ORDER BY seq DESC LIMIT %s",
                *given.values(), limit,
            )  # fmt: skip
        return [Activity(**dict(zip(_EVENT, row[:-1], strict=True)), cursor=str(row[-1])) for row in found]

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        with self._acting() as db:
            found = db.query(
                f"SELECT at / {DAY_MS} AS day, agent, action, coalesce(project, ''), count(*) FROM activity"
                " WHERE at >= %s AND (%s::text IS NULL OR project = %s) GROUP BY day, agent, action, project"
                ' ORDER BY day, agent COLLATE "C", action COLLATE "C", project COLLATE "C" NULLS FIRST',
                since, project, project,
            )  # fmt: skip
        return list(map(DayCount._make, found))

    def facets(self, wanted: Filter) -> Facets:
        found = self._filtered("m.kind, m.agent, m.tag_list, m.status, m.trust", wanted)
        counts: list[Counter[str]] = [Counter() for _ in Facets._fields]
        for row in found:
            for counter, value in zip(counts, row, strict=True):
                counter.update(value if isinstance(value, list) else [value])
        return Facets(*counts)

    def outlines(self, wanted: Filter) -> list[Outline]:
        return list(map(Outline._make, self._filtered(_OUTLINE, wanted)))

    def changes(self) -> int:
        """The number of the last change before those of transactions that still run."""
        with self._acting() as db:
            ((number,),) = db.query(_LAST_CHANGE)
        return int(number)

    def health(self) -> dict[str, JsonValue]:
        """Facts about the memories that the grant lets read."""
        with self._acting() as db:
            statuses = dict(db.query("SELECT status, count(*) FROM memories GROUP BY status"))
            ((indexed,),) = db.query("SELECT count(*) FROM memories WHERE words > 0")
            ((version,),) = db.query("SELECT current_setting('server_version')")
            ((schema,),) = db.query("SELECT max(number) FROM migrations")
        return {
            "writable": True,
            "reason": "",
            "notice": "",
            "integrity": "ok",
            "memories": sum(statuses.values()),
            "indexed": indexed,
            "statuses": statuses,
            "schema": schema,
            "postgresql": version,
        }

    def usage(self, seconds: int = 5) -> dict[str, Usage]:
        """What is stored, by project that may be read.

        Raises: StoreBusy when it takes longer.
        """
        with self._acting() as db:
            db.run(f"SET LOCAL statement_timeout = '{seconds}s'")
            found = db.query(
                "SELECT coalesce(project, ''), count(*), sum(octet_length(title) + octet_length(text)"
                " + coalesce(octet_length(why), 0) + coalesce(octet_length(data), 0))::bigint,"
                " count(*) FILTER (WHERE status = 'active'), max(updated_at) FROM memories GROUP BY 1"
            )
        return {project: Usage(*numbers) for project, *numbers in found}

    def close(self) -> None:
        if self._closes:
            self._tokenizer.close()

    def _alone(self, project: str | None) -> PostgresStore:
        """The same store with one project only."""
        grant = self._grant.among({project or ""})
        return PostgresStore(self._pool, grant, self._tokenizer, self._tenants, self._quota)

    # -- transactions and tenants

    def _write(self, changes: Sequence[Change], activity: Sequence[Activity]) -> list[tuple[int, str]]:
        """Apply changes in one transaction; returns tenant and id of what was purged."""
        activity = self._loggable(activity)
        states = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        tenants = self._ensured([*(memory.project for memory in states), *(event.project for event in activity)])
        with contextlib.nullcontext() if self._quota is None else self._quota.writing(changes), self._acting() as db:
            purged = Editor(db, self._lexical, tenants).write(changes, activity)
            save_claim(db, self._grant.organisation, changes)
        return purged

    @contextmanager
    def _acting(self) -> Iterator[Database]:
        """A transaction under the grant; within another one of this thread, that one."""
        if (db := getattr(self._open, "db", None)) is not None:
            yield db
            return
        _, read, write = self._grant
        numbers = self._numbers()
        with self._pool.acting(*numbers) as db:
            self._look_up(db, {*(read or ()), *(write or ())})
            if (known := self._numbers()) != numbers:
                db.act(*known)
            self._open.db = db
            try:
                yield db
            finally:
                self._open.db = None

    def _numbers(self) -> tuple[list[int] | None, list[int] | None, int]:
        """The grant by the numbers of projects that are known here."""
        organisation, read, write = self._grant
        return (
            None if read is None else self._known(read),
            None if write is None else self._known(write),
            organisation,
        )

    def _known(self, projects: Iterable[str]) -> list[int]:
        """The numbers of those of these projects that are known here."""
        return sorted(self._tenants[name] for name in projects if name in self._tenants)

    def _loggable(self, activity: Sequence[Activity]) -> list[Activity]:
        """The entries about projects that the grant lets be written: a refused search must not stop a write."""
        allowed = self._grant.write
        return [event for event in activity if allowed is None or (event.project or "") in allowed]

    def _look_up(self, db: Database, projects: Iterable[str]) -> None:
        """Read the numbers of projects that are not known here."""
        if unknown := sorted(name for name in projects if name not in self._tenants):
            found = db.query("SELECT name, id FROM known_tenants(%s, %s)", self._grant.organisation, unknown)
            self._tenants.update(found)

    def _ensured(self, projects: Iterable[str | None]) -> dict[str, int]:
        """The numbers of projects, which are created when the grant lets them be written.

        Raises: KeyRefused.
        """
        names = {project or "" for project in projects}
        if self._grant.write is not None and not names <= self._grant.write:
            raise KeyRefused("this key may not change that project")
        for name in names - {*self._tenants}:
            with self._pool.acting((), (), self._grant.organisation) as db:
                ((self._tenants[name],),) = db.query("SELECT tenant_of(%s, %s)", self._grant.organisation, name)
        return {name: self._tenants[name] for name in names}

    def _condition(self, wanted: Filter) -> rows.Condition:
        """A filter as SQL, within a transaction. It names the tenants to search, unless they are all of them.

        These are all that may be read, or the filter's project and the global space.
        """
        names = self._grant.read if wanted.everywhere else {"", wanted.project or ""}
        if names is None:
            return rows.condition(wanted, None)
        if not wanted.everywhere:  # the numbers in the grant were looked up when the transaction began
            with self._acting() as db:
                self._look_up(db, names)
        return rows.condition(wanted, self._known(names))

    def _filtered(self, fields: str, wanted: Filter, tail: str = "", **more: int) -> list[tuple[Any, ...]]:
        with self._acting() as db:
            scope, passes, named = self._condition(wanted)
            return db.query_named(
                f"SELECT {fields} FROM memories m WHERE {scope} AND {passes} {tail}", {**named, **more}
            )

    def _memories(self, tail: str, *parameters: object) -> list[Memory]:
        with self._acting() as db:
            return list(map(rows.from_row, db.query(f"SELECT {rows.FIELDS} FROM memories m {tail}", *parameters)))
