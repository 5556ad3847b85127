"""The store of a repository: its Markdown files are the memories, and an index makes them searchable.

The files are authoritative: people, merges and other tools may change them. The index is in the user's cache and is
rebuilt when it is missing; only the use counts and the history of this machine are lost with it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from keepmum.core.errors import InvalidInput, StoreError, StoreReadOnly
from keepmum.core.memory import (
    Activity,
    Change,
    DayCount,
    Facets,
    Filter,
    JsonValue,
    LogFilter,
    Memory,
    Order,
    Outline,
    Revision,
    Trust,
)
from keepmum.stores.base import EVERY_ENTRY, STORED, Capabilities, Features, Near, Receipt, Redact, StaleWrite
from keepmum.stores.markdown import front_matter, mapping
from keepmum.stores.markdown.file_table import FileTable, Row
from keepmum.stores.markdown.folder import Folder, UnreadableFile, shown_path
from keepmum.stores.markdown.index_sync import IndexSync, digest_of
from keepmum.stores.markdown.ledger import Ledger, ledger_path
from keepmum.stores.markdown.registry import Registry
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.errors import is_busy, is_full, store_error
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.system import private_files

__all__ = ["FOLDER", "MarkdownStore"]

FOLDER = ".memories"
_CANNOT: Mapping[str, str] = {
    "fading": "memories in a repository do not fade, since that would change shared files; trashed and expired ones "
    "stay in their files, hidden, until `keepmum forget --purge` removes them",
    "history": "earlier revisions are kept on this machine only; the repository's own history has the rest",
    "use": "use is counted on this machine only",
    "trust": "who wrote a memory is recorded on this machine only; others read its file as text from outside until "
    "they accept it",
    "erasure": "what git has committed stays in its history, also after a purge from the files",
}
_LOCK_TIMEOUT = 30.0  # seconds; each writer first reads what the one before it has changed
_MAX_NAMED = 3  # files in a notice
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _FileWrite:
    """One file to create (no `old`), replace, or remove (no `content`)."""

    memory: str
    file_id: str
    path: str | None
    old: bytes | None
    content: bytes | None
    after: Memory | None


class MarkdownStore:
    """A `Store` in the files of one repository (see `keepmum.stores.base.Store` for what each method returns)."""

    def __init__(self, root: str, cache: str, project: str | None = None, registry: Registry | None = None) -> None:
        """The store in `root/.memories`, with its index below the folder `cache`.

        `project` is that of memories whose file names none. Writing a new memory lists the repository in `registry`.

        Raises: StoreError when the index can be neither read nor created.
        """
        self.root = os.path.abspath(root)
        self._project = project
        self._registry = registry
        self._folder = Folder(os.path.join(self.root, FOLDER))
        self._thread_lock = threading.RLock()
        self._closed = False
        # The index contains the project of each memory, so each project has an index of its own.
        name = hashlib.blake2b(f"{os.path.realpath(self.root)}\n{project}".encode("utf-8", "replace"), digest_size=8)
        index_folder = os.path.join(cache, "markdown", name.hexdigest())
        try:
            private_files.make_folder(index_folder)
            self._lock = WriterLock(os.path.join(index_folder, "files.lock"))
        except OSError as error:
            problem = f"cannot be created in {index_folder} ({error.strerror})"
            raise StoreError(f"the index of {self._folder.path} {problem}") from None
        with self._store_errors():
            with self._lock.hold(_LOCK_TIMEOUT):  # two processes that repair a cache must not delete each other's
                self._table = FileTable(os.path.join(index_folder, "files.db"))
                self._index = SqliteStore(os.path.join(index_folder, "memory.db"), self._refresh, cache=True)
            self._ledger = Ledger(ledger_path(os.path.dirname(os.path.abspath(cache))))
            self._sync = IndexSync(self._folder, self._table, self._index, project, self._ledger)
            self._ledger_notice = self._lost_ledger()
            self._update_index(check_all=True)
        self.features = Features(
            vector_search=self._index.features.vector_search,
            versions=self,
            files=self,
            maintenance=self,
            erasure=self,
            local_state=self._index,
            review_state=self._index.features.review_state,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What this store guarantees right now."""
        if self._folder.writable and self._index.capabilities.writable:
            return Capabilities(cannot=_CANNOT)
        reason = self._folder.problem or self._index.capabilities.reason
        reason = reason or f"{self._folder.path} cannot be written; the memories there can only be read"
        return Capabilities(writable=False, reason=reason, cannot=_CANNOT)

    @property
    def notice(self) -> str:
        """The files that could not be read completely, and why."""
        rows = self._table.problems
        problems = [f"{shown_path(row.path)} {row.problem}" for row in rows[:_MAX_NAMED]]
        more = f"; and {len(rows) - _MAX_NAMED} more, which `keepmum doctor` lists" if len(rows) > _MAX_NAMED else ""
        unread = f"in {self._folder.path}: {'; '.join(problems)}{more}" if rows else self._index.notice
        return "; ".join(filter(None, [self._ledger_notice, unread]))

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes to the files and the index, or none; history and activity go into the index."""
        with self._writing():
            writes = self._plan(changes)
            self._table.set_fact("dirty", "1")
            try:
                self._index.commit(changes, activity)
            except StaleWrite:
                self._table.set_fact("dirty", "0")
                raise
            self._write_files(writes)
        return STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes, redact the history, and keep no old byte in files and index."""
        with self._writing():
            writes = self._plan(changes)
            self._table.set_fact("dirty", "1")
            removed = self._index.cleanse(changes, activity, redact)
            self._folder.drop_unfinished(write.path for write in writes if write.path is not None)
            self._write_files(writes)
            return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note on this machine that these memories were loaded at `now`."""
        self._index.reinforce(ids, now)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of this machine."""
        self._index.log(activity)

    def upkeep(self, now: int) -> None:
        """Compare every file with the index, prune the activity log, remove temporary files of killed processes."""
        with self._store_errors():
            self._update_index(check_all=True)
            for day in list(self._table.days):
                self._folder.tidy(day, time.time())
        self._index.upkeep(now)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order."""
        return self._read(lambda: self._index.get(ids))

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories whose ids are in [first, last]."""
        return self._read(lambda: self._index.between(first, last, limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key."""
        return self._read_one(lambda: self._index.by_key(space, key))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory under a key, whatever its status; the last holder when none is active."""
        return self._read_one(lambda: self._index.last_by_key(space, key))

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with this text, ignoring case and white space."""
        return self._read_one(lambda: self._index.same_text(space, text))

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that contain any of `words`, best first by BM25."""
        return self._read(lambda: self._index.search(words, wanted, limit), lambda pairs: [pair[0] for pair in pairs])

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """The memories in the files that are similar to one of `memories`, as the index knows them."""
        return self._read(
            lambda: self._index.near(memories, wanted, cosine, among), lambda found: [one.memory for one in found]
        )

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in `order`."""
        return self._read(lambda: self._index.browse(wanted, order=order, limit=limit, offset=offset))

    def count(self, wanted: Filter) -> int:
        """Number of memories that pass the filter."""
        self._refresh()
        return self._index.count(wanted)

    def history(self, memory: str) -> list[Revision]:
        """The earlier revisions that this machine has seen, latest first."""
        self._refresh()
        return self._index.history(memory)

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest activity on this machine, latest first."""
        return self._index.activity(limit, project, wanted, after)

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        """How often each agent did what on each day, on this machine."""
        return self._index.activity_days(since, project)

    def facets(self, wanted: Filter) -> Facets:
        """The numbers of memories with each value."""
        self._refresh()
        return self._index.facets(wanted)

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts."""
        self._refresh()
        return self._index.outlines(wanted)

    def changes(self) -> int:
        """A number that differs after files have changed."""
        self._refresh()
        return self._index.changes()

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor, with the problems of all files."""
        with self._store_errors():
            self._update_index(check_all=True)
        problems = [f"{row.path} {row.problem}" for row in self._table.problems]
        capabilities = self.capabilities
        folder: dict[str, JsonValue] = {
            "path": self._folder.path,
            "writable": capabilities.writable,
            "reason": capabilities.reason,
        }
        return {**self._index.health(), **folder, "files": len(self._table.files), "problems": problems}

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """The id in a memory's file, and the path of the file relative to the repository."""
        row = self._table.files.get(self._table.path_of(memory) or "")
        return (row.file_id, f"{FOLDER}/{row.path}") if row else None

    def with_file_id(self, name: str) -> list[str]:
        """Ids of the memories whose files have this id."""
        with self._store_errors():
            self._update_index()
            return self._table.with_file_id(name)

    def close(self) -> None:
        """Close the index and release all locks, when no other thread uses them any more."""
        with self._thread_lock:
            if not self._closed:
                self._closed = True
                self._index.close()
                self._table.close()
                self._lock.close()

    def accept(self, ids: Sequence[str], *, accepted: bool = True) -> None:
        """Count these memories as the team's, as their files are now; those that this home wrote keep their trust."""
        before: Trust = "outside" if accepted else "team"
        after: Trust = "team" if accepted else "outside"
        with self._writing():
            paths = filter(None, map(self._table.path_of, ids))
            read = [mapping.parse_file(self._folder.read(path), self._project).memory for path in paths]
            self._ledger.note((memory, after) for memory in read if self._ledger.level_of(memory) == before)
            self._table.set_fact("dirty", "1")
            self._update_index_locked()

    # -- keeping index and files in sync

    def _lost_ledger(self) -> str:
        """That the ledger is another than the one this index was made with, or is damaged; said once."""
        known, ledger = self._table.facts.get("ledger", ""), self._ledger
        problem = ""
        if self._table.files and known not in {"", ledger.identity}:
            problem = "was lost, so memories that this user wrote there count as text from outside"
        elif ledger.damaged and str(ledger.damaged) != self._table.facts.get("ledger damage", "0"):
            problem = f"has unreadable lines ({ledger.damaged}); what they recorded counts as text from outside"
        self._table.set_fact("ledger damage", str(ledger.damaged))
        return (
            problem and f"the record of what was written to {self._folder.path} {problem}; `keepmum review` accepts it"
        )

    def _read(
        self, query: Callable[[], list[_Result]], memories: Callable[[list[_Result]], list[Memory]] | None = None
    ) -> list[_Result]:
        """The result of `query` on an index that is in sync. The files of the result are always checked."""
        with self._store_errors():
            self._update_index()
            result = query()
            shown: list[Memory] = memories(result) if memories else result  # type: ignore[assignment]
            if self._sync.any_differs(shown):
                self._update_index(check_all=True)
                return query()
            return result

    def _read_one(self, query: Callable[[], Memory | None]) -> Memory | None:
        def as_list() -> list[Memory]:
            memory = query()
            return [] if memory is None else [memory]

        return next(iter(self._read(as_list)), None)

    def _refresh(self) -> None:
        """Update the index from changed files."""
        with self._store_errors():
            self._update_index()

    def _update_index(self, *, check_all: bool = False) -> None:
        if self._sync.detect(check_all=check_all) is not None:
            with self._lock.hold(_LOCK_TIMEOUT):
                self._update_index_locked(check_all=check_all)

    def _update_index_locked(self, *, check_all: bool = False) -> None:
        """Detect changes again, now that no other process writes, and apply them; the caller holds the lock."""
        changes = self._sync.detect(check_all=check_all)
        if changes is not None:
            self._sync.apply(changes)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the lock of all processes, with an index that is in sync."""
        capabilities = self.capabilities
        if not capabilities.writable:
            raise StoreReadOnly(f"{capabilities.reason}. Nothing was stored.")
        with self._store_errors(), self._lock.hold(_LOCK_TIMEOUT):
            self._update_index_locked()
            yield

    # -- writing files

    def _write_files(self, writes: Sequence[_FileWrite]) -> None:
        """Write the files after the index. When one fails, restore the others and update the index from the files."""
        undo: list[Callable[[], object]] = []
        rows: list[Row] = []
        gone: list[str] = []
        written = [
            (mapping.parse_file(write.content, self._project).memory, write.after.trust)
            for write in writes
            if write.content is not None and write.after is not None
        ]
        try:
            self._ledger.note(written)  # before the files: a killed process leaves none that it did not record
            # New files first, removals last: a killed process leaves no memory without a file.
            for write in sorted(writes, key=lambda write: (write.old is not None) + (write.content is None)):
                path = self._write_file(write, undo)
                if write.content is None:
                    gone.append(path)
                else:  # the mark is empty: a change right after this one might have the same mark
                    rows.append(Row(path, "", digest_of(write.content), write.memory, write.file_id))
        except (OSError, UnreadableFile) as error:
            for undo_one in reversed(undo):
                with contextlib.suppress(OSError, UnreadableFile):
                    undo_one()
            self._update_index_locked()  # the table is marked as dirty, so that everything is read again
            raise StoreError(f"a file in {self._folder.path} {_problem(error)}; nothing was stored") from None
        self._table.write(rows, gone)
        self._table.set_fact("dirty", "0")
        if self._registry is not None and any(write.old is None for write in writes):
            self._registry.note(self.root, time.time())

    def _plan(self, changes: Sequence[Change]) -> list[_FileWrite]:
        """The files to write for these changes.

        Raises: StaleWrite when a file is gone; StoreError when the front matter of one cannot be changed safely.
        """
        try:
            return [self._file_write(one.before, one.after) for one in changes if one.before or one.after]
        except (UnreadableFile, ValueError, InvalidInput) as error:  # also NotMemoryFile, InvalidYaml, not UTF-8
            raise StoreError(f"a file in {self._folder.path} {_problem(error)}; nothing was stored") from None

    def _file_write(self, before: Memory | None, after: Memory | None) -> _FileWrite:
        if before is None:
            assert after is not None
            content = mapping.new_text(after, self._project).encode()
            return _FileWrite(after.id, mapping.short_id(after.id), None, None, content, after)
        path = self._table.path_of(before.id)
        if path is None:
            raise StaleWrite("the memory's file is gone")
        old = self._folder.read(path)
        if after is None:
            return _FileWrite(before.id, "", path, old, None, None)
        document = front_matter.split(old.decode("utf-8"))
        parsed = mapping.parse(document, self._project)
        content = mapping.revised_text(document, parsed.memory, after, self._project).encode()
        return _FileWrite(after.id, parsed.file_id, path, old, content, after)

    def _write_file(self, write: _FileWrite, undo: list[Callable[[], object]]) -> str:
        """Write one file, append how to undo it, and return its path."""
        if write.path is None or write.old is None:
            assert write.content is not None
            assert write.after is not None
            path = self._create(write.after, write.content)
            undo.append(functools.partial(self._folder.remove, path))
            return path
        if write.content is None:
            self._folder.remove(write.path)
            undo.append(functools.partial(self._folder.create, write.path, write.old))
        elif write.content != write.old:
            self._folder.replace(write.path, write.content)
            undo.append(functools.partial(self._folder.replace, write.path, write.old))
        return write.path

    def _create(self, memory: Memory, content: bytes) -> str:
        for path in mapping.file_names(memory):
            if self._folder.create(path, content):
                return path
        raise UnreadableFile("could not be created: all names are taken")

    @contextlib.contextmanager
    def _store_errors(self) -> Iterator[None]:
        """One thread at a time, with SQLite's errors raised as store errors.

        Raises: StoreError, also when the store was closed.
        """
        with self._thread_lock:
            if self._closed:
                raise StoreError(f"the store of {self._folder.path} was closed")
            try:
                yield
            except sqlite3.Error as error:
                if is_full(error) or is_busy(error):
                    raise store_error(error, "use its index") from None
                raise StoreError(
                    f"the index of {self._folder.path} failed ({error}); delete the folder "
                    f"{os.path.dirname(self._index.path)} and try again: it contains no memory that is not in a file"
                ) from None


def _problem(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"cannot be written ({error.strerror})"
    return "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
