"""Reads from a server, through a mirror of it on this machine that is updated with every response."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from keepmum.core import ids, ranking
from keepmum.core.errors import KeyRefused, StoreError
from keepmum.core.memory import Filter, Memory, Trust
from keepmum.stores.base import LocalStore
from keepmum.stores.outbox import Outbox
from keepmum.stores.rest import mapping
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.write_behind import WriteBehindCache

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api, ListedMemory, LoadedMemory

__all__ = ["BULK_LIMIT", "PATIENT_LIMIT", "ServerReader", "can_ask_server", "list_all", "mirror_filter"]

_Result = TypeVar("_Result")
BULK_LIMIT = 100  # a read of this many memories needs the texts as well
PATIENT_LIMIT = 1_000  # one of this many is made by a command (export, audit), for which no agent waits
_LIST_TTL = 2.0  # seconds for which the list of a project is not requested again
_LIST_SIZES = (500, 5_000, 50_000, 500_000)  # limits of requests for a list: a full one is requested again
_SMALL_LIST = 100  # the limit where a server accepts none of these
_PROBED = 10  # memories: a list this long may have been cut, which a search shows
_PROBE_WORDS = 24
_MOST_LOADED = 500  # memories whose texts are loaded for a filter while an agent waits
_ALL_DAYS = 36_500
_BULK_LIST_TTL = 10.0  # the same for a command, which reads many pages of one list
_CHECKED = 50  # memories: one request
_BAD_REQUEST = frozenset({400, 413, 414, 416, 422})  # statuses of a server that does not accept such a limit
_LEFT_OUT = "a search finds memories that its list lacks"
_SETTLING_MS = 60_000  # a server may not list a memory as soon as it was written


class ServerReader:
    """Searches and loads at the server; falls back to the mirror when the server does not answer."""

    def __init__(  # noqa: PLR0913 - the parts of a server's store
        self,
        breaker: CircuitBreaker,
        *,
        mirror: LocalStore,
        cache: WriteBehindCache,
        outbox: Outbox,
        projects: Mapping[str, str],
        clock: Callable[[], float],
        level: Trust,
    ) -> None:
        self._breaker = breaker
        self._mirror = mirror
        self._cache = cache
        self._outbox = outbox
        self._projects = projects  # configured names by project id; they take precedence over names seen before
        self._clock = clock
        self._level: Trust = level  # of what the server says
        self.cut = ""  # why the last list lacks memories; empty when it is complete
        self._lists: dict[tuple[str | None, bool], tuple[float, str]] = {}  # when they were requested, and `cut`

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Matches at the server with its scores, followed by queued memories that match."""
        self.cut = ""
        return self._call(
            lambda api: self._search_server(api, words, wanted, limit),
            lambda: self._mirror.search(words, mirror_filter(wanted), limit),
        )

    def refresh(self, current: str | None, now: int, *, everywhere: bool, bulk: bool = False) -> None:
        """Update the mirror with the server's list of the current project or of all, unless that was just done.

        With `bulk`, a longer list may take longer, and a search shows whether the server has shortened it.
        """
        project = None if everywhere else self.project_name(current)
        ttl = _BULK_LIST_TTL if bulk else _LIST_TTL
        listed_at, self.cut = self._lists.get((project, bulk), (-ttl, ""))
        if self._clock() - listed_at < ttl:
            return

        def request(api: Api) -> str:
            listed, problem = list_all(api, project, bulk=bulk)
            known = self._known(listed)
            memories = self._listed_memories(listed, known, current, now)
            accepted = self._accept(listed, memories, known)
            self._cache.flush()
            found = {memory.id for memory in memories}
            if bulk and not problem and len(self._mirror.get(accepted)) < len(accepted):
                problem = "this machine could not store the list"
            if project is not None and not problem and not self._remove_unlisted(api, project, found, now):
                problem = _LEFT_OUT
            if not problem:
                return ""
            return f"{self._breaker.server.origin} listed {len(found):,} of its memories, and has more: {problem}."

        self.cut = self._call(request, lambda: "")
        self._lists[project, bulk] = self._clock(), self.cut

    def load_listed(self, wanted: Filter, *, bulk: bool) -> None:
        """Load the texts of what the last `refresh` listed, if a filter uses fields that a list lacks.

        Without them a memory of another machine passes no such filter. Without `bulk` some of them are loaded, so that
        an agent does not wait; `cut` then says how many are left.
        """
        if not (wanted.tags or wanted.agent or wanted.kinds or wanted.keys or wanted.tier):
            return
        every = replace(mirror_filter(wanted), kinds=(), keys=None, tier=None, tags=(), agent=None)
        listed = self._mirror.browse(every, limit=_LIST_SIZES[-1])
        unknown = [one.id for one in listed if not mapping.is_loaded(one)]
        some = unknown if bulk else unknown[:_MOST_LOADED]
        self.load(some, bulk=bulk)
        if left := len(unknown) - len(some):
            origin = self._breaker.server.origin
            self.cut = f"{left:,} memories of {origin} were not compared with the filter; repeat the call."

    def load(self, wanted: Sequence[str], *, bulk: bool = False) -> dict[str, Memory]:
        """These memories as the server has them now, by id. Those that it does not have are removed from the mirror."""
        waiting = self._queued_ids()
        local = [one for one in wanted if one in waiting or self._cache.is_fresh(one)]
        remote = [one for one in wanted if one not in local]
        found = {memory.id: memory for memory in self._mirror.get(local)}
        if not remote:
            return found

        def request(api: Api) -> list[Memory]:
            known = {memory.id: memory for memory in self._mirror.get(remote)}  # a later write is newer than the answer
            loaded = api.load([ids.to_uuid(one) for one in remote], bulk=bulk)
            memories = self._loaded_memories(loaded, known)
            self._accept(loaded, memories, known)
            self._cache.flush()
            self._cache.remove(set(remote) - {memory.id for memory in memories})
            self._cache.mark_fresh(memory.id for memory in memories)
            return self._mirror.get([memory.id for memory in memories])

        found |= {memory.id: memory for memory in self._call(request, lambda: self._mirror.get(remote))}
        return found

    def with_texts(self, found: Sequence[Memory], *, bulk: bool = False) -> list[Memory]:
        """These memories with their texts, without those that the server no longer has."""
        without_text = {one.id for one in found if not mapping.is_loaded(one) and one.status == "active"}
        loaded = self.load(sorted(without_text), bulk=bulk) if without_text else {}
        return [loaded.get(one.id, one) for one in found if one.id not in without_text or one.id in loaded]

    def reload(self, memory: Memory | None) -> Memory | None:
        """A memory of the mirror as the server has it now; None when it is gone there."""
        return None if memory is None else self.load([memory.id]).get(memory.id)

    def project_name(self, project: str | None) -> str:
        """The name of a project at the server."""
        return mapping.project_name(project, self._project_names())

    def _project_names(self) -> dict[str, str]:
        return {project: name for _, project, name in self._mirror.roots(0) if name} | dict(self._projects)

    def _call(self, request: Callable[[Api], _Result], fallback: Callable[[], _Result]) -> _Result:
        return self._breaker.call(request, self._cache.flushed(fallback))

    def _search_server(self, api: Api, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        project = None if wanted.everywhere else self.project_name(wanted.project)
        tags = wanted.tags if wanted.all_tags or len(wanted.tags) == 1 else ()  # the server supports "all of" only
        listed = _once(api.search(" ".join(words), limit=limit, agent=wanted.agent, project=project, tags=tags))
        known = self._known(listed)
        memories = self._listed_memories(listed, known, wanted.project, wanted.now)
        if _needs_all_fields(wanted) or limit >= BULK_LIMIT:
            loaded = self.load([one.id for one in memories if not mapping.is_loaded(one)])
            memories = [loaded.get(one.id, one) for one in memories]
        else:
            self._accept(listed, memories, known)
        waiting = self._queued_ids()
        scored = zip(memories, (item.score for item in listed), strict=True)
        matching = [(one, score) for one, score in scored if one.id not in waiting and mapping.matches(one, wanted)]
        return [*matching, *self._search_queued(words, wanted, {one.id for one, _ in matching}, limit)][:limit]

    def _search_queued(
        self, words: Sequence[str], wanted: Filter, found: set[str], limit: int
    ) -> list[tuple[Memory, float]]:
        """Matches that wait to be sent, so that a search right after a write finds it."""
        waiting = self._queued_ids() - found
        if not waiting:
            return []
        matches = self._mirror.search(words, mirror_filter(wanted), limit)
        return [(one, score) for one, score in matches if one.id in waiting]

    def _accept(
        self, items: Sequence[ListedMemory], memories: Sequence[Memory], known: Mapping[str, Memory]
    ) -> list[str]:
        """Cache for the mirror what the server sent, except memories with a queued write; returns their ids.

        The mirror gets the revisions of a server that has them: a change has to name the one that it applies to.
        """
        waiting = self._queued_ids()
        pairs = [(item, memory) for item, memory in zip(items, memories, strict=True) if memory.id not in waiting]
        for exact in (True, False):
            accepted = [memory for item, memory in pairs if (item.memory_json is not None) is exact]
            self._cache.add(accepted, known, exact=exact)
        return [memory.id for _, memory in pairs]

    def _known(self, items: Sequence[ListedMemory]) -> dict[str, Memory]:
        """The mirror's versions of these memories, by id."""
        return {one.id: one for one in self._mirror.get([mapping.memory_id(item.id) for item in items])}

    def _listed_memories(
        self, listed: Sequence[ListedMemory], known: Mapping[str, Memory], current: str | None, now: int
    ) -> list[Memory]:
        names = self._project_names()
        return [
            mapping.listed_memory(
                item,
                known.get(mapping.memory_id(item.id)),
                mapping.project_of(item.project, current, names),
                now,
                self._level,
            )
            for item in listed
        ]

    def _loaded_memories(self, loaded: Sequence[LoadedMemory], known: Mapping[str, Memory]) -> list[Memory]:
        names, now = self._project_names(), time.time_ns() // 1_000_000
        memories = []
        for item in loaded:
            before = known.get(mapping.memory_id(item.id))
            project = mapping.project_of(item.project, None, names) if before is None else before.project or ""
            memories.append(mapping.loaded_memory(item, before, project, now, self._level))
        return memories

    def _remove_unlisted(self, api: Api, project: str, listed: set[str], now: int) -> bool:
        """Remove from the mirror what the server no longer has, except what was written a moment ago.

        False when the server still has a memory that it does not list: then it lists a part only.
        """
        unlisted: set[str] = set()
        for owner in {owner for owner, name in self._project_names().items() if name == project} | {project}:
            wanted = Filter(now=now, project=owner, scopes=("project", "shared"), until=now - _SETTLING_MS)
            unlisted.update(memory.id for memory in self._mirror.browse(wanted, limit=_LIST_SIZES[-1]))
        doubtful = sorted(unlisted - listed - self._queued_ids())
        for start in range(0, len(doubtful), _CHECKED):
            some = doubtful[start : start + _CHECKED]
            left = {mapping.memory_id(item.id) for item in api.load([ids.to_uuid(one) for one in some])}
            self._cache.remove(set(some) - left)
            if left:
                return False
        return True

    def _queued_ids(self) -> frozenset[str]:
        """Ids of memories with a queued write."""
        return self._outbox.waiting_memories(self._breaker.server.origin)


def list_all(api: Api, project: str | None, *, bulk: bool) -> tuple[list[ListedMemory], str]:
    """A server's list of a project or of all, each memory once, and why it lacks memories; empty when it is complete.

    Raises: StoreError when the server lists nothing.
    """
    listed, problem = _longest_list(api, project, bulk=bulk)
    if problem or not bulk or len(listed) < _PROBED:
        return listed, problem
    if _lacks(api, listed, project):
        again, problem = _longest_list(api, project, bulk=bulk)  # it may have been written meanwhile
        listed = _once([*listed, *again])
        problem = problem or (_LEFT_OUT if _lacks(api, listed, project) else "")
    if project is None and (problem or len(listed) % 10 == 0 or len(listed) % 8 == 0):  # as limits usually are
        by_project = [_longest_list(api, name, bulk=bulk) for name in sorted({item.project for item in listed})]
        union = _once([*listed, *itertools.chain.from_iterable(part for part, _ in by_project)])
        if len(union) > len(listed):  # each project's list may have been shortened as well
            listed, problem = union, problem or "the lists of its projects hold more than the list of all"
    return listed, problem


def _longest_list(api: Api, project: str | None, *, bulk: bool) -> tuple[list[ListedMemory], str]:
    """The longest list that the server returns, and why it may not be complete."""
    listed: list[ListedMemory] = []
    for limit in _LIST_SIZES:
        try:
            page = api.recent(limit=limit, days=_ALL_DAYS, project=project, bulk=bulk)
        except KeyRefused:
            raise
        except StoreError as error:
            if not listed:
                if getattr(error, "status", 0) not in _BAD_REQUEST:
                    raise
                listed = api.recent(limit=_SMALL_LIST, days=_ALL_DAYS, project=project, bulk=bulk)
                if len(listed) < _SMALL_LIST:
                    return _once(listed), ""
            return _once(listed), str(error)
        listed = page
        if len(listed) < limit:
            return _once(listed), ""
    return _once(listed), f"{_LIST_SIZES[-1]:,} are the most that are requested"


def _lacks(api: Api, listed: Sequence[ListedMemory], project: str | None) -> bool:
    """Whether searches find memories that a list lacks: a server may limit a list without saying so."""
    known = {item.id for item in listed}
    words = Counter(itertools.chain.from_iterable(set(ranking.terms(item.title)) for item in listed))
    usual = [word for word, _ in words.most_common(_PROBE_WORDS)]
    for query in (" ".join(usual), *usual[:1], listed[-1].title, listed[0].title):
        with contextlib.suppress(StoreError):  # a list is no worse when the server cannot search
            found = api.search(query, limit=len(listed) + 1, project=project, bulk=True) if query else []
            if any(item.id not in known for item in found):
                return True
    return False


def _once(items: Iterable[ListedMemory]) -> list[ListedMemory]:
    """Each memory once, in order of first appearance."""
    return list({item.id: item for item in items}.values())


def can_ask_server(wanted: Filter) -> bool:
    """Whether the server can have matches: active memories of projects, and of no user."""
    scopes = set(wanted.scopes)
    return "active" in wanted.statuses and wanted.user is None and (not scopes or bool(scopes & {"project", "shared"}))


def mirror_filter(wanted: Filter) -> Filter:
    """`wanted` for the mirror, where memories of the server may have either scope of a project."""
    return replace(wanted, scopes=("project", "shared")) if {"project", "shared"} & set(wanted.scopes) else wanted


def _needs_all_fields(wanted: Filter) -> bool:
    """Whether a filter uses fields that a search result lacks."""
    return bool(
        wanted.kinds
        or wanted.keys
        or wanted.tier
        or wanted.since
        or wanted.until
        or (len(wanted.tags) > 1 and not wanted.all_tags)
    )
