"""The stores that one is made of, and which copy counts of a memory that lies in several.

After `keepmum migrate` a memory lies in two stores. The copy that changed last is the memory, be it in the trash; the
other one is found by nobody, does not age, and goes when the memory goes for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from keepmum.core.memory import Candidate, Memory, Scope
from keepmum.stores.base import Store

__all__ = ["Member", "Members", "OpenFolder", "Reach", "age", "newest"]


class Reach(Protocol):
    """The stores of other projects, opened when every project is asked for."""

    @property
    def opened(self) -> Sequence[Store]:
        """Those that have been opened by now."""

    def stores(self) -> Sequence[Store]:
        """All of them."""

    @property
    def notice(self) -> str:
        """Why some cannot be read; empty when all can."""

    def close(self) -> None:
        """Let go of all."""


# Opens the store of a folder and its project, and the stores of other projects.
OpenFolder = Callable[[str, str], tuple[Store, Reach | None]]


class Member(NamedTuple):
    """One of the stores, by name."""

    name: str
    store: Store


class Members:
    """The stores of a project, first the one that keeps what belongs to no memory, and the reach beyond it."""

    def __init__(self, stores: Mapping[str, Store], routes: Mapping[Scope, str], reach: Reach | None) -> None:
        self.near = [Member(name, store) for name, store in stores.items()]
        self.routes = routes
        self.reach = reach

    @property
    def first(self) -> Store:
        """The one that keeps what belongs to no memory."""
        return self.near[0].store

    @property
    def all(self) -> list[Store]:
        """The stores of this project, and those of others that are open already."""
        return [*(member.store for member in self.near), *self.opened]

    @property
    def opened(self) -> Sequence[Store]:
        """The stores of other projects that are open already."""
        return self.reach.opened if self.reach is not None else ()

    def far(self) -> Sequence[Store]:
        """The stores of all other projects."""
        return self.reach.stores() if self.reach is not None else ()

    def store(self, name: str) -> Store | None:
        """The store of that name."""
        return next((member.store for member in self.near if member.name == name), None)

    def route(self, scope: Scope) -> str:
        """The name of the store that new memories of a scope go to; the first where that one is not here."""
        name = self.routes.get(scope, "")
        return name if self.store(name) is not None else self.near[0].name

    def ordered(self, scope: Scope) -> list[Member]:
        """The stores of this project, first the one that a scope is routed to."""
        first = self.route(scope)
        return sorted(self.near, key=lambda member: member.name != first)

    # -- copies

    def copies(self, memory: Memory) -> list[tuple[str, Memory]]:
        """A memory as it lies in the stores of this project, by their names, first where its scope is routed."""
        each = [(member.name, member.store.get([memory.id])) for member in self.ordered(memory.scope)]
        return [(name, found[0]) for name, found in each if found]

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store with the copy that counts."""
        copies = self.copies(memory)
        return max(copies, key=lambda copy: age(copy[1]))[0] if copies else None

    def outdated(self, store: Store, found: Iterable[Memory | Candidate], *, alike: bool = False) -> set[str]:
        """Those of a store's memories that changed later in another; with `alike`, those that are as new there, too.

        Of copies that are alike the one counts that lies where its scope is routed.
        """
        ages = {each.id: each.updated_at for each in found}
        outdated = set()
        for member in self.near if ages else ():
            if member.store is not store:
                outdated |= {
                    copy.id
                    for copy in member.store.get(_likely(member.store, ages))
                    if copy.updated_at > ages[copy.id]
                    or (alike and copy.updated_at == ages[copy.id] and self.route(copy.scope) == member.name)
                }
        return outdated

    def current(self, store: Store, found: Sequence[Memory], *, alike: bool = False) -> list[Memory]:
        """What a store found without those of which another has the copy that counts."""
        outdated = self.outdated(store, found, alike=alike)
        return [memory for memory in found if memory.id not in outdated]

    def current_pairs(self, store: Store, found: Sequence[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
        """What a search of a store found, likewise."""
        outdated = self.outdated(store, (memory for memory, _ in found))
        return [pair for pair in found if pair[0].id not in outdated]

    def first_current(self, held: Iterable[tuple[Store, Memory | None]]) -> Memory | None:
        """The first of these memories, each with its store, that no other store has of later."""
        return next((one for store, one in held if one is not None and not self.outdated(store, [one])), None)


def age(memory: Memory) -> tuple[int, int]:
    """What tells which of two copies changed last."""
    return memory.updated_at, memory.revision


def newest(found: Iterable[Memory]) -> list[Memory]:
    """Each memory once, in the order of first sight; of two copies the one that changed last."""
    newest: dict[str, Memory] = {}
    for memory in found:
        newest[memory.id] = max(newest.get(memory.id, memory), memory, key=age)
    return list(newest.values())


def _likely(store: Store, ids: Iterable[str]) -> list[str]:
    """The ids that a store may have; a file-backed store knows that without reading a file."""
    files = store.features.files
    return list(ids) if files is None else [one for one in ids if files.file_of(one)]
