"""Reads from Keepmum's own server: each is answered by the server, and from the mirror when that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from keepmum.core import serialization
from keepmum.core.errors import InvalidInput, StoreError
from keepmum.core.memory import (
    LISTED,
    Action,
    Candidate,
    Facets,
    Filter,
    JsonValue,
    Memory,
    Order,
    Outline,
    Revision,
    Trust,
)
from keepmum.stores.base import LocalStore, QueryVector
from keepmum.stores.outbox import Outbox
from keepmum.stores.rest import mapping
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.known_server import KnownServer
from keepmum.stores.rest.write_behind import WriteBehindCache

if TYPE_CHECKING:
    from keepmum.stores.rest.full_api import FullApi

__all__ = ["FullReader"]

_Result = TypeVar("_Result")
_Values = Mapping[str, JsonValue]
_BULK_LIMIT = 1_000  # memories; only commands list that many, and no agent waits for them
_PAGES_KEPT = 4  # lists that are read page by page
_PAGES_SECONDS = 30.0


class _PartialList:
    """The pages of a list that were requested."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.memories: list[Memory] = []
        self.cursor = ""
        self.is_whole = False


class FullReader:
    """Searches, lists and loads; queued writes of this machine are part of every answer."""

    def __init__(  # noqa: PLR0913 - the parts of a server's store
        self,
        breaker: CircuitBreaker,
        known: KnownServer,
        *,
        mirror: LocalStore,
        cache: WriteBehindCache,
        outbox: Outbox,
        clock: Callable[[], float],
        level: Trust,
    ) -> None:
        self._breaker = breaker
        self._known = known
        self._mirror = mirror
        self._cache = cache
        self._outbox = outbox
        self._clock = clock
        self._level: Trust = level
        self._lists: dict[tuple[Filter, Order], _PartialList] = {}
        self._reporting: threading.Thread | None = None

    # -- searching

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first, with their relevance."""

        def request(api: FullApi) -> list[tuple[Memory, float]]:
            found = self._candidates(api, words, lambda: None, wanted, limit)
            ranked = sorted(found, key=lambda pair: -pair[1].lexical)
            return [(memory, each.lexical) for memory, each in ranked if each.lexical > 0]

        found = self._call(request, lambda: self._mirror.search(words, wanted, limit))
        return [*found, *self._queued_matches(words, wanted, limit, {memory.id for memory, _ in found})][:limit]

    def candidates(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """What may match a question, by words and by meaning."""

        def request(api: FullApi) -> list[Candidate]:
            return [each for _, each in self._candidates(api, words, vector, wanted, limit)]

        def known_here() -> list[Candidate]:
            return [Candidate.lexical_only(*pair) for pair in self._mirror.search(words, wanted, limit)]

        found = self._call(request, known_here)
        queued = self._queued_matches(words, wanted, limit, {each.id for each in found})
        return [*found, *(Candidate.lexical_only(*pair) for pair in queued)]

    def _candidates(
        self, api: FullApi, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int
    ) -> list[tuple[Memory, Candidate]]:
        waiting = self._queued_ids()
        model = facts.model if (facts := self._known.facts()) is not None else ""
        embedding = vector()
        if embedding is not None and embedding.model != model:
            embedding = None
        found = api.candidates(" ".join(words), embedding, wanted, limit)
        memories = self._accept([each.memory for each in found])
        scored = []
        for each in found:
            memory = memories.get(str(each.memory.get("id")))
            if memory is not None and memory.id not in waiting and _is_trusted(memory, wanted):
                candidate = Candidate.lexical_only(memory, each.lexical)
                scored.append((memory, candidate._replace(cosine=each.cosine)))
        return scored

    def _queued_matches(
        self, words: Sequence[str], wanted: Filter, limit: int, found: set[str]
    ) -> list[tuple[Memory, float]]:
        """Matches that wait to be sent, so that a search right after a write finds it."""
        waiting = self._queued_ids() - found
        if not waiting or not words:
            return []
        return [pair for pair in self._mirror.search(words, wanted, limit) if pair[0].id in waiting]

    # -- lists and counts

    def browse(self, wanted: Filter, order: Order, limit: int, offset: int) -> list[Memory]:
        """Memories that pass the filter, in this order."""
        bulk = limit >= _BULK_LIMIT

        def request(api: FullApi) -> list[Memory]:
            listed = self._listed(wanted, order, offset)
            while len(listed.memories) < offset + limit and not listed.is_whole:
                page = api.page(wanted, order, listed.cursor, bulk=bulk)
                received = self._accept(page.memories)
                waiting = self._queued_ids()
                listed.memories += [
                    memory for memory in received.values() if memory.id not in waiting and _is_trusted(memory, wanted)
                ]
                listed.cursor, listed.is_whole = page.cursor, not page.cursor
            if not self._queued_ids():
                return listed.memories[offset : offset + limit]
            return self._with_queued(listed.memories, wanted, order)[offset : offset + limit]

        return self._call(request, lambda: self._mirror.browse(wanted, order=order, limit=limit, offset=offset))

    def _listed(self, wanted: Filter, order: Order, offset: int) -> _PartialList:
        """What was requested of a list; a read of its beginning requests it again."""
        key, now = (replace(wanted, now=0), order), self._clock()
        kept = self._lists.pop(key, None)
        if kept is None or offset == 0 or now - kept.at > _PAGES_SECONDS:
            kept = _PartialList(now)
        self._lists[key] = kept
        while len(self._lists) > _PAGES_KEPT:
            del self._lists[next(iter(self._lists))]
        return kept

    def _with_queued(self, listed: Sequence[Memory], wanted: Filter, order: Order) -> list[Memory]:
        """A list with the memories that wait to be sent in their places."""
        waiting = self._queued_ids()
        queued = [one for one in self._mirror.browse(wanted, order=order, limit=_BULK_LIMIT) if one.id in waiting]
        names: Mapping[Order, str] = {"updated": "updated_at", "created": "created_at", "accessed": "accessed_at"}
        name = names.get(order, "importance")
        return sorted(
            [*listed, *queued], key=lambda one: (getattr(one, name) or 0, one.updated_at, one.id), reverse=True
        )

    def facets(self, wanted: Filter) -> Facets:
        """How many of the memories that pass the filter have each value."""

        def request(api: FullApi) -> Facets:
            counted = api.facets(wanted)
            return Facets(*(counted.get(name, {}) for name in Facets._fields))

        return self._call(request, lambda: self._mirror.facets(wanted))

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts."""

        def request(api: FullApi) -> list[Outline]:
            found = [one for values in api.outlines(wanted) if (one := _outline(values)) is not None]
            here = {memory.id: memory for memory in self._mirror.get([each.id for each in found])}
            return [each for each in (_with_local_trust(one, here.get(one.id), self._level) for one in found)
                    if not wanted.trusts or each.trust in wanted.trusts]  # fmt: skip

        return self._call(request, lambda: self._mirror.outlines(wanted))

    # -- single memories

    def load(self, wanted: Sequence[str]) -> dict[str, Memory]:
        """These memories as the server has them now, by id; the mirror drops those that the server does not have."""
        waiting = self._queued_ids()
        local = [one for one in wanted if one in waiting or self._cache.is_fresh(one)]
        remote = [one for one in wanted if one not in local]
        found = {memory.id: memory for memory in self._mirror.get(local)}
        if not remote:
            return found

        def request(api: FullApi) -> dict[str, Memory]:
            received = self._accept(api.load(remote))
            self._cache.flush()
            self._cache.remove(set(remote) - set(received))
            self._cache.mark_fresh(received)
            return received

        def known_here() -> dict[str, Memory]:
            return {memory.id: memory for memory in self._mirror.get(remote)}

        return found | self._call(request, known_here)

    def id_range(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories with ids in [first, last], in order."""

        def request(api: FullApi) -> list[Memory]:
            waiting = self._queued_ids()
            received = self._accept(api.id_range(first, last, limit, bulk=limit >= _BULK_LIMIT))
            found = [memory for memory in received.values() if memory.id not in waiting]
            if waiting:
                queued = [one for one in self._mirror.between(first, last, limit) if one.id in waiting]
                found = sorted([*found, *queued], key=lambda memory: memory.id)
            return found[:limit]

        return self._call(request, lambda: self._mirror.between(first, last, limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key."""
        return self._holder(space, "by_key", key=key, here=lambda: self._mirror.by_key(space, key))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that had a key last."""
        return self._holder(space, "last_by_key", key=key, here=lambda: self._mirror.last_by_key(space, key))

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with this text."""
        return self._holder(space, "same_text", text=text, here=lambda: self._mirror.same_text(space, text))

    def _holder(
        self, space: str, name: str, *, here: Callable[[], Memory | None], key: str = "", text: str = ""
    ) -> Memory | None:
        waiting = self._queued_ids()
        if waiting and (queued := here()) is not None and queued.id in waiting:
            return queued

        def request(api: FullApi) -> Memory | None:
            values = api.look_up(space, key=key, text=text)[name]
            found = next(iter(self._accept([values]).values()), None) if values is not None else None
            outdated = here() if name == "by_key" else None
            if outdated is not None and outdated.id not in {*waiting, found and found.id}:
                self._cache.mark_stale(outdated.id)
                self.load([outdated.id])  # another machine has removed it, or given it another key
            self._cache.flush()  # a change of it is compared with the mirror
            return None if found is not None and found.id in waiting else found

        return self._call(request, here)

    def history(self, memory: str) -> list[Revision]:
        """The former revisions of a memory, latest first; those that this machine replaced come from the mirror."""
        here = [one for one in self._mirror.history(memory) if one.before.get("origin") != LISTED]

        def request(api: FullApi) -> list[Revision]:
            received = (_revision(values) for values in api.history(memory))
            known = {past.revision: past for past in received if past is not None}
            known |= {past.revision: past for past in here}
            return [known[number] for number in sorted(known, reverse=True)]

        return here if memory in self._queued_ids() else self._call(request, lambda: here)

    # -- use

    def report_use(self, memories: Sequence[str]) -> None:
        """Report to the server, in the background, that these memories were shown; a failed report is not repeated."""
        wanted = [memory for memory in memories if memory not in self._queued_ids()]
        if not wanted or self._breaker.skips_reads:
            return

        def report() -> None:
            try:
                self._known.api.used(wanted)
            except StoreError as error:
                self._breaker.record_failure(error)

        self._reporting = threading.Thread(target=report, name="keepmum-use", daemon=True)
        self._reporting.start()

    def close(self) -> None:
        """Wait up to a second for the last report."""
        if self._reporting is not None:
            self._reporting.join(1.0)

    # -- parts

    def _call(self, request: Callable[[FullApi], _Result], fallback: Callable[[], _Result]) -> _Result:
        return self._breaker.call(lambda _: request(self._known.api), self._cache.flushed(fallback))

    def _accept(self, received: Sequence[_Values]) -> dict[str, Memory]:
        """The memories of a response, by id, with the trust that they have here; they are cached for the mirror."""
        ids = [str(values.get("id")) for values in received]
        known = {memory.id: memory for memory in self._mirror.get(ids)}
        made = [
            mapping.whole_memory(values, known.get(name), self._level)
            for name, values in zip(ids, received, strict=True)
        ]
        memories = [memory for memory in made if memory is not None]
        waiting = self._queued_ids()
        self._cache.add([memory for memory in memories if memory.id not in waiting], known, exact=True)
        return {memory.id: memory for memory in memories}

    def _queued_ids(self) -> frozenset[str]:
        """Ids of memories with a queued write."""
        return self._outbox.waiting_memories(self._breaker.server.origin)


def _is_trusted(memory: Memory, wanted: Filter) -> bool:
    return not wanted.trusts or memory.trust in wanted.trusts


def _outline(values: Mapping[str, Any]) -> Outline | None:  # JSON, checked here
    """The outline in a response; None for anything else."""
    given = {name: values.get(name) for name in Outline._fields}
    digest = given.pop("digest")
    try:
        parsed = serialization.parse({**given, "text": "-", "title": "-", "created_at": given["updated_at"]})
    except InvalidInput:
        return None
    return Outline._make([*(getattr(parsed, name) for name in Outline._fields[:-1]), str(digest)])


def _with_local_trust(outline: Outline, memory: Memory | None, level: Trust) -> Outline:
    """An outline with the trust that the memory has on this machine."""
    if memory is not None and memory.revision == outline.revision:
        return outline._replace(trust=memory.trust, confirmed_at=memory.confirmed_at, pinned=memory.pinned)
    return outline._replace(trust="outside" if outline.trust == "outside" else level)


def _revision(values: Mapping[str, Any]) -> Revision | None:  # JSON, checked here
    """The former revision in a response; None for anything else."""
    memory, number, at, before = (values.get(name) for name in ("memory", "revision", "at", "before"))
    if not (isinstance(number, int) and isinstance(at, int) and isinstance(before, Mapping)):
        return None
    action: Action = next((one for one in get_args(Action) if one == values.get("action")), "updated")
    return Revision(str(memory), number, at, str(values.get("agent")), action, before)
