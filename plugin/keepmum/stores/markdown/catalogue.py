"""The index kept in step with the files: what was added, edited, renamed or removed by hand or by a merge."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from keepmum.core import ids
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change, Memory
from keepmum.stores.base import LocalStore, StaleWrite
from keepmum.stores.markdown import mapping
from keepmum.stores.markdown.file_table import FileTable, Row
from keepmum.stores.markdown.folder import Folder, Sighting, Unreadable
from keepmum.stores.markdown.front_matter import NotOurs
from keepmum.stores.markdown.nodes import NotYaml

__all__ = ["Catalogue", "Look", "digest_of"]

_AT_ONCE = 500  # files looked at by one read: about 3 ms
_BATCH = 2000  # files taken in by one transaction
_PAIR = ":files"  # the row of the index by which table and index know each other
_AHEAD = 2 * 86_400_000  # milliseconds: a file dated later than this comes from a clock that is wrong


@dataclass(frozen=True, slots=True)
class Look:
    """What changed: days that look different, days that are gone, files that do; `anew` when all is to be read."""

    days: Mapping[str, Sighting]
    gone: frozenset[str]
    paths: tuple[str, ...]
    anew: bool = False


class Catalogue:
    """One folder's files, the table of what was seen of them, and the index; the caller holds the lock to `take_in`."""

    def __init__(self, folder: Folder, table: FileTable, index: LocalStore, project: str | None) -> None:
        self.folder = folder
        self.table = table
        self._index = index
        self._project = project
        self._turn = 0

    # -- looking, which needs no lock

    def look(self, *, whole: bool = False) -> Look | None:
        """What changed since the files were taken in; None when nothing did.

        A file that was added, replaced or removed shows in its folder at once. One that was written into in place
        shows only in itself: up to 500 are looked at each time, all of them with `whole`.
        """
        self.table.follow()
        now = time.time_ns()
        days = self.folder.days(now)
        if self.table.facts.get("dirty", "1") != "0":
            return Look(days, frozenset(self.table.days.keys() - days.keys()), (), anew=True)
        stale = {day: sighting for day, sighting in days.items() if self.table.days.get(day) != sighting.mark}
        gone = frozenset(self.table.days.keys() - days.keys())
        paths = tuple(path for path in self._some(whole=whole) if self._differs(path, now))
        return Look(stale, gone, paths) if stale or gone or paths else None

    def differ(self, memories: Iterable[Memory]) -> bool:
        """Whether one of these memories is not what its file holds now."""
        now = time.time_ns()
        paths = [self.table.path_of(memory.id) for memory in memories]
        return any(path is None or self._differs(path, now) for path in paths)

    def _differs(self, path: str, now: int) -> bool:
        sighting, row = self.folder.look(path, now), self.table.files.get(path)
        return sighting is None or row is None or sighting.mark != row.mark

    def _some(self, *, whole: bool) -> list[str]:
        paths = list(self.table.files)
        if whole or len(paths) <= _AT_ONCE:
            return paths
        start = self._turn % len(paths)
        self._turn = start + _AT_ONCE
        return paths[start : start + _AT_ONCE]

    # -- taking in, under the lock

    def take_in(self, look: Look) -> None:
        """Bring the index up to what the files say, where `look` found them changed."""
        if not look.anew and not self._is_paired():
            look = Look(self.folder.days(time.time_ns()), look.gone, (), anew=True)
        indexed = False
        if look.anew:
            self.table.note("dirty", "1")
            indexed = bool(self._index.between("", "~", 1))
        now = time.time_ns()
        seen = {path: sighting for day in look.days for path, sighting in self.folder.names(day, now).items()}
        for path in look.paths:
            sighting = self.folder.look(path, now)
            if sighting is not None:
                seen[path] = sighting
        gone = [path for path in self._known(look) if path not in seen]
        changed = [path for path in seen if look.anew or self._is_news(path, seen[path].mark)]
        if changed or gone:
            changed += [path for path, row in self.table.files.items() if row.flawed and path not in gone]
        self._forget([self.table.files[path] for path in gone], seen.keys())
        marks = {path: sighting.mark if sighting.settled else "" for path, sighting in seen.items()}
        paths = sorted(dict.fromkeys(changed))
        for start in range(0, len(paths), _BATCH):
            self._read_in(paths[start : start + _BATCH], marks, anew=look.anew)
        if indexed:
            self._drop_orphans()
        days: dict[str, str | None] = dict.fromkeys(look.gone)
        days |= {day: sighting.mark if sighting.settled else "" for day, sighting in look.days.items()}
        if any(self.table.days.get(day) != mark for day, mark in days.items()):
            self.table.write((), (), days)
        if look.anew:
            self._pair()
            self.table.note("dirty", "0")

    def _known(self, look: Look) -> list[str]:
        """The paths of the table that `look` is about."""
        days = look.days.keys() | look.gone
        listed = [path for path in self.table.files if look.anew or path.partition("/")[0] in days]
        return [*listed, *(path for path in look.paths if path in self.table.files and path not in listed)]

    def _is_news(self, path: str, mark: str) -> bool:
        row = self.table.files.get(path)
        return row is None or row.mark != mark

    def _forget(self, lost: Sequence[Row], there: Iterable[str]) -> None:
        """Take out the memories of files that are gone, unless the same memory lies in another file now."""
        if not lost:
            return
        present = set(there)
        new = [path for path in present if path not in self.table.files]
        moved = {self._peek(path) for path in new}
        gone = [row.memory for row in lost if row.memory and row.memory not in moved]
        for start in range(0, len(gone), _BATCH):
            known = self._index.get(gone[start : start + _BATCH])
            self._index.commit([Change(memory, None) for memory in known])
        self.table.write((), [row.path for row in lost])

    def _peek(self, path: str) -> str:
        """The id of the memory in a file, empty when it cannot be read."""
        try:
            return mapping.read_file(self.folder.read(path), self._project).memory.id
        except (Unreadable, NotOurs, NotYaml, InvalidInput):
            return ""

    def _read_in(self, paths: Sequence[str], marks: dict[str, str], *, anew: bool) -> None:
        rows: list[Row] = []
        found: dict[str, tuple[Memory, str]] = {}  # by id: the memory and its path
        with self.folder.in_order():
            for path in paths:
                row, memory = self._read(path, marks.get(path, ""), anew=anew)
                if memory is not None:
                    memory, row = self._with_own_id(memory, row, found)
                    found[memory.id] = (memory, path)
                rows.append(row)
        changes, keyless = self._changes({name: memory for name, (memory, _) in found.items()})
        self._commit([*self._left(rows, found), *changes])
        problem = "has the key of another file that is newer, and is found without it; give it a key of its own"
        self.table.write(row._replace(problem=problem, flawed=1) if row.memory in keyless else row for row in rows)

    def _left(self, rows: Sequence[Row], found: Mapping[str, object]) -> list[Change]:
        """What takes out the memories that these files held before and do not hold now."""
        former = {row.path: self.table.files[row.path].memory for row in rows if row.path in self.table.files}
        left = {former[row.path] for row in rows if former.get(row.path) not in {None, "", row.memory}} - found.keys()
        return [Change(memory, None) for memory in self._index.get(sorted(left))]

    def _read(self, path: str, mark: str, *, anew: bool) -> tuple[Row, Memory | None]:
        """What is kept of a file, and its memory when that has to be compared with the index."""
        former = self.table.files.get(path)
        try:
            content = self.folder.read(path)
        except Unreadable as reason:
            return Row(path, mark, "", problem=f"{reason}, and was not read"), None
        digest = digest_of(content)
        if former is not None and former.digest == digest and not former.flawed and not anew:
            return former._replace(mark=mark), None
        try:
            filed = mapping.read_file(content, self._project)
        except (NotOurs, NotYaml, InvalidInput) as reason:
            return Row(path, mark, digest, problem=f"{reason}, and was not read"), None
        problem = filed.problem
        if filed.memory.created_at > time.time() * 1000 + _AHEAD:
            problem = problem or "is dated in the future: a clock was wrong where it was written"
        return Row(path, mark, digest, filed.memory.id, filed.name, problem), filed.memory

    def _with_own_id(self, memory: Memory, row: Row, found: dict[str, tuple[Memory, str]]) -> tuple[Memory, Row]:
        """A memory whose id no other file has: a copy gets one that follows from its path."""
        other = found[memory.id][1] if memory.id in found else self.table.path_of(memory.id)
        if other is None or other == row.path or (memory.id not in found and self._moved(other, memory.id)):
            return memory, row
        digits = hashlib.blake2b(f"{memory.id} {row.path}".encode(), digest_size=10).hexdigest()
        uuid = ids.to_uuid(memory.id).replace("-", "")[:12] + "7" + digits[:3] + "8" + digits[3:18]
        bounds = ids.id_range(uuid)
        assert bounds is not None
        problem = f"has the id of {other}, and goes by another; give it one of its own"
        return replace(memory, id=bounds[0]), row._replace(memory=bounds[0], problem=problem, flawed=1)

    def _moved(self, path: str, memory: str) -> bool:
        """Whether a memory no longer lies at `path`."""
        return self.folder.look(path, 0) is None or self._peek(path) != memory

    def _changes(self, found: dict[str, Memory]) -> tuple[list[Change], set[str]]:
        """What brings the index to these memories, and those that lose their key to a newer one."""
        known = {memory.id: memory for memory in self._index.get(list(found))}
        holders: dict[tuple[str, str], Memory] = {}
        keyless: set[str] = set()
        after = dict(found)
        for memory in found.values():
            if not memory.key or memory.status != "active":
                continue
            place = (memory.space, memory.key)
            holder = holders.get(place)
            if holder is None and (holder := self._index.by_key(*place)) is not None:
                known.setdefault(holder.id, holder)
            if holder is None or holder.id == memory.id or _gives_up(after.get(holder.id), place):
                holders[place] = memory
                continue
            winner, loser = (memory, holder) if _newer(memory, holder) else (holder, memory)
            holders[place] = winner
            keyless.add(loser.id)
            after[loser.id] = replace(loser, key=None)
        changes = [step for memory in after.values() if (step := _step(known.get(memory.id), memory)) is not None]
        # Whoever gives a key up goes first: each key has one holder at any time.
        return sorted(changes, key=lambda step: step.after is not None and bool(step.after.key)), keyless

    def _commit(self, changes: Sequence[Change]) -> None:
        """Write to the index; where keys change hands in a circle, all of them are given up first."""
        if not changes:
            return
        try:
            self._index.commit(changes)
        except StaleWrite:
            bare = [Change(step.before, step.after and replace(step.after, key=None)) for step in changes]
            self._index.commit(bare)
            named = [(step.after, bared.after) for step, bared in zip(changes, bare, strict=True)]
            self._index.commit(
                [
                    Change(before, replace(after, revision=after.revision + 1))
                    for after, before in named
                    if after is not None and after.key
                ]
            )

    def _drop_orphans(self) -> None:
        """Take out of the index what lies in no file: a process was killed between the two."""
        after = ""
        while page := [memory for memory in self._index.between(after, "~", _BATCH + 1) if memory.id != after]:
            orphans = [memory for memory in page if self.table.path_of(memory.id) is None]
            if orphans:
                self._index.commit([Change(memory, None) for memory in orphans])
            after = page[-1].id

    def _is_paired(self) -> bool:
        """Whether the table tells of this very index, and not of one that was deleted or repaired meanwhile."""
        token = self.table.facts.get("token")
        return any(root == _PAIR and project == token for root, project, _ in self._index.roots(0))

    def _pair(self) -> None:
        token = secrets.token_hex(8)
        self._index.remember_root(_PAIR, token, "", time.time_ns() // 1_000_000)
        self.table.note("token", token)


def digest_of(content: bytes) -> str:
    """What a file's content is known by."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _gives_up(after: Memory | None, place: tuple[str, str]) -> bool:
    return after is not None and ((after.space, after.key) != place or after.status != "active")


def _newer(one: Memory, other: Memory) -> bool:
    return (one.updated_at, one.id) > (other.updated_at, other.id)


def _step(known: Memory | None, found: Memory) -> Change | None:
    """The change from what the index has to what a file says; how often it was used is known here alone."""
    if known is None:
        return Change(None, found)
    after = replace(
        found,
        access_count=max(known.access_count, found.access_count),
        accessed_at=max(filter(None, (known.accessed_at, found.accessed_at)), default=None),
    )
    if replace(after, revision=known.revision) == known:
        return None
    return Change(known, replace(after, revision=max(found.revision, known.revision + 1)))
