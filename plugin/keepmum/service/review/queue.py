"""The review queue of a place: counts, pages and single items. Nothing here changes a memory."""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

from keepmum.core import review
from keepmum.core.agents import identify
from keepmum.core.errors import InvalidInput, NotFound, StoreError
from keepmum.core.memory import Filter, LogFilter, Memory, Outline
from keepmum.core.review import Decision, Entry, Group
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.service.lookup import Wanted
from keepmum.service.review.cache import CacheFile
from keepmum.service.review.code import ChangedCode
from keepmum.service.review.pairs import SimilarPairs

__all__ = ["ReviewItem", "ReviewPage", "Reviewer"]

_HOUR_MS = 3_600_000
_CODE_SECONDS, _PAGE_SECONDS = 10.0, 0.1  # for looking at cited code, before and with a page
_CONFLICTS = 500  # of the log, that may still be open
_COMPARED_AT_ONCE = 200  # new memories that one page compares with the others: a tenth of a second


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Memories that a person should look at, why, and what can be done."""

    id: str  # the same as long as the memories do not change
    group: Group
    memories: tuple[Memory, ...]  # one, or of two the newer first
    reason: str  # a sentence
    actions: tuple[Decision, ...]
    cosine: float | None = None  # between the two; None when they were not compared by it


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some items of the queue, and how long it is."""

    items: tuple[ReviewItem, ...]
    counts: Mapping[Group, int]  # of the whole queue, in its order; groups without items are left out
    cursor: str  # gives the next page; empty at the end
    unchecked: int  # memories that were not compared with the others yet, such as those without a vector


class _Queue(NamedTuple):
    entries: list[Entry]  # without those that were postponed
    unchecked: int


