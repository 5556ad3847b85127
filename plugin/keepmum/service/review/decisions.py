"""What a person decides about memories: each decision is one step that can be undone.

An agent may decide what its own tools let it do. To confirm, to pin and to mark as wrong are a person's statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, NamedTuple, Unpack

from keepmum.core import ids, lifecycle, serialization, trust, validation
from keepmum.core.errors import InvalidInput, NotFound, StoreError
from keepmum.core.memory import LIMITS, Action, Change, JsonValue, Memory, Revision, Status, WrongMark, trust_rank
from keepmum.core.review import Decision, open_conflict
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.service.lookup import Wanted
from keepmum.service.review.queue import Reviewer, ReviewItem
from keepmum.service.write import Writer
from keepmum.stores.base import ReviewState

__all__ = ["Choice", "Decided", "Decider", "is_of_queue"]

_CHANGED = "was changed meanwhile; look at it again"
_LATER = "later:"  # in an undo token, before the id of an item
_ACCEPTED = "accepted:"  # before the ids of memories
_CREATED = "created:"  # before the id of a memory that the decision made
_ANY: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Decided:
    """The result of a decision."""

    decision: str  # a `Decision`, or archive, restore, tag
    memories: tuple[Memory, ...]  # those that it changed, as they are now and may be shown
    undo: str  # reverts it (see `undo_decision`)
    queued: int = 0  # writes that wait for a server; 0 when it is done


class Choice(NamedTuple):
    """What to do about an item of the review queue."""

    decision: Decision
    memory: str | None = None  # which of two: the one to change, or to keep with `merge`; the newer one by default
    reason: str = ""  # why it is wrong
    text: str | None = None  # the new text, with `edit`, and if wanted with `merge`
    until: int | None = None  # when to show it again, with `later`; by default when a memory of it has changed


class _Step(NamedTuple):
    """One memory before and after a decision."""

    before: Memory
    after: Memory


class Decider:
    """Carries out decisions about memories, for the person or agent that this service works for."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def decide(self, item: str, choice: Choice, /, **wanted: Unpack[Wanted]) -> Decided:
        """Decide about an item of the review queue, which was read with the filter `wanted`.

        Raises: NotFound when the item was decided or its memories have changed; InvalidInput when the item does not
            offer the decision; SecretFound, StoreError.
        """
        found = Reviewer(self.context).review_item(item, **wanted)
        if choice.decision not in found.actions:
            raise InvalidInput("action", f"is not one of {', '.join(found.actions)} for this item")
        if choice.text is None and choice.decision == "edit":
            raise InvalidInput("text", "is missing")
        chosen, *others = _with_first(found, choice.memory)
        here = Decider(self.context.of(chosen))
        decisions: Mapping[Decision, Callable[[], Decided]] = {
            "accept": lambda: here._accept(chosen),
            "still-true": lambda: here.still_true(chosen.id, revision=chosen.revision),
            "confirm": lambda: here.confirm(chosen.id, revision=chosen.revision),
            "wrong": lambda: here.mark_wrong(chosen.id, choice.reason, revision=chosen.revision),
            "edit": lambda: here.edit(chosen.id, choice.text or "", revision=chosen.revision),
            "merge": lambda: here._merge(chosen, others[0], choice.text),
            "put-back": lambda: here.put_back(chosen.id, here._replaced(chosen).revision, revision=chosen.revision),
            "both": lambda: here._both(found),
            "forget": lambda: here._trash(chosen.id, chosen.revision),
            "later": lambda: here._later(found, choice.until),
            "pin": lambda: here.pin(chosen.id, revision=chosen.revision),
        }
        return decisions[choice.decision]()

    def still_true(self, reference: str, *, revision: int | None = None) -> Decided:
        """State that a memory is still true: it no longer expires, and cites the code as it is now.

        By a person it is also confirmed; by an agent it counts as used.
        """

        def renew(memory: Memory, now: int) -> Memory:
            here = memory.project == self.context.place.project
            git = self._checked_out() if here else None
            renewed = replace(
                memory, citations=None if git else memory.citations, git=git or memory.git, expires_at=None
            )
            return self._confirmed(renewed, now) if self._is_person else renewed

        decided = self._change(
            "still-true", reference, renew, "confirmed" if self._is_person else "updated", revision=revision
        )
        if not self._is_person:
            self.context.store.reinforce([memory.id for memory in decided.memories], self.context.clock())
        return decided

    def confirm(self, reference: str, *, revision: int | None = None) -> Decided:
        """State as a person that a memory is true; it is trusted from then on as if the person had written it.

        Raises: InvalidInput for an agent.
        """
        self._require_person("confirm a memory")
        return self._change("confirm", reference, self._confirmed, "confirmed", revision=revision)

    def pin(self, reference: str, *, pinned: bool = True, revision: int | None = None) -> Decided:
        """Pin a memory, so that it never fades and comes first in briefings, or unpin it.

        Raises: InvalidInput for an agent.
        """
        self._require_person("pin a memory")
        return self._change(
            "pin",
            reference,
            lambda memory, _: replace(memory, pinned=pinned),
            "pinned" if pinned else "unpinned",
            revision=revision,
        )

    def mark_wrong(self, reference: str, reason: str = "", *, revision: int | None = None) -> Decided:
        """State as a person that a memory is wrong. It goes to the trash, and who writes the same again learns it.

        Raises: InvalidInput for an agent, SecretFound, StoreError when the store keeps no such marks.
        """
        self._require_person("mark a memory as wrong")
        context, state = self.context, self._state()
        why = validation.clean("reason", reason, LIMITS.why, one_line=True)
        context.refuse_secrets({"reason": why})
        memory = self._active(reference)
        if revision not in {None, memory.revision}:  # before the mark, which a failure below removes
            raise InvalidInput("id", f"{memory.id} {_CHANGED}")
        mark = WrongMark(memory.id, context.clock(), self._name, why)
        state.mark_wrong(memory, mark, context.embeddings.of_memory(memory))
        try:
            return self._change("wrong", memory.id, self._with_status("trashed"), "wrong", why, revision)
        except BaseException:
            state.unmark_wrong([memory.id])
            raise

    def edit(
        self, reference: str, text: str, *, revision: int | None = None, **fields: Unpack[validation.Fields]
    ) -> Decided:
        """Give a memory a new text, and the fields that are given.

        Raises: InvalidInput when it is trusted more than what this service's user writes, or is unchanged; SecretFound,
            NotFound, StoreError.
        """
        before = self._active(reference)
        self._require_trust(before)
        answer = Writer(self.context).revise(before.id, text, revision=revision, **fields)
        if answer.action is None:
            raise InvalidInput("text", "is the same as before; nothing was changed")
        return self._decided("edit", [_Step(before, answer.memory)], answer.queued)

    def put_back(self, reference: str, version: int, *, revision: int | None = None) -> Decided:
        """Give a memory the content that it had in an earlier revision, as a new one.

        Raises: InvalidInput when there is no such revision, or as `edit`; SecretFound, NotFound, StoreError.
        """
        memory = self._active(reference)
        found = [past for past in self.context.history(memory) if past.revision == version]
        if not found:
            raise InvalidInput("version", "is none of this memory's earlier revisions")
        past = serialization.parse({"trust": trust.first(found[0].before), **found[0].before})
        return self.edit(
            memory.id, past.text, revision=memory.revision if revision is None else revision, title=past.title,
            why=past.why or "", unexplained=not past.why, kind=past.kind, tags=past.tags,
        )  # fmt: skip

    def tag(
        self,
        references: Sequence[str],
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        *,
        expected: Mapping[str, int] = _ANY,
    ) -> Decided:
        """Give these memories tags, and take tags from them, in one step; `expected` are revisions by id.

        Raises: InvalidInput, SecretFound, NotFound, StoreError. Nothing is changed then.
        """
        added, removed = validation.clean_tags(add), frozenset(validation.clean_tags(remove))
        self.context.refuse_secrets({"tags": list(added)})

        def tagged(memory: Memory, now: int) -> Memory:
            tags = validation.clean_tags([*(tag for tag in memory.tags if tag not in removed), *added])
            after = replace(memory, tags=tags, updated_at=now, updated_by=self.context.actor)
            self.context.refuse_related(after)
            return after

        return self._change_each("tag", references, tagged, "updated", expected=expected)

    def move(
        self,
        references: Sequence[str],
        status: Literal["active", "archived", "trashed"],
        *,
        expected: Mapping[str, int] = _ANY,
    ) -> Decided:
        """Archive these memories, move them to the trash, or bring them back, in one step.

        Raises: InvalidInput, NotFound, StoreError. Nothing is changed then.
        """
        if status != "active":
            action: Action = "archived" if status == "archived" else "trashed"
            decision = "archive" if status == "archived" else "forget"
            return self._change_each(decision, references, self._with_status(status), action, expected=expected)
        done = self._change_each("restore", references, self._brought_back, "restored", expected=expected, former=True)
        if self._is_person and (state := self.context.store.features.review_state) is not None:
            state.unmark_wrong([memory.id for memory in done.memories])
        return done

    def merge(self, kept: str, other: str, text: str | None = None) -> Decided:
        """Keep one of two memories, with a new text if one is given; it supersedes the other and gets its key.

        Raises: InvalidInput when one is trusted more than what this service's user writes; SecretFound, StoreError.
        """
        first, second = self._active(kept), self._active(other)
        for memory in (first, second):
            self._require_trust(memory)
        if text is not None:
            Writer(self.context).revise(first.id, text, revision=first.revision)

        def attempt() -> Decided:
            now = self.context.clock()
            one, two = self._active(first.id), self._active(second.id)
            superseded = lifecycle.with_status(two, "superseded", now, self.context.actor)
            after = _next(replace(one, key=one.key or two.key, supersedes=two.id))
            if trust_rank(two.trust) > trust_rank(one.trust):
                after = self._confirmed(after, now)
            self.context.refuse_related(after)
            steps = [_Step(two, replace(superseded, superseded_by=one.id)), _Step(one, after)]
            queued = self._commit(steps, [("superseded", two, ""), ("updated", after, "")])
            return self._decided("merge", [steps[0], _Step(first, after)], queued)

        return self.context.retry(attempt)

    def accept_files(self, references: Sequence[str] = ()) -> Decided:
        """Count memories in files of others as the team's, until a file changes; all of this place, or some.

        Raises: InvalidInput for an agent, or when none is in a file; StoreError.
        """
        self._require_person("accept files of others")
        context, files = self.context, self.context.store.features.files
        found = [lookup.find(context, reference).id for reference in references] or [
            outline.id for outline in context.store.outlines(lookup.filter_of(context, {"trusts": ("outside",)}))
        ]
        in_files = [memory for memory in found if files is not None and files.file_of(memory)]
        if not in_files or files is None:
            raise InvalidInput("id", "names no memory in a file of others; `keepmum review` lists what is from outside")
        files.accept(in_files)
        memories = context.show(context.store.get(in_files))
        context.log.defer(*(context.log.entry("confirmed", memory, "its file was accepted") for memory in memories))
        context.refresh_briefings(None)
        return Decided("accept", memories, f"{_ACCEPTED}{','.join(in_files)}")

    def apply(self, decision: str, changes: Sequence[tuple[Memory, Memory]]) -> Decided:
        """Replace memories by their next revisions, in one transaction.

        Raises: StoreError. Nothing is changed then.
        """
        steps = [_Step(before, after) for before, after in changes]
        noted: list[tuple[Action, Memory, str]] = [
            ("trashed" if step.after.status == "trashed" else "restored", step.after, "") for step in steps
        ]
        return self._decided(decision, steps, self._commit(steps, noted))

    def undo_decision(self, token: str) -> tuple[Memory, ...]:
        """Revert a decision; returns the memories as they are now. Nothing that happened since is lost.

        Raises: InvalidInput when a memory has changed since, or a person decided and an agent asks.
        """
        if token.startswith(_LATER):
            self._state().resume_item(token.removeprefix(_LATER))
            return ()
        if token.startswith(_ACCEPTED):
            return self._reject_files(token.removeprefix(_ACCEPTED).split(","))
        changed, created = _parsed(token)
        steps = [self._reverted(*each) for each in changed]
        made = [_Step(memory, self._trashed(memory)) for memory in map(self._active, created)]
        noted: list[tuple[Action, Memory, str]] = [("restored", step.after, "") for step in steps]
        self._commit([*steps, *made], [*noted, *(("trashed", step.after, "") for step in made)])
        state = self.context.store.features.review_state
        if self._is_person and state is not None:
            state.unmark_wrong([step.before.id for step in steps])
        return self.context.show([step.after for step in steps])

    # -- parts of decisions

    def _accept(self, shown: Memory) -> Decided:
        """Accept a file, as it was shown.

        Raises: InvalidInput when its text was changed.
        """
        done = self.accept_files([shown.id])
        if not all(trust.says_the_same(memory, shown) for memory in done.memories):
            self.undo_decision(done.undo)
            raise InvalidInput("id", f"{shown.id} {_CHANGED}")
        return done

    def _merge(self, kept: Memory, other: Memory, text: str | None) -> Decided:
        """Merge two memories, as they were shown."""
        for shown in (kept, other):
            if self._active(shown.id).revision != shown.revision:
                raise InvalidInput("id", f"{shown.id} {_CHANGED}")
        return self.merge(kept.id, other.id, text)

    def _trash(self, memory: str, revision: int) -> Decided:
        """Move a memory to the trash, which keeps it for 30 days."""
        return self._change("forget", memory, self._with_status("trashed"), "trashed", revision=revision)

    def _later(self, item: ReviewItem, until: int | None = None) -> Decided:
        """Hide an item until a time, or until one of its memories changes."""
        now = self.context.clock()
        if until is not None and until <= now:
            raise InvalidInput("until", "is in the past")
        self._state().postpone(item.id, now, until)
        self.context.log.defer(*(self.context.entry("postponed", memory) for memory in item.memories))
        return Decided("later", item.memories, f"{_LATER}{item.id}")

    def _reject_files(self, memories: Sequence[str]) -> tuple[Memory, ...]:
        """Undo `accept_files`."""
        self._require_person("undo that")
        context, files = self.context, self.context.store.features.files
        found = context.store.get(memories)
        if files is None or not found:
            raise InvalidInput("undo", "names no memory in a file of others")
        files.accept([memory.id for memory in found], accepted=False)
        context.refresh_briefings(None)
        return context.show(context.store.get(memories))

    def _checked_out(self) -> Mapping[str, JsonValue] | None:
        """Branch and commit of the folder of this place; None outside git."""
        root = self.context.place.root
        return self.context.options.checked_out(root) if root else None

    @property
    def _is_person(self) -> bool:
        return self.context.options.trust == "person"

    @property
    def _name(self) -> str:
        """Who decides, as memories name it."""
        return self.context.place.user or self.context.actor

    def _confirmed(self, memory: Memory, now: int) -> Memory:
        return replace(memory, trust="person", confirmed_at=now, confirmed_by=self._name)

    def _trashed(self, memory: Memory) -> Memory:
        return lifecycle.with_status(memory, "trashed", self.context.clock(), self.context.actor)

    def _with_status(self, status: Status) -> Callable[[Memory, int], Memory]:
        """The change of a memory's status; its revision is counted by the caller."""

        def changed(memory: Memory, now: int) -> Memory:
            moved = lifecycle.with_status(memory, status, now, self.context.actor)
            return replace(moved, revision=memory.revision)

        return changed

    def _change(  # noqa: PLR0913, PLR0917 - one place that commits every decision
        self,
        decision: str,
        reference: str,
        change: Callable[[Memory, int], Memory],
        action: Action,
        detail: str = "",
        revision: int | None = None,
    ) -> Decided:
        """Change one memory, again if another process changed it meanwhile; with `revision`, only that one."""
        memory = self._active(reference).id
        expected = {} if revision is None else {memory: revision}
        return self._change_each(decision, [memory], change, action, detail, expected)

    def _change_each(  # noqa: PLR0913, PLR0917 - as `_change`
        self,
        decision: str,
        references: Sequence[str],
        change: Callable[[Memory, int], Memory],
        action: Action,
        detail: str = "",
        expected: Mapping[str, int] = _ANY,
        *,
        former: bool = False,
    ) -> Decided:
        """Change several memories in one transaction; `expected` are revisions by id, `former` are removed ones."""
        find = self._former if former else self._active
        memories = list(dict.fromkeys(find(reference).id for reference in references))

        def attempt() -> Decided:
            now, steps = self.context.clock(), []
            for present in map(find, memories):
                if expected.get(present.id, present.revision) != present.revision:
                    raise InvalidInput("id", f"{present.id} {_CHANGED}")
                steps.append(_Step(present, _next(change(present, now))))
            return self._decided(decision, steps, self._commit(steps, [(action, step.after, detail) for step in steps]))

        return self.context.retry(attempt)

    def _former(self, reference: str) -> Memory:
        """A memory that was removed or has expired.

        Raises: NotFound, Ambiguous, InvalidInput.
        """
        memory = lookup.find(self.context, reference, former=True)
        if memory.is_visible(self.context.clock()):
            raise InvalidInput("id", f"{memory.id} is active already")
        return memory

    def _brought_back(self, memory: Memory, now: int) -> Memory:
        """A removed memory as it is when it is active again; its revision is counted by the caller."""
        holder = self.context.store.by_key(memory.space, memory.key) if memory.key else None
        if holder is not None and holder.id != memory.id:
            raise InvalidInput("key", f"is now held by {holder.id}; forget that one first")
        active = lifecycle.with_status(memory, "active", now, self.context.actor)
        return replace(active, superseded_by=None, expires_at=None, revision=memory.revision)

    def _both(self, found: ReviewItem) -> Decided:
        """State that two memories, or two versions of one, are both true."""
        first = found.memories[0]
        if found.group == "conflicts":
            return self._keep_both(first)
        if len(found.memories) > 1 and first.supersedes == found.memories[1].id:
            return self._change(
                "both", first.id, lambda memory, _: replace(memory, supersedes=None), "updated", "", first.revision
            )
        return replace(self._later(found), decision="both")

    def _replaced(self, memory: Memory) -> Revision:
        """The value that another agent replaced.

        Raises: NotFound when that was settled.
        """
        found = open_conflict(self.context.history(memory))
        if found is None:
            raise NotFound(f"{memory.id} {_CHANGED}")
        return found

    def _keep_both(self, present: Memory) -> Decided:
        """Store the value that a memory had before as a memory of its own, and confirm the present one."""
        past = self._replaced(present)
        before = serialization.parse({"trust": trust.first(past.before), **past.before})
        kept = self.still_true(present.id, revision=present.revision)
        other = Writer(self.context).remember(
            before.text, title=before.title, why=before.why or "", kind=before.kind, tags=before.tags,
            scope=before.scope,
        )  # fmt: skip
        new = f",{_CREATED}{other.memory.id}" if other.action == "created" else ""
        return replace(kept, decision="both", memories=(*kept.memories, other.memory), undo=f"{kept.undo}{new}")

    def _commit(self, steps: Sequence[_Step], noted: Sequence[tuple[Action, Memory, str]]) -> int:
        """Apply the steps in one transaction; returns how many writes wait for a server."""
        context = self.context
        return context.commit(
            [Change(step.before, step.after) for step in steps],
            *(
                context.log.entry(action, context.masker.memory(memory), detail, context.place.project or "")
                for action, memory, detail in noted
            ),
        ).queued

    def _decided(self, decision: str, steps: Sequence[_Step], queued: int) -> Decided:
        token = ",".join(f"{step.after.id}:{step.before.revision}:{step.after.revision}" for step in reversed(steps))
        return Decided(decision, self.context.show([step.after for step in steps]), token, queued)

    def _reverted(self, reference: str, before: int, after: int) -> _Step:
        """A memory as it was at revision `before`, if it has not changed since revision `after`.

        Raises: InvalidInput, NotFound.
        """
        context = self.context
        present = lookup.find(context, reference, former=True)
        past = [each for each in context.history(present) if each.revision == before]
        if present.revision != after or not past:
            raise InvalidInput("undo", f"{present.id} {_CHANGED}")
        earlier = {"trust": trust.first(past[0].before), **past[0].before}
        restored = replace(serialization.parse(earlier), revision=after + 1)
        for memory in (present, restored):
            self._require_trust(memory)
        if not self._is_person:  # what a person took back stays so
            restored = replace(restored, pinned=present.pinned and restored.pinned)
        context.refuse_secrets(serialization.texts(restored))
        return _Step(present, restored)

    def _active(self, reference: str) -> Memory:
        """A memory that is neither removed nor expired.

        Raises: NotFound, Ambiguous, InvalidInput.
        """
        memory = lookup.find(self.context, reference)
        if not memory.is_visible(self.context.clock()):
            raise InvalidInput("id", f"{memory.id} was removed; undo that first (`keepmum forget --undo`)")
        return memory

    def _state(self) -> ReviewState:
        state = self.context.store.features.review_state
        if state is None:
            raise StoreError("this store keeps no decisions of a review; update it by any write first")
        return state

    def _require_person(self, what: str) -> None:
        if not self._is_person:
            raise InvalidInput(
                "action", f"only a person can {what}: the user does that with `keepmum review` in their own terminal"
            )

    def _require_trust(self, memory: Memory) -> None:
        """Check that this service's user may replace a memory.

        Raises: InvalidInput.
        """
        if trust_rank(memory.trust) > trust_rank(self.context.options.trust):
            raise InvalidInput(
                "action",
                f"{memory.id} is trusted more than what an agent writes: the user decides about it with "
                "`keepmum review` in their own terminal",
            )


