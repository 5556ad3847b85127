"""Writes as SQL, each in a transaction of the caller: rows, tags, vectors, context, history and activity.

The context of a memory is the text of its neighbours in the same session, which helps to find it. Only active memories
of the same space are neighbours, so the words of one project, session or user never lead to a memory of another.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from keepmum.core.errors import StoreError
from keepmum.core.memory import Activity, Change, Embedding, Memory, Revision
from keepmum.stores.base import Redact, StaleWrite
from keepmum.stores.sqlite import rows, schema
from keepmum.stores.transactions import transaction

__all__ = ["OTHER_MODEL", "append", "around", "fill", "next_number", "record", "redact_past", "save_vector", "write"]

_MANY = 100  # new memories; from here on indexing all of them in one statement is faster
_TAG = "INSERT INTO tags SELECT ?, seq FROM memories WHERE id = ?"
_HISTORY = "INSERT INTO history(memory, revision, at, agent, action, before) VALUES (?, ?, ?, ?, ?, ?)"
_ACTIVITY = ("agent", "key", "project", "detail")  # columns that may hold a secret
_BYTES = 2  # per dimension
_CONTEXT = 2_000  # characters of each neighbour in the context
_NEIGHBOUR = "n.session = m.session AND n.space = m.space AND n.status = 'active' AND m.status = 'active'"
# The number of any model with vectors other than the one given twice. It reads both ends of an index, never all of it.
OTHER_MODEL = " UNION ALL ".join(
    f"SELECT * FROM (SELECT model FROM vectors WHERE vector IS NOT NULL AND model {side} ? LIMIT 1)" for side in "<>"
)


def write(db: sqlite3.Connection, changes: Sequence[Change], activity: Sequence[Activity]) -> list[str]:
    """Write changes with their history and the activity; returns the ids that were purged.

    Raises: StaleWrite when the database no longer holds what a change expects.
    """
    number = next_number(db)
    if len(changes) >= _MANY and all(change.before is None and change.after is not None for change in changes):
        _create(db, changes, number)
    else:
        for change in changes:
            _apply(db, change, number)
    return record(db, changes, activity)


def record(db: sqlite3.Connection, changes: Sequence[Change], activity: Sequence[Activity]) -> list[str]:
    """Write history and activity of changes to memories in any store; returns the ids that were purged."""
    events = {event.memory: event for event in activity}
    for change in changes:
        _save_previous(db, change, events)
        _save_past(db, change)
    append(db, activity)
    purged = [change.before.id for change in changes if change.before is not None and change.after is None]
    if purged:
        _remove_traces(db, purged)
    return purged


def append(db: sqlite3.Connection, activity: Sequence[Activity]) -> None:
    """Append to the activity log."""
    db.executemany(
        "INSERT INTO activity(at, agent, action, memory, key, project, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(e.at, e.agent, e.action, e.memory, e.key, e.project, e.detail) for e in activity],
    )


def fill(db: sqlite3.Connection, saved: Sequence[Memory]) -> None:
    """Write memories into a new file, in a transaction of its own."""
    with transaction(db):
        number = next_number(db)
        for memory in saved:
            with contextlib.suppress(StaleWrite):  # one from a backup may have a key that another memory has now
                _apply(db, Change(None, memory), number)


def _create(db: sqlite3.Connection, changes: Sequence[Change], number: int) -> None:
    """Insert many new memories: all rows first, then the index entries. Half the time of one memory after another."""
    new = [change.after for change in changes if change.after is not None]
    records = [{**rows.to_row(memory), "change": number} for memory in new]
    names = ", ".join(records[0])
    try:
        with schema.indexed_at_once(db):
            marks = ", ".join("?" * len(records[0]))
            db.executemany(
                f"INSERT INTO memories({names}) VALUES ({marks})", [tuple(record.values()) for record in records]
            )
    except sqlite3.IntegrityError as error:
        raise StaleWrite("the key or id was taken meanwhile") from error
    db.executemany(_TAG, [(tag, memory.id) for memory in new for tag in dict.fromkeys(memory.tags)])
    for change in changes:
        if change.after is not None and change.embedding is not None:
            save_vector(db, change.after, change.embedding, number)
    nearby = {row for memory in new if memory.session is not None for row in _neighbours(db, memory)}
    _refresh_context(db, nearby, number)


def _apply(db: sqlite3.Connection, change: Change, number: int) -> None:
    before, after = change.before, change.after
    nearby = _neighbours(db, before)
    if after is None and before is not None:
        _expect_one(db.execute("DELETE FROM memories WHERE id = ? AND revision = ?", (before.id, before.revision)))
    if after is None:
        _refresh_context(db, nearby, number)
        return
    row = {**rows.to_row(after), "change": number}
    try:
        if before is None:
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            db.execute(f"INSERT INTO memories({names}) VALUES ({marks})", row)
        else:
            # Loading a memory counts without a new revision, so a change must not reset the counts.
            sets = ", ".join(f"{name} = :{name}" for name in row if name not in {"access_count", "accessed_at"})
            _expect_one(
                db.execute(
                    f"UPDATE memories SET {sets} WHERE id = :id AND revision = :expected",
                    {**row, "expected": before.revision},
                )
            )
    except sqlite3.IntegrityError as error:
        raise StaleWrite("the key or id was taken meanwhile") from error
    if before is not None:
        db.execute("DELETE FROM tags WHERE memory = (SELECT seq FROM memories WHERE id = ?)", (after.id,))
    db.executemany(_TAG, [(tag, after.id) for tag in dict.fromkeys(after.tags)])
    if change.embedding is not None:
        save_vector(db, after, change.embedding, number)
    _refresh_context(db, {*nearby, *_neighbours(db, after)}, number)


def _save_previous(db: sqlite3.Connection, change: Change, events: Mapping[str | None, Activity]) -> None:
    """Add the state before a change to the history; a purged memory leaves none."""
    before, after = change.before, change.after
    if before is not None and after is not None:
        event = events.get(after.id)
        at, agent = (after.updated_at, after.updated_by) if event is None else (event.at, event.agent)
        action = "updated" if event is None else event.action
        _add_history(db, Revision(before.id, before.revision, at, agent, action, rows.snapshot(before)))


def _save_past(db: sqlite3.Connection, change: Change) -> None:
    """Copy the history that a new memory brings from another store."""
    if change.before is None and change.after is not None:
        for revision in reversed(change.past):
            _add_history(db, replace(revision, memory=change.after.id))


def _add_history(db: sqlite3.Connection, past: Revision) -> None:
    before = json.dumps(past.before, ensure_ascii=False)
    db.execute(_HISTORY, (past.memory, past.revision, past.at, past.agent, past.action, before))


def _remove_traces(db: sqlite3.Connection, purged: Sequence[str]) -> None:
    """Remove history and text of purged memories, from the log and older segments of the full-text index too."""
    db.executemany("DELETE FROM history WHERE memory = ?", [(memory,) for memory in purged])
    db.executemany("UPDATE activity SET key = NULL, detail = '' WHERE memory = ?", [(memory,) for memory in purged])
    db.execute("INSERT INTO words(words) VALUES ('optimize')")


def next_number(db: sqlite3.Connection) -> int:
    """The number of this transaction; other processes recognise new rows by it."""
    query = "UPDATE counters SET value = value + 1 WHERE name = 'change' RETURNING value"
    return int(db.execute(query).fetchone()[0])


def _expect_one(cursor: sqlite3.Cursor) -> None:
    if cursor.rowcount != 1:
        raise StaleWrite("the memory was changed meanwhile")


def save_vector(
    db: sqlite3.Connection, memory: Memory, embedding: Embedding, change: int, *, replaces: bool = False
) -> bool:
    """Store the vector of a memory whose text is unchanged; True when it was stored.

    While other memories have vectors of another model the memory stays pending, so that a search never compares two
    models. With `replaces` it is stored anyway, as when all memories are embedded again.

    Raises: StoreError when the model is known with another number of dimensions.
    """
    model = _model_number(db, embedding.model, len(embedding.vector) // _BYTES)
    if not replaces and db.execute(OTHER_MODEL, (model, model)).fetchone():
        return False
    stored = db.execute(
        "UPDATE vectors SET model = ?, vector = ?, awaited = FALSE, change = ?"
        " WHERE memory = (SELECT seq FROM memories WHERE id = ? AND title = ? AND text = ? AND tags = ?)",
        (model, embedding.vector, change, memory.id, memory.title, memory.text, rows.encoded(memory.tags)),
    )
    return stored.rowcount == 1


def _model_number(db: sqlite3.Connection, name: str, dimensions: int) -> int:
    db.execute("INSERT INTO models(name, dimensions) VALUES (?, ?) ON CONFLICT(name) DO NOTHING", (name, dimensions))
    number, known = db.execute("SELECT id, dimensions FROM models WHERE name = ?", (name,)).fetchone()
    if known != dimensions:
        raise StoreError(
            f"vectors of the model {name} have {known} dimensions here, and {dimensions} were given: nothing was stored"
        )
    return int(number)


def redact_past(db: sqlite3.Connection, redact: Redact) -> None:
    """Pass history and activity through `redact`; delete project folders that it would change."""
    for row in db.execute("SELECT seq, memory, agent, before FROM history").fetchall():
        before = json.loads(row["before"])
        after = json.dumps(redact(row["memory"], before), ensure_ascii=False)
        agent = redact(row["memory"], {"agent": row["agent"]})["agent"]
        if (agent, after) != (row["agent"], json.dumps(before, ensure_ascii=False)):
            db.execute("UPDATE history SET agent = ?, before = ? WHERE seq = ?", (agent, after, row["seq"]))
    for row in db.execute("SELECT * FROM activity").fetchall():
        entry = {name: row[name] for name in _ACTIVITY}
        redacted = redact(row["memory"], entry)
        if redacted != entry:
            db.execute(
                "UPDATE activity SET agent = :agent, key = :key, project = :project, detail = :detail WHERE seq = :seq",
                {**redacted, "seq": row["seq"]},
            )
    for row in db.execute("SELECT memory, by, reason FROM wrong").fetchall():
        redacted = redact(row["memory"], {"by": row["by"], "reason": row["reason"]})
        if (redacted["by"], redacted["reason"]) != (row["by"], row["reason"]):
            db.execute(
                "UPDATE wrong SET by = ?, reason = ? WHERE memory = ?",
                (redacted["by"], redacted["reason"], row["memory"]),
            )
    for row in db.execute("SELECT root, project, name FROM roots").fetchall():
        folder = dict(row)
        if redact(None, folder) != folder:
            db.execute("DELETE FROM roots WHERE root = ?", (row["root"],))


def around(steps: int) -> tuple[str, str]:
    """FROM clauses of two subqueries: row `n` is `steps` before row `m` in its session, or `steps` after it."""
    return (
        f"memories n WHERE {_NEIGHBOUR} AND n.seq < m.seq ORDER BY n.seq DESC LIMIT 1 OFFSET {steps - 1}",
        f"memories n WHERE {_NEIGHBOUR} AND n.seq > m.seq ORDER BY n.seq LIMIT 1 OFFSET {steps - 1}",
    )


_BEFORE, _AFTER = around(1)


def _neighbours(db: sqlite3.Connection, memory: Memory | None) -> set[int]:
    """The row numbers of a memory and of its neighbours, as they are in the database now."""
    if memory is None or memory.session is None:
        return set()
    found = db.execute(
        f"SELECT seq, (SELECT n.seq FROM {_BEFORE}), (SELECT n.seq FROM {_AFTER}) FROM memories m WHERE id = ?",
        (memory.id,),
    ).fetchone()
    return {number for number in found or () if number is not None}


def _refresh_context(db: sqlite3.Connection, numbers: Iterable[int], change: int) -> None:
    """Update the context column of these rows."""
    text = f"substr(n.text, 1, {_CONTEXT})"
    context = f"coalesce((SELECT {text} FROM {_BEFORE}), '') || char(10) || coalesce((SELECT {text} FROM {_AFTER}), '')"
    for number in sorted(numbers):
        row = db.execute(f"SELECT context, {context} AS now FROM memories m WHERE seq = ?", (number,)).fetchone()
        if row is not None and row["context"] != row["now"].strip("\n"):
            db.execute(
                "UPDATE memories SET context = ?, change = ? WHERE seq = ?", (row["now"].strip("\n"), change, number)
            )
