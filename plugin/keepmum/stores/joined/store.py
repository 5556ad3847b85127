"""A store made of stores.

A new memory goes where its scope is routed; one that is there already is changed where it lies, unless the change
gives it a scope that lives elsewhere. Activity without a memory, the clock and the known folders are the first's.

A memory may lie in two stores, as after `keepmum migrate`. The copy that changed last is the memory, be it in the
trash; the other one is found by nobody, does not age, and goes when the memory goes for good.

What a transaction over two stores cannot be is one transaction. What is new is made before what is old is removed,
and when the second store refuses, the first takes its part back: at worst a memory is in both, never in neither.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from keepmum.errors import StoreError
from keepmum.memory import Activity, Candidate, Change, Filter, JsonValue, Memory, Order, Revision, Scope
from keepmum.stores.base import STORED, Capabilities, Clean, Filed, Meaning, Receipt, StaleWrite, Store
from keepmum.stores.joined.fusion import has_own_scores, worth
from keepmum.stores.joined.meaning import JoinedMeaning

__all__ = ["JoinedStore", "Placed", "Reach"]


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


# A store that belongs to one folder and project, made anew when the session moves to another.
Placed = Callable[[str, str], tuple[Store, Reach]]


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    store: Store


class JoinedStore:
    """A `Store` over several (see `keepmum.stores.base.Store` for what each method gives)."""

    def __init__(
        self,
        stores: Mapping[str, Store],
        routes: Mapping[Scope, str],
        *,
        reach: Reach | None = None,
        placed: tuple[str, Placed] | None = None,
    ) -> None:
        """The first of `stores` keeps what belongs to no memory; a scope without a route is its own too.

        `placed` is the name of the store that belongs to one folder, and what opens it for another.
        """
        self._parts = [_Part(name, store) for name, store in stores.items()]
        self._routes = routes
        self._reach = reach
        self._placed = placed

    # -- the parts

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stores, first the one that keeps what belongs to no memory."""
        return tuple(part.name for part in self._parts)

    def part(self, name: str) -> Store | None:
        """The store of that name."""
        return next((part.store for part in self._parts if part.name == name), None)

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store that holds a memory."""
        copies = self._copies(memory)
        return max(copies, key=lambda copy: _age(copy[1]))[0] if copies else None

    def route(self, scope: Scope) -> str:
        """The name of the store that new memories of a scope go to; the first where that one is not here."""
        name = self._routes.get(scope, "")
        return name if name in self.names else self._parts[0].name

    def go(self, root: str, project: str) -> None:
        """Follow the session to another folder: the store that belongs to one is opened anew there, if it is one.

        Raises: StoreError; the store of the folder before is then still there.
        """
        if self._placed is None:
            return
        name, opener = self._placed
        found = opener(root, project) if root else None
        former = self.part(name)
        self._parts = [part for part in self._parts if part.name != name]
        if self._reach is not None:
            self._reach.close()
            self._reach = None
        if found is not None:
            self._parts.append(_Part(name, found[0]))
            self._reach = found[1]
        if former is not None:
            former.close()

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """Id and path that a memory has in a repository's files; None where it lies in none."""
        found = (store.file_of(memory) for store in self._all() if isinstance(store, Filed))
        return next(filter(None, found), None)

    def called(self, name: str) -> list[str]:
        """The memories whose files give this id."""
        return [memory for store in self._all() if isinstance(store, Filed) for memory in store.called(name)]

    # -- facts

    @property
    def capabilities(self) -> Capabilities:
        """What can be promised: writing as long as one store can be written, everything else when all promise it."""
        each = [(part.name, part.store.capabilities) for part in self._parts]
        cannot = {promise: f"{name}: {why}" for name, its in each for promise, why in its.cannot.items()}
        reasons = "; ".join(its.reason for _, its in each if its.reason)
        return Capabilities(writable=any(its.writable for _, its in each), reason=reasons, cannot=cannot)

    @property
    def notice(self) -> str:
        """What happened lately in any of the stores."""
        told = [*(part.store.notice for part in self._parts), self._reach.notice if self._reach else ""]
        return "; ".join(filter(None, told))

    @property
    def caveat(self) -> str:
        """What has to be said beside the last answer, by any of the stores."""
        return "; ".join(filter(None, (getattr(part.store, "caveat", "") for part in self._parts)))

    @property
    def at_hand(self) -> Store:
        """The same, as far as it can be read without waiting."""
        near = {part.name: part.store.at_hand for part in self._parts}
        if all(near[part.name] is part.store for part in self._parts):
            return self
        return JoinedStore(near, self._routes, reach=self._reach)

    @property
    def meaning(self) -> Meaning | None:
        """What searches by meaning where a store can, and by words in the others."""
        each = [(part.store, part.store.meaning) for part in self._parts]
        knows = any(meaning is not None for _, meaning in each)
        return JoinedMeaning(each, self._far, self._outdated) if knows else None

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes, each in the store that it belongs to, or nothing."""
        steps = self._steps(changes)
        told = self._told(steps, activity)
        names = list(dict.fromkeys(name for name, _ in steps)) or [self._parts[0].name]
        # What removes goes last: until then a memory lies in both places rather than in neither.
        names.sort(key=lambda name: any(step.after is None for at, step in steps if at == name))
        if len(names) > 1:
            self._check(steps)
        done: list[str] = []
        receipts = []
        for name in names:
            try:
                own = [step for at, step in steps if at == name]
                receipts.append(self._at(name).commit(own, told.get(name, ())))
            except BaseException:
                self._take_back([(at, step) for at, step in steps if at in done])
                raise
            done.append(name)
        for name in told.keys() - set(names):
            self._at(name).log(told[name])
        ids = {given: kept for receipt in receipts for given, kept in receipt.ids.items()}
        queued = sum(receipt.queued for receipt in receipts)
        return Receipt(ids, queued) if ids or queued else STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], clean: Clean) -> list[str]:
        """Apply changes in their stores, and put all that each keeps of the past through `clean`."""
        steps = self._steps(changes)
        told = self._told(steps, activity)
        removed = []
        for part in self._parts:
            own = [step for at, step in steps if at == part.name]
            removed += part.store.cleanse(own, told.get(part.name, ()), clean)
        return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded at `now`, each where it lies."""
        left = set(ids)
        for store in self._all():
            here = [memory.id for memory in store.get(sorted(left))] if left else []
            if here and store.capabilities.writable:
                store.reinforce(here, now)
            left -= set(here)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of the first store."""
        self._parts[0].store.log(activity)

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`."""
        self._parts[0].store.remember_root(root, project, name, now)

    def tick(self, now: int) -> int:
        """The time of the tick before this one."""
        return self._parts[0].store.tick(now)

    def upkeep(self, now: int) -> None:
        """What each store does now and then; one that fails keeps none of the others from it."""
        failures = []
        for part in self._parts:
            try:
                part.store.upkeep(now)
            except StoreError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, wherever they lie; of two copies the one that changed last."""
        found: dict[str, Memory] = {}
        for store in self._all() if ids else ():
            for memory in store.get(ids):
                found[memory.id] = max(found.get(memory.id, memory), memory, key=_age)
        return [found[memory] for memory in ids if memory in found]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories whose ids lie in [first, last]; of other projects when there are none here."""
        near = [memory for part in self._parts for memory in part.store.between(first, last, limit)]
        found = near or [memory for store in self._far() for memory in store.between(first, last, limit)]
        return sorted(_newest(found), key=lambda memory: memory.id)[:limit]

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key, first where its scope is routed."""
        return self._first_current((part.store, part.store.by_key(space, key)) for part in self._of_space(space))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that holds a key, or that held it last, in any store."""
        held = [(part.store, part.store.last_by_key(space, key)) for part in self._of_space(space)]
        found = [memory for store, one in held for memory in self._current(store, [one] if one else [])]
        return max(found, key=lambda memory: (memory.status == "active", memory.updated_at), default=None)

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with just this text."""
        return self._first_current((part.store, part.store.same_text(space, text)) for part in self._of_space(space))

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first."""
        asked = list(self._asked(wanted))
        found = _best_first(
            pair
            for store in asked
            if not has_own_scores(store)
            for pair in self._current_pairs(store, store.search(words, wanted, limit))
        )
        ours = [relevance for _, relevance in found]
        for store in filter(has_own_scores, asked):
            theirs = self._current_pairs(store, store.search(words, wanted, limit))
            here = {memory.id: relevance for memory, relevance in store.at_hand.search(words, wanted, limit)}
            found += [
                (memory, worth(place, here.get(memory.id, 0.0), ours)) for place, (memory, _) in enumerate(theirs)
            ]
        best: dict[str, tuple[Memory, float]] = {}
        for pair in _best_first(found):
            best.setdefault(pair[0].id, pair)
        return list(best.values())[:limit]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in `order`."""
        asked = wished = limit + offset
        while True:
            pages = [(store, store.browse(wanted, order=order, limit=asked)) for store in self._asked(wanted)]
            found = _newest(memory for store, page in pages for memory in self._current(store, page))
            if len(found) >= wished or all(len(page) < asked for _, page in pages):
                return sorted(found, key=_KEYS[order], reverse=True)[offset:wished]
            asked *= 2  # copies of old took the places of others

    def count(self, wanted: Filter) -> int:
        """How many memories pass the filter; of two copies that do, both."""
        return sum(store.count(wanted) for store in self._asked(wanted))

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """Memories that time may have changed, of every store in turn."""
        aging = [(part.store, part.store.fading(now, trashed_by, limit)) for part in self._parts]
        return [memory for store, found in aging for memory in self._current(store, found, alike=True)][:limit]

    def history(self, memory: str) -> list[Revision]:
        """What a memory was before each change, latest first, whichever store it lay in then."""
        stores = sorted(self._all(), key=lambda store: not store.get([memory]))  # where it lies now, it was last
        return [revision for store in stores for revision in store.history(memory)]

    def activity(self, limit: int, project: str | None = None) -> list[Activity]:
        """The latest activity of all stores, latest first."""
        found = [event for part in self._parts for event in part.store.activity(limit, project)]
        return sorted(found, key=lambda event: event.at, reverse=True)[:limit]

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        """`(root, project, name)` of the folders seen since then."""
        return self._parts[0].store.roots(since)

    def health(self) -> dict[str, JsonValue]:
        """Facts of the first store with the counts of all, and under `stores` those of each."""
        each = {part.name: part.store.health() for part in self._parts}
        statuses: Counter[str] = Counter()
        for facts in each.values():
            told = facts.get("statuses")
            statuses.update({name: _number(count) for name, count in told.items()} if isinstance(told, dict) else {})
        unsound = [str(facts["integrity"]) for facts in each.values() if facts.get("integrity", "ok") != "ok"]
        counts = {name: sum(_number(facts.get(name)) for facts in each.values()) for name in ("memories", "indexed")}
        first = each[self._parts[0].name]
        return {**first, **counts, "integrity": "; ".join(unsound) or "ok", "statuses": dict(statuses), "stores": each}

    def close(self) -> None:
        """Leave everything on disk and let go."""
        with contextlib.ExitStack() as stack:
            for part in self._parts:
                stack.callback(part.store.close)
            if self._reach is not None:
                stack.callback(self._reach.close)

    # -- how it is done

    def _steps(self, changes: Sequence[Change]) -> list[tuple[str, Change]]:
        """Each change with the store it belongs to; one that moves a memory is a creation and a removal."""
        steps: list[tuple[str, Change]] = []
        taken: set[tuple[str, str]] = set()  # store and memory, of two copies that are both changed
        for change in changes:
            before, after = change.before, change.after
            if before is None:
                if after is not None:
                    steps.append((self.route(after.scope), change))
                continue
            here = self._held_by(before, taken)
            taken.add((here, before.id))
            if after is None:
                others = [(name, copy) for name, copy in self._copies(before) if (name, before.id) not in taken]
                steps += [(here, change), *((name, Change(copy, None)) for name, copy in others)]
                taken.update((name, before.id) for name, _ in others)
                continue
            there = here if after.scope == before.scope else self.route(after.scope)
            if here == there:
                steps.append((here, change))
            else:
                steps += [(there, replace(change, before=None)), (here, Change(before, None))]
        return steps

    def _copies(self, memory: Memory) -> list[tuple[str, Memory]]:
        """A memory as it lies in the stores of this project, by their names, first where its scope is routed."""
        return [(part.name, found[0]) for part in self._ordered(memory.scope) if (found := part.store.get([memory.id]))]

    def _held_by(self, memory: Memory, taken: Collection[tuple[str, str]] = ()) -> str:
        found = [(name, copy) for name, copy in self._copies(memory) if (name, memory.id) not in taken]
        if found:  # of two copies the one that was read
            return next((name for name, known in found if _age(known) == _age(memory)), found[0][0])
        for number, store in enumerate(self._reach.opened if self._reach else ()):
            if store.get([memory.id]):
                return f":{number}"
        raise StaleWrite("the memory was removed meanwhile")

    def _at(self, name: str) -> Store:
        if name.startswith(":") and self._reach is not None:
            return self._reach.opened[int(name[1:])]
        store = self.part(name)
        if store is None:
            raise StoreError(f"there is no {name} store in this folder; nothing was stored")
        return store

    def _told(self, steps: Sequence[tuple[str, Change]], activity: Sequence[Activity]) -> dict[str, list[Activity]]:
        """The entries of the log by store: with the memory that they tell of, or else in the first store."""
        homes = {(step.after or step.before or _NOBODY).id: name for name, step in reversed(steps)}
        told: dict[str, list[Activity]] = {}
        for event in activity:
            told.setdefault(homes.get(event.memory or "", self._parts[0].name), []).append(event)
        return told

    def _check(self, steps: Sequence[tuple[str, Change]]) -> None:
        """Refuse what a store would refuse, before another has done its part."""
        for name, step in steps:
            if step.before is not None:
                found = self._at(name).get([step.before.id])
                if not found or found[0].revision != step.before.revision:
                    raise StaleWrite("the memory was changed meanwhile")

    def _take_back(self, done: Sequence[tuple[str, Change]]) -> None:
        """Undo what was done in other stores; what cannot be undone is a copy too many, not a loss."""
        for name, step in reversed(done):
            before = step.before
            if before is not None and step.after is not None:
                before = replace(before, revision=step.after.revision + 1)
            with contextlib.suppress(StoreError):
                self._at(name).commit([Change(step.after, before)])

    def _outdated(self, store: Store, found: Iterable[Memory | Candidate], *, alike: bool = False) -> set[str]:
        """Those of a store's memories that changed later in another; with `alike`, those that are as new there, too.

        Of copies that are alike the one counts that lies where its scope is routed.
        """
        ages = {each.id: each.updated_at for each in found}
        outdated = set()
        for part in self._parts if ages else ():
            if part.store is not store:
                outdated |= {
                    copy.id
                    for copy in part.store.get(_likely(part.store, ages))
                    if copy.updated_at > ages[copy.id]
                    or (alike and copy.updated_at == ages[copy.id] and self.route(copy.scope) == part.name)
                }
        return outdated

    def _current(self, store: Store, found: Sequence[Memory], *, alike: bool = False) -> list[Memory]:
        """What a store found without those of which another has the copy that counts."""
        outdated = self._outdated(store, found, alike=alike)
        return [memory for memory in found if memory.id not in outdated]

    def _current_pairs(self, store: Store, found: Sequence[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
        outdated = self._outdated(store, (memory for memory, _ in found))
        return [pair for pair in found if pair[0].id not in outdated]

    def _first_current(self, held: Iterable[tuple[Store, Memory | None]]) -> Memory | None:
        return next((one for store, one in held if one is not None and not self._outdated(store, [one])), None)

    def _ordered(self, scope: Scope) -> list[_Part]:
        first = self.route(scope)
        return sorted(self._parts, key=lambda part: part.name != first)

    def _of_space(self, space: str) -> list[_Part]:
        scopes: dict[str, Scope] = {"project": "project", "global": "global", "session": "session", "shared": "shared"}
        return self._ordered(scopes.get(space.partition("\x1f")[0], "project"))

    def _asked(self, wanted: Filter) -> Iterator[Store]:
        """The stores that a read goes to: those of other projects as well when every project is asked for."""
        yield from (part.store for part in self._parts)
        if wanted.everywhere:
            yield from self._far()

    def _far(self) -> Sequence[Store]:
        return self._reach.stores() if self._reach is not None else ()

    def _all(self) -> list[Store]:
        """The stores of this project, and those of others that are open already."""
        return [*(part.store for part in self._parts), *(self._reach.opened if self._reach is not None else ())]


_NOBODY = Memory(id="", text="", title="", created_at=0, updated_at=0)
_KEYS: Mapping[Order, Callable[[Memory], tuple[float | str, ...]]] = {
    "updated": lambda memory: (memory.updated_at, memory.id),
    "created": lambda memory: (memory.created_at, memory.id),
    "accessed": lambda memory: (memory.accessed_at or -1, memory.id),
    "importance": lambda memory: (memory.importance, memory.updated_at, memory.id),
}


def _best_first(found: Iterable[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
    return sorted(found, key=lambda pair: (-pair[1], pair[0].id))


def _likely(store: Store, ids: Iterable[str]) -> list[str]:
    """Those of these memories that a store may have; of files that is known without a look at them."""
    return [one for one in ids if store.file_of(one)] if isinstance(store, Filed) else list(ids)


def _number(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0


def _age(memory: Memory) -> tuple[int, int]:
    return memory.updated_at, memory.revision


def _newest(found: Iterable[Memory]) -> list[Memory]:
    """Each memory once, in the order of first sight; of two copies the one that changed last."""
    newest: dict[str, Memory] = {}
    for memory in found:
        newest[memory.id] = max(newest.get(memory.id, memory), memory, key=_age)
    return list(newest.values())
