"""Writes as SQL, in a transaction of the caller: rows, postings, vectors, context, history and activity.

The context of a memory is the text of its neighbours in the same session, as in the SQLite store.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from keepmum.core.memory import Activity, Change, Memory, Revision
from keepmum.stores.base import Redact, StaleWrite
from keepmum.stores.postgres import rows, stored_vectors
from keepmum.stores.postgres.access import Database
from keepmum.stores.postgres.words import LexicalSearch
from keepmum.stores.sqlite import rows as sqlite_rows

__all__ = ["OF_PURGED", "Editor", "redact_past"]

# What is about a purged memory, by tenant and id; also in projects that it was in, unless another there has its id.
OF_PURGED = (
    "(t.tenant = %s OR NOT EXISTS (SELECT 1 FROM memories m WHERE (m.tenant, m.id) = (t.tenant, t.memory)))"
    " AND t.memory = %s"
)
_CONTEXT = 2_000  # characters of each neighbour in the context
_COUNTED = frozenset({"access_count", "accessed_at"})  # loading counts without a new revision
_SESSION_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_ADJACENT = (
    f"(SELECT n.seq, substr(n.text, 1, {_CONTEXT}) AS text FROM memories n WHERE m.status = 'active'"
    " AND n.tenant = m.tenant AND n.session = m.session AND n.space = m.space AND n.status = 'active'"
    " AND n.seq {} m.seq ORDER BY n.seq {} LIMIT 1)"
)
# The context is what the rows before and after it in the session say.
_UPDATE_CONTEXT = f"""
UPDATE memories SET context = found.context FROM (
    SELECT m.seq, coalesce((SELECT string_agg(text, E'\\n' ORDER BY seq) FROM (
        {_ADJACENT.format("<", "DESC")} UNION ALL {_ADJACENT.format(">", "ASC")}) AS adjacent), '') AS context
    FROM memories m WHERE m.tenant = %s AND m.seq = ANY (%s)
) AS found
WHERE memories.tenant = %s AND memories.seq = found.seq AND memories.context != found.context RETURNING memories.seq
"""


class Editor:
    """Applies changes in one transaction."""

    def __init__(self, db: Database, lexical: LexicalSearch, tenants: Mapping[str, int]) -> None:
        """`tenants` are the numbers of all projects concerned, by id; "" is not a project."""
        self._db = db
        self._lexical = lexical
        self._tenants = tenants

    def write(self, changes: Sequence[Change], activity: Sequence[Activity]) -> list[tuple[int, str]]:
        """Write changes with their history and the activity; returns tenant and id of what was purged.

        Raises: StaleWrite when the database no longer holds what a change expects.
        """
        states = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        for session in sorted({memory.session for memory in states if memory.session}):
            self._db.run(_SESSION_LOCK, session)  # in one order, so that two writers cannot wait for each other
        events = {event.memory: event for event in activity}
        for change in changes:
            self._apply(change, events)
        self._db.run_each(
            "INSERT INTO changes(tenant, memory) VALUES (%s, %s)",
            [(self._tenants[one.project or ""], one.id) for one in states],
        )
        self.append(activity)
        gone = [change.before for change in changes if change.before is not None and change.after is None]
        purged = [(self._tenants[memory.project or ""], memory.id) for memory in gone]
        self._db.run_each(f"UPDATE activity t SET key = NULL, detail = '' WHERE {OF_PURGED}", purged)
        return purged

    def append(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log."""
        self._db.run_each(
            "INSERT INTO activity(tenant, at, agent, action, memory, key, project, detail)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (self._tenants[e.project or ""], e.at, e.agent, e.action, e.memory, e.key, e.project, e.detail)
                for e in activity
            ],
        )

    def _apply(self, change: Change, events: Mapping[str | None, Activity]) -> None:
        db, before, after = self._db, change.before, change.after
        if before is None:
            if after is not None:
                tenant = self._tenants[after.project or ""]
                seq = _insert(db, tenant, after)
                _save_past(db, tenant, after, change.past)
                self._refresh(tenant, seq, change, {seq, *_neighbours(db, tenant, seq)})
            return
        tenant = self._tenants[before.project or ""]
        seq = _expected(db, tenant, before)
        nearby = _neighbours(db, tenant, seq)
        if after is None:
            for table in ("postings", "vectors", "memories"):
                db.run(f"DELETE FROM {table} WHERE tenant = %s AND seq = %s", tenant, seq)
            db.run("DELETE FROM history WHERE tenant = %s AND memory = %s", tenant, before.id)
            self._refresh_nearby(tenant, nearby)
            return
        _add_history(db, tenant, _revision(before, after, events.get(after.id)))
        target = self._tenants[after.project or ""]
        if target != tenant:
            _move(db, tenant, target, seq, before.id)
            self._refresh_nearby(tenant, nearby)
            tenant, nearby = target, set()
        _update(db, tenant, seq, after)
        self._refresh(tenant, seq, change, {seq, *nearby, *_neighbours(db, tenant, seq)})

    def _refresh(self, tenant: int, seq: int, change: Change, nearby: Collection[int]) -> None:
        """Update postings and vector of a row that was written, and what the rows `nearby` have of each other."""
        before, after = change.before, change.after
        assert after is not None
        is_stale = before is None or _searched(before) != _searched(after)
        if before is None or _embedded(before) != _embedded(after):
            stored_vectors.await_new(self._db, tenant, seq)
        if change.embedding is not None:
            stored_vectors.save(self._db, tenant, seq, change.embedding)
        self._refresh_nearby(tenant, nearby, [seq] if is_stale else ())

    def _refresh_nearby(self, tenant: int, numbers: Collection[int], stale: Collection[int] = ()) -> None:
        """Update the context and the mixed vectors of these rows, and the postings of those and of `stale` rows."""
        ordered = sorted(numbers)
        changed = self._db.query(_UPDATE_CONTEXT, tenant, ordered, tenant)
        self._lexical.index(self._db, tenant, sorted({*stale, *(seq for (seq,) in changed)}))
        stored_vectors.mix(self._db, tenant, ordered)


