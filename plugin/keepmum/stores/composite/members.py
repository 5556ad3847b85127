"""The stores of a composite, and which copy of a memory is current when several stores have one.

After `keepmum migrate` a memory is in two stores. The copy that changed last is the current one, even when it is in the
trash. Searches ignore the other copy, it does not age, and it is removed when the memory is purged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from keepmum.core.memory import Candidate, Memory, Scope
from keepmum.core.trust import is_higher
from keepmum.stores.base import FileBacked, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.stores.markdown import OtherProjects

__all__ = ["Members", "age", "newest"]


class Members:
    """The stores of a project by name, and those of other projects; a `Composite` and `FileBacked`."""

    def __init__(self, parts: Mapping[str, Store], routes: Mapping[Scope, str], others: OtherProjects | None) -> None:
        self.parts = dict(parts)  # the first keeps what belongs to no memory
        self.routes = routes
        self.others = others

    @property
    def first(self) -> Store:
        """The store that keeps what belongs to no memory."""
        return next(iter(self.parts.values()))

    @property
    def all(self) -> list[Store]:
        """The stores of this project, and the open ones of others."""
        return [*self.parts.values(), *self.opened]

    @property
    def opened(self) -> Sequence[Store]:
        """The open stores of other projects."""
        return self.others.opened if self.others is not None else ()

    def far(self) -> Sequence[Store]:
        """The stores of all other projects."""
        return self.others.stores() if self.others is not None else ()

    def route(self, scope: Scope) -> Store:
        """The store for new memories of a scope; the first store when that one is not here."""
        return self.parts.get(self.routes.get(scope, ""), self.first)

    def ordered(self, scope: Scope) -> list[Store]:
        """The stores of this project, starting with the one that a scope is routed to."""
        first = self.route(scope)
        return sorted(self.parts.values(), key=lambda store: store is not first)

    # -- files

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """Id in the file, and path, of a memory; None when it is in no file."""
        return next(filter(None, (files.file_of(memory) for files in self._files())), None)

    def with_file_id(self, name: str) -> list[str]:
        """Ids of the memories whose files have this id."""
        return [memory for files in self._files() for memory in files.with_file_id(name)]

    def accept(self, ids: Sequence[str], *, accepted: bool = True) -> None:
        """Count these memories as the team's, as their files are now, or no longer."""
        for files in self._files():
            if here := [one for one in ids if files.file_of(one)]:
                files.accept(here, accepted=accepted)

    def _files(self) -> Iterator[FileBacked]:
        return filter(None, (store.features.files for store in self.all))

    # -- copies

    def copies(self, memory: Memory) -> list[tuple[Store, Memory]]:
        """Store and copy of a memory in this project, starting with the store that its scope is routed to."""
        return [(store, copy) for store in self.ordered(memory.scope) for copy in store.get([memory.id])]

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store with the current copy."""
        home = max(self.copies(memory), key=lambda copy: age(copy[1]), default=(None, memory))[0]
        return next((name for name, store in self.parts.items() if store is home), None)

    def outdated(self, store: Store, found: Iterable[Memory | Candidate], *, equal: bool = False) -> set[str]:
        """Ids of a store's memories that have a newer copy in another store, or one that is not from outside.

        With `equal`, also of those with an equally new copy in the store that their scope is routed to.
        """
        ages = {each.id: _age(each) for each in found}
        return {
            copy.id
            for other in (self.parts.values() if ages else ())
            if other is not store
            for copy in other.get(_likely(other, ages))
            if _age(copy) > ages[copy.id] or (equal and _age(copy) == ages[copy.id] and self.route(copy.scope) is other)
        }

    def current(self, store: Store, found: Sequence[Memory], *, equal: bool = False) -> list[Memory]:
        """What a store found, without copies that are not current."""
        outdated = self.outdated(store, found, equal=equal)
        return [memory for memory in found if memory.id not in outdated]

    def current_pairs(self, store: Store, found: Sequence[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
        """The same for memories with a number."""
        outdated = self.outdated(store, (memory for memory, _ in found))
        return [pair for pair in found if pair[0].id not in outdated]

    def first_current(self, held: Iterable[tuple[Store, Memory | None]]) -> Memory | None:
        """The first of these memories, each with its store, that is current; before it, one that is trusted more."""
        first: Memory | None = None
        for store, one in held:
            is_better = one is not None and (first is None or is_higher(one, first))
            if one is not None and is_better and not self.outdated(store, [one]):
                first = one
            if first is not None and first.trust == "person":
                break
        return first


def age(memory: Memory) -> tuple[bool, int, int]:
    """A key that is greatest for the copy that changed last; a copy from outside is older than any other."""
    return *_age(memory), memory.revision


def _age(memory: Memory | Candidate) -> tuple[bool, int]:
    return memory.trust != "outside", memory.updated_at


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
