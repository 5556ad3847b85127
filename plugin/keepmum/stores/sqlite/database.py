"""The database file of a store: connections, transactions between processes, repair."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keepmum.core.errors import StoreBusy, StoreError, StoreReadOnly
from keepmum.stores.base import Capabilities
from keepmum.stores.sqlite import files, rows, schema
from keepmum.stores.sqlite.connecting import BUSY_MS, connect, connect_current, empty, last_write, probe
from keepmum.stores.sqlite.errors import FAILURES, is_damage, is_full, store_error
from keepmum.stores.sqlite.ledger import ANY, Acknowledged, Ledger
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.sqlite.salvage import Salvaged, is_consistent, salvage
from keepmum.stores.transactions import transaction
from keepmum.system import private_files

__all__ = ["REPAIRED", "Database"]

_CHECKPOINT_AT = 4 * 1024 * 1024  # bytes of WAL
REPAIRED = ".mended"  # suffix of the new file that a repair has completed
_UNFINISHED = ".mended.part"  # and while it is being written
_MENTIONED = (
    7 * 86_400
)  # seconds in which each opening mentions a damage that was not acknowledged; the doctor always does
_WRITES_BEFORE_BACKUP = 10  # of a day, after which it gets its second backup
_BETWEEN_BACKUPS = 60  # seconds; the second one is renewed when the store is closed after writes, at most so often
_LARGEST_AT_ONCE = 8 * 1024 * 1024  # bytes of a file that is backed up during a write; a larger one when it is closed
_NO_ROOM_TO_REPAIR = (
    "the memory store is damaged or lost, and the disk is too full to restore it. Its files and backups are unchanged: "
    "make room, and try again"
)
_UNRESTORED = (
    "memories are missing from the memory store ({0}), and it cannot be repaired while it is read-only. Make it "
    "writable and start again; backups are in {1}."
)
_DELETED = "the memory store was deleted while it was in use; all memories were written back from the open file."
_CHANGED = (
    "the database file was changed by another program than Keepmum, or by a fault of the disk. All memories can be "
    "read; compare them with a backup if nobody edited the file."
)
# How often each file is open in this process. Closing a file releases all locks that the process holds on it, those of
# SQLite included, so a file is only read directly while no connection has it open.
# Source: https://sqlite.org/howtocorrupt.html section 2.2, read 2026-11-22.
_OPEN_HERE: Counter[str] = Counter()
_COUNTING = threading.Lock()


class _Lost(NamedTuple):
    """What was lost, for the report."""

    what: str = ""
    suspect: bool = False  # whether memories may be missing although every row can be read


class Database:
    """One SQLite file that many processes share. Methods are safe between threads and processes."""

    def __init__(self, path: str, *, cache: bool = False) -> None:
        """Open the file; create it when it is new, repair it when it is damaged, restore it when it was lost.

        A `cache` can be deleted at any time: it has no ledger, and is created again instead of restored.

        Raises: StoreError when it can be neither read nor created.
        """
        self.path = os.path.abspath(path)
        self.capabilities = Capabilities()
        self.notice = ""  # the last repair, or one that was not acknowledged, in a sentence
        self._is_cache = cache
        self._thread = threading.RLock()
        self._lock: WriterLock | None = None  # None when the file is read-only
        self._ledger: Ledger | None = None  # None when the file is read-only, or a cache
        self._inode = 0
        self._writes = 0  # since the last backup in this process
        self._next_backup = 0.0  # time before which no backup is made after a write
        self._is_open = True
        with _COUNTING:
            _OPEN_HERE[self.path] += 1
        try:
            self._connection = self._open()
        except BaseException:
            self._count_closed()
            raise

    @property
    def schema_version(self) -> int:
        """The version of the tables; older than ours only in a file that cannot be written."""
        return schema.version_of(self._connection)

    def query(self, sql: str, parameters: Sequence[rows.SqlValue]) -> list[sqlite3.Row]:
        """The rows that a statement returns; a damaged file is repaired and asked again."""
        with self._thread:
            try:
                self._follow_replaced_file()
                return self._connection.execute(sql, parameters).fetchall()
            except FAILURES as error:
                with self._translated("read"):
                    if not (is_damage(error) and self._heal()):
                        raise
                    return self._connection.execute(sql, parameters).fetchall()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that excludes all other writers; rolled back when the block raises."""
        if self._lock is None:
            raise StoreReadOnly(f"{self.capabilities.reason}. Nothing was stored.")
        with self._thread, self._lock.hold(), self._translated("write"):
            self._follow_replaced_file()
            with transaction(self._connection) as db:
                yield db
                last = None if self._ledger is None else last_write(db)
            if self._ledger is not None and last is not None:
                self._ledger.acknowledge(last)
            self._writes += 1
            self._checkpoint_locked(at=_CHECKPOINT_AT)

    @contextlib.contextmanager
    def using(self, doing: str, *, alone: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection outside any transaction; with `alone`, all other writers are excluded."""
        with self._thread, self._translated(doing), contextlib.ExitStack() as stack:
            if alone and self._lock is not None:
                stack.enter_context(self._lock.hold())
            self._follow_replaced_file()
            yield self._connection

    def checkpoint(self) -> None:
        """Fold the WAL into the file, unless another process is writing."""
        if self._lock is not None:
            with contextlib.suppress(StoreBusy), self._lock.hold(patience=0.0):
                self._checkpoint_locked(at=0)

    @contextlib.contextmanager
    def maintaining(self) -> Iterator[None]:
        """Make the daily backup when it is due, run the block, fold the WAL into the file."""
        with self._thread, self._translated("upkeep"):
            self._back_up_if_due()
            yield
            self.checkpoint()

    def back_up_writes(self, *, closing: bool) -> None:
        """Make a day's second backup after its first writes; renew it when the store is closed after others."""
        is_small = files.size_of(self.path) <= _LARGEST_AT_ONCE
        enough = self._writes > 0 if closing else self._writes >= _WRITES_BEFORE_BACKUP and is_small
        now = time.time()
        if self._lock is None or not enough or (now < self._next_backup and not closing):
            return
        self._writes = 0
        self._next_backup = now + _BETWEEN_BACKUPS
        with self._thread, contextlib.suppress(StoreError, OSError), self._translated("back up"):
            self._back_up_if_due(most=2)
            outdated = (
                files.last_backup_before(self.path, time.time() - _BETWEEN_BACKUPS) if closing and is_small else None
            )
            if outdated is not None:
                self._heal()
                self.back_up()
                os.unlink(outdated)

    def copy_to(self, path: str) -> None:
        """Copy the database into a new file, as it is at one moment."""
        with self.using("copy") as db, contextlib.closing(connect(path)) as copy:
            db.backup(copy)

    def back_up(self) -> None:
        """Make a backup, unless there is nothing in it."""
        if self._connection.execute("SELECT 1 FROM memories LIMIT 1").fetchone():
            files.back_up(self._connection, self.path, time.time())

    def fold(self) -> bool:
        """Fold the WAL into the file, waiting for readers; False when one is busy. The caller holds the writer lock."""
        was_sound = self._ledger is not None and self._ledger.is_unchanged()
        if self._ledger is not None:
            self._ledger.fold()
        busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if self._ledger is not None and was_sound:  # otherwise the next opening checks all pages
            self._ledger.folded()
        return not busy

    def close(self) -> None:
        """Write everything to disk and close the file."""
        with self._thread:
            # The last connection that closes runs a checkpoint, so it must hold the writer lock. If another process
            # holds the lock, that process has the file open and this connection is not the last.
            with contextlib.suppress(StoreBusy), contextlib.ExitStack() as stack:
                if self._lock is not None:
                    stack.enter_context(self._lock.hold(patience=0.05))
                    with contextlib.suppress(*FAILURES, OSError):
                        self._checkpoint_locked(at=0)
                self._connection.close()
            self._connection.close()
            if self._lock is not None:
                self._lock.close()
                self._lock = self._ledger = None
            self._count_closed()

    # -- opening

    def _open(self) -> sqlite3.Connection:
        folder = os.path.dirname(self.path)
        try:
            private_files.make_folder(folder)
            files.refuse_network(self.path)
            self._lock = WriterLock(self.path + ".lock")
        except OSError as error:
            return self._open_read_only(f"its folder {folder} cannot be written ({error.strerror})")
        if os.path.exists(self.path) and not os.access(self.path, os.W_OK):
            return self._open_read_only("the file is read-only")
        if not self._is_cache:
            self._ledger = Ledger(self.path, self._lock.descriptor)
        with self._lock.hold():
            return self._open_writable()

    def _open_writable(self) -> sqlite3.Connection:
        """A writable connection; the caller holds the writer lock."""
        try:
            self._finish_repair()
            if (lost := self._lost()) is not None:
                return self._repair(lost)
            db = connect_current(self.path)
            last = None if db is None else last_write(db)
        except (*FAILURES, OSError) as error:
            if is_damage(error):
                return self._repair()
            if is_full(error):
                return self._open_read_only("the disk is full or failing; make room, then start again")
            raise store_error(error, "open") from error
        if db is None:
            return self._open_read_only("it was written by a newer version of Keepmum; update this one to write")
        if self._ledger is not None and (lost := self._lost_writes(last)) is not None:
            repaired = self._repair(lost)
            db.close()
            return repaired
        self._inode = _inode(self.path)
        if self._ledger is not None:
            if last is not None:
                self._ledger.acknowledge(last)
            if not self._ledger.has_file:
                self._ledger.folded()
            self.notice = self.notice or " ".join(files.reports(self.path, time.time() - _MENTIONED))
        return db

    def _lost(self) -> _Lost | None:
        """What was lost since the last acknowledged write; None for nothing.

        Checked before SQLite writes: it deletes the WAL of an empty file, and folds what it can read of a damaged one.
        """
        if self._ledger is None:
            return None
        has_wal = files.size_of(self.path + "-wal") > 0
        if not files.size_of(self.path):
            is_lost = os.path.isdir(os.path.dirname(self.path)) and (has_wal or self._had_memories())
            return (
                _Lost(f"it was {'empty' if os.path.exists(self.path) else 'missing'}", suspect=True)
                if is_lost
                else None
            )
        alone = _OPEN_HERE[self.path] == 1
        if alone:
            self._ledger.start()
        lost = None
        if has_wal:
            try:
                lost = self._lost_writes(probe(self.path))
            except FAILURES as error:
                lost = _Lost("it cannot be read") if is_damage(error) else None
        return self._changed_pages(self._ledger) if lost is None and alone else lost

    def _lost_writes(self, found: Acknowledged | None) -> _Lost | None:
        """Whether a database in this state lacks writes that were acknowledged."""
        last = None if self._ledger is None else self._ledger.acknowledged()
        if found is None:
            return None
        if not found.change and self._had_memories():
            return _Lost("it was empty", suspect=True)
        if last is not None and last.identity not in (ANY, found.identity):
            return _Lost("it was not the one that was written last", suspect=True)
        if last is not None and found.change < last.change:
            return _Lost("acknowledged writes are missing from it")
        return None

    def _changed_pages(self, ledger: Ledger) -> _Lost | None:
        """Whether the file changed since the last checkpoint; all pages are read when its size or time says so.

        Once a day they are read in any case.
        """
        if ledger.is_unchanged() and not files.is_old(files.backups(self.path)[-1:], time.time()):
            return None
        changed = ledger.damaged_pages()
        if not changed:
            ledger.folded()
            return None
        if not is_consistent(self.path):
            return _Lost(f"{len(changed)} of its pages had changed", suspect=changed != [1])
        self._report(_CHANGED)
        ledger.reset()
        ledger.start()
        return None

    def _had_memories(self) -> bool:
        """Whether an empty or missing store had memories, as the ledger and the backups say."""
        last = None if self._ledger is None else self._ledger.acknowledged()
        if last is not None and last.change:
            return last.memories > 0
        return any(map(files.is_filled, files.backups(self.path)))

    def _open_read_only(self, reason: str) -> sqlite3.Connection:
        self.capabilities = Capabilities(writable=False, reason=f"the memory store is read-only: {reason}")
        if self._lock is not None:
            self._lock.close()
            self._lock = self._ledger = None
        db = self._open_unchanged(reason) if os.path.exists(self.path) else empty()
        if not self._is_cache:
            self._report_unrestored(db)
        return db

    def _report_unrestored(self, db: sqlite3.Connection) -> None:
        """Say what was lost of a store that cannot be repaired, since it cannot be written."""
        with contextlib.suppress(OSError):
            descriptor = os.open(self.path + ".lock", os.O_RDONLY)
            self._ledger = Ledger(self.path, descriptor)
        lost = None
        with contextlib.suppress(*FAILURES):
            lost = self._lost_writes(last_write(db))
        if self._ledger is not None:
            self._ledger = None
            os.close(descriptor)
        if lost is not None:
            self.notice = _UNRESTORED.format(lost.what, os.path.join(os.path.dirname(self.path), "backups"))

    def _open_unchanged(self, reason: str) -> sqlite3.Connection:
        """A connection that only reads the file; to an empty database when the file has no tables yet."""
        # Without write access to the folder SQLite cannot create its shared-memory file. Then only the main file can
        # be read, which `immutable` allows.
        for mode in ("mode=ro", "immutable=1"):
            with contextlib.suppress(sqlite3.Error):
                db = connect(files.read_only_uri(self.path, mode), uri=True)
                if schema.version_of(db):
                    schema.add_missing_columns(db)
                    return db
                db.close()
                return empty()
        raise StoreError(f"the memory store can be neither written nor read: {reason}")

    def _follow_replaced_file(self) -> bool:
        """Reopen the file when a repair in another process has replaced it; True when it was reopened."""
        if self._lock is None or _inode(self.path) == self._inode:
            return False
        with self._lock.hold():  # wait until that repair is done
            self._write_back_deleted()
            self._connection.close()
            self._connection = self._open_writable()
        return True

    def _write_back_deleted(self) -> None:
        """When the file was deleted while it was open here, prepare a repair with everything it had."""
        if self._is_cache or os.path.exists(self.path):
            return
        unfinished = self.path + _UNFINISHED
        with contextlib.suppress(*FAILURES, OSError):
            with contextlib.closing(connect(unfinished)) as copy:
                self._connection.backup(copy)
            self._report(_DELETED)
            os.replace(unfinished, self.path + REPAIRED)

    # -- repairing

    def _repair(self, lost: _Lost | None = None) -> sqlite3.Connection:
        """Rename a damaged file and continue with all that can be read of it; the caller holds the writer lock.

        The new file is completed before it replaces the old one, so a crash in between loses nothing.

        Raises: StoreError when the new file cannot be made; the damaged one then keeps its name.
        """
        last = None if self._ledger is None else self._ledger.acknowledged()
        unfinished, repaired = self.path + _UNFINISHED, self.path + REPAIRED
        try:
            for leftover in (unfinished, unfinished + "-journal", repaired):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(leftover)
            with contextlib.closing(connect(unfinished)) as db:
                schema.migrate(db)
                saved = salvage(
                    self.path, db, files.backups(self.path), last, suspect=lost is not None and lost.suspect
                )
            aside = files.aside_name(self.path)
            kept = [os.path.basename(aside + end) for end in ("", "-wal") if os.path.exists(self.path + end)]
            self.notice = _sentence(lost.what if lost else "", saved, last, kept)
            if not self._is_cache:
                self._report(self.notice)
            if self._ledger is not None and last is not None:
                self._ledger.acknowledge(last._replace(identity=ANY))
            os.replace(unfinished, repaired)
            files.set_aside(self.path, aside)
            os.replace(repaired, self.path)
        except (*FAILURES, OSError) as error:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            if is_full(error):
                raise StoreError(_NO_ROOM_TO_REPAIR) from error
            raise store_error(error, "repair") from error
        if self._ledger is not None:
            self._ledger.reset()
        return self._open_writable()

    def _report(self, text: str) -> None:
        """Report damage now, and to later sessions until somebody deletes the report.

        Raises: OSError.
        """
        self.notice = files.report(self.path, text)

    def _finish_repair(self) -> None:
        """Finish a repair that was interrupted."""
        repaired = self.path + REPAIRED
        if not os.path.exists(self.path) and os.path.exists(repaired):
            files.set_aside(self.path, files.aside_name(self.path))  # a WAL belongs to no other file than its own
            os.replace(repaired, self.path)
            if self._ledger is not None:
                self._ledger.reset()

    def _back_up_if_due(self, most: int = 1) -> None:
        """Make a backup unless the last day has `most` of them; a damaged file must not displace a sound one."""
        if not self._is_cache and files.backup_is_due(self.path, time.time(), most):
            self._heal()
            self.back_up()

    def _count_closed(self) -> None:
        if self._is_open:
            self._is_open = False
            with _COUNTING:
                _OPEN_HERE[self.path] -= 1

    def _heal(self) -> bool:
        """Repair the file if it is damaged; True when the operation may be retried."""
        if self._lock is None:
            return False
        with self._thread:
            sound = self.is_sound()  # first without the lock: checking a large file takes long
            with self._lock.hold():
                if self._follow_replaced_file():
                    return True
                if sound or self.is_sound():
                    return self._repair_index()
                before, self._connection = self._connection, self._repair()
                before.close()  # now that the file was renamed: closing it earlier would change what is kept
                return True

    def is_sound(self) -> bool:
        """Whether every page and every text can be read."""
        try:
            if self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return False
            for row in self._connection.execute(f"SELECT digest, {', '.join(rows.COLUMNS)} FROM memories"):
                if rows.digest(row["text"]) != row["digest"]:  # a flipped bit in a text shows only here
                    return False
        except FAILURES as error:
            if is_damage(error):
                return False
            raise
        return True

    def _repair_index(self) -> bool:
        """Rebuild the full-text index if it does not match the rows; True when it was rebuilt."""
        try:
            self._connection.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            schema.rebuild_index(self._connection)
            self.notice = "the search index of the memory store was damaged and has been rebuilt; no memory was lost"
            return True
        return False

    def _checkpoint_locked(self, at: int) -> None:
        """Fold a WAL of at least `at` bytes into the file; the caller holds the writer lock."""
        if files.size_of(self.path + "-wal") >= max(at, 1):
            with contextlib.suppress(sqlite3.OperationalError):  # a reader is busy: next time
                self._connection.execute("PRAGMA busy_timeout = 0")
                self.fold()
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    @contextlib.contextmanager
    def _translated(self, doing: str) -> Iterator[None]:
        """Turn SQLite's errors into ours, and repair a file that is damaged."""
        try:
            yield
        except FAILURES as error:
            if is_damage(error) and self._heal():
                raise StoreError(f"{self.notice} Nothing was stored just now; try again.") from error
            raise store_error(error, doing) from error


def _inode(path: str) -> int:
    """The inode of a file, 0 when there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _sentence(what: str, saved: Salvaged, last: Acknowledged | None, kept: Sequence[str]) -> str:
    """The report of a repair."""
    had = "" if last is None or not last.memories else f" It had about {last.memories}."
    cause = f" ({what})" if what else ""
    if saved.memories:
        result = f"{saved.memories} memories were saved ({saved.from_backups} of them from a backup).{had}"
    else:
        result = f"no memory could be read, neither from it nor from a backup.{had}"
    if saved.from_backups:
        result += f" Used: {', '.join(saved.backups)}; what was removed after that backup may be back."
    names = " and ".join(kept)
    found = f" The damaged file is kept as {names}." if names else ""
    return f"the memory store was damaged{cause}; {result}{found}"
