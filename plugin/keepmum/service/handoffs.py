"""Handoffs of work between agents. Each is a memory with the key `handoff-NUMBER`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from keepmum.core.errors import InvalidInput, NotFound
from keepmum.core.memory import STATUSES, TRUSTED, Memory, Scope
from keepmum.service import Decided, MemoryService
from keepmum.service.browsing import browse

__all__ = ["PATTERN", "Handoff", "Handoffs", "is_handoff"]

PATTERN = "handoff-*"
_PREFIX = "handoff-"
_TITLE = 100  # characters of the summary
_HIGHEST = 999_999_999  # number of a handoff
_OF_MEMORY = ("number", "id", "revision", "created_at", "updated_at")  # what is not stored in the memory's data
_REQUIRED = ("summary", "next_steps", "from_agent")
_OPTIONAL = ("stuck_reason", "to_agent", "picked_up_by", "result")
_STATES = frozenset({"pending", "in_progress", "completed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """A handoff and its progress."""

    number: int
    summary: str
    next_steps: str
    from_agent: str
    status: str = "pending"  # one of _STATES
    stuck_reason: str | None = None
    to_agent: str | None = None
    context_keys: tuple[str, ...] = ()
    picked_up_by: str | None = None
    result: str | None = None
    id: str = ""  # of its memory, like the rest
    revision: int = 0
    created_at: int = 0
    updated_at: int = 0


class Handoffs:
    """Reads and changes handoffs as the agent of the service."""

    def __init__(self, service: MemoryService, scope: Scope | None = "global") -> None:
        self._service = service
        self._scope = scope  # of handoffs; None reads those of every scope
        self.queued = 0  # writes that wait for a server after the last write, including it

    def all(self) -> list[Handoff]:
        """Every handoff of this user's agents, newest first; text from outside hands nothing over."""
        found = browse(self._service, order="created", keys=PATTERN, scope=self._scope, trusts=TRUSTED)
        parsed = map(_parsed, found)
        return sorted((one for one in parsed if one is not None), key=lambda one: -one.number)

    def pending(self) -> list[Handoff]:
        """Pending handoffs, newest first."""
        return [one for one in self.all() if one.status == "pending"]

    def create(self, summary: str, next_steps: str, **more: Any) -> Handoff:
        """Create a handoff with a new number.

        Raises: InvalidInput, also when a memory has the highest number; SecretFound, StoreError.
        """
        number = self._last_number()
        while True:
            number += 1
            if number > _HIGHEST:
                raise InvalidInput("handoff", f"has no free number: purge the memory with the key {_PREFIX}{_HIGHEST}")
            new = Handoff(number=number, summary=summary, next_steps=next_steps, from_agent=self._service.agent, **more)
            try:
                kept = self._service.remember(
                    _text(new), key=f"{_PREFIX}{number}", title=f"Handed off: {summary}"[:_TITLE], kind="task",
                    tier="long", scope=self._scope, data=_data(new), tags=["handoff"], fresh=True,
                )  # fmt: skip
            except InvalidInput as error:
                if error.field != "key":
                    raise
                continue  # another agent has used the number
            self.queued = kept.queued
            return new

    def pick_up(self, number: int) -> Handoff:
        """Take over a handoff; when two agents try at once, only one succeeds.

        Raises: NotFound, InvalidInput when it is no longer pending; StoreError.
        """
        try:
            return self._pick_up(number)
        except InvalidInput as error:
            if error.field != "id":
                raise
            return self._pick_up(number)  # it was changed meanwhile: another agent was faster, or it is still pending

    def _pick_up(self, number: int) -> Handoff:
        found = self._of(number)
        if found.status == "in_progress":
            raise InvalidInput("handoff_id", f"handoff #{number} was already picked up by {found.picked_up_by}")
        if found.status == "completed":
            raise InvalidInput("handoff_id", f"handoff #{number} is already completed")
        taken = replace(found, status="in_progress", picked_up_by=self._service.agent)
        self._write(taken, f"Picked up from {found.from_agent}: {found.summary}")
        return taken

    def complete(self, number: int, result: str | None) -> Handoff:
        """Complete a handoff.

        Raises: NotFound, InvalidInput when this agent has not picked it up; SecretFound, StoreError.
        """
        found = self._of(number)
        if found.status == "pending":
            raise InvalidInput("handoff_id", f"handoff #{number} is pending; pick it up first")
        if found.status == "completed":
            raise InvalidInput("handoff_id", f"handoff #{number} is already completed")
        if found.picked_up_by != self._service.agent:
            raise InvalidInput(
                "handoff_id", f"handoff #{number} was picked up by {found.picked_up_by}, who must complete it"
            )
        done = replace(found, status="completed", result=result)
        self._write(done, f"Completed for {found.from_agent}: {result or found.summary}")
        return done

    def withdraw(self, number: int) -> Decided:
        """Take a handoff back: it goes to the trash.

        Raises: NotFound, InvalidInput when it is completed; StoreError.
        """
        found = self._open(number)
        return self._service.move_each([found.id], "trashed", expected={found.id: found.revision})

    def give(self, number: int, agent: str) -> Decided:
        """Give an open handoff to another agent, or with "" to any.

        It stays an agent's: the one that picks it up must be able to change it.

        Raises: NotFound, InvalidInput when it is no longer pending; SecretFound, StoreError.
        """
        found = self._open(number)
        if found.status != "pending":
            raise InvalidInput("handoff", f"handoff #{number} was already picked up by {found.picked_up_by}")
        given = replace(found, to_agent=agent or None)
        with self._service.trusting("agent"):
            return self._service.edit(found.id, _text(given), revision=found.revision, data=_data(given))

    def _open(self, number: int) -> Handoff:
        found = self._of(number)
        if found.status == "completed":
            raise InvalidInput("handoff", f"handoff #{number} is already completed")
        return found

    def _write(self, changed: Handoff, title: str) -> None:
        kept = self._service.revise(
            f"{_PREFIX}{changed.number}", _text(changed), revision=changed.revision, title=title[:_TITLE],
            data=_data(changed),
        )  # fmt: skip
        self.queued = kept.queued

    def _of(self, number: int) -> Handoff:
        found = next((one for one in self.all() if one.number == number), None)
        if found is None:
            raise NotFound(f"handoff #{number} not found")
        return found

    def _last_number(self) -> int:
        """The highest number ever used, including removed handoffs."""
        found = browse(self._service, order="created", keys=PATTERN, scope=self._scope, statuses=STATUSES)
        return max(map(_number, found), default=0)


