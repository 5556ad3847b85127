"""Several stores in one.

The scope of a new memory decides which store it goes to. An existing memory is changed in its store, unless the change
gives it a scope that is routed to another one. Activity without a memory and local state are in the first store.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from keepmum.core.errors import InvalidInput, StoreError
from keepmum.core.memory import (
    SCOPES,
    Action,
    Activity,
    Change,
    DayCount,
    Facets,
    Filter,
    JsonValue,
    LogFilter,
    Memory,
    Order,
    Outline,
    Revision,
    Scope,
)
from keepmum.stores.base import EVERY_ENTRY, Capabilities, Features, Near, Receipt, Redact, Store, caveat, cut, local
from keepmum.stores.composite import writing
from keepmum.stores.composite.fusion import fused_score, has_own_scores
from keepmum.stores.composite.members import Members, age, newest
from keepmum.stores.composite.vector_search import CompositeVectorSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.stores.markdown import OtherProjects
    from keepmum.stores.specs import MarkdownSpec

__all__ = ["CompositeStore"]

_LOGS = frozenset({"sqlite", "markdown", "rest"})  # names in cursors, also of a store that has been closed
_LONG_PREFIX = len("mem_") + 8  # characters of an id that were certainly copied from a result


class CompositeStore:
    """A `Store` over several others (see `keepmum.stores.base` for what each method returns)."""

    def __init__(
        self,
        stores: Mapping[str, Store],
        routes: Mapping[Scope, str],
        *,
        others: OtherProjects | None = None,
        markdown: MarkdownSpec | None = None,
    ) -> None:
        """The first of `stores` keeps whatever belongs to no memory, and new memories of scopes without a route.

        `markdown` is how to open the store that belongs to a folder, when `follow` is called.
        """
        self._members = Members(stores, routes, others)
        self._markdown = markdown
        self.features = self._features()

    def _features(self) -> Features:
        members = self._members
        features = [store.features for store in members.parts.values()]
        return Features(
            vector_search=CompositeVectorSearch(members) if any(each.vector_search for each in features) else None,
            versions=self if any(each.versions for each in features) else None,
            files=members if members.others or any(each.files for each in features) else None,
            composite=members,
            folder=self if self._markdown else None,
            remote=self if any(each.remote for each in features) else None,
            aging=self if any(each.aging for each in features) else None,
            maintenance=self if any(each.maintenance for each in features) else None,
            erasure=self if all(each.erasure for each in features) else None,
            local_state=features[0].local_state,
            review_state=features[0].review_state,
        )

    def follow(self, root: str, project: str) -> None:
        """Replace the Markdown store by the one of `root`; by none when `root` is empty, or not one to be read.

        Raises: StoreError; the store of the former folder then stays.
        """
        if self._markdown is None:
            return
        found, others = _open_files(self._markdown._replace(root=root, project=project))
        members = self._members
        former = members.parts.pop("markdown", None)
        if members.others is not None:
            members.others.close()
        members.others = others
        if found is not None:
            members.parts["markdown"] = found
        self.features = self._features()
        if former is not None:
            former.close()

    # -- facts

    @property
    def capabilities(self) -> Capabilities:
        """Writable when any store is; other guarantees only when all stores give them."""
        each = [(name, store.capabilities) for name, store in self._members.parts.items()]
        cannot = {promise: f"{name}: {why}" for name, its in each for promise, why in its.cannot.items()}
        reasons = "; ".join(its.reason for _, its in each if its.reason)
        return Capabilities(writable=any(its.writable for _, its in each), reason=reasons, cannot=cannot)

    @property
    def notice(self) -> str:
        """Recent events in any of the stores that the user should know of."""
        notices = [store.notice for store in self._members.parts.values()]
        if self._members.others is not None:
            notices.append(self._members.others.notice)
        return "; ".join(filter(None, notices))

    @property
    def caveat(self) -> str:
        """What must be said with the last answer, by any of the stores."""
        return "; ".join(filter(None, map(caveat, self._members.parts.values())))

    @property
    def cut(self) -> str:
        """Why the last list of any of the stores lacks memories."""
        return "; ".join(filter(None, map(cut, self._members.parts.values())))

    @property
    def local(self) -> Store:
        """The same stores, with the mirror in place of each remote one."""
        parts = {name: local(store) for name, store in self._members.parts.items()}
        return CompositeStore(parts, self._members.routes, others=self._members.others)

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
        self._members.first.log(activity)

    def upkeep(self, now: int) -> None:
        """Run the maintenance of every store; a failure does not stop the others.

        Raises: StoreError, the first of the failures.
        """
        failures = []
        for maintenance in filter(None, (store.features.maintenance for store in self._members.parts.values())):
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
        """Up to `limit` memories with ids in [first, last]; those of other projects when there are none here.

        Only a long beginning of an id opens the stores of other projects: many a key is a short one by chance.
        """
        near = [memory for store in self._members.parts.values() for memory in store.between(first, last, limit)]
        is_long = first[:_LONG_PREFIX] == last[:_LONG_PREFIX]
        far = () if near else self._members.far() if is_long else self._members.opened
        found = near or [memory for store in far for memory in store.between(first, last, limit)]
        return sorted(newest(found), key=lambda memory: memory.id)[:limit]

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key, starting with the store that its scope is routed to."""
        return self._members.first_current((store, store.by_key(space, key)) for store in self._of_space(space))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key, or else the last one that had it, in any store."""
        held = [(store, store.last_by_key(space, key)) for store in self._of_space(space)]
        found = [memory for store, one in held for memory in self._members.current(store, [one] if one else [])]
        return max(found, key=lambda memory: (memory.status == "active", memory.updated_at), default=None)

    def same_text(self, space: str, text: str) -> Memory | None:
        return self._members.first_current((store, store.same_text(space, text)) for store in self._of_space(space))

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

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """The memories of all stores that are similar to one of `memories`; of two copies the newer one."""
        found: list[Near] = []
        for store in self._searched(wanted):
            if (versions := store.features.versions) is not None:
                here = versions.near(memories, wanted, cosine, among)
                outdated = self._members.outdated(store, (one.memory for one in here))
                found += [one for one in here if one.memory.id not in outdated and one.memory.id != one.id]
        return found

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
        aging = [(store, store.features.aging) for store in self._members.parts.values()]
        found = [(store, its.fading(now, trashed_by, limit)) for store, its in aging if its is not None]
        return [memory for store, each in found for memory in self._members.current(store, each, equal=True)][:limit]

    def history(self, memory: str) -> list[Revision]:
        """The revisions of a memory before its current one, latest first, from every store it was in."""
        # The store that has the memory now has the latest revisions.
        stores = sorted(self._members.all, key=lambda store: not store.get([memory]))
        return [revision for store in stores for revision in store.history(memory)]

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest activity of all stores; a cursor has the place in the log of each."""
        places = dict(part.split("=", 1) for part in after.split(",") if "=" in part)
        if after and not (places and set(places) <= {*self._members.parts, *_LOGS}):
            raise InvalidInput("cursor", "is not one that a page of the activity log ended with")
        logs = [
            [(name, event) for event in store.activity(limit, project, wanted, places.get(name, ""))]
            for name, store in self._members.parts.items()
        ]
        found = []
        for name, event in itertools.islice(heapq.merge(*logs, key=lambda logged: -logged[1].at), limit):
            places[name] = event.cursor
            found.append(replace(event, cursor=",".join(f"{log}={place}" for log, place in sorted(places.items()))))
        return found

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        counts: Counter[tuple[int, str, Action, str]] = Counter()
        for store in self._members.parts.values():
            counts.update({each[:4]: each.times for each in store.activity_days(since, project)})
        return [DayCount(*what, times) for what, times in sorted(counts.items())]

    def facets(self, wanted: Filter) -> Facets:
        """The numbers of memories with each value; two copies count twice."""
        each = [store.facets(wanted) for store in self._searched(wanted)]
        return Facets(*({**sum(map(Counter, counts), Counter())} for counts in zip(*each, strict=True)))

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts; of two copies the newer one."""
        found: dict[str, Outline] = {}
        for store in self._searched(wanted):
            for one in store.outlines(wanted):
                found[one.id] = max(found.get(one.id, one), one, key=lambda copy: (copy.updated_at, copy.revision))
        return list(found.values())

    def changes(self) -> int:
        """The sum of the numbers of all stores."""
        return sum(store.changes() for store in self._members.all)

    def health(self) -> dict[str, JsonValue]:
        """Facts of the first store, with the sums of all counts, and under `stores` the facts of each."""
        each = {name: store.health() for name, store in self._members.parts.items()}
        statuses: Counter[str] = Counter()
        for facts in each.values():
            counts_here = facts.get("statuses")
            if isinstance(counts_here, dict):
                statuses.update({name: _number(count) for name, count in counts_here.items()})
        unsound = [str(facts["integrity"]) for facts in each.values() if facts.get("integrity", "ok") != "ok"]
        counts = {name: sum(_number(facts.get(name)) for facts in each.values()) for name in ("memories", "indexed")}
        first = next(iter(each.values()))
        return {**first, **counts, "integrity": "; ".join(unsound) or "ok", "statuses": dict(statuses), "stores": each}

    def close(self) -> None:
        with contextlib.ExitStack() as stack:
            for store in self._members.parts.values():
                stack.callback(store.close)
            if self._members.others is not None:
                stack.callback(self._members.others.close)

    def _of_space(self, space: str) -> list[Store]:
        name = space.partition("\x1f")[0]
        return self._members.ordered(next((scope for scope in SCOPES if scope == name), "project"))

    def _searched(self, wanted: Filter) -> Iterator[Store]:
        """The stores that a read asks: with `everywhere`, also those of other projects."""
        yield from self._members.parts.values()
        if wanted.everywhere:
            yield from self._members.far()


_KEYS: Mapping[Order, Callable[[Memory], tuple[float | str, ...]]] = {
    "updated": lambda memory: (memory.updated_at, memory.id),
    "created": lambda memory: (memory.created_at, memory.id),
    "accessed": lambda memory: (memory.accessed_at or -1, memory.id),
    "importance": lambda memory: (memory.importance, memory.updated_at, memory.id),
}


def _open_files(spec: MarkdownSpec) -> tuple[Store | None, OtherProjects]:
    """The Markdown store of a folder, if it has one, and those of all other projects in the registry."""
    from keepmum.stores import markdown

    registry = markdown.Registry(markdown.registry_of(spec.user_home))
    others = markdown.OtherProjects(registry, spec.cache, spec.root, spec.project_of)
    if not spec.root or (spec.registered_only and not registry.lists(spec.root)):
        return None, others
    return markdown.MarkdownStore(spec.root, spec.cache, spec.project, registry), others


def _best_first(found: Iterable[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
    return sorted(found, key=lambda pair: (-pair[1], pair[0].id))


def _number(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
