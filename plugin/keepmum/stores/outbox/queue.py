"""Durable queue of writes for servers: private to the user, limited in size, each write bound to server and project.

Items were scanned before they are queued. An item leaves the queue only when it was delivered or when the user drops
it. One that the server refuses for good is marked as refused, so that the user can see it, retry it or drop it.

The file uses a rollback journal rather than WAL: many processes write it seldom, and no reader has to be kept waiting.
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

_MAX_ITEMS = 1_000
_MAX_BYTES = 10 * 1024 * 1024
_BUSY_TIMEOUT = 10.0  # seconds
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
# The keys in the column `body`, which must not change, and the fields of Item that they hold.
_BODY = {
    "title": "title",
    "text": "text",
    "agent": "agent",
    "tags": "tags",
    "whole": "memory_json",
    "base": "base_revision",
}
# Writes to one memory stay in order. Items with fewer tries come first, so that one that always fails blocks no other.
_NEXT = f"""
SELECT {_COLUMNS} FROM items AS item WHERE origin = ? AND state = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM items AS earlier WHERE earlier.memory = item.memory AND earlier.seq < item.seq
    AND earlier.state = 'waiting'
) ORDER BY tries, seq LIMIT 1
"""  # noqa: S608 - only names of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One write for a server. Its `id` is the idempotency key of every try."""

    id: str  # a UUIDv7
    origin: str
    project: str  # by its name at the server
    action: Action
    memory: str  # the id of the memory on this machine
    queued_at: int
    title: str = ""
    text: str = ""
    agent: str = ""
    tags: tuple[str, ...] = ()
    memory_json: Mapping[str, JsonValue] | None = None  # the complete memory, for a server of API version 2
    base_revision: int | None = None  # the revision that a change applies to
    tries: int = 0
    state: State = "waiting"
    reason: str = ""  # why the last try failed


def file_of(home: str) -> str:
    """The path of the queue, one for all servers."""
    return os.path.join(home, "outbox.db")


