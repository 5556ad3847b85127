"""The stores of a composite, and which copy of a memory is current when several stores have one.

After `keepmum migrate` a memory is in two stores. The copy that changed last is the current one, even when it is in the
trash. Searches ignore the other copy, it does not age, and it is removed when the memory is purged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from keepmum.core.memory import Candidate, Memory, Scope
from keepmum.stores.base import Store

__all__ = ["Member", "Members", "OpenFolder", "OtherStores", "age", "newest"]


class OtherStores(Protocol):
    """The stores of other projects, opened when a read asks for all projects."""

    @property
    def opened(self) -> Sequence[Store]:
        """Those that are open."""

    def stores(self) -> Sequence[Store]:
        """All of them; opens those that are not open yet."""

    @property
    def notice(self) -> str:
        """Why some cannot be read; empty when all can be."""

    def close(self) -> None:
        """Close all of them."""


# Opens the store of a folder and its project, and the stores of other projects.
OpenFolder = Callable[[str, str], tuple[Store, OtherStores | None]]


class Member(NamedTuple):
    """One of the stores, with its name."""

    name: str
    store: Store


class Members:
    """The stores of a project (the first keeps what belongs to no memory), and those of other projects."""

    def __init__(self, stores: Mapping[str, Store], routes: Mapping[Scope, str], others: OtherStores | None) -> None:
        self.near = [Member(name, store) for name, store in stores.items()]
        self.routes = routes
        self.others = others

    @property
    def first(self) -> Store:
        """The store that keeps what belongs to no memory."""
        return self.near[0].store

    @property
    def all(self) -> list[Store]:
        """The stores of this project, and the open ones of others."""
        return [*(member.store for member in self.near), *self.opened]

    @property
    def opened(self) -> Sequence[Store]:
        """The open stores of other projects."""
        return self.others.opened if self.others is not None else ()

    def far(self) -> Sequence[Store]:
        """The stores of all other projects."""
        return self.others.stores() if self.others is not None else ()

    def store(self, name: str) -> Store | None:
        """The store of that name."""
        return next((member.store for member in self.near if member.name == name), None)

    def route(self, scope: Scope) -> str:
        """The name of the store for new memories of a scope; the first store when that one is not here."""
        name = self.routes.get(scope, "")
        return name if self.store(name) is not None else self.near[0].name

    def ordered(self, scope: Scope) -> list[Member]:
        """The stores of this project, starting with the one that a scope is routed to."""
        first = self.route(scope)
        return sorted(self.near, key=lambda member: member.name != first)

    # -- copies

    def copies(self, memory: Memory) -> list[tuple[str, Memory]]:
        """Store name and copy of a memory in this project, starting with the store that its scope is routed to."""
        each = [(member.name, member.store.get([memory.id])) for member in self.ordered(memory.scope)]
        return [(name, found[0]) for name, found in each if found]

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store with the current copy."""
        copies = self.copies(memory)
        return max(copies, key=lambda copy: age(copy[1]))[0] if copies else None

    def outdated(self, store: Store, found: Iterable[Memory | Candidate], *, equal: bool = False) -> set[str]:
        """Ids of a store's memories that have a newer copy in another store.

        With `equal`, also of those with an equally new copy in the store that their scope is routed to.
        """
        ages = {each.id: each.updated_at for each in found}
        outdated = set()
        for member in self.near if ages else ():
            if member.store is not store:
                outdated |= {
                    copy.id
                    for copy in member.store.get(_likely(member.store, ages))
                    if copy.updated_at > ages[copy.id]
                    or (equal and copy.updated_at == ages[copy.id] and self.route(copy.scope) == member.name)
                }
        return outdated

    def current(self, store: Store, found: Sequence[Memory], *, equal: bool = False) -> list[Memory]:
        """What a store found, without copies that are not current."""
        outdated = self.outdated(store, found, equal=equal)
        return [memory for memory in found if memory.id not in outdated]

    def current_pairs(self, store: Store, found: Sequence[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
        """The same for memories with their relevance."""
        outdated = self.outdated(store, (memory for memory, _ in found))
        return [pair for pair in found if pair[0].id not in outdated]

    def first_current(self, held: Iterable[tuple[Store, Memory | None]]) -> Memory | None:
        """The first of these memories, each with its store, that is current."""
        return next((one for store, one in held if one is not None and not self.outdated(store, [one])), None)


def age(memory: Memory) -> tuple[int, int]:
    """A key that is greatest for the copy that changed last."""
    return memory.updated_at, memory.revision


def newest(found: Iterable[Memory]) -> list[Memory]:
    """Each memory once, in order of first appearance; of two copies the newer one."""
    newest: dict[str, Memory] = {}
    for memory in found:
        newest[memory.id] = max(newest.get(memory.id, memory), memory, key=age)
    return list(newest.values())


def _likely(store: Store, ids: Iterable[str]) -> list[str]:
    """The ids that a store may have; a file-backed store knows that without reading a file."""
    files = store.features.files
    return list(ids) if files is None else [one for one in ids if files.file_of(one)]
