"""Moving memories from one store to another: one by one to whom it may concern, or all of them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keepmum.core import lifecycle, ranking, serialization, validation
from keepmum.core.errors import InvalidInput, ScannerFailed, SecretFound, StoreError
from keepmum.core.memory import Change, Memory, Revision, Scope
from keepmum.service.context import Context
from keepmum.stores import StaleWrite, Store
from keepmum.stores.base import Composite, caveat
from keepmum.system import private_files

__all__ = ["AUDIENCES", "Migrated", "Move", "Moving"]

AUDIENCES: Mapping[str, tuple[str, Scope]] = {  # the store that each reads, and the scope of what lies there
    "team": ("rest", "shared"),
    "repo": ("markdown", "project"),
    "mine": ("sqlite", "project"),
}
_MISSING = {
    "rest": "no team server is named; `keepmum backend use URL` names one",
    "markdown": "nothing says which project's folder this is; go into it and try again",
    "sqlite": "there is no database here",
}
_PAGE = 200
_LOOKED_AT = 20  # memories of a server, for one whose answer was lost
_BOOKKEEPING = ("revision", "accessed_at", "access_count", "origin", "git")


@dataclass(frozen=True, slots=True)
class Move:
    """A memory before and after it is moved, and the stores that it leaves and comes to."""

    before: Memory
    after: Memory
    source: str
    target: str
    without: Mapping[str, str]  # what the target cannot promise, by promise


@dataclass(slots=True)
class Migrated:
    """What became of the memories of a store."""

    copied: int = 0
    known: int = 0  # there already
    left: int = 0  # of no use to the target: another project's, or not alive where only the living can be kept
    refused: list[tuple[str, str]] = field(default_factory=list)  # id, and why
    differing: list[str] = field(default_factory=list)  # ids whose copy, read back, says something else
    queued: int = 0  # writes that wait for a server
    past: int = 0  # former states that were copied along
    past_refused: int = 0  # of these, such as today's rules refuse


class Moving(Context):
    """The part of the service that moves and copies memories between stores."""

    def planned_move(self, reference: str, audience: str) -> Move:
        """What moving a memory to an audience (`team`, `repo` or `mine`) would do; nothing is done yet.

        Raises: NotFound, Ambiguous, InvalidInput when it lies there already, SecretFound, StoreError.
        """
        memory, (target, scope) = self._find(reference), AUDIENCES[audience]
        parts = self._parts()
        source = parts.home_of(memory)
        if source is None:
            raise InvalidInput("id", f"{memory.id} lies in a store of another project; go there and try again")
        if source == target:
            raise InvalidInput("id", f"{memory.id} lies in {target} already")
        store = self._part(target)
        if not memory.is_visible(self._clock()):
            raise InvalidInput("id", f"{memory.id} is {memory.status}; `keepmum forget --undo` brings it back first")
        after = replace(
            lifecycle.next_revision(memory, self._clock(), self._agent),
            scope=scope,
            project=self.place.project,
            session=None,
        )
        self._refuse_secrets(serialization.texts(after), after)
        return Move(memory, after, source, target, store.capabilities.cannot)

    def shown_move(self, move: Move) -> Move:
        """The move with its memories as they may be shown."""
        return replace(move, before=self._masker.memory(move.before), after=self._masker.memory(move.after))

    def move(self, move: Move) -> tuple[Memory, int]:
        """The memory as it is kept now, and how many writes wait for a server: until they are sent it lies here still.

        Raises: InvalidInput when its key is taken there, StoreError; StaleWrite when it was changed meanwhile.
        """
        source, target = self._part(move.source), self._part(move.target)
        old = next(iter(target.get([move.before.id])), None)  # a copy that changed before
        try:
            past = () if old else self._past(source, move.before)
            receipt = target.commit([Change(old, move.after, past=past)], [self._entry("imported", move.after)])
        except StaleWrite:
            raise InvalidInput("key", f"or id is in use in {move.target} already; rename one of the two") from None
        kept = receipt.settled(move.after)
        if not receipt.queued:
            if not target.get([kept.id]):
                raise StoreError(f"{move.target} took the memory and does not give it back; it is still here as well")
            try:
                source.commit([Change(move.before, None)], [self._journal.entry("purged", move.before)])
                self._drop_copies(move)
            except StoreError:
                with contextlib.suppress(StoreError):
                    target.commit([Change(kept, None)])
                raise
        self._refresh(None)
        return self._masker.memory(kept), receipt.queued

    def _drop_copies(self, move: Move) -> None:
        """Take what was moved out of every other store: there it would come up again as it was."""
        for name in self._parts().names:
            copies = [] if name in {move.source, move.target} else self._part(name).get([move.before.id])
            if copies:
                self._part(name).commit([Change(copy, None) for copy in copies])

    def migrate(self, source: str, target: str, *, dry_run: bool, progress: Callable[[int], None]) -> Migrated:
        """Copy what a store holds into another, and read each copy back; what was copied before is not copied again.

        The source stays as it is. Memories that today's rules refuse are counted and left where they are.

        Raises: StoreError.
        """
        done, ledger = Migrated(), _Ledger(self._home, source, target)
        here, there = self._part(source), self._part(target)
        seen = 0
        for page in _pages(here) if source != "rest" else self._listed(here):
            seen += len(page)
            wanted = [memory for memory in page if self._belongs(memory, target)]
            done.left += len(page) - len(wanted)
            names = {memory.id: ledger.names.get(memory.id, memory.id) for memory in wanted}
            present = {memory.id for memory in there.get(list(names.values()))}
            fresh = [memory for memory in wanted if names[memory.id] not in present]
            if target == "rest":
                fresh = [memory for memory in fresh if not self._has_arrived(memory, there, ledger)]
            done.known += len(wanted) - len(fresh)
            fresh = [memory for memory in fresh if self._is_clean(memory, done)]
            changes = [Change(None, memory, past=self._past(here, memory, done)) for memory in fresh]
            if dry_run:
                done.copied += len(fresh)
            else:
                self._copy(changes, there, ledger, done, exact=target != "rest")
            progress(seen)
        if not dry_run and done.copied:
            self._refresh(None)
        return done

    def _past(self, store: Store, memory: Memory, done: Migrated | None = None) -> tuple[Revision, ...]:
        """What a memory was before, as far as today's rules let it be kept."""
        found = store.history(memory.id)
        clean = tuple(revision for revision in found if self._is_clean_past(revision))
        if done is not None:
            done.past += len(clean)
            done.past_refused += len(found) - len(clean)
        return clean

    def _is_clean_past(self, revision: Revision) -> bool:
        try:
            validation.refuse_secrets(revision.before, self._scan)
        except (SecretFound, ScannerFailed):
            return False
        return True

    def _has_arrived(self, memory: Memory, server: Store, ledger: _Ledger) -> bool:
        """Whether a server has a memory that was being sent when a migration was cut off: then its answer was lost."""
        if memory.id not in ledger.begun or ledger.names.get(memory.id):
            return False
        wanted = replace(self._filter(), scopes=("project", "shared"))
        listed = server.search(ranking.terms(f"{memory.title} {memory.text}"), wanted, _LOOKED_AT)
        same_title = [found.id for found, _ in listed if found.title == memory.title]
        for name in same_title:
            for found in server.between(name, name, 1):
                if found.text == memory.text:
                    ledger.note(memory.id, name)
                    return True
        return False

    def _copy(self, fresh: Sequence[Change], there: Store, ledger: _Ledger, done: Migrated, *, exact: bool) -> None:
        """Write memories to another store and compare them with what it then has."""
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
        done.differing += [
            memory.id for memory in kept if not _says_the_same(memory, found.get(memory.id), exact=exact)
        ]

    def _written(self, batch: list[Change], there: Store, done: Migrated) -> Iterator[tuple[Memory, Memory, int]]:
        """The memories of a batch that were written, as they were and as they are kept; one by one where all fail."""
        new = [change.after for change in batch if change.after is not None]
        if not new:
            return
        try:
            receipt = there.commit(batch)
        except StaleWrite:
            if len(batch) == 1:
                done.refused.append((new[0].id, "its key is in use there by another memory; rename one of the two"))
                return
            for change in batch:
                yield from self._written([change], there, done)
            return
        for memory in new:
            yield memory, receipt.settled(memory), min(receipt.queued, 1)

    def _listed(self, server: Store) -> Iterator[list[Memory]]:
        """What a server lists, with its texts: it does not go by our ids.

        Raises: StoreError when it cannot be asked: what is known of it here is not all that it has.
        """
        wanted, offset = replace(self._filter(), everywhere=True), 0
        while True:
            found = server.browse(wanted, order="created", limit=_PAGE, offset=offset)
            if reason := caveat(server):
                why = server.capabilities.reason or reason
                raise StoreError(f"the server could not be asked what it has, so that not all of it was copied. {why}")
            if not found:
                return
            offset += len(found)
            yield server.get([memory.id for memory in found])

    def _belongs(self, memory: Memory, target: str) -> bool:
        """Whether a store is there for a memory: files for those of their project, a server for those that live."""
        own = memory.scope in {"project", "shared"} and memory.project == self.place.project
        if target == "markdown":
            return own
        return target != "rest" or (own and memory.is_visible(self._clock()))

    def _is_clean(self, memory: Memory, done: Migrated) -> bool:
        try:
            validation.refuse_secrets(serialization.texts(memory), self._scan)
        except (SecretFound, ScannerFailed) as reason:
            done.refused.append((memory.id, str(reason)))
            return False
        return True

    def _parts(self) -> Composite:
        composite = self.store.features.composite
        if composite is None:
            raise StoreError("there is one store here; nothing can be moved")
        return composite

    def _part(self, name: str) -> Store:
        store = self._parts().part(name)
        if store is None:
            raise StoreError(_MISSING[name])
        return store


