"""Changes as SQL: rows, tags, history and activity, all inside a transaction that the caller holds."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Sequence

from keepmum.core.memory import Activity, Change, Memory
from keepmum.stores.base import StaleWrite
from keepmum.stores.sqlite import embeddings, rows, schema, sessions
from keepmum.stores.transactions import transaction

__all__ = ["append", "fill", "next_number", "write"]

_MANY = 100  # new memories from which on it pays to index them in one statement
_NOBODY = Memory(id="", text="", title="", created_at=0, updated_at=0)
_TAG = "INSERT INTO tags SELECT ?, seq FROM memories WHERE id = ?"


def write(db: sqlite3.Connection, changes: Sequence[Change], activity: Sequence[Activity]) -> list[str]:
    """Write changes with their history and the activity, inside the caller's transaction; the ids that were purged.

    Raises: StaleWrite when the database no longer holds what a change takes for given.
    """
    number = next_number(db)
    if len(changes) >= _MANY and all(change.before is None and change.after is not None for change in changes):
        _create(db, changes, number)
    else:
        for change, event in _paired(changes, activity):
            _apply(db, change, number)
            _remember_before(db, change, event)
    append(db, activity)
    purged = [change.before.id for change in changes if change.before is not None and change.after is None]
    if purged:
        _wipe_traces(db, purged)
    return purged


def append(db: sqlite3.Connection, activity: Sequence[Activity]) -> None:
    """Append to the activity log, inside the caller's transaction."""
    db.executemany(
        "INSERT INTO activity(at, agent, action, memory, key, project, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(e.at, e.agent, e.action, e.memory, e.key, e.project, e.detail) for e in activity],
    )


def fill(db: sqlite3.Connection, saved: Sequence[Memory]) -> None:
    """Put memories into a new store, in one transaction."""
    with transaction(db):
        number = next_number(db)
        for memory in saved:
            with contextlib.suppress(StaleWrite):  # a backup knew of an older holder of a key
                _apply(db, Change(None, memory), number)


def _paired(changes: Sequence[Change], activity: Sequence[Activity]) -> list[tuple[Change, Activity | None]]:
    """Each change with the activity entry that tells of it."""
    by_memory = {event.memory: event for event in activity}
    return [(change, by_memory.get((change.after or change.before or _NOBODY).id)) for change in changes]


def _create(db: sqlite3.Connection, changes: Sequence[Change], number: int) -> None:
    """Many new memories: all rows first, then what is found by them, in half the time that one by one takes."""
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
            embeddings.keep(db, change.after, change.embedding, number)
    for change in changes:
        _keep_past(db, change)
    around = {place for memory in new if memory.session is not None for place in sessions.neighbours(db, memory)}
    sessions.refresh(db, around, number)


def _apply(db: sqlite3.Connection, change: Change, number: int) -> None:
    before, after = change.before, change.after
    around = sessions.neighbours(db, before)
    if after is None and before is not None:
        db.execute("DELETE FROM history WHERE memory = ?", (before.id,))
        _expect_one(db.execute("DELETE FROM memories WHERE id = ? AND revision = ?", (before.id, before.revision)))
    if after is None:
        sessions.refresh(db, around, number)
        return
    row = {**rows.to_row(after), "change": number}
    try:
        if before is None:
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            db.execute(f"INSERT INTO memories({names}) VALUES ({marks})", row)
        else:
            # Loading counts on without a new revision, so a change must not set the counts back.
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
        embeddings.keep(db, after, change.embedding, number)
    _keep_past(db, change)
    sessions.refresh(db, {*around, *sessions.neighbours(db, after)}, number)


def _remember_before(db: sqlite3.Connection, change: Change, event: Activity | None) -> None:
    before, after = change.before, change.after
    if before is None or after is None:  # a purged memory leaves no history
        return
    db.execute(
        "INSERT INTO history(memory, revision, at, agent, action, before) VALUES (?, ?, ?, ?, ?, ?)",
        (
            before.id,
            before.revision,
            after.updated_at if event is None else event.at,
            after.updated_by if event is None else event.agent,
            "updated" if event is None else event.action,
            json.dumps(rows.snapshot(before), ensure_ascii=False),
        ),
    )


def _keep_past(db: sqlite3.Connection, change: Change) -> None:
    """Keep what a new memory was in the store that it comes from."""
    if change.before is None and change.after is not None:
        db.executemany(
            "INSERT INTO history(memory, revision, at, agent, action, before) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    change.after.id,
                    one.revision,
                    one.at,
                    one.agent,
                    one.action,
                    json.dumps(one.before, ensure_ascii=False),
                )
                for one in reversed(change.past)
            ],
        )


def _wipe_traces(db: sqlite3.Connection, purged: Sequence[str]) -> None:
    """Leave no words of purged memories in the log, nor in the older segments of the index."""
    db.executemany("UPDATE activity SET key = NULL, detail = '' WHERE memory = ?", [(memory,) for memory in purged])
    db.execute("INSERT INTO words(words) VALUES ('optimize')")


def next_number(db: sqlite3.Connection) -> int:
    """The number of this transaction, by which readers elsewhere know what is new."""
    query = "UPDATE counters SET value = value + 1 WHERE name = 'change' RETURNING value"
    return int(db.execute(query).fetchone()[0])


def _expect_one(cursor: sqlite3.Cursor) -> None:
    if cursor.rowcount != 1:
        raise StaleWrite("the memory was changed meanwhile")
