"""Reverts everything that one agent wrote since a time, where no one else has changed it since."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal, NamedTuple

from keepmum.core import lifecycle, serialization, trust
from keepmum.core.errors import ConfirmationNeeded, InvalidInput, SecretFound
from keepmum.core.memory import Action, LogFilter, Memory, Revision
from keepmum.service.context import ServiceContext
from keepmum.service.review.decisions import Decided, Decider

__all__ = ["UndoPlan", "UndoStep", "Undoer"]

_MOST = 1_000  # memories of one undo
_ENTRIES = 20_000  # of the log
_WRITES: tuple[Action, ...] = (
    "created", "updated", "conflict", "superseded", "archived", "trashed", "restored", "imported",
)  # fmt: skip


class UndoStep(NamedTuple):
    """One memory, and as it would be."""

    before: Memory
    after: Memory
    does: Literal["trash", "put back", "bring back"]


class UndoPlan(NamedTuple):
    """What an undo would do."""

    steps: tuple[UndoStep, ...]
    skipped: tuple[tuple[Memory, str], ...]  # memories that stay as they are, and why

    @property
    def confirmation(self) -> str:
        """What must be sent back to do exactly this."""
        named = "".join(f"{step.before.id}:{step.before.revision}:{step.does};" for step in self.steps)
        return hashlib.blake2b(named.encode(), digest_size=6).hexdigest()


class Undoer:
    """Plans and carries out the undo of an agent's writes in this place."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def plan_undo(self, agent: str, since: int) -> UndoPlan:
        """What would be reverted of all that `agent` wrote since then, as it may be shown.

        Raises: InvalidInput when that are too many memories, StoreError.
        """
        plan, mask = self._plan(agent, since), self.context.masker.memory
        return UndoPlan(
            tuple(UndoStep(mask(before), mask(after), does) for before, after, does in plan.steps),
            tuple((mask(memory), why) for memory, why in plan.skipped),
        )

    def undo_agent(self, agent: str, since: int, confirmation: str) -> Decided:
        """Revert what a plan listed, in one transaction.

        Raises: ConfirmationNeeded when other memories would be changed than those shown; InvalidInput, StoreError.
        """
        plan = self._plan(agent, since)
        if plan.confirmation != confirmation:
            raise ConfirmationNeeded("the list has changed since it was shown; nothing was undone. List it again.")
        if not plan.steps:
            raise InvalidInput("agent", "wrote nothing since then that can be undone")
        return Decider(self.context).apply("undo-agent", [(step.before, step.after) for step in plan.steps])

    def _plan(self, agent: str, since: int) -> UndoPlan:
        context = self.context
        context.log.flush()
        events = context.store.activity(
            _ENTRIES, context.place.project, LogFilter(agent=agent, actions=_WRITES, since=since)
        )
        concerned = list(dict.fromkeys(event.memory for event in events if event.memory))
        if len(concerned) > _MOST:
            raise InvalidInput(
                "since", f"would change {len(concerned):,} memories, and {_MOST:,} can be undone at once"
            )
        steps: list[UndoStep] = []
        skipped: list[tuple[Memory, str]] = []
        for memory in context.store.get(concerned):
            if memory.user != context.place.user:
                continue
            found = self._step(memory, agent, since)
            if isinstance(found, UndoStep):
                steps.append(found)
            elif found:
                skipped.append((memory, found))
        return UndoPlan(tuple(steps), tuple(skipped))

    def _step(self, memory: Memory, agent: str, since: int) -> UndoStep | str:
        """The step for one memory, or why there is none; "" when nothing is to be undone."""
        past = self.context.history(memory)
        recent = [each for each in past if each.at >= since]
        others = [each.agent for each in recent if each.agent != agent]
        if others:
            return f"changed since by {self.context.masker.text(others[0])}"
        now = self.context.clock()
        if memory.created_at >= since and memory.created_by == agent:
            trashed = lifecycle.with_status(memory, "trashed", now, self.context.actor)
            return "" if memory.status == "trashed" else UndoStep(memory, trashed, "trash")
        return self._earlier(memory, recent[-1], now) if recent else ""

    def _earlier(self, memory: Memory, first: Revision, now: int) -> UndoStep | str:
        """The step that brings back the content before a change, or why there is none."""
        earlier = serialization.parse({"trust": trust.first(first.before), **first.before})
        after = replace(
            earlier, updated_at=now, updated_by=self.context.actor, revision=memory.revision + 1,
            access_count=memory.access_count, accessed_at=memory.accessed_at,
        )  # fmt: skip
        holder = self.context.store.by_key(after.space, after.key) if after.key and after.status == "active" else None
        if holder is not None and holder.id != after.id:
            return f"its key is now held by {holder.id}"
        try:
            self.context.refuse_secrets(serialization.texts(after))
        except SecretFound:
            return "the earlier text holds what looks like a secret"
        is_back = memory.status != "active" and after.status == "active"
        return UndoStep(memory, after, "bring back" if is_back else "put back")
