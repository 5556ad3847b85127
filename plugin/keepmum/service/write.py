"""Write memories: store new ones, change them, bring them back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

from keepmum.core import ids, lifecycle, serialization, similarity, trust, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import (
    SCOPES,
    TRUSTED,
    Action,
    Change,
    Embedding,
    JsonValue,
    Memory,
    Revision,
    Trust,
    WrongMark,
    default_tier,
    space_of,
    trust_rank,
)
from keepmum.core.review import RULE_KINDS
from keepmum.core.similarity import Similar
from keepmum.service import lookup
from keepmum.service.context import ServiceContext

__all__ = ["Remembered", "Writer"]

_COMPARED = 4  # memories nearest to a new one
_WHO: Mapping[Trust, str] = {
    "person": "the user",
    "agent": "an agent",
    "team": "the team",
    "outside": "others",
}


@dataclass(frozen=True, slots=True)
class Remembered:
    """The result of a write: the memory as it is stored, and what the write did."""

    memory: Memory
    action: Action | None  # None: the same was stored already, and nothing was written
    previous: Memory | None = None  # the memory or revision that it replaced
    queued: int = 0  # writes that wait for a server, including this one; 0 when it is stored
    similar: tuple[Similar, ...] = ()  # memories with nearly the same content, nearest first
    kept: Memory | None = None  # a memory that is trusted more and was to be replaced: both stay, a person decides
    wrong: tuple[WrongMark, float] | None = None  # a person's mark on the same text, or on one with that cosine


class _Draft(NamedTuple):
    """One write, cleaned and scanned, with what is needed to apply it to any base."""

    fields: validation.CleanFields
    memory: Memory  # a new memory with these fields
    now: int

    def revised(self, base: Memory) -> Memory:
        """`base` with the fields and the trust of this write and the commit that is checked out now."""
        written = replace(base, git=self.memory.git, trust=self.memory.trust, source_kind=None)
        return _placed(validation.revise(written, self.fields))


class Writer:
    """Writes memories; every text is cleaned, limited and scanned here before a store receives it."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def remember(
        self, text: str, *, supersedes: str | None = None, fresh: bool = False, **fields: Unpack[validation.Fields]
    ) -> Remembered:
        """Store a memory: a new one, or a new value of the one under `key`; fields that are not given stay.

        A `fresh` one replaces no other: its key must be free. What this service's user may not replace, since it is
        trusted more, stays; the new value is then stored without the key, and `kept` of the answer is the other.

        Raises: InvalidInput, SecretFound, NotFound (for `supersedes`), StoreError. Nothing is stored in part.
        """
        draft = self._draft(text, fields, {"supersedes": supersedes})

        def attempt() -> Remembered:
            if fresh and draft.memory.key and self._holder(draft.memory, draft.now) is not None:
                raise InvalidInput("key", "is taken")
            return self._keep(draft, lookup.find(self.context, supersedes) if supersedes else None)

        return self._answer(self.context.retry(attempt))

    def revise(
        self, reference: str, text: str, *, revision: int | None = None, **fields: Unpack[validation.Fields]
    ) -> Remembered:
        """Give one memory a new text and the fields that are given; the others stay.

        With `revision`, only while the memory has that revision: of two concurrent changes one is refused.
        A memory that is trusted more stays, as with `remember`.

        Raises: NotFound, Ambiguous, InvalidInput, SecretFound, StoreError. Nothing is stored in part.
        """
        memory = lookup.find(self.context, reference)
        draft = self._draft(text, fields, base=memory)

        def attempt() -> Remembered:
            present = lookup.again(self.context, memory)
            if revision not in {None, present.revision}:
                raise InvalidInput("id", f"{present.id} was changed meanwhile; read it again")
            now = self.context.clock()
            if not present.is_visible(now):
                raise InvalidInput("id", f"{present.id} was removed; undo that first (`keepmum forget --undo`)")
            after = self._revised(draft, present, now)
            if self._is_overruled(draft, after, present):
                return self._keep_apart(_renewed(after, now), present, now)
            if lifecycle.same_content(after, present):
                return Remembered(present, None)
            if present.revision != memory.revision:
                self.context.refuse_related(after)
            return self._commit(after, present, None, now)

        return self._answer(self.context.retry(attempt))

    def restore(self, reference: str) -> Remembered:
        """Bring back a memory that was archived, trashed, superseded or tombstoned.

        Raises: NotFound, InvalidInput when it is active, or its key belongs to another memory.
        """
        memory = lookup.find(self.context, reference, former=True)
        return self._answer(self.context.retry(lambda: self._restore(lookup.again(self.context, memory))))

    def undo(self, reference: str) -> Remembered:
        """Revert the last change of a memory, whether a new value or a removal.

        Raises: NotFound; InvalidInput when there is nothing to revert, or only who is trusted more may do it.
        """
        memory = lookup.find(self.context, reference, former=True)
        if not memory.is_visible(self.context.clock()):
            return self.restore(memory.id)
        past = self.context.history(memory)
        if not past:
            raise InvalidInput("id", f"{memory.id} has never been changed; remove it instead")
        return self._answer(self.context.retry(lambda: self._revert(lookup.again(self.context, memory), past[0])))

    def _draft(
        self,
        text: str,
        fields: validation.Fields,
        references: Mapping[str, JsonValue] | None = None,
        base: Memory | None = None,
    ) -> _Draft:
        """The write, cleaned and scanned as it was sent and as `base`, or a new memory, would say it.

        Raises: InvalidInput, SecretFound, ScannerFailed.
        """
        context, now = self.context, self.context.clock()
        if fields.get("tags"):
            fields["tags"] = tuple(fields["tags"] or ())  # an iterator can be read once only
        cleaned = validation.clean_fields(text, fields)
        root, scope = context.place.root, context.options.default_scope
        level = trust.of_write(context.options.trust, cleaned.get("source_kind"))
        blank = Memory(
            id=ids.new_id(now), text="", title=validation.title_of(""), kind="note", tier=default_tier("note"),
            scope=scope, project=context.place.project, session=context.place.session, user=context.place.user,
            agent=context.agent, origin=context.options.origin, trust=level, created_at=now, updated_at=now,
            git=context.options.checked_out(root) if root else None,
            created_by=context.actor, updated_by=context.actor,
        )  # fmt: skip
        sent: dict[str, Any] = dict(fields)
        draft = self._reviewed(_Draft(cleaned, _placed(validation.revise(blank, cleaned)), now), base)
        judged = draft.memory if base is None else draft.revised(base)
        context.refuse_secrets(
            {"text": text, **(references or {}), **sent, "tags": list(sent.get("tags") or ())},
            serialization.texts(judged),
        )
        return draft

    def _reviewed(self, draft: _Draft, base: Memory | None) -> _Draft:
        """The draft of a revision of `base`, or of a new memory; from outside if a curator must confirm it."""
        touched = [draft.memory] if base is None else [base, draft.revised(base)]
        if touched[-1].kind not in RULE_KINDS or all(self.context.options.curates(each.project) for each in touched):
            return draft
        return draft._replace(memory=replace(draft.memory, trust="outside"))

    def _keep(self, draft: _Draft, old: Memory | None) -> Remembered:
        """Store a draft as a new memory, or as a new value of the one that it repeats; `old` is superseded."""
        if old is not None and trust.is_higher(old, draft.memory):
            return self._keep_apart(draft.memory, old, draft.now)
        if old is not None and old.key and old.status == "active" and "key" not in draft.fields:
            draft = _Draft({**draft.fields, "key": old.key}, replace(draft.memory, key=old.key), draft.now)
            self.context.refuse_related(draft.memory)
        present = self._holder(draft.memory, draft.now)
        if old is not None and present is not None and present.id == old.id:
            twin = self._twin(draft.memory, draft.now)  # the same text, stored before anything said what it replaces
            present = None if twin is None or twin.id == old.id else twin
        if present is None:
            return self._commit(draft.memory, None, old, draft.now)
        draft = self._reviewed(draft, present)
        after = self._revised(draft, present, draft.now)
        if self._is_overruled(draft, after, present):
            return self._keep_apart(draft.memory, present, draft.now)
        if old is not None and trust.is_higher(old, after):  # the same text is stored already, from outside
            return Remembered(present, None, kept=old)
        is_superseded = old is None or old.superseded_by == present.id
        if is_superseded and lifecycle.same_content(after, present) and after.expires_at == present.expires_at:
            return Remembered(present, None)
        self.context.refuse_related(after)  # the title or the tags that stay may name the new text
        return self._commit(after, present, old, draft.now)

    def _revised(self, draft: _Draft, present: Memory, now: int) -> Memory:
        """The next revision of a memory; the reason for a value that another agent replaces is not one for the new."""
        after = trust.revised(draft.revised(lifecycle.next_revision(present, now, self.context.actor)), present)
        is_foreign = present.updated_by != self.context.actor and present.text != after.text
        return replace(after, why=None) if is_foreign and "why" not in draft.fields else after

    @staticmethod
    def _is_overruled(draft: _Draft, after: Memory, present: Memory) -> bool:
        """Whether a write may not replace `present`. It may change how important that is, unless it is from outside."""
        is_statement = draft.memory.trust == "outside" or not trust.says_the_same(after, present)
        return is_statement and trust.is_higher(present, draft.memory)

    def _keep_apart(self, new: Memory, higher: Memory, now: int) -> Remembered:
        """Store a memory that cannot replace a higher one: without its key, and naming what it wants to supersede."""
        context = self.context
        if _same_text(new, higher):
            return Remembered(higher, None)
        apart = replace(new, key=None, supersedes=higher.id)
        if (twin := self._twin(apart, now)) is not None:
            return Remembered(twin, None, kept=higher)
        entry = context.entry("conflict", apart)
        receipt = context.commit([Change(None, apart)], context.entry("created", apart), entry)
        return Remembered(receipt.settled(apart), "created", kept=higher, queued=receipt.queued)

    def _holder(self, new: Memory, now: int) -> Memory | None:
        """The memory that a write is a new value of: the one under its key, or one with the same text."""
        store = self.context.store
        holder = store.by_key(new.space, new.key) if new.key else None
        if holder is not None and not holder.is_visible(now):
            self.context.commit([self.context.status_change(holder, "trashed", now)])  # expired: it loses its key
            holder = None
        return holder or self._twin(new, now)

    def _twin(self, new: Memory, now: int) -> Memory | None:
        """The memory with the same text, unless both have keys."""
        twin = self.context.store.same_text(new.space, new.text)
        return twin if twin is not None and twin.is_visible(now) and not (new.key and twin.key) else None

    def _commit(self, after: Memory, present: Memory | None, old: Memory | None, now: int) -> Remembered:
        """Store `after` in place of `present`, if any, and mark `old` as superseded by it."""
        context = self.context
        action: Action = "created"
        if present is not None:
            foreign = present.updated_by != context.actor and present.text != after.text
            action = "conflict" if foreign and after.key and not context.options.by_person else "updated"
        changes, entries = [], []
        if old is not None and old.id != after.id:
            after = replace(after, supersedes=old.id, trust=trust.of_revision(after, old))
            superseded = lifecycle.with_status(old, "superseded", now, context.actor)
            changes.append(Change(old, replace(superseded, superseded_by=after.id)))
            entries.append(context.entry("superseded", old))
        changes.append(Change(present, after))
        entries.append(context.entry(action, after))
        receipt = context.commit(changes, *entries)
        return Remembered(receipt.settled(after), action, present or old, receipt.queued)

    def _restore(self, memory: Memory) -> Remembered:
        now = self.context.clock()
        if memory.is_visible(now):
            raise InvalidInput("id", f"{memory.id} is active already")
        active = lifecycle.with_status(memory, "active", now, self.context.actor)
        restored = self._bring_back(memory, replace(active, trashed_at=None, superseded_by=None, expires_at=None))
        state = self.context.store.features.review_state
        if state is not None and self.context.options.trust == "person":
            state.unmark_wrong([memory.id])  # who brings it back no longer says that it is wrong
        return restored

    def _revert(self, memory: Memory, past: Revision) -> Remembered:
        before = serialization.parse({"trust": trust.first(past.before), **past.before})
        higher = max(memory.trust, before.trust, key=trust_rank)  # what a person took back, an agent does not restore
        if trust_rank(self.context.options.trust) < trust_rank(higher):
            raise InvalidInput("id", f"{memory.id} was last changed by {_WHO[higher]}, who alone can undo that")
        after = replace(
            before,
            updated_at=self.context.clock(),
            updated_by=self.context.actor,
            revision=memory.revision + 1,
        )
        self.context.refuse_secrets(serialization.texts(after))
        return self._bring_back(memory, after)

    def _bring_back(self, memory: Memory, after: Memory) -> Remembered:
        """Replace a memory by `after`, with its key unless another memory has taken that."""
        context = self.context
        changes = [Change(memory, after)]
        holder = context.store.by_key(after.space, after.key) if after.key else None
        if holder is not None and holder.id != after.id:
            if holder.is_visible(after.updated_at):
                key = context.masker.text(after.key or "")
                raise InvalidInput("key", f"{key!r} is now held by {holder.id}; forget that one first")
            changes.insert(0, context.status_change(holder, "trashed", after.updated_at))  # it has expired
        receipt = context.commit(changes, context.entry("restored", after))
        return Remembered(receipt.settled(after), "restored", memory, receipt.queued)

    def _answer(self, kept: Remembered) -> Remembered:
        """A result as it may be shown: the memory that it replaced may be older than the rules of the scanner."""
        mask = self.context.masker.memory
        embedding = None if kept.action is None else self.context.embeddings.of_stored(kept.memory)
        similar = self._similar(kept.memory, embedding) if kept.action in {"created", "updated", "conflict"} else ()
        wrong = self._marked_wrong(kept.memory, embedding) if kept.action is not None else None
        return replace(
            kept, memory=mask(kept.memory), previous=kept.previous and mask(kept.previous), similar=similar, wrong=wrong
        )

    def _marked_wrong(self, new: Memory, embedding: Embedding | None) -> tuple[WrongMark, float] | None:
        """A person's mark on the text of a memory, or on a similar one; a person's own writes need no warning."""
        context, scale = self.context, self.context.embeddings.calibration
        state = context.store.features.review_state
        if state is None or context.options.trust == "person":
            return None
        place = context.place
        spaces = {new.space, *(space_of(scope, place.project, place.session, place.user) for scope in SCOPES)}
        found = state.wrong_like(sorted(spaces), new.text, embedding, scale.from_common(similarity.NEAR))
        if not found:
            return None
        mark, cosine = found[0]
        return mark._replace(reason=context.masker.text(mark.reason)), scale.to_common(cosine)

    def _similar(self, new: Memory, embedding: Embedding | None) -> tuple[Similar, ...]:
        """The memories of this place with nearly the same content, by vectors and by words, as they may be shown."""
        context, vectors = self.context, self.context.embeddings.search
        wanted = lookup.filter_of(context, {"trusts": TRUSTED})  # shown without a query
        found: dict[str, tuple[Memory, float]] = {}
        if vectors is not None and embedding is not None:
            nearest = vectors.similar(embedding, wanted, _COMPARED)
            found.update((memory.id, (memory, cosine)) for memory, cosine in nearest)
        if (versions := context.store.features.versions) is not None:
            for near in versions.near([new], wanted, None):
                if similarity.may_be_near(new, near.memory):
                    found.setdefault(near.memory.id, (near.memory, similarity.overlap(new, near.memory)))
        compared = [
            similarity.compare(new, context.masker.memory(memory), cosine)
            for memory, cosine in found.values()
            if memory.id != new.id and (cosine >= similarity.REPORTED or similarity.are_near(new, memory))
        ]
        return tuple(sorted(compared, key=lambda one: -one.cosine)[:_COMPARED])


def _renewed(memory: Memory, now: int) -> Memory:
    """A revision as a new memory with its content, without what was said of or done with the other."""
    return replace(
        trust.unconfirmed(memory, memory.trust), id=ids.new_id(now), created_at=now, created_by=memory.updated_by,
        revision=1, accessed_at=None, access_count=0,
    )  # fmt: skip


def _same_text(one: Memory, other: Memory) -> bool:
    return one.text.casefold().split() == other.text.casefold().split()


def _placed(memory: Memory) -> Memory:
    """`memory` without a project when it belongs to all of them."""
    return replace(memory, project=None) if memory.scope == "global" else memory
