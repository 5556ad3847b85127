"""Import memories: in batches, each memory cleaned, limited and scanned like any write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from keepmum.core import serialization, trust, validation
from keepmum.core.errors import InvalidInput, KeepmumError, ScannerFailed, SecretFound
from keepmum.core.framing import inline
from keepmum.core.memory import LIMITS, Change, JsonValue, Memory, Revision, Trust
from keepmum.core.progress import Progress, ignore_progress
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.service.importers.item import Former, ImportItem, NotKept
from keepmum.service.write import Remembered
from keepmum.stores import StaleWrite
from keepmum.stores.base import known_folders

__all__ = ["Importer", "Imports", "Sought"]

_BATCH = 200  # memories of one transaction
_PLACE = ("id", "scope", "project", "session", "user")  # fields that a former state has from its memory
_LISTED = 1_000  # refusals that are reported with their place


@dataclass(slots=True)
class Imports:
    """The result of an import."""

    level: Trust = "outside"  # of what is stored
    imported: int = 0
    updated: int = 0  # imported before, and changed in the source since then
    unchanged: int = 0
    refused: int = 0
    refusals: list[tuple[str, str]] = field(default_factory=list)  # place and reason, the first ones
    keyless: int = 0  # stored without the key, which another memory has
    former: int = 0  # former states that were stored
    former_refused: int = 0  # former states that were left out: invalid, or with a secret

    @property
    def total(self) -> int:
        """How many memories were read."""
        return self.imported + self.updated + self.unchanged + self.refused

    @property
    def lists_more(self) -> bool:
        """Whether a further refusal is listed, and not only counted."""
        return len(self.refusals) < _LISTED


class Sought(NamedTuple):
    """What tells a memory of a source from others."""

    id: str
    project: str | None
    created_at: int | None


class _Incoming(NamedTuple):
    place: str
    memory: Memory
    past: Sequence[Former]


class Importer:
    """Stores what importers read."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context
        self._project_ids: dict[str, str | None] = {}

    def import_memory(self, values: Mapping[str, JsonValue]) -> Remembered:
        """Store an exported memory with its own id, times and access counts; one that is stored already stays.

        It is from outside, whatever it says about itself: anyone can write such a file.

        Raises: InvalidInput, SecretFound, StoreError.
        """
        context = self.context
        parsed = serialization.parse(values)
        context.refuse_secrets(serialization.texts(parsed))  # also of fields that are not kept
        incoming = _imported(parsed, "outside")
        present = self.find_stored([_sought(incoming)]).get((incoming.id, incoming.project))
        if present is not None:
            return Remembered(context.masker.memory(present), None)
        within = context.alone(incoming.project)
        try:
            receipt = within.commit([Change(None, incoming)], within.log.entry("imported", incoming))
        except StaleWrite:
            raise InvalidInput("key", "is in use by another memory here; rename one of the two") from None
        return Remembered(context.masker.memory(receipt.settled(incoming)), "imported", queued=receipt.queued)

    def import_all(
        self,
        found: Iterable[ImportItem | NotKept],
        progress: Progress = ignore_progress,
        *,
        here: bool = False,
        level: Trust = "outside",
    ) -> Imports:
        """Store what an importer reads; what is stored already stays unless the source has changed it since then.

        Each batch is one transaction, so that an interrupted import can be run again and continues.
        With `here`, all memories of projects become this project's. `level` is the trust of what is stored. An item
        that is refused stops nothing.

        Raises: StoreError.
        """
        done, batch = Imports(level=level), dict[str, _Incoming]()
        for item in found:
            if isinstance(item, NotKept):
                continue
            incoming = self._incoming(item, done, here=here)
            if incoming is None:
                continue
            if incoming.memory.id in batch or len(batch) == _BATCH:
                self._store(list(batch.values()), done)
                batch.clear()
                progress(done.total, 0)
            batch[incoming.memory.id] = incoming
        self._store(list(batch.values()), done)
        progress(done.total, 0)
        if done.imported or done.updated:
            self.context.refresh_briefings(None)
            self.context.resolve_citations()
        return done

    def find_stored(self, sought: Sequence[Sought]) -> dict[tuple[str, str | None], Memory]:
        """The memories that are stored already, by the id and project under which they are sought.

        Where several projects may use one id, that is a memory in the same project, or one that was created at the same
        time and was moved since; any other one with the id is another memory.
        """
        present = self.context.store.get([each.id for each in sought])
        if self.context.store.features.alone is None:
            by_id = {memory.id: memory for memory in present}
            return {(each.id, each.project): by_id[each.id] for each in sought if each.id in by_id}
        moved = {(memory.id, memory.created_at): memory for memory in present}
        found = {}
        for project in dict.fromkeys(each.project for each in sought):
            its = [each for each in sought if each.project == project]
            here = {memory.id: memory for memory in self.context.alone(project).store.get([each.id for each in its])}
            for each in its:
                memory = here.get(each.id) or moved.get((each.id, each.created_at or 0))
                if memory is not None:
                    found[each.id, project] = memory
        return found

    def project_of(self, name: str) -> str | None:
        """The id of the project that a source names by a folder or a name; this place's for an empty name."""
        if name not in self._project_ids:
            self._project_ids[name] = self._found_project(name)
        return self._project_ids[name]

    def _found_project(self, name: str) -> str | None:
        context = self.context
        if not name:
            return context.place.project
        if not os.path.isabs(name):
            return lookup.project_id(context, name)
        folder = os.path.realpath(name)
        for root, project, _ in known_folders(context.store):
            if root == folder:
                return project
        from keepmum.workspace.project import find_project
        from keepmum.workspace.settings import Settings

        found = find_project(folder, {}, Settings()) if os.path.isdir(folder) else None
        # A folder that is not on this machine is known by its last part only.
        return found.id if found is not None else lookup.project_id(context, os.path.basename(name.rstrip("/\\")))

    def _incoming(self, item: ImportItem, done: Imports, *, here: bool) -> _Incoming | None:
        if item.values is None:
            self._refuse(done, item.place, item.problem)
            return None
        values = dict(item.values)
        try:
            if values.get("scope", "project") in {"project", "shared"} and (here or values.get("project") is None):
                values["project"] = self.project_of("" if here else item.project)
            return _Incoming(item.place, serialization.parse(values), item.past)
        except KeepmumError as reason:
            self._refuse(done, item.place, str(reason))
            return None

    def _store(self, batch: Sequence[_Incoming], done: Imports) -> None:
        """Write a batch; one by one when another memory has the id or the key of one of them."""
        stored = self.find_stored([_sought(each.memory) for each in batch])
        together: dict[tuple[str | None, ...], list[Change]] = {}
        for each in batch:
            memory = each.memory
            change = self._change(each, stored.get((memory.id, memory.project)), done)
            if change is not None:
                together.setdefault(self._project_alone(change), []).append(change)
        for changes in together.values():
            try:
                self._commit(changes, done)
            except StaleWrite:
                for change in changes:
                    self._commit_one(change, done)

    def _project_alone(self, change: Change) -> tuple[str | None, ...]:
        """The one project that a change is about, where several projects may use one id; else empty."""
        before, after = change.before, change.after
        if self.context.store.features.alone is None or after is None:
            return ()
        return (after.project,) if before is None or before.project == after.project else ()

    def _change(self, incoming: _Incoming, present: Memory | None, done: Imports) -> Change | None:
        memory = incoming.memory
        if present is not None:
            if not _is_newer(memory, present, done.level):
                done.unchanged += 1
                return None
            memory = replace(
                memory, revision=present.revision + 1, status=present.status, trashed_at=present.trashed_at,
                key=present.key, access_count=max(memory.access_count, present.access_count),
                accessed_at=max(memory.accessed_at or 0, present.accessed_at or 0) or None,
            )  # fmt: skip
        try:
            self.context.refuse_secrets(serialization.texts(memory))
        except (SecretFound, ScannerFailed) as reason:
            self._refuse(done, incoming.place, str(reason))
            return None
        past = () if present is not None else self._past(incoming, done)
        revision = max(len(past) + 1, memory.revision)
        return Change(present, replace(_imported(memory, done.level), revision=revision), past=past)

    def _past(self, incoming: _Incoming, done: Imports) -> tuple[Revision, ...]:
        """The former states that can be stored, latest first, numbered from 1."""
        found: list[Revision] = []
        for former in reversed(incoming.past):
            try:
                found.append(self._revision(incoming.memory, former, len(found) + 1, done.level))
            except (InvalidInput, SecretFound, ScannerFailed):
                done.former_refused += 1
        done.former += len(found)
        return tuple(reversed(found))

    def _revision(self, memory: Memory, former: Former, number: int, level: Trust) -> Revision:
        """A former state as it is stored, at the place of its memory.

        Raises: InvalidInput, SecretFound, ScannerFailed.
        """
        by = validation.clean("agent", former.by[: LIMITS.name], LIMITS.name, one_line=True)
        present = serialization.to_json(memory)
        values = {**present, **former.values, **{name: present[name] for name in _PLACE}}
        state = serialization.parse(values)
        validation.refuse_secrets(
            {**serialization.texts(state), "changed_by": by}, self.context.scan, self.context.related
        )
        before = serialization.to_json(replace(_imported(state, level), revision=number))
        return Revision(memory.id, number, former.at, by, former.action, before)

    def _refuse(self, done: Imports, place: str, reason: str) -> None:
        """Count a refusal; its place can be a name that others chose, so it is masked like any text."""
        done.refused += 1
        if done.lists_more:
            done.refusals.append((self.context.masker.text(inline(place)), reason))

    def _commit(self, changes: Sequence[Change], done: Imports) -> None:
        """Write changes in one transaction; their vectors are computed later, in the background."""
        written = [change.after for change in changes if change.after is not None]
        alone = self._project_alone(changes[0])
        log = (self.context.alone(*alone) if alone else self.context).log
        log.commit(changes, [log.entry("imported", memory) for memory in written])
        updated = sum(change.before is not None for change in changes)
        done.updated += updated
        done.imported += len(changes) - updated

    def _commit_one(self, change: Change, done: Imports) -> None:
        memory = change.after
        if memory is None:
            return
        try:
            self._commit([change], done)
        except StaleWrite:
            holder = self.context.store.by_key(memory.space, memory.key) if memory.key else None
            if holder is None:
                done.unchanged += 1  # another process stored it meanwhile
            elif holder.text == memory.text:
                done.unchanged += 1
            else:
                self._commit([replace(change, after=replace(memory, key=None))], done)
                done.keyless += 1


def _sought(memory: Memory) -> Sought:
    return Sought(memory.id, memory.project, memory.created_at)


def _imported(parsed: Memory, level: Trust) -> Memory:
    """A memory as it is imported. Its citations are compared with the working tree before anything is said of them."""
    memory = trust.unconfirmed(parsed, level)
    return replace(memory, origin="import", revision=min(memory.revision, LIMITS.revision))


def _is_newer(memory: Memory, present: Memory, level: Trust) -> bool:
    """Whether a memory was changed in its source since it was imported, and not changed here."""
    is_import = present.origin == "import" and present.trust == level
    return is_import and memory.updated_at > present.updated_at and memory.text != present.text