def is_of_queue(undo: str) -> bool:
    """Whether an undo token takes back a decision about the queue, and none about a memory's fields."""
    return undo.startswith((_LATER, _ACCEPTED))


def _next(memory: Memory) -> Memory:
    return replace(memory, revision=memory.revision + 1)


def _with_first(item: ReviewItem, reference: str | None) -> list[Memory]:
    """The memories of an item, the one that is meant first.

    Raises: InvalidInput.
    """
    first, last = ("", "\U0010ffff") if reference is None else ids.id_range(reference) or ("", "")
    found = [memory for memory in item.memories if first <= memory.id <= last]
    if not found:
        raise InvalidInput("memory", f"is not one of this item: {', '.join(memory.id for memory in item.memories)}")
    return sorted(item.memories, key=lambda memory: memory is not found[0])


def _parsed(token: str) -> tuple[list[tuple[str, int, int]], list[str]]:
    """Memory, and revisions before and after, of each step of an undo token, and the memories that it created.

    Raises: InvalidInput.
    """
    try:
        parts = token.split(",")
        created = [part.removeprefix(_CREATED) for part in parts if part.startswith(_CREATED)]
        steps = [part.split(":") for part in parts if not part.startswith(_CREATED)]
        return [(memory, int(before), int(after)) for memory, before, after in steps], created
    except ValueError:
        raise InvalidInput("undo", "is not what a decision returned") from None
