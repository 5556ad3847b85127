"""Work that one agent hands to the next: pending, in progress, completed. Each is a memory under `handoff-NUMBER`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from keepmum.core.errors import InvalidInput, NotFound
from keepmum.core.memory import STATUSES, Memory
from keepmum.service import MemoryService

__all__ = ["PATTERN", "Handoff", "Handoffs", "is_handoff"]

PATTERN = "handoff-*"
_PREFIX = "handoff-"
_TITLE = 100  # characters of the summary
_MOST = 1000  # handoffs that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """One piece of work, and how far it has come."""

    number: int
    summary: str
    next_steps: str
    from_agent: str
    status: str = "pending"  # or in_progress, completed
    stuck_reason: str | None = None
    to_agent: str | None = None
    context_keys: tuple[str, ...] = ()
    picked_up_by: str | None = None
    result: str | None = None
    revision: int = 0  # of the memory that it was read from
    created_at: int = 0


class Handoffs:
    """The handoffs of one memory, as the agent of the service deals with them."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service

    def all(self) -> list[Handoff]:
        """Every handoff, newest first."""
        found = self._service.recall(None, keys=PATTERN, scope="global", order="created", limit=_MOST)
        told = [_parsed(match.memory) for match in found]
        return sorted((one for one in told if one is not None), key=lambda one: -one.number)

    def pending(self) -> list[Handoff]:
        """Those that wait for an agent, newest first."""
        return [one for one in self.all() if one.status == "pending"]

    def create(self, summary: str, next_steps: str, **more: Any) -> Handoff:
        """A new one, under a number that none ever had.

        Raises: InvalidInput, SecretFound, StoreError.
        """
        number = self._last_number()
        while True:
            number += 1
            new = Handoff(number=number, summary=summary, next_steps=next_steps, from_agent=self._service.agent, **more)
            try:
                self._service.remember(
                    _told(new), key=f"{_PREFIX}{number}", title=f"Handed off: {summary}"[:_TITLE], kind="task",
                    tier="long", scope="global", data=_data(new), tags=["handoff"], fresh=True,
                )  # fmt: skip
            except InvalidInput as error:
                if error.field != "key":
                    raise
                continue  # another agent took the number meanwhile
            return new

    def pick_up(self, number: int) -> Handoff:
        """Take one over; of two agents that do so at once one gets it.

        Raises: NotFound, InvalidInput when it does not wait any longer; StoreError.
        """
        found = self._of(number)
        if found.status == "in_progress":
            raise InvalidInput("handoff_id", f"handoff #{number} was already picked up by {found.picked_up_by}")
        if found.status == "completed":
            raise InvalidInput("handoff_id", f"handoff #{number} is already completed")
        taken = replace(found, status="in_progress", picked_up_by=self._service.agent)
        try:
            self._write(taken, f"Picked up from {found.from_agent}: {found.summary}")
        except InvalidInput as error:
            if error.field != "id":
                raise
            now = self._of(number)  # somebody was faster
            raise InvalidInput("handoff_id", f"handoff #{number} was already picked up by {now.picked_up_by}") from None
        return taken

    def complete(self, number: int, result: str | None) -> Handoff:
        """Mark one as done.

        Raises: NotFound, InvalidInput when this agent has not picked it up; SecretFound, StoreError.
        """
        found = self._of(number)
        if found.status == "pending":
            raise InvalidInput("handoff_id", f"handoff #{number} is pending; it must be picked up first")
        if found.status == "completed":
            raise InvalidInput("handoff_id", f"handoff #{number} is already completed")
        if found.picked_up_by != self._service.agent:
            raise InvalidInput(
                "handoff_id", f"handoff #{number} was picked up by {found.picked_up_by}, who completes it"
            )
        done = replace(found, status="completed", result=result)
        self._write(done, f"Completed for {found.from_agent}: {result or found.summary}")
        return done

    def _write(self, changed: Handoff, title: str) -> None:
        self._service.revise(
            f"{_PREFIX}{changed.number}", _told(changed), revision=changed.revision, title=title[:_TITLE],
            data=_data(changed),
        )  # fmt: skip

    def _of(self, number: int) -> Handoff:
        found = next((one for one in self.all() if one.number == number), None)
        if found is None:
            raise NotFound(f"handoff #{number} not found")
        return found

    def _last_number(self) -> int:
        """The highest number that any handoff had, whatever became of it."""
        found = self._service.recall(
            None, keys=PATTERN, scope="global", order="created", limit=_MOST, statuses=STATUSES
        )
        return max((_number(match.memory) for match in found), default=0)


def is_handoff(memory: Memory) -> bool:
    """Whether a memory is a handoff, which lists of memories leave out."""
    return memory.scope == "global" and _parsed(memory) is not None


def _number(memory: Memory) -> int:
    digits = (memory.key or "").removeprefix(_PREFIX)
    return int(digits) if digits.isdecimal() and digits.isascii() else 0


def _told(handoff: Handoff) -> str:
    """A handoff as other dialects find and read it."""
    parts = [handoff.summary, f"Next steps: {handoff.next_steps}"]
    if handoff.stuck_reason:
        parts.append(f"Stuck because: {handoff.stuck_reason}")
    parts.append(f"Status: {handoff.status}")
    if handoff.result:
        parts.append(f"Result: {handoff.result}")
    return "\n\n".join(parts)


def _data(handoff: Handoff) -> dict[str, Any]:
    kept = asdict(handoff)
    for name in ("number", "revision", "created_at"):
        del kept[name]
    return {"handoff": {**kept, "context_keys": list(handoff.context_keys)}}


def _parsed(memory: Memory) -> Handoff | None:
    """The handoff that a memory is; None when it is none."""
    kept = memory.data.get("handoff") if isinstance(memory.data, Mapping) else None
    number = _number(memory)
    if not number or not isinstance(kept, Mapping):
        return None
    known: dict[str, Any] = {field.name: kept[field.name] for field in fields(Handoff) if field.name in kept}
    known["context_keys"] = tuple(known.get("context_keys") or ())
    try:
        return Handoff(**{**known, "number": number, "revision": memory.revision, "created_at": memory.created_at})
    except TypeError:  # somebody wrote less than a handoff there
        return None
