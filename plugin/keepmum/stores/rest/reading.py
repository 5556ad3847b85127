"""What a server has, read through what is known of it on this machine, which learns from every answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from keepmum.core import ids
from keepmum.core.memory import Filter, Memory
from keepmum.stores.base import Store
from keepmum.stores.outbox import Outbox
from keepmum.stores.rest import mapping
from keepmum.stores.rest.contact import Contact
from keepmum.stores.rest.learning import Learning
from keepmum.stores.rest.projects import Projects

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api, Listed, Loaded

__all__ = ["WHOLE", "Reading", "here", "is_asked"]

_Answer = TypeVar("_Answer")
WHOLE = 100  # memories in a page from which on a program reads them, not a person: it gets their texts as well
_FRESH = 2.0  # seconds for which a list of the server is not asked for again
_JUST = 0.3  # seconds for which a memory is not asked for again: one call of ours may name it twice
_MOST_LISTED = 500
_ALL_DAYS = 36_500
_SETTLING_MS = 60_000


class Reading:
    """Searches and loads at the server and learns what is new there; what cannot be asked is answered from here."""

    def __init__(  # noqa: PLR0913 - what a store of a server is made of
        self,
        contact: Contact,
        *,
        mirror: Store,
        learning: Learning,
        projects: Projects,
        box: Outbox,
        clock: Callable[[], float],
    ) -> None:
        self._contact = contact
        self._mirror = mirror
        self._learning = learning
        self._projects = projects
        self._box = box
        self._clock = clock
        self._listed_at: dict[str | None, float] = {}
        self._loaded_at: dict[str, float] = {}

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """What the server finds, with its scores, and what has yet to get there; else what is known here."""
        return self._ask(
            lambda api: self._searched(api, words, wanted, limit),
            lambda: self._mirror.search(words, here(wanted), limit),
        )

    def catch_up(self, near: str | None, now: int, *, everywhere: bool) -> None:
        """Learn what is new at the server, unless that was done just now."""
        project = None if everywhere else self._projects.name(near)
        if self._clock() - self._listed_at.get(project, -_FRESH) < _FRESH:
            return
        self._listed_at[project] = self._clock()

        def ask(api: Api) -> None:
            found = api.recent(limit=_MOST_LISTED, days=_ALL_DAYS, project=project)
            known = self._known(found)
            memories = self._as_listed(found, known, near, now)
            self._learning.add(memories, known)
            self._learning.flush()
            if project is not None and len(found) < _MOST_LISTED:
                self._forget_the_rest(project, {one.id for one in memories}, now)

        self._ask(ask, lambda: None)

    def load(self, wanted: Sequence[str]) -> dict[str, Memory]:
        """These memories as the server has them now, by id; those it does not have are forgotten here."""
        waiting = self._waiting()
        at_hand = [one for one in wanted if one in waiting or self._is_fresh(one)]
        asked = [one for one in wanted if one not in at_hand]
        found = {memory.id: memory for memory in self._mirror.get(at_hand)}
        if not asked:
            return found

        def ask(api: Api) -> list[Memory]:
            loaded = api.load([ids.to_uuid(one) for one in asked])
            known = self._known(loaded)
            names, now = self._projects.names(), time.time_ns() // 1_000_000
            memories = [
                mapping.loaded_memory(item, before, before.project or "" if before else
                                      mapping.project_of(item.project, None, names), now)
                for item in loaded
                for before in [known.get(mapping.memory_id(item.id))]
            ]  # fmt: skip
            self._learning.add(memories, known)
            self._learning.flush()
            self._learning.forget(set(asked) - {memory.id for memory in memories})
            self.note_fresh(memory.id for memory in memories)
            return self._mirror.get([memory.id for memory in memories])

        found |= {memory.id: memory for memory in self._ask(ask, lambda: self._mirror.get(asked))}
        return found

    def whole(self, found: Sequence[Memory]) -> list[Memory]:
        """These memories with their texts, as far as the server still has them and can be asked."""
        unread = {one.id for one in found if not mapping.is_loaded(one) and one.status == "active"}
        read = self.load(sorted(unread)) if unread else {}
        return [read.get(one.id, one) for one in found if one.id not in unread or one.id in read]

    def still_there(self, memory: Memory | None) -> Memory | None:
        """A memory that is known here, as the server has it now; None when it is gone there."""
        return None if memory is None else self.load([memory.id]).get(memory.id)

    def note_fresh(self, memories: Iterable[str]) -> None:
        """Note that what is known here of these is what the server has."""
        self._loaded_at |= dict.fromkeys(memories, self._clock())

    def note_changed(self, memory: str) -> None:
        """Note that the server has something else of a memory than is known here."""
        self._loaded_at.pop(memory, None)

    def _ask(self, question: Callable[[Api], _Answer], otherwise: Callable[[], _Answer]) -> _Answer:
        def known() -> _Answer:
            self._learning.flush()
            return otherwise()

        return self._contact.ask(question, known)

    def _searched(self, api: Api, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        project = None if wanted.everywhere else self._projects.name(wanted.project)
        tags = wanted.tags if wanted.all_tags or len(wanted.tags) == 1 else ()  # the server knows "all of these" alone
        found = api.search(" ".join(words), limit=limit, agent=wanted.agent, project=project, tags=tags)
        known = self._known(found)
        memories = self._as_listed(found, known, wanted.project, wanted.now)
        if _looks_inside(wanted) or limit >= WHOLE:
            full = self.load([one.id for one in memories if not mapping.is_loaded(one)])
            memories = [full.get(one.id, one) for one in memories]
        else:
            self._learning.add(memories, known)
        scored = zip(memories, (item.score for item in found), strict=True)
        passed = [(one, score) for one, score in scored if mapping.fits(one, wanted)]
        return [*passed, *self._waiting_ones(words, wanted, {one.id for one, _ in passed}, limit)][:limit]

    def _waiting_ones(
        self, words: Sequence[str], wanted: Filter, found: set[str], limit: int
    ) -> list[tuple[Memory, float]]:
        """What was written here and has not arrived, so that a search right after a write finds it."""
        waiting = self._waiting() - found
        if not waiting:
            return []
        return [(one, score) for one, score in self._mirror.search(words, here(wanted), limit) if one.id in waiting]

    def _known(self, found: Sequence[Listed] | Sequence[Loaded]) -> dict[str, Memory]:
        """What is known here of these, by id."""
        return {one.id: one for one in self._mirror.get([mapping.memory_id(item.id) for item in found])}

    def _as_listed(self, found: Sequence[Listed], known: dict[str, Memory], near: str | None, now: int) -> list[Memory]:
        names = self._projects.names()
        return [
            mapping.listed_memory(item, known.get(mapping.memory_id(item.id)),
                                  mapping.project_of(item.project, near, names), now)
            for item in found
        ]  # fmt: skip

    def _forget_the_rest(self, project: str, there: set[str], now: int) -> None:
        """Forget what the server no longer lists; what was written just now it may not list yet."""
        for owner in {owner for owner, name in self._projects.names().items() if name == project} | {project}:
            wanted = Filter(now=now, project=owner, scopes=("project", "shared"), until=now - _SETTLING_MS)
            known = {memory.id for memory in self._mirror.browse(wanted, limit=2 * _MOST_LISTED)}
            self._learning.forget(known - there - self._waiting())

    def _waiting(self) -> frozenset[str]:
        """The memories that some write waits to create or change at the server."""
        return self._box.memories(self._contact.server.origin)

    def _is_fresh(self, memory: str) -> bool:
        return self._clock() - self._loaded_at.get(memory, -_JUST) < _JUST


def is_asked(wanted: Filter) -> bool:
    """Whether the server can know of what is wanted: active memories of projects, of no user."""
    scopes = set(wanted.scopes)
    return "active" in wanted.statuses and wanted.user is None and (not scopes or bool(scopes & {"project", "shared"}))


def _looks_inside(wanted: Filter) -> bool:
    """Whether a filter needs more of a memory than a search tells."""
    return bool(
        wanted.kinds
        or wanted.keys
        or wanted.tier
        or wanted.since
        or wanted.until
        or (len(wanted.tags) > 1 and not wanted.all_tags)
    )


def here(wanted: Filter) -> Filter:
    """A filter for the mirror, where what the server has of a project may stand under either scope."""
    return replace(wanted, scopes=("project", "shared")) if {"project", "shared"} & set(wanted.scopes) else wanted
