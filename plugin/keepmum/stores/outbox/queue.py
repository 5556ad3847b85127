"""The queue on disk: durable, for its owner alone, of bounded size, each write bound to its server and project.

What waits was scanned before it came here. Nothing leaves the queue but by arriving, or by a person's word: what the
server refuses for good is laid aside where it can be seen, sent again or dropped.

A file with a rollback journal, not a WAL: it is written seldom, by many processes, and has no reader to keep waiting.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from keepmum.core.errors import StoreBusy, StoreError
from keepmum.core.memory import JsonValue
from keepmum.stores.transactions import transaction
from keepmum.system import private_files

__all__ = ["Action", "Item", "Outbox", "State", "file_of"]

Action = Literal["create", "replace", "remove"]
State = Literal["waiting", "refused"]

_MOST_ITEMS = 1_000
_MOST_BYTES = 10 * 1024 * 1024
_PATIENCE = 10.0  # seconds, with another process that writes
_TABLES = """
CREATE TABLE IF NOT EXISTS items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, origin TEXT NOT NULL, project TEXT NOT NULL,
    action TEXT NOT NULL, memory TEXT NOT NULL,
    body TEXT NOT NULL, queued_at INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'waiting', reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS items_by_memory ON items (memory, seq);
CREATE TABLE IF NOT EXISTS names (memory TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS paused (origin TEXT PRIMARY KEY, reason TEXT NOT NULL) STRICT;
"""
_COLUMNS = "id, origin, project, action, memory, body, queued_at, tries, state, reason"
# Writes to one memory keep their order, and whatever failed less often goes first: one that always fails blocks none.
_NEXT = f"""
SELECT {_COLUMNS} FROM items AS item WHERE origin = ? AND state = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM items AS earlier WHERE earlier.memory = item.memory AND earlier.seq < item.seq
    AND earlier.state = 'waiting'
) ORDER BY tries, seq LIMIT 1
"""  # noqa: S608 - no word of it comes from outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One write for a server, which waits where it could not be sent; `id` is what a repetition is known by."""

    id: str  # a UUIDv7
    origin: str
    project: str  # as the server calls it
    action: Action
    memory: str  # the id that the memory has here
    queued_at: int
    title: str = ""
    text: str = ""
    agent: str = ""
    tags: tuple[str, ...] = ()
    whole: Mapping[str, JsonValue] | None = None  # the memory, for a server that takes all of it
    base: int | None = None  # the revision that a change is meant for
    tries: int = 0
    state: State = "waiting"
    reason: str = ""  # what went wrong last


def file_of(home: str) -> str:
    """The file of the writes that wait, for every server."""
    return os.path.join(home, "outbox.db")


