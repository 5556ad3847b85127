"""The store itself: transactions over rows, index, history and activity, shared by many processes."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence

from keepmum.core.errors import StoreBusy, StoreError, StoreReadOnly
from keepmum.core.memory import Activity, Change, Filter, JsonValue, Memory, Order, Revision
from keepmum.core.retention import DAY_MS
from keepmum.stores.base import STORED, Capabilities, Features, Receipt, Redact
from keepmum.stores.sqlite import edits, files, rows, schema, scrub
from keepmum.stores.sqlite.connection import BUSY_MS, connect, connect_current
from keepmum.stores.sqlite.faults import FAILURES, is_damage, is_full, store_error
from keepmum.stores.sqlite.lexical import LexicalSearch
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.sqlite.salvage import salvage
from keepmum.stores.sqlite.vector_search import SqliteVectorSearch
from keepmum.stores.transactions import transaction
from keepmum.system import private_files

__all__ = ["SqliteStore", "open_store"]

_CHECKPOINT_AT = 4 * 1024 * 1024  # bytes of WAL
_ACTIVITY_DAYS = 90
_MENDED = ".mended"  # the end of the name of a store that a repair is making
_ORDERS: dict[Order, str] = {
    "updated": "m.updated_at DESC, m.id DESC",
    "created": "m.created_at DESC, m.id DESC",
    "accessed": "m.accessed_at DESC, m.id DESC",
    "importance": "m.importance DESC, m.updated_at DESC, m.id DESC",
}
_TALLIES = {
    "memories": "SELECT 'all', count(*) FROM memories",
    "indexed": "SELECT 'all', count(*) FROM words_docsize",
    "statuses": "SELECT status, count(*) FROM memories GROUP BY status",
}
_FIELDS = ", ".join(f"m.{column}" for column in rows.COLUMNS)


def open_store(path: str) -> SqliteStore:
    """The store at `path`, made when it is new, repaired when it is damaged, read-only when it cannot be written.

    Raises: StoreError when it can be neither read nor made.
    """
    return SqliteStore(path)


class SqliteStore:
    """A `Store` in one SQLite file (see `keepmum.stores.base.Store` for what each method gives)."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._notice = ""
        self._thread = threading.RLock()
        self._lock: WriterLock | None = None
        self._inode = 0
        self._capabilities = Capabilities()
        self._db = self._open()
        cache = os.path.join(os.path.dirname(self.path), "cache")
        self._lexical = LexicalSearch(self._rows)
        self._vectors = SqliteVectorSearch(self._rows, self._writing, self._lexical, cache)
        has_vectors = (
            schema.version_of(self._db) >= schema.WITH_VECTORS
        )  # an older file that cannot be written has none
        self.features = Features(
            vector_search=self._vectors if has_vectors else None,
            aging=self,
            maintenance=self,
            erasure=self,
            local_state=self,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What this store can promise just now."""
        return self._capabilities

    @property
    def notice(self) -> str:
        """What happened lately that the user should know."""
        return self._notice

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes with their history and the activity, or nothing."""
        with self._writing() as db:
            purged = edits.write(db, changes, activity)
        if purged:
            self._checkpoint(at=0)  # the file is overwritten now, not when the WAL is next folded in
        return STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes, clean the past with them, and leave nothing of before in file, WAL, index or backups."""
        with self._writing() as db:
            edits.write(db, changes, activity)
            scrub.rewrite_past(db, redact)
        with self._thread, self._guarded("rewrite"), contextlib.ExitStack() as stack:
            if self._lock is not None:
                stack.enter_context(self._lock.hold())
            schema.remake_index(self._db)
            self._db.execute("VACUUM")
            if self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise StoreBusy("another process is reading, so the old words are still in the file; run it again")
            removed = scrub.remove_copies(self.path)
            self._vectors.discard()
            files.back_up(self._db, self.path, time.time())
        return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded at `now`."""
        with self._writing() as db:
            db.executemany(
                "UPDATE memories SET access_count = access_count + 1, accessed_at = ? WHERE id = ?",
                [(now, memory) for memory in ids],
            )

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log."""
        if activity:
            with self._writing() as db:
                edits.append(db, activity)

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`; written at most once a day."""
        known = self._rows(
            "SELECT 1 FROM roots WHERE root = ? AND project = ? AND name = ? AND seen_at > ?",
            (root, project, name, now - DAY_MS),
        )
        if not known:
            with self._writing() as db:
                db.execute("INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?)", (root, project, name, now))

    def tick(self, now: int) -> int:
        """The time of the tick before this one."""
        with self._writing() as db:
            previous = int(db.execute("SELECT value FROM counters WHERE name = 'clock'").fetchone()[0])
            db.execute("UPDATE counters SET value = ? WHERE name = 'clock'", (now,))
        return previous

    def upkeep(self, now: int) -> None:
        """Back up once a day, prune the activity log, fold the WAL into the file."""
        if not self._capabilities.writable:
            return
        with self._thread, self._guarded("upkeep"):
            if files.backup_is_due(self.path, time.time()):
                self._heal()  # a damaged file must not push a sound backup out
                files.back_up(self._db, self.path, time.time())
            with self._writing() as db:
                db.execute("DELETE FROM activity WHERE at < ?", (now - _ACTIVITY_DAYS * DAY_MS,))
            self._checkpoint(at=0)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order."""
        marks = ", ".join("?" * len(ids))
        found = self._memories(f"WHERE m.id IN ({marks})", tuple(ids))
        by_id = {memory.id: memory for memory in found}
        return [by_id[memory] for memory in ids if memory in by_id]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories whose ids lie in [first, last]."""
        return self._memories("WHERE m.id BETWEEN ? AND ? ORDER BY m.id LIMIT ?", (first, last, limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key."""
        found = self._memories("WHERE m.space = ? AND m.key = ? AND m.status = 'active'", (space, key))
        return found[0] if found else None

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that holds a key, or that held it last, whatever became of it."""
        found = self._memories(
            "WHERE m.space = ? AND m.key = ? ORDER BY m.status = 'active' DESC, m.updated_at DESC, m.id DESC LIMIT 1",
            (space, key),
        )
        return found[0] if found else None

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with just this text, blanks and case aside."""
        found = self._memories(
            "WHERE m.space = ? AND m.digest = ? AND m.status = 'active' LIMIT 1", (space, rows.digest(text))
        )
        return found[0] if found else None

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first by BM25."""
        return [(rows.from_row(row), fit) for row, fit in self._lexical.best(_FIELDS, words, wanted, limit)]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in `order`."""
        condition, parameters = rows.where(wanted)
        tail = f"WHERE {condition} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?"
        return self._memories(tail, (*parameters, limit, offset))

    def count(self, wanted: Filter) -> int:
        """How many memories pass the filter."""
        condition, parameters = rows.where(wanted)
        return int(self._rows(f"SELECT count(*) FROM memories m WHERE {condition}", tuple(parameters))[0][0])

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """Memories that time may have changed, those that are due for certain first, then the longest idle."""
        return self._memories(
            "WHERE (m.status = 'trashed' AND coalesce(m.trashed_at, m.updated_at) <= ?)"
            " OR (m.status = 'active' AND (m.expires_at <= ? OR m.tier != 'long'))"
            " ORDER BY m.status = 'trashed' OR coalesce(m.expires_at <= ?, FALSE) DESC,"
            " max(coalesce(m.accessed_at, 0), m.updated_at) LIMIT ?",
            (trashed_by, now, now, limit),
        )

    def history(self, memory: str) -> list[Revision]:
        """What a memory was before each change, latest first."""
        found = self._rows("SELECT * FROM history WHERE memory = ? ORDER BY seq DESC", (memory,))
        return [
            Revision(row["memory"], row["revision"], row["at"], row["agent"], row["action"], json.loads(row["before"]))
            for row in found
        ]

    def activity(self, limit: int, project: str | None = None) -> list[Activity]:
        """The latest activity, latest first."""
        found = self._rows(
            "SELECT * FROM activity WHERE ? IS NULL OR project IS ? ORDER BY seq DESC LIMIT ?",
            (project, project, limit),
        )
        names = ("at", "agent", "action", "memory", "key", "project", "detail")
        return [Activity(**{name: row[name] for name in names}) for row in found]

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        """`(root, project, name)` of the folders seen since then."""
        found = self._rows("SELECT root, project, name FROM roots WHERE seen_at >= ? ORDER BY seen_at DESC", (since,))
        return [(row["root"], row["project"], row["name"]) for row in found]

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor; reads the whole file once, and tells of damage rather than mending it."""
        with self._thread, self._guarded("health"):
            self._follow_replaced_file()
            sound = self._is_sound()
            counts = {name: self._tally(sql) for name, sql in _TALLIES.items()}
            version = schema.version_of(self._db)
        saved = files.backups(self.path)
        return {
            "path": self.path,
            "writable": self._capabilities.writable,
            "reason": self._capabilities.reason,
            "notice": self._notice,
            "integrity": "ok" if sound else "damaged",
            "memories": counts["memories"].get("all", 0),
            "indexed": counts["indexed"].get("all", 0),
            "statuses": counts["statuses"],
            "schema": version,
            "newest_schema": len(schema.MIGRATIONS),
            "bytes": sum(_size(self.path + suffix) for suffix in ("", "-wal")),
            "sqlite": sqlite3.sqlite_version,
            "backups": len(saved),
            "last_backup": os.path.basename(saved[-1]) if saved else None,
        }

    def _tally(self, sql: str) -> dict[str, int]:
        """Counts by name; none where the file is damaged."""
        try:
            return {row[0]: row[1] for row in self._db.execute(sql)}
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return {}

    def close(self) -> None:
        """Leave everything on disk and let go."""
        self._vectors.close()
        with self._thread:
            # The last connection to close checkpoints by itself, so it too must hold the writers' lock.
            # When another process holds it, that process is open as well and ours is not the last.
            with contextlib.suppress(StoreBusy), contextlib.ExitStack() as stack:
                if self._lock is not None:
                    stack.enter_context(self._lock.hold(patience=0.05))
                self._db.close()
            self._db.close()
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    # -- opening

    def _open(self) -> sqlite3.Connection:
        try:
            private_files.make_folder(os.path.dirname(self.path))
            files.refuse_network(self.path)
            self._lock = WriterLock(self.path + ".lock")
        except OSError as error:
            folder = os.path.dirname(self.path)
            return self._open_read_only(f"its folder {folder} cannot be written ({error.strerror})")
        if os.path.exists(self.path) and not os.access(self.path, os.W_OK):
            return self._open_read_only("the file is read-only")
        with self._lock.hold():
            return self._open_writable()

    def _open_writable(self) -> sqlite3.Connection:
        """A writable connection; the caller holds the writer lock."""
        self._finish_repair()
        try:
            db = connect_current(self.path)
        except (*FAILURES, OSError) as error:
            if is_damage(error):
                return self._repair()
            if is_full(error):
                return self._open_read_only("the disk is full or failing; make room, then start anew")
            raise store_error(error, "open") from error
        if db is None:
            return self._open_read_only("it was written by a newer version of Keepmum; update this one to write")
        self._inode = _inode(self.path)
        return db

    def _open_read_only(self, reason: str) -> sqlite3.Connection:
        self._capabilities = Capabilities(writable=False, reason=f"the memory store is read-only: {reason}")
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        return self._opened_as_it_is(reason) if os.path.exists(self.path) else _nothing()

    def _opened_as_it_is(self, reason: str) -> sqlite3.Connection:
        """A connection that reads the file and leaves it alone; one to nothing where no table is in it yet."""
        # Without write access to the folder SQLite cannot share its memory file; then only what is in the main
        # file can be read, which `immutable` allows.
        for mode in ("mode=ro", "immutable=1"):
            with contextlib.suppress(sqlite3.Error):
                db = connect(files.read_only_uri(self.path, mode), uri=True)
                if schema.version_of(db):
                    return db
                db.close()
                return _nothing()
        raise StoreError(f"the memory store can be neither written nor read: {reason}")

    # -- repairing

    def _repair(self) -> sqlite3.Connection:
        """Set a damaged store aside and go on with all that can be read of it; the caller holds the writer lock.

        The new store is made whole beside the old one before it takes its place: a crash in between loses nothing.

        Raises: StoreError when there is no way to make it; the damaged one is then still where it was.
        """
        try:
            saved, from_backups = salvage(self.path, files.backups(self.path))
            self._make_beside(saved)
            aside = files.set_aside(self.path)
            os.replace(self.path + _MENDED, self.path)
        except (*FAILURES, OSError) as error:
            raise store_error(error, "repair") from error
        self._notice = (
            f"the memory store was damaged; {len(saved)} memories were saved ({from_backups} of them from a backup). "
            f"The damaged file is kept as {os.path.basename(aside)}."
        )
        return self._open_writable()

    def _make_beside(self, saved: Sequence[Memory]) -> None:
        mended = self.path + _MENDED
        for leftover in (mended, mended + "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(leftover)
        with contextlib.closing(connect(mended)) as db:
            schema.migrate(db)
            edits.fill(db, saved)

    def _finish_repair(self) -> None:
        """Go on where a repair was cut off, or where the file was removed by hand and its WAL was left."""
        if os.path.exists(self.path):
            return
        files.set_aside(self.path)  # a WAL without its file belongs to no other
        with contextlib.suppress(FileNotFoundError):
            os.replace(self.path + _MENDED, self.path)

    def _heal(self) -> bool:
        """Repair the store if it really is damaged; whether there is hope in trying again."""
        if self._lock is None:
            return False
        with self._thread:
            sound = self._is_sound()  # at first without the lock: a check of a large file takes a while
            with self._lock.hold():
                if self._follow_replaced_file():
                    return True
                if sound or self._is_sound():
                    return self._mend_index()
                self._db.close()
                self._db = self._repair()
                return True

    def _is_sound(self) -> bool:
        try:
            if self._db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return False
            for _ in self._db.execute(f"SELECT {_FIELDS} FROM memories m"):
                continue  # a flipped bit in a text shows only where it is decoded
        except FAILURES as error:
            if is_damage(error):
                return False
            raise
        return True

    def _mend_index(self) -> bool:
        """Make the full-text index anew when it does not fit the rows; whether it was made."""
        try:
            self._db.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            schema.remake_index(self._db)
            self._notice = "the search index of the memory store was damaged and has been made anew; no memory was lost"
            return True
        return False

    # -- transactions

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, alone among all processes; rolled back when the block raises."""
        if self._lock is None:
            raise StoreReadOnly(f"{self._capabilities.reason}. Nothing was stored.")
        with self._thread, self._lock.hold(), self._guarded("write"):
            self._follow_replaced_file()
            with transaction(self._db) as db:
                yield db
            self._checkpoint_locked(at=_CHECKPOINT_AT)

    def _follow_replaced_file(self) -> bool:
        """Open the file anew when a repair in another process put a new one in its place; whether it did."""
        if self._lock is None or _inode(self.path) == self._inode:
            return False
        with self._lock.hold():  # not before that repair is through
            self._db.close()
            self._db = self._open_writable()
        return True

    def _checkpoint(self, at: int) -> None:
        if self._lock is not None:
            with contextlib.suppress(StoreBusy), self._lock.hold(patience=0.0):
                self._checkpoint_locked(at)

    def _checkpoint_locked(self, at: int) -> None:
        """Fold a WAL of `at` bytes or more into the file; the caller holds the writer lock."""
        if _size(self.path + "-wal") >= max(at, 1):
            with contextlib.suppress(sqlite3.OperationalError):  # a reader is busy: next time
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    @contextlib.contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        """Turn SQLite's errors into ours, and repair a file that turns out to be damaged."""
        try:
            yield
        except FAILURES as error:
            if is_damage(error) and self._heal():
                raise StoreError(f"{self._notice} Nothing was stored just now; try again.") from error
            raise store_error(error, doing) from error

    def _rows(self, sql: str, parameters: Sequence[rows.SqlValue]) -> list[sqlite3.Row]:
        with self._thread:
            try:
                self._follow_replaced_file()
                return self._db.execute(sql, parameters).fetchall()
            except FAILURES as error:
                with self._guarded("read"):
                    if not (is_damage(error) and self._heal()):
                        raise
                    return self._db.execute(sql, parameters).fetchall()

    def _memories(self, tail: str, parameters: Sequence[rows.SqlValue]) -> list[Memory]:
        found = self._rows(f"SELECT {_FIELDS} FROM memories m {tail}", parameters)
        return [rows.from_row(row) for row in found]


def _nothing() -> sqlite3.Connection:
    """A store that holds nothing, in memory."""
    db = connect(":memory:")
    schema.migrate(db)
    return db


def _inode(path: str) -> int:
    """The number of the file at `path`, 0 for none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