def redact_past(db: Database, redact: Redact) -> None:
    """Pass history, activity and the reasons of marks through `redact`."""
    for tenant, seq, memory, by, text in db.query("SELECT tenant, seq, memory, agent, before FROM history"):
        before = json.loads(text)
        after = json.dumps(redact(memory, before), ensure_ascii=False)
        agent = redact(memory, {"agent": by})["agent"]
        if (agent, after) != (by, json.dumps(before, ensure_ascii=False)):
            sets = "agent = %s, before = %s"
            db.run(f"UPDATE history SET {sets} WHERE tenant = %s AND seq = %s", agent, after, tenant, seq)
    for tenant, memory, by, reason in db.query("SELECT tenant, memory, by, reason FROM wrong"):
        redacted = redact(memory, {"by": by, "reason": reason})
        db.run(
            "UPDATE wrong SET by = %s, reason = %s WHERE tenant = %s AND memory = %s",
            redacted["by"], redacted["reason"], tenant, memory,
        )  # fmt: skip
    names = ("agent", "key", "project", "detail")
    for tenant, seq, memory, *values in db.query(f"SELECT tenant, seq, memory, {', '.join(names)} FROM activity"):
        entry = dict(zip(names, values, strict=True))
        redacted = redact(memory, entry)
        if redacted != entry:
            marks = ", ".join(f"{name} = %s" for name in names)
            given = [redacted[name] for name in names]
            db.run(f"UPDATE activity SET {marks} WHERE tenant = %s AND seq = %s", *given, tenant, seq)


def _expected(db: Database, tenant: int, memory: Memory) -> int:
    """The row of a memory that still has this revision, locked.

    Raises: StaleWrite.
    """
    found = db.query(
        "SELECT seq FROM memories WHERE tenant = %s AND id = %s AND revision = %s FOR UPDATE",
        tenant, memory.id, memory.revision,
    )  # fmt: skip
    if not found:
        raise StaleWrite("the memory was changed meanwhile")
    return int(found[0][0])


def _insert(db: Database, tenant: int, memory: Memory) -> int:
    row = {"tenant": tenant, **rows.to_row(memory)}
    marks = ", ".join(["%s"] * len(row))
    return int(
        db.query(f"INSERT INTO memories({rows.columns_of(row)}) VALUES ({marks}) RETURNING seq", *row.values())[0][0]
    )


def _update(db: Database, tenant: int, seq: int, memory: Memory) -> None:
    row = {name: value for name, value in rows.to_row(memory).items() if name not in _COUNTED}
    sets = ", ".join(f'"{name}" = %s' for name in row)
    db.run(f"UPDATE memories SET {sets} WHERE tenant = %s AND seq = %s", *row.values(), tenant, seq)


def _move(db: Database, tenant: int, target: int, seq: int, memory: str) -> None:
    """Move a memory with all that belongs to it to another project."""
    for table in ("memories", "postings", "vectors"):
        db.run(f"UPDATE {table} SET tenant = %s WHERE tenant = %s AND seq = %s", target, tenant, seq)
    db.run("UPDATE history SET tenant = %s WHERE tenant = %s AND memory = %s", target, tenant, memory)


def _neighbours(db: Database, tenant: int, seq: int) -> set[int]:
    """The rows whose context or vector includes a share of this one, as they are in the database now."""
    return {
        number for sides in stored_vectors.neighbours(db, tenant, [seq]).values() for side in sides for number in side
    }


def _searched(memory: Memory) -> tuple[object, ...]:
    return (memory.title, memory.text, memory.why, memory.tags, memory.key)


def _embedded(memory: Memory) -> tuple[object, ...]:
    return (memory.title, memory.text, memory.tags)


def _revision(before: Memory, after: Memory, event: Activity | None) -> Revision:
    """The history entry of a change."""
    at, agent = (after.updated_at, after.updated_by) if event is None else (event.at, event.agent)
    action = "updated" if event is None else event.action
    return Revision(before.id, before.revision, at, agent, action, sqlite_rows.snapshot(before))


def _save_past(db: Database, tenant: int, memory: Memory, past: Sequence[Revision]) -> None:
    """Copy the history that a new memory brings from another store."""
    for revision in reversed(past):
        _add_history(db, tenant, replace(revision, memory=memory.id))


def _add_history(db: Database, tenant: int, past: Revision) -> None:
    db.run(
        "INSERT INTO history(tenant, memory, revision, at, agent, action, before) VALUES (%s, %s, %s, %s, %s, %s, %s)",
        tenant, past.memory, past.revision, past.at, past.agent, past.action,
        json.dumps(past.before, ensure_ascii=False),
    )  # fmt: skip
