"""The database file of a store: connections, transactions between processes, repair."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence

from keepmum.core.errors import StoreBusy, StoreError, StoreReadOnly
from keepmum.stores.base import Capabilities
from keepmum.stores.sqlite import edits, files, rows, schema
from keepmum.stores.sqlite.errors import FAILURES, is_damage, is_full, store_error
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.sqlite.salvage import salvage
from keepmum.stores.transactions import transaction
from keepmum.system import private_files

__all__ = ["BUSY_MS", "Database", "size_of"]

BUSY_MS = 10_000
_CHECKPOINT_AT = 4 * 1024 * 1024  # bytes of WAL
_REPAIRED = ".mended"  # suffix of the new file that a repair writes


class Database:
    """One SQLite file that many processes share. Methods are safe between threads and processes."""

    def __init__(self, path: str) -> None:
        """Open the file; create it when it is new, repair it when it is damaged.

        Raises: StoreError when it can be neither read nor created.
        """
        self.path = os.path.abspath(path)
        self.capabilities = Capabilities()
        self.notice = ""  # the last repair, in a sentence
        self._thread = threading.RLock()
        self._lock: WriterLock | None = None  # None when the file is read-only
        self._inode = 0
        self._connection = self._open()

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
            if files.backup_is_due(self.path, time.time()):
                self._heal()  # a damaged file must not displace a sound backup
                files.back_up(self._connection, self.path, time.time())
            yield
            self.checkpoint()

    def close(self) -> None:
        """Write everything to disk and close the file."""
        with self._thread:
            # The last connection that closes runs a checkpoint, so it must hold the writer lock. If another process
            # holds the lock, that process has the file open and this connection is not the last.
            with contextlib.suppress(StoreBusy), contextlib.ExitStack() as stack:
                if self._lock is not None:
                    stack.enter_context(self._lock.hold(patience=0.05))
                self._connection.close()
            self._connection.close()
            if self._lock is not None:
                self._lock.close()
                self._lock = None

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
        with self._lock.hold():
            return self._open_writable()

    def _open_writable(self) -> sqlite3.Connection:
        """A writable connection; the caller holds the writer lock."""
        self._finish_repair()
        try:
            db = _connect_current(self.path)
        except (*FAILURES, OSError) as error:
            if is_damage(error):
                return self._repair()
            if is_full(error):
                return self._open_read_only("the disk is full or failing; make room, then start again")
            raise store_error(error, "open") from error
        if db is None:
            return self._open_read_only("it was written by a newer version of Keepmum; update this one to write")
        self._inode = _inode(self.path)
        return db

    def _open_read_only(self, reason: str) -> sqlite3.Connection:
        self.capabilities = Capabilities(writable=False, reason=f"the memory store is read-only: {reason}")
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        return self._open_unchanged(reason) if os.path.exists(self.path) else _empty()

    def _open_unchanged(self, reason: str) -> sqlite3.Connection:
        """A connection that only reads the file; to an empty database when the file has no tables yet."""
        # Without write access to the folder SQLite cannot create its shared-memory file. Then only the main file can
        # be read, which `immutable` allows.
        for mode in ("mode=ro", "immutable=1"):
            with contextlib.suppress(sqlite3.Error):
                db = _connect(files.read_only_uri(self.path, mode), uri=True)
                if schema.version_of(db):
                    return db
                db.close()
                return _empty()
        raise StoreError(f"the memory store can be neither written nor read: {reason}")

    def _follow_replaced_file(self) -> bool:
        """Reopen the file when a repair in another process has replaced it; True when it was reopened."""
        if self._lock is None or _inode(self.path) == self._inode:
            return False
        with self._lock.hold():  # wait until that repair is done
            self._connection.close()
            self._connection = self._open_writable()
        return True

    # -- repairing

    def _repair(self) -> sqlite3.Connection:
        """Rename a damaged file and continue with all that can be read of it; the caller holds the writer lock.

        The new file is completed before it replaces the old one, so a crash in between loses nothing.

        Raises: StoreError when the new file cannot be made; the damaged one then keeps its name.
        """
        try:
            saved, from_backups = salvage(self.path, files.backups(self.path))
            repaired = self.path + _REPAIRED
            for leftover in (repaired, repaired + "-journal"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(leftover)
            with contextlib.closing(_connect(repaired)) as db:
                schema.migrate(db)
                edits.fill(db, saved)
            aside = files.set_aside(self.path)
            os.replace(repaired, self.path)
        except (*FAILURES, OSError) as error:
            raise store_error(error, "repair") from error
        self.notice = (
            f"the memory store was damaged; {len(saved)} memories were saved ({from_backups} of them from a backup). "
            f"The damaged file is kept as {os.path.basename(aside)}."
        )
        return self._open_writable()

    def _finish_repair(self) -> None:
        """Finish a repair that was interrupted, and set aside a WAL whose file was removed by hand."""
        if os.path.exists(self.path):
            return
        files.set_aside(self.path)  # a WAL belongs to no other file than its own
        with contextlib.suppress(FileNotFoundError):
            os.replace(self.path + _REPAIRED, self.path)

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
                self._connection.close()
                self._connection = self._repair()
                return True

    def is_sound(self) -> bool:
        """Whether every page and every text can be read."""
        try:
            if self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return False
            for _ in self._connection.execute(f"SELECT {', '.join(rows.COLUMNS)} FROM memories"):
                continue  # a flipped bit in a text only shows when it is decoded
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
        if size_of(self.path + "-wal") >= max(at, 1):
            with contextlib.suppress(sqlite3.OperationalError):  # a reader is busy: next time
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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


def _connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection with our settings; a new file gets mode 0600.

    Raises: sqlite3.Error, UnicodeDecodeError (see `keepmum.stores.sqlite.errors`), OSError.
    """
    if target != ":memory:" and not uri and not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    db = sqlite3.connect(target, uri=uri, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    db.row_factory = sqlite3.Row
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA wal_autocheckpoint = 0")  # see keepmum.stores.sqlite.lock
        db.execute("PRAGMA secure_delete = ON")  # purged content is overwritten
        # KiB of page cache in each process. The system caches the file for all of them; four times as many KiB did not
        # make a search measurably faster.
        db.execute("PRAGMA cache_size = -512")
        db.execute("PRAGMA synchronous = FULL")  # an acknowledged write survives a power cut
        if uri:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # fails now if the file cannot be read
    except BaseException:
        db.close()
        raise
    return db


def _connect_current(path: str) -> sqlite3.Connection | None:
    """A connection to a file of this schema version, migrated if needed; None when the file is newer."""
    db = _connect(path)
    try:
        version = schema.version_of(db)
        if version <= len(schema.MIGRATIONS):
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                db.execute("PRAGMA journal_mode = WAL")
            if 0 < version < len(schema.MIGRATIONS):
                files.back_up(db, path, time.time())
            schema.migrate(db)
            return db
    except BaseException:
        db.close()
        raise
    db.close()
    return None


def _empty() -> sqlite3.Connection:
    """An empty database in memory."""
    db = _connect(":memory:")
    schema.migrate(db)
    return db


def _inode(path: str) -> int:
    """The inode of a file, 0 when there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def size_of(path: str) -> int:
    """Bytes of a file, 0 when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