class _Ledger:
    """Which memory became which, on disk: a server gives ids of its own, and a migration may be cut off at any time."""

    def __init__(self, home: str | None, source: str, target: str) -> None:
        self._path = os.path.join(home, "state", "migrations", f"{source}-{target}.jsonl") if home else None
        self.names: dict[str, str] = {}
        self.begun: set[str] = set()
        with contextlib.suppress(OSError), open(self._path or os.devnull, encoding="utf-8") as lines:
            for line in lines:
                with contextlib.suppress(ValueError):  # the last one may be cut off
                    told = json.loads(line)
                    self.begun.update(told)
                    self.names.update({memory: name for memory, name in told.items() if name})

    def begin(self, change: Change) -> None:
        """Note that a memory is about to be sent: where the answer is lost it is there by a name not known here."""
        if change.after is not None:
            self._write(change.after.id, "")

    def note(self, memory: str, name: str) -> None:
        """Note that a memory is known by `name` there."""
        if memory != name:
            self.names[memory] = name
            self._write(memory, name)

    def _write(self, memory: str, name: str) -> None:
        if self._path is None:
            return
        private_files.make_folder(os.path.dirname(self._path))
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with open(descriptor, "a", encoding="utf-8") as file:
            file.write(json.dumps({memory: name}) + "\n")


def _pages(store: Store) -> Iterator[list[Memory]]:
    """Every memory of a store, in the order of ids, whatever its status, project or user."""
    after = ""
    while page := [memory for memory in store.between(after, "~", _PAGE + 1) if memory.id != after]:
        yield page
        after = page[-1].id


def _says_the_same(memory: Memory, copy: Memory | None, *, exact: bool) -> bool:
    if copy is None:
        return False
    if not exact:
        return (copy.title, copy.text, set(copy.tags)) == (memory.title, memory.text, set(memory.tags))
    return replace(copy, **{name: getattr(memory, name) for name in _BOOKKEEPING}) == memory