class Outbox:
    """The writes that wait, of all servers. Safe between threads and processes.

    Raises: StoreError from any method, when the file cannot be read or written.
    """

    def __init__(self, path: str, *, most_items: int = _MOST_ITEMS, most_bytes: int = _MOST_BYTES) -> None:
        self._most_items = most_items
        self._most_bytes = most_bytes
        self._thread = threading.RLock()
        try:
            private_files.make_folder(os.path.dirname(path))
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = 1; COMMIT;")
        except (OSError, sqlite3.Error) as error:
            raise _failure(error) from None

    def put(self, items: Sequence[Item]) -> int:
        """Queue all of these or none; how many wait for that server now.

        Raises: StoreError when the queue is full.
        """
        with self._writing() as db:
            count, size = db.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM items").fetchone()
            bodies = [_body(item) for item in items]
            if count + len(items) > self._most_items or size + sum(map(len, bodies)) > self._most_bytes:
                raise StoreError(
                    f"{items[0].origin} cannot be reached and {count} writes wait for it already, which is the most "
                    "that are queued; nothing was stored. `keepmum outbox list` shows them."
                )
            db.executemany(
                "INSERT INTO items(id, origin, project, action, memory, body, queued_at, tries)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (item.id, item.origin, item.project, item.action, item.memory, body, item.queued_at, item.tries)
                    for item, body in zip(items, bodies, strict=True)
                ],
            )
        return self.waiting(items[0].origin)

    def waiting(self, origin: str) -> int:
        """How many writes wait for a server."""
        return int(self._rows("SELECT count(*) FROM items WHERE origin = ? AND state = 'waiting'", origin)[0][0])

    def refused(self, origin: str) -> int:
        """How many writes a server refused for good."""
        return int(self._rows("SELECT count(*) FROM items WHERE origin = ? AND state = 'refused'", origin)[0][0])

    def memories(self, origin: str) -> frozenset[str]:
        """The memories that some write for a server waits to create or change."""
        rows = self._rows("SELECT memory FROM items WHERE origin = ? AND state = 'waiting'", origin)
        return frozenset(row[0] for row in rows)

    def items(self) -> list[Item]:
        """Everything in the queue, oldest first."""
        return [_item(row) for row in self._rows(f"SELECT {_COLUMNS} FROM items ORDER BY seq")]  # noqa: S608 - as above

    def next(self, origin: str) -> Item | None:
        """The write to send next, already counted as tried: were we killed now, it may have been sent."""
        with self._writing() as db:
            row = db.execute(_NEXT, (origin,)).fetchone()
            if row is None:
                return None
            db.execute("UPDATE items SET tries = tries + 1 WHERE id = ?", (row[0],))
        return _item(row)

    def done(self, item: Item) -> None:
        """Take out a write that has arrived."""
        with self._writing() as db:
            db.execute("DELETE FROM items WHERE id = ?", (item.id,))

    def failed(self, item: Item, reason: str, *, sent: bool) -> None:
        """Leave a write for a later try; one that was surely not sent counts as untried."""
        with self._writing() as db:
            db.execute("UPDATE items SET reason = ?, tries = tries - ? WHERE id = ?", (reason, not sent, item.id))

    def refuse(self, item: Item, reason: str) -> None:
        """Lay a write aside that the server will not take."""
        with self._writing() as db:
            db.execute("UPDATE items SET state = 'refused', reason = ? WHERE id = ?", (reason, item.id))

    def name(self, memory: str) -> str:
        """The id that a memory goes by now: the one a server gave in place of ours, or of an earlier one of its own."""
        seen = {memory}
        while rows := self._rows("SELECT name FROM names WHERE memory = ?", memory):
            memory = rows[0][0]
            if memory in seen:
                break
            seen.add(memory)
        return memory

    def rename(self, memory: str, name: str) -> None:
        """Note that a server knows a memory by another id than ours."""
        if memory != name:
            with self._writing() as db:
                db.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (memory, name))

    def pause(self, origin: str, reason: str) -> None:
        """Send nothing more to a server until `resume`."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO paused VALUES (?, ?)", (origin, reason))

    def resume(self, origin: str) -> None:
        """Send to a server again."""
        if self.paused(origin):
            with self._writing() as db:
                db.execute("DELETE FROM paused WHERE origin = ?", (origin,))

    def paused(self, origin: str) -> str:
        """Why nothing is sent to a server; empty when it is."""
        rows = self._rows("SELECT reason FROM paused WHERE origin = ?", origin)
        return str(rows[0][0]) if rows else ""

    def retry(self, ids: Sequence[str] = ()) -> int:
        """Send these again, or everything: what was refused and servers that are paused; how many writes now wait."""
        with self._writing() as db:
            chosen = ids or [row[0] for row in db.execute("SELECT id FROM items")]
            db.executemany("UPDATE items SET state = 'waiting', reason = '' WHERE id = ?", [(one,) for one in chosen])
            db.execute("DELETE FROM paused")
        return len(chosen)

    def drop(self, ids: Sequence[str]) -> list[Item]:
        """Take writes out that never arrived; which they were."""
        dropped = [item for item in self.items() if item.id in set(ids)]
        with self._writing() as db:
            db.executemany("DELETE FROM items WHERE id = ?", [(item.id,) for item in dropped])
        return dropped

    def close(self) -> None:
        """Let go of the file."""
        with self._thread:
            self._db.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._thread:
            try:
                with transaction(self._db) as db:
                    yield db
            except sqlite3.Error as error:
                raise _failure(error) from None

    def _rows(self, sql: str, *parameters: str) -> list[tuple[str, ...]]:
        with self._thread:
            try:
                return self._db.execute(sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise _failure(error) from None


def _body(item: Item) -> str:
    names = ("title", "text", "agent", "tags", "whole", "base")
    return json.dumps({name: getattr(item, name) for name in names})


def _item(row: Sequence[object]) -> Item:
    names = ("id", "origin", "project", "action", "memory", "body", "queued_at", "tries", "state", "reason")
    values = dict(zip(names, row, strict=True))
    body = json.loads(str(values.pop("body")))
    return replace(Item(**values), **{**body, "tags": tuple(body["tags"])})  # type: ignore[arg-type] # columns of ours


def _failure(error: Exception) -> StoreError:
    """The file's trouble in words; nothing of a statement or a value."""
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return StoreBusy("another process holds the queue of writes; nothing was queued, try again")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    full = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) == errno.ENOSPC
    advice = "; make room, and try again" if full else ""
    return StoreError(f"the queue of writes for the server cannot be used ({reason}); nothing was queued{advice}")