def is_handoff(memory: Memory) -> bool:
    """Whether a memory is a handoff; lists of memories leave these out."""
    return _parsed(memory) is not None


def _number(memory: Memory) -> int:
    """The number in a memory's key; 0 when no handoff has such a key."""
    digits = (memory.key or "").removeprefix(_PREFIX)
    is_number = digits.isdecimal() and digits.isascii() and len(digits) <= len(str(_HIGHEST))
    return int(digits) if is_number and not digits.startswith("0") else 0


def _text(handoff: Handoff) -> str:
    """The text of a handoff, for other dialects."""
    parts = [handoff.summary, f"Next steps: {handoff.next_steps}"]
    if handoff.stuck_reason:
        parts.append(f"Stuck because: {handoff.stuck_reason}")
    parts.append(f"Status: {handoff.status}")
    if handoff.result:
        parts.append(f"Result: {handoff.result}")
    return "\n\n".join(parts)


def _data(handoff: Handoff) -> dict[str, Any]:
    stored = asdict(handoff)
    for name in _OF_MEMORY:
        del stored[name]
    return {"handoff": {**stored, "context_keys": list(handoff.context_keys)}}


def _parsed(memory: Memory) -> Handoff | None:
    """The handoff in a memory; None if it is not one."""
    stored = memory.data.get("handoff") if isinstance(memory.data, Mapping) else None
    number = _number(memory)
    if not number or not isinstance(stored, Mapping):
        return None
    said: dict[str, Any] = {name: stored.get(name) for name in (*_REQUIRED, *_OPTIONAL)}
    needed: Any = stored.get("context_keys") or ()
    status: Any = stored.get("status", "pending")
    is_complete = (
        all(isinstance(said[name], str) for name in _REQUIRED)
        and all(isinstance(said[name], str | None) for name in _OPTIONAL)
        and isinstance(needed, list | tuple)
        and all(isinstance(key, str) for key in needed)
        and isinstance(status, str)
        and status in _STATES
    )
    if not is_complete:  # anybody who may write can store a memory with such a key
        return None
    return Handoff(
        **said, status=status, context_keys=tuple(needed), number=number, id=memory.id, revision=memory.revision,
        created_at=memory.created_at, updated_at=memory.updated_at,
    )  # fmt: skip
