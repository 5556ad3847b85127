"""What views and verbs work on, and what one answer to a page consists of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from keepmum.core.agents import identify
from keepmum.core.memory import JsonValue
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.auditing import Auditor
from keepmum.service import MemoryService

__all__ = ["NO_FACTS", "Check", "Dashboard", "Facts", "View", "Where", "agents_of"]

Where = Literal["page", "panel", "server"]
_PATIENCE = 5.0
_AGENT_FIELDS = frozenset({"agent", "created_by", "updated_by", "from_agent", "to_agent", "picked_up_by"})


class Check(NamedTuple):
    """One line of what the doctor found."""

    level: str  # problem, note, ok, absent
    about: str
    says: str
    next_step: str


class Facts(Protocol):
    """What the dashboard shows and the service does not know."""

    def checks(self) -> Sequence[Check]:
        """The doctor's checks of this installation."""

    def settings(self) -> Sequence[tuple[str, str, str]]:
        """Name, value and source of every setting in effect."""

    def allowed(self) -> int:
        """How many findings of the scanner the user has allowed."""

    def off(self) -> str:
        """That agents do not use the memory here, because it is switched off; empty when it is on."""


class _NoFacts:
    def checks(self) -> Sequence[Check]:
        return ()

    def settings(self) -> Sequence[tuple[str, str, str]]:
        return ()

    def allowed(self) -> int:
        return 0

    def off(self) -> str:
        return ""


NO_FACTS: Facts = _NoFacts()


class _Known(NamedTuple):
    state: object
    value: Any  # of the function that computed it
    changes: int  # `MemoryService.changes` before it was computed
    fresh_until: float


@dataclass(frozen=True)
class Dashboard:
    """One memory as a person looks at it, and where they do."""

    service: MemoryService
    where: Where
    facts: Facts = NO_FACTS
    auditor: Auditor = field(default_factory=Auditor)
    memo: dict[str, _Known] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)  # the numbers of changes of kept values that may lag behind
    verbs: frozenset[str] | None = None  # those that the role on a server allows; None: all
    clock: Callable[[], float] = time.monotonic  # seconds

    @property
    def is_person(self) -> bool:
        """Whether what is done here counts as a person's statement."""
        return self.service.context.options.trust == "person"

    def remembered(self, name: str, state: object, compute: Callable[[], Any], *, patient: bool = False) -> Any:
        """The value of `compute`, which is called again only when `state` differs from the last time.

        With `patient`, what took long is also kept for five times as long as it took: a number of a large store may
        lag behind, and no call waits for it after each change. `as_of` then says so.
        """
        known = self.memo.get(name)
        is_current = known is not None and known.state == state
        if known is None or not (is_current or (patient and self.clock() < known.fresh_until)):
            begun, changes = self.clock(), self.service.changes()
            value = compute()
            ended = self.clock()
            known = self.memo[name] = _Known(state, value, changes, ended + _PATIENCE * (ended - begun))
        elif not is_current:
            self.late.add(known.changes)
        return known.value

    def as_of(self, show: Callable[[], JsonObject]) -> tuple[int, JsonObject]:
        """What `show` returns, after the number of changes that all of it takes into account."""
        self.late.clear()
        changes = self.service.changes()  # before: a change meanwhile may be missing
        shown = show()
        return next((each for each in self.late if each != changes), changes), shown


View = Callable[[Dashboard, Arguments], JsonObject]


def agents_of(value: JsonValue) -> JsonObject:
    """Title and colour of every agent that an answer names."""
    names: set[str] = set()
    _collect(value, names)
    return {name: {"title": (agent := identify(name)).title, "colour": agent.colour} for name in sorted(names)}


def _collect(value: JsonValue, names: set[str]) -> None:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name in _AGENT_FIELDS and isinstance(item, str):
                names.add(item)
            elif name == "agents" and isinstance(item, Mapping):
                names.update(item)
            elif name == "agents" and isinstance(item, (list, tuple)):
                names.update(each for each in item if isinstance(each, str))
                _collect(item, names)
            else:
                _collect(item, names)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, names)
