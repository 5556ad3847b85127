"""Keeps the index in sync with the files: additions, edits, renames and removals by people, merges and other tools."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from keepmum.core import ids
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change, Memory, trust_rank
from keepmum.stores.base import StaleWrite
from keepmum.stores.markdown import mapping
from keepmum.stores.markdown.file_table import FileTable, Row
from keepmum.stores.markdown.folder import FileState, Folder, UnreadableFile, shown_path
from keepmum.stores.markdown.front_matter import NotMemoryFile
from keepmum.stores.markdown.ledger import Ledger
from keepmum.stores.markdown.yaml_subset import InvalidYaml
from keepmum.stores.sqlite import SqliteStore

__all__ = ["FileChanges", "IndexSync", "digest_of"]

_CHECKED_PER_READ = 500  # files: about 3 ms
_BATCH = 2000  # files per transaction
_MAX_AHEAD = 2 * 86_400_000  # milliseconds; a file dated later was written with a wrong clock


@dataclass(frozen=True, slots=True)
class FileChanges:
    """What may have changed: folders of days, removed days and single files; `everything` when all must be read."""

    days: Mapping[str, FileState]
    removed_days: frozenset[str]
    paths: tuple[str, ...]
    everything: bool = False


class IndexSync:
    """One folder, the table of its files, and the index. `apply` needs the lock of the store."""

    def __init__(
        self, folder: Folder, table: FileTable, index: SqliteStore, project: str | None, ledger: Ledger
    ) -> None:
        self.folder = folder
        self.table = table
        self.ledger = ledger
        self._index = index
        self._project = project
        self._next_checked = 0

    # -- detecting changes, which needs no lock

    def detect(self, *, check_all: bool = False) -> FileChanges | None:
        """What changed since the last `apply`; None when nothing did.

        The state of a folder shows at once that a file was added, replaced or removed. Only its own state shows that a
        file was changed in place: 500 files are checked per call, and all of them with `check_all`.
        """
        self.table.refresh()
        now = time.time_ns()
        days = self.folder.days(now)
        removed_days = frozenset(self.table.days.keys() - days.keys())
        if self.table.facts.get("dirty", "1") != "0" or self.table.facts.get("ledger") != self.ledger.identity:
            return FileChanges(days, removed_days, (), everything=True)
        changed_days = {day: state for day, state in days.items() if self.table.days.get(day) != state.mark}
        paths = tuple(path for path in self._paths_to_check(check_all=check_all) if self._differs(path, now))
        return FileChanges(changed_days, removed_days, paths) if changed_days or removed_days or paths else None

    def any_differs(self, memories: Iterable[Memory]) -> bool:
        """Whether the file of one of these memories has changed."""
        now = time.time_ns()
        paths = [self.table.path_of(memory.id) for memory in memories]
        return any(path is None or self._differs(path, now) for path in paths)

    def _differs(self, path: str, now: int) -> bool:
        state, row = self.folder.state(path, now), self.table.files.get(path)
        return state is None or row is None or state.mark != row.mark

    def _paths_to_check(self, *, check_all: bool) -> list[str]:
        paths = list(self.table.files)
        if check_all or len(paths) <= _CHECKED_PER_READ:
            return paths
        start = self._next_checked % len(paths)
        self._next_checked = start + _CHECKED_PER_READ
        return paths[start : start + _CHECKED_PER_READ]

    # -- applying changes, under the lock

    def apply(self, changes: FileChanges) -> None:
        """Update the index from the files that `detect` has found changed."""
        index = str(self._index.identity)
        if not changes.everything and self.table.facts.get("index") != index:  # it was deleted or repaired since
            changes = FileChanges(self.folder.days(time.time_ns()), changes.removed_days, (), everything=True)
        has_old_index = False
        if changes.everything:
            self.table.set_fact("dirty", "1")
            has_old_index = bool(self._index.between("", "~", 1))
        now = time.time_ns()
        states = {path: state for day in changes.days for path, state in self.folder.files(day, now).items()}
        for path in changes.paths:
            state = self.folder.state(path, now)
            if state is not None:
                states[path] = state
        gone = [path for path in self._known_paths(changes) if path not in states]
        changed = [path for path in states if changes.everything or self._is_new(path, states[path].mark)]
        if changed or gone:
            changed += [path for path, row in self.table.files.items() if row.conflicting and path not in gone]
        self._remove([self.table.files[path] for path in gone], states.keys())
        marks = {path: state.mark if state.settled else "" for path, state in states.items()}
        paths = sorted(dict.fromkeys(changed))
        for start in range(0, len(paths), _BATCH):
            self._read_files(paths[start : start + _BATCH], marks, everything=changes.everything)
        if has_old_index:
            self._remove_orphans()
        days: dict[str, str | None] = dict.fromkeys(changes.removed_days)
        days |= {day: state.mark if state.settled else "" for day, state in changes.days.items()}
        if any(self.table.days.get(day) != mark for day, mark in days.items()):
            self.table.write((), (), days)
        if changes.everything:
            self.table.set_fact("index", index)
            self.table.set_fact("ledger", self.ledger.identity)
            self.table.set_fact("dirty", "0")

    def _known_paths(self, changes: FileChanges) -> list[str]:
        """The paths in the table that `changes` covers."""
        days = changes.days.keys() | changes.removed_days
        listed = [path for path in self.table.files if changes.everything or path.partition("/")[0] in days]
        return [*listed, *(path for path in changes.paths if path in self.table.files and path not in listed)]

    def _is_new(self, path: str, mark: str) -> bool:
        row = self.table.files.get(path)
        return row is None or row.mark != mark

    def _remove(self, gone: Sequence[Row], present: Iterable[str]) -> None:
        """Remove the memories of files that are gone, except those that are in a new file now."""
        if not gone:
            return
        new = [path for path in present if path not in self.table.files]
        moved = {self._memory_in(path) for path in new}
        removed = [row.memory for row in gone if row.memory and row.memory not in moved]
        for start in range(0, len(removed), _BATCH):
            stored = self._index.get(removed[start : start + _BATCH])
            self._index.commit([Change(memory, None) for memory in stored])
        self.table.write((), [row.path for row in gone])

    def _memory_in(self, path: str) -> str:
        """The id of the memory in a file, empty when it cannot be read."""
        try:
            return mapping.parse_file(self.folder.read(path), self._project).memory.id
        except (UnreadableFile, NotMemoryFile, InvalidYaml, InvalidInput):
            return ""

    def _read_files(self, paths: Sequence[str], marks: Mapping[str, str], *, everything: bool) -> None:
        rows: list[Row] = []
        parsed: dict[str, tuple[Memory, str]] = {}  # by id: the memory and its path
        with self.folder.reading_in_order():
            for path in paths:
                row, memory = self._read_file(path, marks.get(path, ""), everything=everything)
                if memory is not None:
                    memory, row = self._with_unique_id(memory, row, parsed)
                    parsed[memory.id] = (memory, path)
                rows.append(row)
        replaced = self._replaced(rows, parsed)
        changes, without_key = self._changes(
            {name: memory for name, (memory, _) in parsed.items()},
            {change.before.id for change in replaced if change.before is not None},
        )
        self._commit([*replaced, *changes])
        problem = (
            "has the key of another file that is newer or trusted more, and is stored without it; "
            "give it a key of its own"
        )
        self.table.write(
            row._replace(problem=problem, conflicting=1) if row.memory in without_key else row for row in rows
        )

    def _replaced(self, rows: Sequence[Row], parsed: Mapping[str, object]) -> list[Change]:
        """Changes that remove the memories that these files had before and do not have now."""
        former = {row.path: self.table.files[row.path].memory for row in rows if row.path in self.table.files}
        replaced = {former[row.path] for row in rows if former.get(row.path) not in {None, "", row.memory}}
        return [Change(memory, None) for memory in self._index.get(sorted(replaced - parsed.keys()))]

    def _read_file(self, path: str, mark: str, *, everything: bool) -> tuple[Row, Memory | None]:
        """The new row of a file, and its memory, or None when the index has it already."""
        former = self.table.files.get(path)
        try:
            content = self.folder.read(path)
        except UnreadableFile as reason:
            return Row(path, mark, "", problem=f"{reason}, and was not read"), None
        digest = digest_of(content)
        if former is not None and former.digest == digest and not former.conflicting and not everything:
            return former._replace(mark=mark), None
        try:
            parsed = mapping.parse_file(content, self._project)
        except (NotMemoryFile, InvalidYaml, InvalidInput) as reason:
            return Row(path, mark, digest, problem=f"{reason}, and was not read"), None
        problem = parsed.problem
        if parsed.memory.created_at > time.time() * 1000 + _MAX_AHEAD:
            problem = problem or "is dated in the future: it was written with a wrong clock"
        memory = self.ledger.judged(parsed.memory)
        return Row(path, mark, digest, memory.id, parsed.file_id, problem), memory

    def _with_unique_id(self, memory: Memory, row: Row, parsed: Mapping[str, tuple[Memory, str]]) -> tuple[Memory, Row]:
        """The memory with an id that no other file has; a copy gets one that is derived from its path."""
        other = parsed[memory.id][1] if memory.id in parsed else self.table.path_of(memory.id)
        if other is None or other == row.path or (memory.id not in parsed and self._has_moved(other, memory.id)):
            return memory, row
        digits = hashlib.blake2b(f"{memory.id} {row.path}".encode(), digest_size=10).hexdigest()
        uuid = ids.to_uuid(memory.id).replace("-", "")[:12] + "7" + digits[:3] + "8" + digits[3:18]
        memory_id = ids.from_uuid(uuid)
        problem = f"has the id of {shown_path(other)}, and is stored under another; give it an id of its own"
        return replace(memory, id=memory_id), row._replace(memory=memory_id, problem=problem, conflicting=1)

    def _has_moved(self, path: str, memory: str) -> bool:
        """Whether a memory is no longer in the file at `path`."""
        return self.folder.state(path, 0) is None or self._memory_in(path) != memory

    def _changes(self, parsed: Mapping[str, Memory], removed: Collection[str]) -> tuple[list[Change], set[str]]:
        """The changes that bring these memories into the index, and the ids of those that lose their key to another.

        Those that are `removed` in the same transaction hold no key.
        """
        stored = {memory.id: memory for memory in self._index.get(list(parsed))}
        holders: dict[tuple[str, str], Memory] = {}
        without_key: set[str] = set()
        after = dict(parsed)
        for memory in parsed.values():
            if not memory.key or memory.status != "active":
                continue
            slot = (memory.space, memory.key)
            holder = holders.get(slot)
            if holder is None and (holder := self._index.by_key(*slot)) is not None:
                stored.setdefault(holder.id, holder)
            if holder is not None and holder.id in removed:
                holder = None
            if holder is None or holder.id == memory.id or _releases_key(after.get(holder.id), slot):
                holders[slot] = memory
                continue
            winner, loser = (memory, holder) if _is_preferred(memory, holder) else (holder, memory)
            holders[slot] = winner
            without_key.add(loser.id)
            after[loser.id] = replace(loser, key=None)
        changes = [one for memory in after.values() if (one := _change(stored.get(memory.id), memory)) is not None]
        # Changes that release a key come first, since a key has one holder at any time.
        return sorted(changes, key=lambda one: one.after is not None and bool(one.after.key)), without_key

    def _commit(self, changes: Sequence[Change]) -> None:
        """Write to the index. When keys are exchanged in a cycle, release all of them first."""
        if not changes:
            return
        try:
            self._index.commit(changes)
        except StaleWrite:
            keyless = [Change(one.before, one.after and replace(one.after, key=None)) for one in changes]
            self._index.commit(keyless)
            pairs = [(one.after, other.after) for one, other in zip(changes, keyless, strict=True)]
            self._index.commit(
                [
                    Change(before, replace(after, revision=after.revision + 1))
                    for after, before in pairs
                    if after is not None and after.key
                ]
            )

    def _remove_orphans(self) -> None:
        """Remove memories without a file from the index: a process was killed before it wrote the file."""
        last = ""
        while page := [memory for memory in self._index.between(last, "~", _BATCH + 1) if memory.id != last]:
            orphans = [memory for memory in page if self.table.path_of(memory.id) is None]
            if orphans:
                self._index.commit([Change(memory, None) for memory in orphans])
            last = page[-1].id


def digest_of(content: bytes) -> str:
    """A hash of the content of a file."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _releases_key(after: Memory | None, slot: tuple[str, str]) -> bool:
    return after is not None and ((after.space, after.key) != slot or after.status != "active")


def _is_preferred(one: Memory, other: Memory) -> bool:
    """Whether a memory gets the key that two files have: the one that is trusted more, or else the newer."""
    return (trust_rank(one.trust), one.updated_at, one.id) > (trust_rank(other.trust), other.updated_at, other.id)


def _change(stored: Memory | None, parsed: Memory) -> Change | None:
    """The change from the index to the file, None for no difference. Only the index knows the use on this machine."""
    if stored is None:
        return Change(None, parsed)
    after = replace(
        parsed,
        access_count=max(stored.access_count, parsed.access_count),
        accessed_at=max(filter(None, (stored.accessed_at, parsed.accessed_at)), default=None),
        citations=stored.citations if parsed.citations is None and parsed.text == stored.text else parsed.citations,
    )
    if replace(after, revision=stored.revision) == stored:
        return None
    return Change(stored, replace(after, revision=max(parsed.revision, stored.revision + 1)))
