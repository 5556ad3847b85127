"""Several stores in one.

The scope of a new memory decides which store it goes to. An existing memory is changed in its store, unless the change
gives it a scope that is routed to another one. Activity without a memory and local state are in the first store.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from keepmum.core.errors import StoreError
from keepmum.core.memory import Activity, Change, Filter, JsonValue, Memory, Order, Revision, Scope
from keepmum.stores.base import Capabilities, Features, FileBacked, Receipt, Redact, Store, caveat, local
from keepmum.stores.composite import writing
from keepmum.stores.composite.fusion import fused_score, has_own_scores
from keepmum.stores.composite.members import Member, Members, OpenFolder, OtherStores, age, newest
from keepmum.stores.composite.vector_search import CompositeVectorSearch

__all__ = ["CompositeStore"]


class CompositeStore:
    """A `Store` over several others (see `keepmum.stores.base` for what each method returns)."""

    def __init__(
        self,
        stores: Mapping[str, Store],
        routes: Mapping[Scope, str],
        *,
        others: OtherStores | None = None,
        follows: tuple[str, OpenFolder] | None = None,
    ) -> None:
        """The first of `stores` keeps whatever belongs to no memory, and new memories of scopes without a route.

        `follows` is the name of the store that belongs to one folder, and what opens it for another folder.
        """
        self._members = Members(stores, routes, others)
        self._follows = follows
        self.features = self._features()

    def _features(self) -> Features:
        features = [member.store.features for member in self._members.near]
        has_files = self._members.others is not None or any(each.files for each in features)
        return Features(
            vector_search=self._vector_search(),
            files=self if has_files else None,
            composite=self,
            folder=self if self._follows is not None else None,
            remote=self if any(each.remote for each in features) else None,
            aging=self if any(each.aging for each in features) else None,
            maintenance=self if any(each.maintenance for each in features) else None,
            erasure=self if all(each.erasure for each in features) else None,
            local_state=features[0].local_state,
        )

    def _vector_search(self) -> CompositeVectorSearch | None:
        each = [(member.store, member.store.features.vector_search) for member in self._members.near]
        if not any(search for _, search in each):
            return None
        return CompositeVectorSearch(each, self._members.far, self._members.outdated)

    # -- the parts

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stores; the first keeps what belongs to no memory."""
        return tuple(member.name for member in self._members.near)

    def part(self, name: str) -> Store | None:
        """The store of that name."""
        return self._members.store(name)

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store that holds a memory; with two copies, the store of the newer one."""
        return self._members.home_of(memory)

    def follow(self, root: str, project: str) -> None:
        """Replace the store that belongs to a folder by the one of `root`; by none when `root` is empty.

        Raises: StoreError; the store of the former folder then stays.
        """
        if self._follows is None:
            return
        name, open_folder = self._follows
        found = open_folder(root, project) if root else None
        former = self.part(name)
        members = self._members
        members.near = [member for member in members.near if member.name != name]
        if members.others is not None:
            members.others.close()
            members.others = None
        if found is not None:
            members.near.append(Member(name, found[0]))
            members.others = found[1]
        self.features = self._features()
        if former is not None:
            former.close()

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """Id in the file, and path, of a memory; None when it is in no file."""
        return next(filter(None, (files.file_of(memory) for files in self._files())), None)

    def with_file_id(self, name: str) -> list[str]:
        """Ids of the memories whose files have this id."""
        return [memory for files in self._files() for memory in files.with_file_id(name)]

    def _files(self) -> Iterator[FileBacked]:
        return filter(None, (store.features.files for store in self._members.all))

    # -- facts

    @property
    def capabilities(self) -> Capabilities:
        """Writable when any store is; other guarantees only when all stores give them."""
        each = [(member.name, member.store.capabilities) for member in self._members.near]
        cannot = {promise: f"{name}: {why}" for name, its in each for promise, why in its.cannot.items()}
        reasons = "; ".join(its.reason for _, its in each if its.reason)
        return Capabilities(writable=any(its.writable for _, its in each), reason=reasons, cannot=cannot)

    @property
    def notice(self) -> str:
        """Recent events in any of the stores that the user should know of."""
        notices = [member.store.notice for member in self._members.near]
        if self._members.others is not None:
            notices.append(self._members.others.notice)
        return "; ".join(filter(None, notices))

    @property
    def caveat(self) -> str:
        """What must be said with the last answer, by any of the stores."""
        return "; ".join(filter(None, (caveat(member.store) for member in self._members.near)))

    @property
    def local(self) -> Store:
        """The same stores, with the mirror in place of each remote one."""
        near = {member.name: local(member.store) for member in self._members.near}
        return CompositeStore(near, self._members.routes, others=self._members.others)

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes, each in its own store, or nothing."""
        return writing.commit(self._members, changes, activity)

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes in their stores and redact the history and activity of each."""
        return writing.cleanse(self._members, changes, activity, redact)

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded at `now`, each in its store."""
        left = set(ids)
        for store in self._members.all:
            here = [memory.id for memory in store.get(sorted(left))] if left else []
            if here and store.capabilities.writable:
                store.reinforce(here, now)
            left -= set(here)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of the first store."""
        self._members.first.log(activity)

    def upkeep(self, now: int) -> None:
        """Run the maintenance of every store; a failure does not stop the others.

        Raises: StoreError, the first of the failures.
        """
        failures = []
        for maintenance in filter(None, (member.store.features.maintenance for member in self._members.near)):
            try:
                maintenance.upkeep(now)
            except StoreError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, of all stores; of two copies the newer one."""
        found: dict[str, Memory] = {}
        for store in self._members.all if ids else ():
            for memory in store.get(ids):
                found[memory.id] = max(found.get(memory.id, memory), memory, key=age)
        return [found[memory] for memory in ids if memory in found]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories with ids in [first, last]; those of other projects when there are none here."""
        near = [memory for member in self._members.near for memory in member.store.between(first, last, limit)]
        found = near or [memory for store in self._members.far() for memory in store.between(first, last, limit)]
        return sorted(newest(found), key=lambda memory: memory.id)[:limit]

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key, starting with the store that its scope is routed to."""
        return self._members.first_current(
            (member.store, member.store.by_key(space, key)) for member in self._of_space(space)
        )

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key, or else the last one that had it, in any store."""
        held = [(member.store, member.store.last_by_key(space, key)) for member in self._of_space(space)]
        found = [memory for store, one in held for memory in self._members.current(store, [one] if one else [])]
        return max(found, key=lambda memory: (memory.status == "active", memory.updated_at), default=None)

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with this text."""
        return self._members.first_current(
            (member.store, member.store.same_text(space, text)) for member in self._of_space(space)
        )

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first."""
        asked = list(self._searched(wanted))
        found = _best_first(
            pair
            for store in asked
            if not has_own_scores(store)
            for pair in self._members.current_pairs(store, store.search(words, wanted, limit))
        )
        ours = [relevance for _, relevance in found]
        for store in filter(has_own_scores, asked):
            theirs = self._members.current_pairs(store, store.search(words, wanted, limit))
            here = {memory.id: relevance for memory, relevance in local(store).search(words, wanted, limit)}
            found += [
                (memory, fused_score(rank, here.get(memory.id, 0.0), ours)) for rank, (memory, _) in enumerate(theirs)
            ]
        best: dict[str, tuple[Memory, float]] = {}
        for pair in _best_first(found):
            best.setdefault(pair[0].id, pair)
        return list(best.values())[:limit]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in `order`."""
        asked = needed = limit + offset
        while True:
            pages = [(store, store.browse(wanted, order=order, limit=asked)) for store in self._searched(wanted)]
            found = newest(memory for store, page in pages for memory in self._members.current(store, page))
            if len(found) >= needed or all(len(page) < asked for _, page in pages):
                return sorted(found, key=_KEYS[order], reverse=True)[offset:needed]
            asked *= 2  # outdated copies took the places of other memories

    def count(self, wanted: Filter) -> int:
        """Number of memories that pass the filter; two copies count twice."""
        return sum(store.count(wanted) for store in self._searched(wanted))

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """Memories whose status may be due for a change, store by store."""
        aging = [(member.store, member.store.features.aging) for member in self._members.near]
        found = [(store, its.fading(now, trashed_by, limit)) for store, its in aging if its is not None]
        return [memory for store, each in found for memory in self._members.current(store, each, equal=True)][:limit]

    def history(self, memory: str) -> list[Revision]:
        """The revisions of a memory before its current one, latest first, from every store it was in."""
        stores = sorted(
            self._members.all, key=lambda store: not store.get([memory])
        )  # the store that has it now has the latest ones
        return [revision for store in stores for revision in store.history(memory)]

    def activity(self, limit: int, project: str | None = None) -> list[Activity]:
        """The latest activity of all stores, latest first."""
        found = [event for member in self._members.near for event in member.store.activity(limit, project)]
        return sorted(found, key=lambda event: event.at, reverse=True)[:limit]

    def health(self) -> dict[str, JsonValue]:
        """Facts of the first store, with the sums of all counts, and under `stores` the facts of each."""
        each = {member.name: member.store.health() for member in self._members.near}
        statuses: Counter[str] = Counter()
        for facts in each.values():
            counts_here = facts.get("statuses")
            if isinstance(counts_here, dict):
                statuses.update({name: _number(count) for name, count in counts_here.items()})
        unsound = [str(facts["integrity"]) for facts in each.values() if facts.get("integrity", "ok") != "ok"]
        counts = {name: sum(_number(facts.get(name)) for facts in each.values()) for name in ("memories", "indexed")}
        first = each[self._members.near[0].name]
        return {**first, **counts, "integrity": "; ".join(unsound) or "ok", "statuses": dict(statuses), "stores": each}

    def close(self) -> None:
        """Close all stores."""
        with contextlib.ExitStack() as stack:
            for member in self._members.near:
                stack.callback(member.store.close)
            if self._members.others is not None:
                stack.callback(self._members.others.close)

    def _of_space(self, space: str) -> list[Member]:
        scopes: dict[str, Scope] = {"project": "project", "global": "global", "session": "session", "shared": "shared"}
        return self._members.ordered(scopes.get(space.partition("\x1f")[0], "project"))

    def _searched(self, wanted: Filter) -> Iterator[Store]:
        """The stores that a read asks: with `everywhere`, also those of other projects."""
        yield from (member.store for member in self._members.near)
        if wanted.everywhere:
            yield from self._members.far()


_KEYS: Mapping[Order, Callable[[Memory], tuple[float | str, ...]]] = {
    "updated": lambda memory: (memory.updated_at, memory.id),
    "created": lambda memory: (memory.created_at, memory.id),
    "accessed": lambda memory: (memory.accessed_at or -1, memory.id),
    "importance": lambda memory: (memory.importance, memory.updated_at, memory.id),
}


def _best_first(found: Iterable[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
    return sorted(found, key=lambda pair: (-pair[1], pair[0].id))


def _number(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
