"""Reads from a server, through a mirror of it on this machine that is updated with every response."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from keepmum.core import ids
from keepmum.core.memory import Filter, Memory
from keepmum.stores.base import LocalStore
from keepmum.stores.outbox import Outbox
from keepmum.stores.rest import mapping
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.write_behind import WriteBehindCache

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api, ListedMemory, LoadedMemory

__all__ = ["BULK_LIMIT", "ServerReader", "can_ask_server", "mirror_filter"]

_Result = TypeVar("_Result")
BULK_LIMIT = 100  # a read of this many memories is made by a program (export, audit) and needs the texts as well
_LIST_TTL = 2.0  # seconds for which the list of a project is not requested again
_LOAD_TTL = 0.3  # seconds for which a memory is not requested again: one call of a tool may read it twice
_MAX_LISTED = 500
_ALL_DAYS = 36_500
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
    ) -> None:
        self._breaker = breaker
        self._mirror = mirror
        self._cache = cache
        self._outbox = outbox
        self._projects = projects  # configured names by project id; they take precedence over names seen before
        self._clock = clock
        self._listed_at: dict[str | None, float] = {}
        self._loaded_at: dict[str, float] = {}

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Matches at the server with its scores, followed by queued memories that match."""
        return self._call(
            lambda api: self._search_server(api, words, wanted, limit),
            lambda: self._mirror.search(words, mirror_filter(wanted), limit),
        )

    def refresh(self, current: str | None, now: int, *, everywhere: bool) -> None:
        """Update the mirror with the server's list of the current project or of all, unless that was just done."""
        project = None if everywhere else self.project_name(current)
        if self._clock() - self._listed_at.get(project, -_LIST_TTL) < _LIST_TTL:
            return
        self._listed_at[project] = self._clock()

        def request(api: Api) -> None:
            listed = api.recent(limit=_MAX_LISTED, days=_ALL_DAYS, project=project)
            known = self._known(listed)
            memories = self._listed_memories(listed, known, current, now)
            self._cache.add(memories, known)
            self._cache.flush()
            if project is not None and len(listed) < _MAX_LISTED:
                self._remove_unlisted(project, {memory.id for memory in memories}, now)

        self._call(request, lambda: None)

    def load(self, wanted: Sequence[str]) -> dict[str, Memory]:
        """These memories as the server has them now, by id. Those that it does not have are removed from the mirror."""
        waiting = self._waiting()
        local = [one for one in wanted if one in waiting or self._is_fresh(one)]
        remote = [one for one in wanted if one not in local]
        found = {memory.id: memory for memory in self._mirror.get(local)}
        if not remote:
            return found

        def request(api: Api) -> list[Memory]:
            loaded = api.load([ids.to_uuid(one) for one in remote])
            known = self._known(loaded)
            memories = self._loaded_memories(loaded, known)
            self._cache.add(memories, known)
            self._cache.flush()
            self._cache.remove(set(remote) - {memory.id for memory in memories})
            self.mark_fresh(memory.id for memory in memories)
            return self._mirror.get([memory.id for memory in memories])

        found |= {memory.id: memory for memory in self._call(request, lambda: self._mirror.get(remote))}
        return found

    def with_texts(self, found: Sequence[Memory]) -> list[Memory]:
        """These memories with their texts, without those that the server no longer has."""
        without_text = {one.id for one in found if not mapping.is_loaded(one) and one.status == "active"}
        loaded = self.load(sorted(without_text)) if without_text else {}
        return [loaded.get(one.id, one) for one in found if one.id not in without_text or one.id in loaded]

    def reload(self, memory: Memory | None) -> Memory | None:
        """A memory of the mirror as the server has it now; None when it is gone there."""
        return None if memory is None else self.load([memory.id]).get(memory.id)

    def project_name(self, project: str | None) -> str:
        """The name of a project at the server."""
        return mapping.project_name(project, self._project_names())

    def _project_names(self) -> dict[str, str]:
        return {project: name for _, project, name in self._mirror.roots(0) if name} | dict(self._projects)

    def mark_fresh(self, memories: Iterable[str]) -> None:
        """Note that the mirror has these memories as the server has them."""
        self._loaded_at |= dict.fromkeys(memories, self._clock())

    def mark_stale(self, memory: str) -> None:
        """Note that the server has another version of a memory than the mirror."""
        self._loaded_at.pop(memory, None)

    def _call(self, request: Callable[[Api], _Result], fallback: Callable[[], _Result]) -> _Result:
        def flushed() -> _Result:
            self._cache.flush()
            return fallback()

        return self._breaker.call(request, flushed)

    def _search_server(self, api: Api, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        project = None if wanted.everywhere else self.project_name(wanted.project)
        tags = wanted.tags if wanted.all_tags or len(wanted.tags) == 1 else ()  # the server supports "all of" only
        listed = api.search(" ".join(words), limit=limit, agent=wanted.agent, project=project, tags=tags)
        known = self._known(listed)
        memories = self._listed_memories(listed, known, wanted.project, wanted.now)
        if _needs_all_fields(wanted) or limit >= BULK_LIMIT:
            loaded = self.load([one.id for one in memories if not mapping.is_loaded(one)])
            memories = [loaded.get(one.id, one) for one in memories]
        else:
            self._cache.add(memories, known)
        scored = zip(memories, (item.score for item in listed), strict=True)
        matching = [(one, score) for one, score in scored if mapping.matches(one, wanted)]
        return [*matching, *self._search_queued(words, wanted, {one.id for one, _ in matching}, limit)][:limit]

    def _search_queued(
        self, words: Sequence[str], wanted: Filter, found: set[str], limit: int
    ) -> list[tuple[Memory, float]]:
        """Matches that wait to be sent, so that a search right after a write finds it."""
        waiting = self._waiting() - found
        if not waiting:
            return []
        matches = self._mirror.search(words, mirror_filter(wanted), limit)
        return [(one, score) for one, score in matches if one.id in waiting]

    def _known(self, items: Sequence[ListedMemory] | Sequence[LoadedMemory]) -> dict[str, Memory]:
        """The mirror's versions of these memories, by id."""
        return {one.id: one for one in self._mirror.get([mapping.memory_id(item.id) for item in items])}

    def _listed_memories(
        self, listed: Sequence[ListedMemory], known: Mapping[str, Memory], current: str | None, now: int
    ) -> list[Memory]:
        names = self._project_names()
        return [
            mapping.listed_memory(
                item, known.get(mapping.memory_id(item.id)), mapping.project_of(item.project, current, names), now
            )
            for item in listed
        ]

    def _loaded_memories(self, loaded: Sequence[LoadedMemory], known: Mapping[str, Memory]) -> list[Memory]:
        names, now = self._project_names(), time.time_ns() // 1_000_000
        memories = []
        for item in loaded:
            before = known.get(mapping.memory_id(item.id))
            project = mapping.project_of(item.project, None, names) if before is None else before.project or ""
            memories.append(mapping.loaded_memory(item, before, project, now))
        return memories

    def _remove_unlisted(self, project: str, listed: set[str], now: int) -> None:
        """Remove from the mirror what the server no longer lists, except what was written a moment ago."""
        for owner in {owner for owner, name in self._project_names().items() if name == project} | {project}:
            wanted = Filter(now=now, project=owner, scopes=("project", "shared"), until=now - _SETTLING_MS)
            known = {memory.id for memory in self._mirror.browse(wanted, limit=2 * _MAX_LISTED)}
            self._cache.remove(known - listed - self._waiting())

    def _waiting(self) -> frozenset[str]:
        """Ids of memories with a queued write."""
        return self._outbox.waiting_memories(self._breaker.server.origin)

    def _is_fresh(self, memory: str) -> bool:
        return self._clock() - self._loaded_at.get(memory, -_LOAD_TTL) < _LOAD_TTL


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
