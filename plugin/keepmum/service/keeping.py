"""Writing: new memories, new values, and taking a change back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from keepmum.core import ids, lifecycle, serialization, similarity, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Action, Change, JsonValue, Memory, Revision, default_tier
from keepmum.core.similarity import Similar
from keepmum.service.context import Context
from keepmum.stores import StaleWrite

__all__ = ["Keeping", "Remembered"]

_COMPARED = 4  # memories nearest to a new one


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer to a write: the memory as it is kept, and what that did."""

    memory: Memory
    action: Action | None  # None: the very same was kept already, and nothing was written
    previous: Memory | None = None  # what it replaced, if anything
    queued: int = 0  # writes that wait for a server, this one among them; 0: it is stored
    similar: tuple[Similar, ...] = ()  # memories that say nearly the same, nearest first; where meaning is searched


class Keeping(Context):
    """The part of the service that keeps memories: every text is cleaned, limited and scanned here."""

    def remember(
        self, text: str, *, supersedes: str | None = None, fresh: bool = False, **fields: Unpack[validation.Fields]
    ) -> Remembered:
        """Keep a memory: a new one, or a new value of the one under `key`; fields not given stay as they are.

        A `fresh` one takes the place of no other: its key must be free.

        Raises: InvalidInput, SecretFound, NotFound (for `supersedes`), StoreError. Nothing is stored in part.
        """
        now = self._clock()
        if fields.get("tags"):
            fields["tags"] = tuple(fields["tags"] or ())  # an iterator would be used up by the first look
        draft = validation.revise(self._blank(now), text, fields)
        self._refuse_secrets({"text": text, "supersedes": supersedes, **_texts(fields)}, draft)

        def attempt() -> Remembered:
            if fresh and draft.key and self._present(_placed(draft), now) is not None:
                raise InvalidInput("key", "is taken")
            return self._keep(text, fields, self._find(supersedes) if supersedes else None, now)

        return self._answer(self._retrying(attempt))

    def revise(
        self, reference: str, text: str, *, revision: int | None = None, **fields: Unpack[validation.Fields]
    ) -> Remembered:
        """Give one memory a new text, and the fields that are given; whatever else it says stays.

        With `revision`, only while it is at that revision: of two who change it at once, one is told.

        Raises: NotFound, Ambiguous, InvalidInput, SecretFound, StoreError. Nothing is stored in part.
        """
        present = self._find(reference)
        self._refuse_secrets({"text": text, **_texts(fields)}, validation.revise(present, text, fields))

        def attempt() -> Remembered:
            found = self._find(present.id)
            if revision not in {None, found.revision}:
                raise InvalidInput("id", f"{found.id} was changed meanwhile; read it again")
            return self._revise(found, text, fields)

        return self._answer(self._retrying(attempt))

    def restore(self, reference: str) -> Remembered:
        """Bring back a memory that was archived, trashed, superseded or tombstoned.

        Raises: NotFound, InvalidInput when it is active or another memory has taken its key meanwhile.
        """
        memory = self._former(reference)
        return self._answer(self._retrying(lambda: self._restore(self._find(memory.id))))

    def undo(self, reference: str) -> Remembered:
        """Take back the last change of a memory, be it a new value or a removal.

        Raises: NotFound, InvalidInput when there is nothing to take back.
        """
        memory = self._former(reference)
        if not memory.is_visible(self._clock()):
            return self.restore(memory.id)
        past = self.store.history(memory.id)
        if not past:
            raise InvalidInput("id", f"{memory.id} has never been changed; `forget` removes it")
        return self._answer(self._retrying(lambda: self._revert(self._find(memory.id), past[0])))

    def import_memory(self, values: Mapping[str, JsonValue]) -> Remembered:
        """Keep an exported memory under its own id, times and history of use; one that is here already stays.

        Raises: InvalidInput, SecretFound, StoreError.
        """
        incoming = serialization.parse(values)
        self._refuse_secrets(serialization.texts(incoming), incoming)
        present = self.store.get([incoming.id])
        if present:
            return self._answer(Remembered(present[0], None))
        try:
            receipt = self._commit([Change(None, incoming)], self._journal.entry("imported", incoming))
        except StaleWrite:
            raise InvalidInput("key", "is in use by another memory here; rename one of the two") from None
        return Remembered(receipt.settled(incoming), "imported", queued=receipt.queued)

    def _blank(self, now: int) -> Memory:
        scope = self._default_scope
        return Memory(
            id=ids.new_id(now), text="", title=validation.title_of(""), kind="note", tier=default_tier("note"),
            scope=scope, project=self.place.project, session=self.place.session, user=self.place.user,
            agent=self._agent, origin=self._origin, git=self._git(), created_at=now, updated_at=now,
            created_by=self._agent, updated_by=self._agent,
        )  # fmt: skip

    def _git(self) -> Mapping[str, JsonValue] | None:
        """What is checked out here, as a memory carries it."""
        return self._checked_out(self.place.root) if self.place.root else None

    def _keep(self, text: str, fields: validation.Fields, old: Memory | None, now: int) -> Remembered:
        if old is not None and old.key and old.status == "active" and not fields.get("key"):
            fields = {**fields, "key": old.key}
        new = _placed(validation.revise(self._blank(now), text, fields))
        present = self._present(new, now)
        if present is None or (old is not None and present.id == old.id):
            return self._commit_new(new, None, old, now)
        base = replace(lifecycle.next_revision(present, now, self._agent), git=self._git())
        after = _placed(validation.revise(base, text, fields))
        if lifecycle.same_content(after, present) and after.expires_at == present.expires_at:
            return Remembered(present, None)
        return self._commit_new(after, present, old, now)

    def _revise(self, present: Memory, text: str, fields: validation.Fields) -> Remembered:
        now = self._clock()
        if not present.is_visible(now):
            raise InvalidInput("id", f"{present.id} was removed; `forget` with `undo` brings it back")
        base = replace(lifecycle.next_revision(present, now, self._agent), git=self._git())
        after = _placed(validation.revise(base, text, fields))
        if lifecycle.same_content(after, present):
            return Remembered(present, None)
        return self._commit_new(after, present, None, now)

    def _present(self, new: Memory, now: int) -> Memory | None:
        """The memory that a write is a new value of: the one under its key, or one that says just the same."""
        holder = self.store.by_key(new.space, new.key) if new.key else None
        if holder is not None and not holder.is_visible(now):
            self._commit([self._change(holder, "trashed", now)])  # it has expired and gives its key up
            holder = None
        twin = None if holder else self.store.same_text(new.space, new.text)
        if twin is not None and twin.is_visible(now) and not (new.key and twin.key):
            return twin
        return holder

    def _commit_new(self, after: Memory, present: Memory | None, old: Memory | None, now: int) -> Remembered:
        action: Action = "created"
        if present is not None:
            foreign = present.updated_by != self._agent and present.text != after.text
            action = "conflict" if foreign and after.key else "updated"
        changes, entries = [], []
        if old is not None and old.id != after.id:
            after = replace(after, supersedes=old.id)
            changes.append(
                Change(old, replace(lifecycle.with_status(old, "superseded", now, self._agent), superseded_by=after.id))
            )
            entries.append(self._entry("superseded", old))
        changes.append(Change(present, after))
        entries.append(self._entry(action, after))
        receipt = self._commit(changes, *entries)
        return Remembered(receipt.settled(after), action, present or old, receipt.queued)

    def _restore(self, memory: Memory) -> Remembered:
        now = self._clock()
        if memory.is_visible(now):
            raise InvalidInput("id", f"{memory.id} is active already")
        after = replace(
            lifecycle.with_status(memory, "active", now, self._agent),
            trashed_at=None,
            superseded_by=None,
            expires_at=None,
        )
        return self._bring_back(memory, after)

    def _revert(self, memory: Memory, past: Revision) -> Remembered:
        before = serialization.parse(past.before)
        now = self._clock()
        after = replace(before, updated_at=now, updated_by=self._agent, revision=memory.revision + 1)
        self._refuse_secrets(serialization.texts(after), after)
        return self._bring_back(memory, after)

    def _bring_back(self, memory: Memory, after: Memory) -> Remembered:
        """Put a memory back as `after`, with its key when no other memory has taken that."""
        changes = [Change(memory, after)]
        holder = self.store.by_key(after.space, after.key) if after.key else None
        if holder is not None and holder.id != after.id:
            if holder.is_visible(after.updated_at):
                raise InvalidInput(
                    "key", f"{self._masker.text(after.key or '')!r} is now held by {holder.id}; forget that one first"
                )
            changes.insert(0, self._change(holder, "trashed", after.updated_at))  # it has expired
        receipt = self._commit(changes, self._entry("restored", after))
        return Remembered(receipt.settled(after), "restored", memory, receipt.queued)

    def _answer(self, kept: Remembered) -> Remembered:
        """An answer to a write as it may be shown: what it replaced may be older than the rules."""
        previous = kept.previous and self._masker.memory(kept.previous)
        similar = self._similar(kept.memory) if kept.action in {"created", "updated", "conflict"} else ()
        return replace(kept, memory=self._masker.memory(kept.memory), previous=previous, similar=similar)

    def _similar(self, new: Memory) -> tuple[Similar, ...]:
        """The memories that are found where this one is and say nearly the same, as they may be shown."""
        vectors, embedding = self.store.features.vector_search, self._embeddings.of_kept(new)
        if vectors is None or embedding is None:
            return ()
        near = vectors.similar(embedding, self._filter(), _COMPARED)
        return tuple(
            similarity.compare(new, self._masker.memory(memory), cosine)
            for memory, cosine in near
            if cosine >= similarity.REPORTED and memory.id != new.id
        )


def _texts(fields: validation.Fields) -> dict[str, JsonValue]:
    """The fields of a write that may hold text, as they were sent."""
    sent: dict[str, Any] = dict(fields)
    return sent | {"tags": list(sent.get("tags") or ())}


def _placed(memory: Memory) -> Memory:
    """`memory` without a project when it belongs to all of them."""
    return replace(memory, project=None) if memory.scope == "global" else memory