class Reviewer:
    """Lists what a person should review in a place."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def review(
        self, *, groups: Sequence[Group] = (), limit: int = 50, cursor: str = "", **wanted: Unpack[Wanted]
    ) -> ReviewPage:
        """A page of the queue, of all groups or of some; what matters most comes first.

        Similar memories are found by vector search only; call `compare` for all of them.

        Raises: InvalidInput when the cursor is not one of a page, StoreError.
        """
        queue = self._queue(wanted, compare=_COMPARED_AT_ONCE)
        counts = Counter(entry.group for entry in queue.entries)
        after = _place_of(cursor)
        left = [entry for entry in queue.entries if entry.place > after and (not groups or entry.group in groups)]
        page = heapq.nsmallest(limit, left, key=lambda entry: entry.place)
        return ReviewPage(
            items=self._items(page),
            counts={group: counts[group] for group in review.GROUPS if counts[group]},
            cursor=_cursor_of(page[-1]) if len(left) > len(page) and page else "",
            unchecked=queue.unchecked,
        )

    def overview(self, **wanted: Unpack[Wanted]) -> ReviewPage:
        """The first item of each group, and the counts; it compares no memories that were not compared before."""
        queue = self._queue(wanted, compare=0)
        counts = Counter(entry.group for entry in queue.entries)
        first = {group: min((e for e in queue.entries if e.group == group), key=lambda e: e.place) for group in counts}
        return ReviewPage(
            items=self._items([first[group] for group in review.GROUPS if group in first]),
            counts={group: counts[group] for group in review.GROUPS if counts[group]},
            cursor="",
            unchecked=queue.unchecked,
        )

    def review_counts(self, **wanted: Unpack[Wanted]) -> dict[Group, int]:
        """How many items of each group are in the queue, at most an hour ago if no memory has changed since.

        It compares no memories that were not compared before.
        """
        context = self.context
        everywhere = lookup.filter_of(context, wanted).everywhere
        file = CacheFile(context, "counts", everywhere=everywhere)
        known = [CacheFile(context, "pairs", everywhere=everywhere).version, ChangedCode(context).version]
        state = [context.store.changes(), known, context.clock() // _HOUR_MS, context.options.policy, repr(wanted)]
        saved: Mapping[str, Any] = file.read()
        if saved.get("state") != state:
            counts = Counter(entry.group for entry in self._queue(wanted, compare=0).entries)
            saved = {"state": state, "counts": counts}
            file.write(saved)
        return {group: saved["counts"][group] for group in review.GROUPS if saved["counts"].get(group)}

    def review_item(self, item: str, **wanted: Unpack[Wanted]) -> ReviewItem:
        """One item of the queue, also a postponed one.

        Raises: NotFound when it is not in the queue, or not any more.
        """
        for entry in self._queue(wanted, compare=0, postponed=True).entries:
            if review.item_id(entry) == item:
                found = self._items([entry])
                if found:
                    return found[0]
        raise NotFound("no such item is in the review queue; it was decided, or its memories changed meanwhile")

    def compare(self, **wanted: Unpack[Wanted]) -> int:
        """Compare all memories that were not compared yet, and the code that they cite.

        Returns how many memories were not compared, such as those without a vector.
        """
        return self._queue(wanted, compare=None).unchecked

    def _queue(self, wanted: Wanted, *, compare: int | None, postponed: bool = False) -> _Queue:
        """The whole queue, without texts; with `postponed`, also what is hidden."""
        context, now = self.context, self.context.clock()
        accepted = lookup.filter_of(context, wanted)
        outlines = self._outlines(accepted)
        pairs = SimilarPairs(context, outlines, everywhere=accepted.everywhere)
        code = ChangedCode(context)
        if compare != 0:
            pairs.update(compare)
            code.update(_CODE_SECONDS if compare is None else _PAGE_SECONDS)
        known = review.Known(pairs.near, code.changed(outlines), self.conflicting())
        found = review.entries(outlines, known, now, context.options.policy)
        state = context.store.features.review_state
        hidden = frozenset[str]() if postponed or state is None else state.postponed(now)
        if hidden:
            found = [entry for entry in found if review.item_id(entry) not in hidden]
        return _Queue(found, pairs.unchecked)

    def _outlines(self, accepted: Filter) -> Sequence[Outline]:
        """What passes the filter. An id that several projects use means the memory in the project of the place."""
        found = self.context.store.outlines(accepted)
        times = Counter(outline.id for outline in found)
        if len(times) == len(found):
            return found
        alone = self.context.alone(self.context.place.project).store
        here = {outline.id: outline for outline in alone.outlines(accepted) if times[outline.id] > 1}
        return [*here.values(), *(outline for outline in found if outline.id not in here)]

    def conflicting(self) -> dict[str, str]:
        """By memory id, the agent that replaced the value of another agent, where no person has decided about it."""
        context, found = self.context, dict[str, str]()
        with contextlib.suppress(StoreError):  # a server may have no log
            events = context.store.activity(_CONFLICTS, None, LogFilter(actions=("conflict",)))
            for memory in {event.memory for event in events if event.memory}:
                conflict = review.open_conflict(context.store.history(memory))
                if conflict is not None:
                    found[memory] = context.masker.text(identify(conflict.agent).title)
        return found

    def _items(self, entries: Sequence[Entry]) -> tuple[ReviewItem, ...]:
        """Entries with their memories as they may be shown; those of a memory that was purged since are left out."""
        context, files = self.context, self.context.store.features.files
        outlines = {outline.id: outline for entry in entries for outline in entry.memories}

        def is_meant(memory: Memory) -> tuple[bool, bool]:
            """Tells the memory of an outline from one of another project with the same id."""
            outline = outlines[memory.id]
            is_same = (memory.revision, memory.status) == (outline.revision, outline.status)
            return is_same, memory.project == context.place.project

        loaded = sorted(context.store.get(sorted(outlines)), key=is_meant)  # of two with one id, the latter counts
        by_id = {memory.id: context.masker.memory(memory) for memory in loaded}
        items = []
        for entry in entries:
            memories = tuple(by_id[memory.id] for memory in entry.memories if memory.id in by_id)
            if len(memories) == len(entry.memories):
                actions = review.ACTIONS[entry.group]
                if entry.group == "outside" and files is not None and files.file_of(memories[0].id):
                    actions = ("accept", *actions)
                why = review.reason(entry, memories)
                items.append(ReviewItem(review.item_id(entry), entry.group, memories, why, actions, entry.cosine))
        return tuple(items)


def _cursor_of(entry: Entry) -> str:
    return ".".join(map(str, entry.place))


def _place_of(cursor: str) -> tuple[int, int, str]:
    """The place in the queue after which a page starts.

    Raises: InvalidInput.
    """
    if not cursor:
        return -1, 0, ""
    try:
        group, order, memory = cursor.split(".")
        return int(group), int(order), memory
    except ValueError:
        raise InvalidInput("cursor", "is not one that a page of the review queue ended with") from None
