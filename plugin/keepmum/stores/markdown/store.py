"""The store of a repository: Markdown files are the memory, an index beside them makes them quick to search.

What a file says, holds: it may be written by hand, by a merge or by another tool. The index lies in the user's cache
and is made anew when it is gone; only how often a memory was loaded here, and its values before, are lost with it.
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
from keepmum.core.memory import Activity, Change, Filter, JsonValue, Memory, Order, Revision
from keepmum.stores.base import STORED, Capabilities, Features, Receipt, Redact, StaleWrite
from keepmum.stores.markdown import front_matter, mapping
from keepmum.stores.markdown.catalogue import Catalogue, digest_of
from keepmum.stores.markdown.file_table import FileTable, Row
from keepmum.stores.markdown.folder import Folder, Unreadable
from keepmum.stores.markdown.registry import Registry
from keepmum.stores.markdown.vector_search import FileVectorSearch
from keepmum.stores.sqlite import open_store as open_index
from keepmum.stores.sqlite.errors import is_busy, is_full, store_error
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.system import private_files

__all__ = ["FOLDER", "MarkdownStore", "open_store"]

FOLDER = ".memories"
CANNOT: Mapping[str, str] = {
    "fading": "time changes no file of a repository: memories do not fade there, and what is in the trash or has "
    "expired stays in its file, unseen, until `keepmum forget --purge` removes it",
    "history": "what a memory was before is kept on this machine only; the repository's own history has the rest",
    "use": "how often a memory was loaded is counted on this machine only",
    "erasure": "what git has committed stays in its history, whatever is purged from the files",
}
_PATIENCE = 30.0  # seconds for the lock: each writer looks at what the one before it has done
_TOLD = 3  # files that a notice names
_Found = TypeVar("_Found")


def open_store(root: str, cache: str, project: str | None = None, registry: Registry | None = None) -> MarkdownStore:
    """The store in `root/.memories`, whose index lies below the folder `cache`.

    `project` is whose memories these are; files need not name it. New memories are noted in `registry`.

    Raises: StoreError when the index can be neither read nor made.
    """
    return MarkdownStore(root, cache, project, registry)


@dataclass(frozen=True, slots=True)
class _Step:
    """What is to be done to one file: made (no `old`), changed, or removed (no `content`)."""

    memory: str
    name: str
    path: str | None
    old: bytes | None
    content: bytes | None
    after: Memory | None


class MarkdownStore:
    """A `Store` in the files of one repository (see `keepmum.stores.base.Store` for what each method gives)."""

    def __init__(self, root: str, cache: str, project: str | None, registry: Registry | None) -> None:
        self.root = os.path.abspath(root)
        self._project = project
        self._registry = registry
        self._folder = Folder(os.path.join(self.root, FOLDER))
        self._thread = threading.RLock()
        self._closed = False
        # Whose memories the files are is part of what the index says, so each project has an index of its own.
        name = hashlib.blake2b(f"{os.path.realpath(self.root)}\n{project}".encode("utf-8", "replace"), digest_size=8)
        place = os.path.join(cache, "markdown", name.hexdigest())
        try:
            private_files.make_folder(place)
            self._lock = WriterLock(os.path.join(place, "files.lock"))
        except OSError as error:
            raise StoreError(f"the index of {self._folder.path} cannot be made in {place} ({error.strerror})") from None
        with self._guarded():
            with self._lock.hold(
                _PATIENCE
            ):  # two processes that make one cache at once must not each delete the other's
                self._table = FileTable(os.path.join(place, "files.db"))
                self._index = open_index(os.path.join(place, "memory.db"))
            self._catalogue = Catalogue(self._folder, self._table, self._index, project)
            self._follow(whole=True)
        index = self._index.features.vector_search
        self.features = Features(
            vector_search=None if index is None else FileVectorSearch(index, self._look),
            files=self,
            maintenance=self,
            erasure=self,
            local_state=self,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What this store can promise just now."""
        if self._folder.writable and self._index.capabilities.writable:
            return Capabilities(cannot=CANNOT)
        reason = self._folder.problem or self._index.capabilities.reason
        reason = reason or f"{self._folder.path} cannot be written; the memories there can only be read"
        return Capabilities(writable=False, reason=reason, cannot=CANNOT)

    @property
    def notice(self) -> str:
        """Which files could not be read, or only in part, and why."""
        rows = self._table.problems
        told = [f"{row.path} {row.problem}" for row in rows[:_TOLD]]
        more = f"; and {len(rows) - _TOLD} more, which `keepmum doctor` lists" if len(rows) > _TOLD else ""
        return f"in {self._folder.path}: {'; '.join(told)}{more}" if rows else self._index.notice

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes to the files, or none of them, and to the index with their history and the activity."""
        with self._writing():
            plan = self._plan(changes)
            self._table.note("dirty", "1")
            try:
                self._index.commit(changes, activity)
            except StaleWrite:
                self._table.note("dirty", "0")
                raise
            self._write(plan)
        return STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes, clean the past with them, and leave nothing of before in files and index."""
        with self._writing():
            plan = self._plan(changes)
            self._table.note("dirty", "1")
            removed = self._index.cleanse(changes, activity, redact)
            self._write(plan)
            return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded at `now`, on this machine alone."""
        self._index.reinforce(ids, now)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of this machine."""
        self._index.log(activity)

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`."""
        self._index.remember_root(root, project, name, now)

    def tick(self, now: int) -> int:
        """The time of the tick before this one."""
        return self._index.tick(now)

    def upkeep(self, now: int) -> None:
        """Compare every file with the index, prune the activity log, remove what killed processes left."""
        with self._guarded():
            self._follow(whole=True)
            for day in list(self._table.days):
                self._folder.tidy(day, time.time())
        self._index.upkeep(now)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order."""
        return self._read(lambda: self._index.get(ids))

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories whose ids lie in [first, last]."""
        return self._read(lambda: self._index.between(first, last, limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key."""
        return next(iter(self._read(lambda: _listed(self._index.by_key(space, key)))), None)

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that holds a key, or that held it last, whatever became of it."""
        return next(iter(self._read(lambda: _listed(self._index.last_by_key(space, key)))), None)

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with just this text, blanks and case aside."""
        return next(iter(self._read(lambda: _listed(self._index.same_text(space, text)))), None)

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first by BM25."""
        return self._read(lambda: self._index.search(words, wanted, limit), lambda found: [pair[0] for pair in found])

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in `order`."""
        return self._read(lambda: self._index.browse(wanted, order=order, limit=limit, offset=offset))

    def count(self, wanted: Filter) -> int:
        """How many memories pass the filter."""
        self._look()
        return self._index.count(wanted)

    def history(self, memory: str) -> list[Revision]:
        """What a memory was before each change that this machine saw, latest first."""
        self._look()
        return self._index.history(memory)

    def activity(self, limit: int, project: str | None = None) -> list[Activity]:
        """The latest activity on this machine, latest first."""
        return self._index.activity(limit, project)

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        """`(root, project, name)` of the folders seen since then."""
        return [found for found in self._index.roots(since) if os.path.isabs(found[0])]

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor, with every file that is not read."""
        with self._guarded():
            self._follow(whole=True)
        problems = [f"{row.path} {row.problem}" for row in self._table.problems]
        capabilities = self.capabilities
        about: dict[str, JsonValue] = {
            "path": self._folder.path,
            "writable": capabilities.writable,
            "reason": capabilities.reason,
        }
        return {**self._index.health(), **about, "files": len(self._table.files), "problems": problems}

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """The id that a memory's file gives, and where it lies, seen from the repository's root."""
        row = self._table.files.get(self._table.path_of(memory) or "")
        return (row.name, f"{FOLDER}/{row.path}") if row else None

    def with_file_id(self, name: str) -> list[str]:
        """The memories whose files give this id."""
        with self._guarded():
            self._follow()
            return self._table.called(name)

    def close(self) -> None:
        """Leave everything on disk and let go."""
        if not self._closed:
            self._closed = True
            self._index.close()
            self._table.close()
            self._lock.close()

    # -- how it is done

    def _read(
        self, ask: Callable[[], list[_Found]], memories: Callable[[list[_Found]], list[Memory]] | None = None
    ) -> list[_Found]:
        """What `ask` finds in an index that is in step with the files; what it found is looked at once more."""
        with self._guarded():
            self._follow()
            found = ask()
            shown: list[Memory] = memories(found) if memories else found  # type: ignore[assignment]
            if self._catalogue.differ(shown):
                self._follow(whole=True)
                return ask()
            return found

    def _look(self) -> None:
        """Bring the index into step with the files."""
        with self._guarded():
            self._follow()

    def _follow(self, *, whole: bool = False) -> None:
        """Take in what changed in the files."""
        if self._catalogue.look(whole=whole) is not None:
            with self._lock.hold(_PATIENCE):
                self._take_in(whole=whole)

    def _take_in(self, *, whole: bool = False) -> None:
        """Look again, now that nobody else writes, and take in what changed; the caller holds the lock."""
        look = self._catalogue.look(whole=whole)
        if look is not None:
            self._catalogue.take_in(look)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Alone among all processes, with an index that is in step with the files."""
        capabilities = self.capabilities
        if not capabilities.writable:
            raise StoreReadOnly(f"{capabilities.reason}. Nothing was stored.")
        with self._guarded(), self._lock.hold(_PATIENCE):
            self._take_in()
            yield

    def _write(self, plan: Sequence[_Step]) -> None:
        """Bring the files to what the index says already; when one cannot be written, all stay as they were."""
        undo: list[Callable[[], object]] = []
        rows: list[Row] = []
        gone: list[str] = []
        try:
            # New files first, removals last: whatever stops the process, no memory is in neither place.
            for step in sorted(plan, key=lambda step: (step.old is not None) + (step.content is None)):
                path = self._done(step, undo)
                if step.content is None:
                    gone.append(path)
                else:  # a change that soon after it would not show, so the file is looked at again
                    rows.append(Row(path, "", digest_of(step.content), step.memory, step.name))
        except (OSError, Unreadable) as error:
            for step_back in reversed(undo):
                with contextlib.suppress(OSError, Unreadable):
                    step_back()
            self._take_in()  # the table is marked dirty, so that the index follows the files anew
            raise StoreError(f"a file in {self._folder.path} {_told(error)}; nothing was stored") from None
        self._table.write(rows, gone)
        self._table.note("dirty", "0")
        if self._registry is not None and any(step.old is None for step in plan):
            self._registry.note(self.root, time.time())

    def _plan(self, changes: Sequence[Change]) -> list[_Step]:
        """What is to be done to the files.

        Raises: StaleWrite when a file is gone; StoreError when one is written so that only a hand can change it.
        """
        try:
            return [self._step(change.before, change.after) for change in changes if change.before or change.after]
        except (Unreadable, ValueError, InvalidInput) as error:  # the middle one stands for NotOurs, NotYaml, not UTF-8
            raise StoreError(f"a file in {self._folder.path} {_told(error)}; nothing was stored") from None

    def _step(self, before: Memory | None, after: Memory | None) -> _Step:
        if before is None:
            assert after is not None
            content = mapping.new_text(after, self._project).encode()
            return _Step(after.id, mapping.short_id(after.id), None, None, content, after)
        path = self._table.path_of(before.id)
        if path is None:
            raise StaleWrite("the memory's file is gone")
        old = self._folder.read(path)
        if after is None:
            return _Step(before.id, "", path, old, None, None)
        document = front_matter.split(old.decode("utf-8"))
        filed = mapping.read(document, self._project)
        content = mapping.revised_text(document, filed.memory, after, self._project).encode()
        return _Step(after.id, filed.name, path, old, content, after)

    def _done(self, step: _Step, undo: list[Callable[[], object]]) -> str:
        """The path of the file that a step was about, now that it is done."""
        if step.path is None or step.old is None:
            assert step.content is not None
            assert step.after is not None
            path = self._create(step.after, step.content)
            undo.append(functools.partial(self._folder.remove, path))
            return path
        if step.content is None:
            self._folder.remove(step.path)
            undo.append(functools.partial(self._folder.create, step.path, step.old))
        elif step.content != step.old:
            self._folder.replace(step.path, step.content)
            undo.append(functools.partial(self._folder.replace, step.path, step.old))
        return step.path

    def _create(self, memory: Memory, content: bytes) -> str:
        for path in mapping.file_names(memory):
            if self._folder.create(path, content):
                return path
        raise Unreadable("could not be given a name that is free")

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """One thread at a time, and the errors of the cache as errors of a store."""
        with self._thread:
            try:
                yield
            except sqlite3.Error as error:
                if is_full(error) or is_busy(error):
                    raise store_error(error, "use its index") from None
                raise StoreError(
                    f"the index of {self._folder.path} failed ({error}); delete the folder "
                    f"{os.path.dirname(self._index.path)} and try again: no memory lies in it"
                ) from None


def _told(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"cannot be written ({error.strerror})"
    return "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _listed(memory: Memory | None) -> list[Memory]:
    return [] if memory is None else [memory]
