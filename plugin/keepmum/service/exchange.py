"""Reads and writes of complete memories, for clients of a server that rank and decide what to store themselves.

Such a client has a `MemoryService` of its own. What it sends is scanned and limited here like any other write; its key
alone decides the author and the trust.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from keepmum.core import ranking, serialization, trust, validation
from keepmum.core.errors import InvalidInput, KeepmumError, KeyRefused, NotFound
from keepmum.core.memory import (
    LIMITS,
    Action,
    Activity,
    Candidate,
    Change,
    Embedding,
    Facets,
    Filter,
    JsonValue,
    Memory,
    Order,
    Outline,
    Revision,
    Status,
    Trust,
)
from keepmum.core.review import RULE_KINDS
from keepmum.service.context import ServiceContext
from keepmum.stores import StaleWrite

__all__ = ["SEVERAL", "Exchange", "Holders", "OtherRevision", "Reviewed", "Step", "Stored"]

SEVERAL = "is the id of memories in several projects; name one of them in the header X-Keepmum-Project"

_ACTIONS: Mapping[Status, Action] = {
    "active": "restored", "archived": "archived", "superseded": "superseded", "tombstoned": "tombstoned",
    "trashed": "trashed",
}  # fmt: skip
_SET_HERE = (
    "created_at", "updated_at", "created_by", "updated_by", "origin", "accessed_at", "access_count", "trust",
    "confirmed_by",
)  # fmt: skip


class OtherRevision(StaleWrite):
    """The memory has another revision than the write replaces, or its id or key is taken."""

    def __init__(self, message: str, present: Memory | None) -> None:
        super().__init__(message)
        self.present = present


class Reviewed(KeepmumError):
    """A write with this key may not replace the memory without a review."""


class Step(NamedTuple):
    """One change of a complete memory."""

    id: str
    values: Mapping[str, JsonValue] | None  # the memory as `serialization.to_json` has it; None removes it for good
    base: int | None = None  # the revision that it replaces; None for a new memory, and to remove any revision
    curated: bool = False  # whether its sender may pin, confirm, and write what needs no review


class Stored(NamedTuple):
    """The result of one step."""

    id: str
    revision: int  # 0 when it was removed
    action: Action | None  # None: the same was stored before, and nothing was written


class Holders(NamedTuple):
    """The memories of a space that a new one may repeat."""

    by_key: Memory | None  # the active memory with the key
    last_by_key: Memory | None  # the one that had it last
    same_text: Memory | None  # the active memory with the text


class Exchange:
    """Reads and writes complete memories."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    # -- reading; nothing counts as use

    def load_complete(self, wanted: Sequence[str]) -> list[Memory]:
        """The memories with these ids, whatever their status, as they may be shown; unknown ids are left out."""
        return list(self.context.show(self.context.store.get(wanted)))

    def id_range(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories with ids in [first, last], in order."""
        return list(self.context.show(self.context.store.between(first, last, limit)))

    def select(self, wanted: Filter, *, order: Order = "updated", limit: int = 50) -> list[Memory]:
        """Memories that pass the filter, latest (or most important) first."""
        return list(self.context.show(self.context.store.browse(wanted, order=order, limit=limit)))

    def candidates(
        self, query: str, embedding: Embedding | None, wanted: Filter, limit: int
    ) -> list[tuple[Memory, Candidate]]:
        """Up to `limit` memories that hold a word of the query, and up to `limit` that are near to it, unranked.

        `embedding` is the query's, if the client has computed it.
        """
        context, words = self.context, ranking.terms(validation.clean("query", query, LIMITS.query))
        vectors = context.embeddings.search
        if vectors is None:
            found = [Candidate.lexical_only(*pair) for pair in context.store.search(words, wanted, limit)]
        else:
            computed = context.embeddings.of_query(query) if embedding is None else lambda: embedding
            found = vectors.search(words, computed, wanted, limit)
        loaded = context.store.get(list(dict.fromkeys(each.id for each in found)))
        shown = context.show(loaded)
        memories = {(one.id, one.project): each for one, each in zip(loaded, shown, strict=True)}
        return [(memories[name], each) for each in found if (name := (each.id, each.project)) in memories]

    def holders(self, space: str, key: str, text: str) -> Holders:
        """The memories of a space with this key, and the one with this text; either may be empty."""
        store = self.context.store
        found = (
            store.by_key(space, key) if key else None,
            store.last_by_key(space, key) if key else None,
            store.same_text(space, text) if text else None,
        )
        return Holders(*(None if memory is None else self.context.masker.memory(memory) for memory in found))

    def count_facets(self, wanted: Filter) -> Facets:
        """How many of the memories that pass the filter have each kind, agent, tag, status and trust."""
        mask = self.context.masker.text
        found = self.context.store.facets(wanted)
        return Facets(*({mask(value): count for value, count in counts.items()} for counts in found))

    def list_outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts."""
        return self.context.store.outlines(wanted)

    def revisions(self, memory: str) -> list[Revision]:
        """The revisions of the memory with a complete id before each change, latest first."""
        return [self.context.masker.revision(past) for past in self.context.store.history(memory)]

    # -- writing

    def report_use(self, memories: Sequence[str]) -> None:
        """Note that a client has shown these memories to its agent."""
        self.context.store.reinforce(memories, self.context.clock())

    def apply(self, steps: Sequence[Step], allows: Callable[[Memory], bool] = lambda _: True) -> list[Stored]:
        """Apply all steps in one transaction; a step that was applied before changes nothing.

        `allows` says whether the sender may write a memory, both as it is and as it is to become.

        Raises: OtherRevision, NotFound, InvalidInput, SecretFound, StoreError; nothing is stored then.
        """
        planned = [self._planned(step, allows) for step in steps]
        changes = [change for change, _, _ in planned if change is not None]
        if changes:
            entries = [entry for _, entry, _ in planned if entry is not None]
            try:
                self.context.commit(changes, *entries)
            except OtherRevision:
                raise
            except StaleWrite as error:
                raise OtherRevision(str(error), self.present(steps[0]) if len(steps) == 1 else None) from None
        return [stored for _, _, stored in planned]

    def present(self, step: Step) -> Memory | None:
        """The memory that a step is about; of several with its id, the one in the project that the step names.

        Raises: InvalidInput when it names none of theirs.
        """
        found = self.context.store.get([step.id])
        if len(found) > 1 and step.values is not None:
            project = step.values.get("project") or None
            found = [memory for memory in found if memory.project == project] or found
        if len(found) > 1:
            raise InvalidInput("id", SEVERAL)
        return found[0] if found else None

    def _planned(self, step: Step, allows: Callable[[Memory], bool]) -> tuple[Change | None, Activity | None, Stored]:
        present = self.present(step)
        if present is not None and not allows(present):
            raise KeyRefused("this key may not write in that project")
        if step.values is None:
            return self._removal(step, present)
        incoming, now = self._incoming(step, step.values), self.context.clock()
        if not allows(incoming):
            raise KeyRefused("this key may not write in that project")
        if present is None and step.base is not None:
            raise NotFound("no memory has this id")
        after = self._attributed(incoming, present, now, curated=step.curated)
        if present is not None and _is_same(present, after):
            return None, None, Stored(present.id, present.revision, None)
        if present is None:
            return (
                Change(None, after),
                self.context.entry("created", after),
                Stored(after.id, after.revision, "created"),
            )
        if step.base is None:
            raise OtherRevision("a memory with this id exists", present)
        if step.base != present.revision:
            raise OtherRevision(f"the memory has revision {present.revision}", present)
        after = replace(after, revision=max(after.revision, present.revision + 1))
        action: Action = _ACTIONS[after.status] if after.status != present.status else "updated"
        return Change(present, after), self.context.entry(action, after), Stored(after.id, after.revision, action)

    def _removal(self, step: Step, present: Memory | None) -> tuple[Change | None, Activity | None, Stored]:
        if present is None:
            return None, None, Stored(step.id, 0, None)
        if step.base not in {None, present.revision}:
            raise OtherRevision(f"the memory has revision {present.revision}", present)
        entry = self.context.log.entry("purged", present)
        return Change(present, None), entry, Stored(present.id, 0, "purged")

    def _incoming(self, step: Step, values: Mapping[str, JsonValue]) -> Memory:
        """The memory in `values`, which were scanned as they were sent and as they would be stored.

        Raises: InvalidInput, SecretFound, ScannerFailed.
        """
        memory = serialization.parse({**values, "id": step.id})
        memory = replace(memory, revision=min(memory.revision, LIMITS.revision))
        sent = {name: values[name] for name in serialization.TEXTS if values.get(name) is not None}
        sent = {name: value for name, value in sent.items() if not serialization.is_link(name, value)}
        self.context.refuse_secrets(sent, serialization.texts(memory))
        return memory

    def _attributed(self, incoming: Memory, present: Memory | None, now: int, *, curated: bool) -> Memory:
        """A memory that was sent, as its sender's key may write it."""
        context, base = self.context, present or incoming
        entry: Trust = context.options.trust if curated or incoming.kind not in RULE_KINDS else "outside"
        level = trust.of_write(entry, incoming.source_kind)
        memory = replace(
            incoming,
            trust=level,
            origin=context.options.origin,
            created_by=context.actor if present is None else present.created_by,
            updated_by=context.actor,
            created_at=min(base.created_at, now),
            updated_at=min(incoming.updated_at, now),
            accessed_at=base.accessed_at,
            access_count=base.access_count,
        )
        if curated:
            known = present is not None and memory.confirmed_at == present.confirmed_at
            by = present.confirmed_by if known and present is not None else context.actor
            return replace(memory, confirmed_by=None if memory.confirmed_at is None else by)
        if present is None:
            return trust.unconfirmed(memory, level)
        after = trust.revised(replace(memory, pinned=present.pinned), present)
        if trust.is_higher(present, after):
            raise Reviewed("a curator has confirmed this memory; write a new one that names it in `supersedes`")
        return after


def _is_same(present: Memory, after: Memory) -> bool:
    """Whether a step was applied before: a client sends it again when its answer was lost."""
    fields = {name: getattr(present, name) for name in _SET_HERE}
    return after.revision <= present.revision and replace(after, **fields, revision=present.revision) == present
