"""Move and copy memories between stores, and from one project to another."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keepmum.core import ranking, serialization, validation
from keepmum.core.errors import Incomplete, InvalidInput, ScannerFailed, SecretFound, StoreError
from keepmum.core.memory import STATUSES, Change, Filter, JsonValue, Memory, Revision, Scope
from keepmum.core.progress import Progress, ignore_progress
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.stores import StaleWrite, Store
from keepmum.stores.base import Composite, known_folders, local
from keepmum.system import private_files
from keepmum.workspace.project import UNPLACED

__all__ = ["AUDIENCES", "Migrated", "Move", "Transfer"]

AUDIENCES: Mapping[str, tuple[str, Scope]] = {  # the store that each audience reads, and the scope of memories there
    "team": ("rest", "shared"),
    "repo": ("markdown", "project"),
    "mine": ("sqlite", "project"),
}
_MISSING = {
    "rest": "no team server is named; `keepmum backend use URL` names one",
    "markdown": "this is not a project's folder; run this in one",
    "sqlite": "there is no database here",
}
_CANDIDATES = 20  # memories of a server that may be one whose answer was lost
_BOOKKEEPING = ("revision", "accessed_at", "access_count", "origin", "git")
_UNNAMED = "path:"  # prefix of the id of a project that has neither a remote nor a chosen name


@dataclass(frozen=True, slots=True)
class Move:
    """A memory before and after it is moved, and the stores that it leaves and enters."""

    before: Memory
    after: Memory
    source: str
    target: str
    without: Mapping[str, str]  # guarantees that the target does not give: name to a sentence for the user


@dataclass(slots=True)
class Migrated:
    """The result of copying all memories of a store."""

    copied: int = 0
    known: int = 0  # in the target already
    left: int = 0  # not for the target: of another project, or not active where only active ones can be stored
    refused: list[tuple[str, str]] = field(default_factory=list)  # id, and why
    differing: list[str] = field(default_factory=list)  # ids of memories whose copy, read back, has other content
    queued: int = 0  # writes that wait for a server
    past: int = 0  # former revisions that were copied
    past_refused: int = 0  # former revisions that the scanner refused
    incomplete: str = ""  # why not every memory of the store could be read


class Transfer:
    """Moves and copies memories between the stores of a composite store."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def plan_move(self, reference: str, audience: str) -> Move:
        """What moving a memory to an audience (`team`, `repo` or `mine`) would do; changes nothing.

        Raises: NotFound, Ambiguous, InvalidInput when it is there already, SecretFound, StoreError.
        """
        context = self.context
        memory, (target, scope) = lookup.find(context, reference), AUDIENCES[audience]
        source = self._composite().home_of(memory)
        if source is None:
            raise InvalidInput("id", f"{memory.id} is in a store of another project; run this in that project's folder")
        if source == target:
            raise InvalidInput("id", f"{memory.id} is in {target} already")
        store, now = self._part(target), context.clock()
        if not memory.is_visible(now):
            raise InvalidInput("id", f"{memory.id} is {memory.status}; `keepmum forget --undo` brings it back first")
        # Who said it and when stay: a memory that was moved is not a newer version.
        after = replace(memory, revision=memory.revision + 1, scope=scope, project=context.place.project, session=None)
        context.refuse_secrets(serialization.texts(after))
        return Move(memory, after, source, target, store.capabilities.cannot)

    def shown_move(self, move: Move) -> Move:
        """The move with its memories as they may be shown."""
        before, after = self.context.show([move.before, move.after])
        return replace(move, before=before, after=after)

    def move(self, move: Move) -> tuple[Memory, int]:
        """Move a memory; returns it as stored, and the number of queued writes: until sent, it stays in its old store.

        Raises: InvalidInput when its key is taken there, StoreError; StaleWrite when it was changed meanwhile.
        """
        context = self.context
        source, target = self._part(move.source), self._part(move.target)
        old = next(iter(target.get([move.before.id])), None)  # an earlier copy
        try:
            past = () if old else self._past(source, move.before)
            receipt = target.commit([Change(old, move.after, past=past)], [context.entry("imported", move.after)])
        except StaleWrite:
            raise InvalidInput("key", f"or id is in use in {move.target} already; rename one of the two") from None
        kept = receipt.settled(move.after)
        if not receipt.queued:
            if not target.get([kept.id]):
                raise StoreError(
                    f"{move.target} accepted the memory and does not return it; it also stays in {move.source}"
                )
            try:
                source.commit([Change(move.before, None)], [context.log.entry("purged", move.before)])
                self._drop_copies(move)
            except StoreError:
                with contextlib.suppress(StoreError):
                    target.commit([Change(kept, None)])
                raise
        context.refresh_briefings(None)
        return context.masker.memory(kept), receipt.queued

    def migrate(
        self, source: str, target: str, *, dry_run: bool = False, progress: Progress = ignore_progress
    ) -> Migrated:
        """Copy the memories of a store into another and read each copy back; those copied before are skipped.

        The source stays as it is. Memories that the scanner refuses are counted and not copied.

        Raises: StoreError.
        """
        done, ledger = Migrated(), _Ledger(self.context.options.home, source, target)
        here, there = self._part(source), self._part(target)
        pages = lookup.pages(here) if source != "rest" else self._listed(here)
        seen = 0
        while (page := _next_page(pages, done)) is not None:
            seen += len(page)
            wanted = [memory for memory in page if self._belongs(memory, target)]
            done.left += len(page) - len(wanted)
            names = {memory.id: ledger.names.get(memory.id, memory.id) for memory in wanted}
            present = {memory.id for memory in there.get(list(names.values()))}
            fresh = [memory for memory in wanted if names[memory.id] not in present]
            if target == "rest":
                fresh = [memory for memory in fresh if not self._has_arrived(memory, there, ledger)]
            done.known += len(wanted) - len(fresh)
            refusals = {memory.id: self._refusal(serialization.texts(memory)) for memory in fresh}
            done.refused += [(name, reason) for name, reason in refusals.items() if reason]
            changes = [
                Change(None, memory, past=self._past(here, memory, done)) for memory in fresh if not refusals[memory.id]
            ]
            if dry_run:
                done.copied += len(changes)
            else:
                self._copy(changes, there, ledger, done, exact=target != "rest")
            progress(seen, 0)
        if not dry_run and done.copied:
            self.context.refresh_briefings(None)
        return done

    def adopt(self, root: str, project: str) -> None:
        """Move the memories of a folder to `project` when the folder had no name but its path until now.

        Memories without a project can be from any folder, so they stay where they are.
        """
        context = self.context
        former = next((known for folder, known, _ in known_folders(context.store) if folder == root), project)
        if former == project or UNPLACED in {former, project} or not former.startswith(_UNNAMED):
            return
        user = context.place.user
        wanted = Filter(now=context.clock(), project=former, user=user, scopes=("project", "shared"), statuses=STATUSES)
        changes = []
        for memory in [memory for page in lookup.listing(local(context.store), wanted) for memory in page]:
            moved = replace(memory, revision=memory.revision + 1, project=project)
            if moved.key and context.store.by_key(moved.space, moved.key) is not None:
                moved = replace(moved, key=None)  # the key is taken; search still finds the memory
            changes.append(Change(memory, moved))
        with contextlib.suppress(StaleWrite):  # another session of this folder does the same
            context.commit(changes)

    def _drop_copies(self, move: Move) -> None:
        """Remove a moved memory from every other store, where its old state would reappear."""
        for name, store in self._composite().parts.items():
            copies = [] if name in {move.source, move.target} else store.get([move.before.id])
            if copies:
                store.commit([Change(copy, None) for copy in copies])

    def _past(self, store: Store, memory: Memory, done: Migrated | None = None) -> tuple[Revision, ...]:
        """The former revisions of a memory that the scanner accepts."""
        found = store.history(memory.id)
        clean = tuple(revision for revision in found if not self._refusal(revision.before))
        if done is not None:
            done.past += len(clean)
            done.past_refused += len(found) - len(clean)
        return clean

    def _refusal(self, fields: Mapping[str, JsonValue]) -> str:
        """Why fields of a memory cannot be stored; empty when they can."""
        try:
            validation.refuse_secrets(fields, self.context.scan, self.context.related)
        except (SecretFound, ScannerFailed) as reason:
            return str(reason)
        return ""

    def _has_arrived(self, memory: Memory, server: Store, ledger: _Ledger) -> bool:
        """Whether a server has a memory whose answer was lost when a migration was interrupted."""
        if memory.id not in ledger.begun or ledger.names.get(memory.id):
            return False
        wanted = replace(lookup.filter_of(self.context), scopes=("project", "shared"))
        listed = server.search(ranking.terms(f"{memory.title} {memory.text}"), wanted, _CANDIDATES)
        same_title = [found.id for found, _ in listed if found.title == memory.title]
        for name in same_title:
            for found in server.between(name, name, 1):
                if found.text == memory.text:
                    ledger.note(memory.id, name)
                    return True
        return False

    def _copy(self, fresh: Sequence[Change], there: Store, ledger: _Ledger, done: Migrated, *, exact: bool) -> None:
        """Write memories to another store and compare them with what it returns."""
        kept: list[Memory] = []
        for batch in [list(fresh)] if exact else [[change] for change in fresh]:
            if not exact:
                ledger.begin(batch[0])
            for memory, copy, queued in self._written(batch, there, done):
                ledger.note(memory.id, copy.id)
                done.queued += queued
                done.copied += 1
                if not queued:
                    kept.append(copy)
        found = {memory.id: memory for memory in there.get([memory.id for memory in kept])}
        done.differing += [memory.id for memory in kept if not _same_content(memory, found.get(memory.id), exact=exact)]

    def _written(self, batch: list[Change], there: Store, done: Migrated) -> Iterator[tuple[Memory, Memory, int]]:
        """Each memory of a batch that was written, as it was and as it is stored; one by one when the batch fails."""
        new = [change.after for change in batch if change.after is not None]
        if not new:
            return
        try:
            receipt = there.commit(batch)
        except StaleWrite:
            if len(batch) == 1:
                done.refused.append((new[0].id, "another memory has its key there; rename one of the two"))
                return
            for change in batch:
                yield from self._written([change], there, done)
            return
        for memory in new:
            yield memory, receipt.settled(memory), min(receipt.queued, 1)

    def _listed(self, server: Store) -> Iterator[list[Memory]]:
        """Pages of all memories of a server, which cannot be listed by our ids.

        Raises: Incomplete when the server does not answer or lists a part only: its mirror here may be incomplete.
        """
        try:
            yield from lookup.listing(
                server, replace(lookup.filter_of(self.context), everywhere=True), only_current=True
            )
        except Incomplete as error:
            why = server.capabilities.reason or error
            raise Incomplete(f"the server could not list its memories, so not all of them were copied. {why}") from None

    def _belongs(self, memory: Memory, target: str) -> bool:
        """Whether a store is for a memory: files for their project's, a server for its active ones."""
        own = memory.scope in {"project", "shared"} and memory.project == self.context.place.project
        if target == "markdown":
            return own
        return target != "rest" or (own and memory.is_visible(self.context.clock()))

    def _composite(self) -> Composite:
        composite = self.context.store.features.composite
        if composite is None:
            raise StoreError("there is only one store; nothing can be moved")
        return composite

    def _part(self, name: str) -> Store:
        parts = self._composite().parts
        if name not in parts:
            raise StoreError(_MISSING[name])
        return parts[name]


