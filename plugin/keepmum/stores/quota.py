"""How much the projects of a team have stored, and how much they may."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from keepmum.core.errors import QuotaExceeded
from keepmum.core.memory import Change, Memory
from keepmum.stores.sqlite.rows import encoded

__all__ = ["UNLIMITED", "Quota", "QuotaLimits", "Usage", "usage_of"]

_RECOUNT = 60.0  # seconds after which what other processes wrote is counted
_PATIENCE = 5.0  # seconds after which a write is refused only by a new count
_Room = Counter[tuple[str | None, str]]  # by project, None for all of them together, and unit: "memories" or "bytes"


class Usage(NamedTuple):
    """What a project has stored, its trash included."""

    memories: int
    bytes: int  # of title, text, why and data, in UTF-8
    active: int  # memories
    changed_at: int  # milliseconds since the epoch


class QuotaLimits(NamedTuple):
    """The most that may be stored; 0 for no limit."""

    memories: int = 0
    bytes: int = 0
    project_memories: int = 0  # of each project
    project_bytes: int = 0


UNLIMITED = QuotaLimits()


class Quota:
    """Refuses writes that would exceed the limits. Safe between threads.

    What this process writes is counted exactly; what others write, after a minute.
    """

    def __init__(
        self,
        limits: QuotaLimits,
        count: Callable[[], Mapping[str, Usage]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`count` returns what is stored, by project."""
        self._limits = limits
        self._count = count
        self._clock = clock
        self._lock = threading.Lock()
        self._stored = _Room()
        self._writing = _Room()  # by writes that are not finished
        self._counted_at: float | None = None

    @contextlib.contextmanager
    def writing(self, changes: Sequence[Change]) -> Iterator[None]:
        """Count what the block writes; nothing when it fails.

        Raises: QuotaExceeded; StoreError when what is stored cannot be counted.
        """
        if not any(self._limits):
            yield
            return
        added = _added(changes)
        claimed, written = +added, False  # what a change frees is free when it has been written
        with self._lock:
            self._check(added)
            self._writing.update(claimed)
        try:
            yield
            written = True
        finally:
            with self._lock:
                self._writing.subtract(claimed)
                if written:
                    self._stored.update(added)

    def _check(self, added: _Room) -> None:
        age = _RECOUNT if self._counted_at is None else self._clock() - self._counted_at
        problem = self._problem(added)
        if age >= _RECOUNT or (problem and age >= _PATIENCE):
            self._stored = _room(self._count())
            self._counted_at = self._clock()
            problem = self._problem(added)
        if problem:
            raise QuotaExceeded(f"nothing was stored: {problem}")

    def _problem(self, added: _Room) -> str:
        """The limit that a write exceeds, in a sentence that says nothing about other projects; empty for none."""
        for (project, unit), more in added.items():
            name = unit if project is None else f"project_{unit}"
            most = int(getattr(self._limits, name))
            used = self._stored[project, unit] + self._writing[project, unit]
            if most and more > 0 and used + more > most:
                whose = "the server" if project is None else f"the project {project or '(none)'}"
                return (
                    f"{whose} has no room for more {unit} (limits.{name}: {most:,}), the trash included; a curator can "
                    "purge memories, or the operator of the server raise the limit"
                )
        return ""


def usage_of(memories: Iterable[Memory]) -> dict[str, Usage]:
    """What these memories take, by project."""
    found: dict[str, Usage] = {}
    for memory in memories:
        used = found.get(memory.project or "", Usage(0, 0, 0, 0))
        found[memory.project or ""] = Usage(
            used.memories + 1,
            used.bytes + _size(memory),
            used.active + (memory.status == "active"),
            max(used.changed_at, memory.updated_at),
        )
    return found


def _added(changes: Sequence[Change]) -> _Room:
    """What changes add to each project, and then to all together; negative when they free room."""
    room = _Room()
    for change in changes:
        for memory, sign in ((change.before, -1), (change.after, 1)):
            if memory is not None:
                room[memory.project or "", "memories"] += sign
                room[memory.project or "", "bytes"] += sign * _size(memory)
    return _with_total(room)


def _size(memory: Memory) -> int:
    return sum(len(part.encode()) for part in (memory.title, memory.text, memory.why, encoded(memory.data)) if part)


def _room(usage: Mapping[str, Usage]) -> _Room:
    return _with_total(
        _Room(
            {
                (project, unit): number
                for project, used in usage.items()
                for unit, number in (("memories", used.memories), ("bytes", used.bytes))
            }
        )
    )


def _with_total(room: _Room) -> _Room:
    for (_, unit), number in list(room.items()):
        room[None, unit] += number
    return room