class Outbox:
    """The queued writes of all servers. Safe between threads and processes.

    Raises: StoreError from any method, when the file cannot be read or written.
    """

    def __init__(self, path: str, *, max_items: int = _MAX_ITEMS, max_bytes: int = _MAX_BYTES) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        try:
            private_files.make_folder(os.path.dirname(path))
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = 1; COMMIT;")
        except (OSError, sqlite3.Error) as error:
            raise _store_error(error) from None

    def put(self, items: Sequence[Item]) -> int:
        """Queue all of these or none; returns how many writes wait for their server now.

        Raises: StoreError when the queue is full.
        """
        with self._transaction() as db:
            count, size = db.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM items").fetchone()
            bodies = [json.dumps({key: getattr(item, field) for key, field in _BODY.items()}) for item in items]
            if count + len(items) > self._max_items or size + sum(map(len, bodies)) > self._max_bytes:
                raise StoreError(
                    f"{items[0].origin} cannot be reached, and the queue is full ({count} writes wait); nothing was "
                    "stored. `keepmum outbox list` shows the queue."
                )
            db.executemany(
                "INSERT INTO items(id, origin, project, action, memory, body, queued_at, tries)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (item.id, item.origin, item.project, item.action, item.memory, body, item.queued_at, item.tries)
                    for item, body in zip(items, bodies, strict=True)
                ],
            )
        return self.count_waiting(items[0].origin)

    def count_waiting(self, origin: str) -> int:
        """Number of writes that wait for a server."""
        return int(self._rows("SELECT count(*) FROM items WHERE origin = ? AND state = 'waiting'", origin)[0][0])

    def count_refused(self, origin: str) -> int:
        """Number of writes that a server refused for good."""
        return int(self._rows("SELECT count(*) FROM items WHERE origin = ? AND state = 'refused'", origin)[0][0])

    def waiting_memories(self, origin: str) -> frozenset[str]:
        """Ids of the memories with a write that waits for a server."""
        rows = self._rows("SELECT memory FROM items WHERE origin = ? AND state = 'waiting'", origin)
        return frozenset(row[0] for row in rows)

    def items(self) -> list[Item]:
        """Everything in the queue, oldest first."""
        return [_item(row) for row in self._rows(f"SELECT {_COLUMNS} FROM items ORDER BY seq")]  # noqa: S608 - as above

    def next(self, origin: str) -> Item | None:
        """The write to send next. Its try is counted at once: after a kill, it may have been sent."""
        with self._transaction() as db:
            row = db.execute(_NEXT, (origin,)).fetchone()
            if row is None:
                return None
            db.execute("UPDATE items SET tries = tries + 1 WHERE id = ?", (row[0],))
        return _item(row)

    def remove(self, item: Item) -> None:
        """Remove a write that was delivered."""
        with self._transaction() as db:
            db.execute("DELETE FROM items WHERE id = ?", (item.id,))

    def mark_failed(self, item: Item, reason: str, *, sent: bool) -> None:
        """Keep a write for a later try. One that was certainly not sent counts as untried."""
        with self._transaction() as db:
            db.execute("UPDATE items SET reason = ?, tries = tries - ? WHERE id = ?", (reason, not sent, item.id))

    def mark_refused(self, item: Item, reason: str) -> None:
        """Stop sending a write that the server does not accept."""
        with self._transaction() as db:
            db.execute("UPDATE items SET state = 'refused', reason = ? WHERE id = ?", (reason, item.id))

    def current_id(self, memory: str) -> str:
        """The latest id of a memory: a server may replace ours, or an earlier one of its own."""
        seen = {memory}
        while rows := self._rows("SELECT name FROM names WHERE memory = ?", memory):
            memory = rows[0][0]
            if memory in seen:
                break
            seen.add(memory)
        return memory

    def set_current_id(self, memory: str, new: str) -> None:
        """Record the id that a server uses for a memory."""
        if memory != new:
            with self._transaction() as db:
                db.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (memory, new))

    def pause(self, origin: str, reason: str) -> None:
        """Send nothing more to a server until `resume`."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO paused VALUES (?, ?)", (origin, reason))

    def resume(self, origin: str) -> None:
        """Send to a server again."""
        if self.pause_reason(origin):
            with self._transaction() as db:
                db.execute("DELETE FROM paused WHERE origin = ?", (origin,))

    def pause_reason(self, origin: str) -> str:
        """Why nothing is sent to a server; empty when it is not paused."""
        rows = self._rows("SELECT reason FROM paused WHERE origin = ?", origin)
        return str(rows[0][0]) if rows else ""

    def retry(self, ids: Sequence[str] = ()) -> int:
        """Mark these writes as waiting, or all of them, and resume all servers; returns the number of writes."""
        with self._transaction() as db:
            chosen = ids or [row[0] for row in db.execute("SELECT id FROM items")]
            db.executemany("UPDATE items SET state = 'waiting', reason = '' WHERE id = ?", [(one,) for one in chosen])
            db.execute("DELETE FROM paused")
        return len(chosen)

    def drop(self, ids: Sequence[str]) -> list[Item]:
        """Remove writes that were never delivered; returns them."""
        dropped = [item for item in self.items() if item.id in set(ids)]
        with self._transaction() as db:
            db.executemany("DELETE FROM items WHERE id = ?", [(item.id,) for item in dropped])
        return dropped

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                with transaction(self._db) as db:
                    yield db
            except sqlite3.Error as error:
                raise _store_error(error) from None

    def _rows(self, sql: str, *parameters: str) -> list[tuple[str, ...]]:
        with self._lock:
            try:
                return self._db.execute(sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise _store_error(error) from None


def _item(row: Sequence[object]) -> Item:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    body = json.loads(str(values.pop("body")))
    fields = {field: body[key] for key, field in _BODY.items()}
    return replace(Item(**values), **{**fields, "tags": tuple(body["tags"])})  # type: ignore[arg-type] # columns of ours


def _store_error(error: Exception) -> StoreError:
    """The error in words, without any statement or value."""
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return StoreBusy("another process holds the queue of writes; nothing was queued, try again")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    full = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) == errno.ENOSPC
    advice = "; make room, and try again" if full else ""
    return StoreError(f"the queue of writes for the server cannot be used ({reason}); nothing was queued{advice}")