class _Ledger:
    """The ids of copies, in a file: a server assigns its own ids, and a migration may be interrupted at any time."""

    def __init__(self, home: str | None, source: str, target: str) -> None:
        self._path = os.path.join(home, "state", "migrations", f"{source}-{target}.jsonl") if home else None
        self.names: dict[str, str] = {}
        self.begun: set[str] = set()
        with contextlib.suppress(OSError), open(self._path or os.devnull, "rb") as lines:
            for line in lines:
                with contextlib.suppress(ValueError):  # one may be cut off
                    names = json.loads(line)
                    self.begun.update(names)
                    self.names.update({memory: name for memory, name in names.items() if name})

    def begin(self, change: Change) -> None:
        """Note that a memory is about to be sent: if the answer is lost, its id there is unknown."""
        if change.after is not None:
            self._write(change.after.id, "")

    def note(self, memory: str, name: str) -> None:
        """Note the id of a copy."""
        if memory != name:
            self.names[memory] = name
            self._write(memory, name)

    def _write(self, memory: str, name: str) -> None:
        if self._path is None:
            return
        private_files.make_folder(os.path.dirname(self._path))
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with open(descriptor, "a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps({memory: name})}\n")  # the line before may be cut off


def _next_page(pages: Iterator[list[Memory]], done: Migrated) -> list[Memory] | None:
    """The next page, None after the last one; notes in `done` when there should be more."""
    try:
        return next(pages, None)
    except Incomplete as error:
        done.incomplete = str(error)
        return None


def _same_content(memory: Memory, copy: Memory | None, *, exact: bool) -> bool:
    if copy is None:
        return False
    if not exact:
        return (copy.title, copy.text, set(copy.tags)) == (memory.title, memory.text, set(memory.tags))
    return replace(copy, **{name: getattr(memory, name) for name in _BOOKKEEPING}) == memory
