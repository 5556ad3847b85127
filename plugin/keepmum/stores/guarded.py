"""A store as one principal of a team server may use it, for stores without row-level security.

The service asks for permitted projects only; this is the second lock. Every filter is limited to the projects of the
grant, a memory of another project that is found nevertheless is left out and counted, and a change of one is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from keepmum.core.errors import KeyRefused
from keepmum.core.memory import (
    Activity,
    Candidate,
    Change,
    Citation,
    DayCount,
    Embedding,
    Facets,
    Filter,
    JsonValue,
    LogFilter,
    Memory,
    Order,
    Outline,
    Revision,
    WrongMark,
)
from keepmum.stores.base import (
    EVERY_ENTRY,
    CitationStore,
    Features,
    Near,
    QueryVector,
    Receipt,
    ReviewState,
    Store,
    VectorSearch,
    VersionSearch,
)
from keepmum.stores.grants import Grant
from keepmum.stores.quota import Quota

__all__ = ["NO_FOLDERS", "Faults", "GuardedStore"]

NO_FOLDERS = {"folders": "a server does not know in which folders of a machine a project is"}
_OF_PROJECTS = frozenset({"project", "shared"})  # scopes whose space names a project


class Faults:
    """Counts memories that a store returned although no filter allowed them; it must stay at 0."""

    def __init__(self) -> None:
        self.count = 0


class _Lock:
    """What one grant allows."""

    def __init__(self, grant: Grant, faults: Faults) -> None:
        self.read, self.write = grant.read, grant.write
        self._faults = faults

    def within(self, wanted: Filter) -> Filter:
        """`wanted`, limited to what may be read."""
        return replace(wanted, projects=self.among(wanted.projects))

    def among(self, projects: Sequence[str] | None) -> tuple[str, ...] | None:
        """Those of `projects` that may be read, all of them for None; None when nothing is limited."""
        if self.read is None:
            return None if projects is None else tuple(projects)
        return tuple(sorted(self.read if projects is None else self.read.intersection(projects)))

    def reads(self, project: str | None) -> bool:
        """Whether a memory of this project may be read."""
        return self.read is None or (project or "") in self.read

    def writes(self, project: str | None) -> bool:
        """Whether a memory of this project may be changed."""
        return self.write is None or (project or "") in self.write

    def readable(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those that may be read, of memories that were asked for by id or key."""
        return [memory for memory in memories if self.reads(memory.project)]

    def expected(self, memories: Iterable[Memory]) -> list[Memory]:
        """`memories`, which a filter allowed; any other is left out and counted as a fault."""
        found = list(memories)
        kept = self.readable(found)
        self._faults.count += len(found) - len(kept)
        return kept

    def reads_space(self, space: str) -> bool:
        """Whether the memories of a namespace of keys may be read (see `memory.space_of`)."""
        scope, _, rest = space.partition("\x1f")
        if scope == "session":  # which does not say of which project it is
            return self.read is None
        return self.reads(rest.rpartition("\x1f")[0] if scope in _OF_PROJECTS else None)

    def check_writes(self, projects: Iterable[str | None]) -> None:
        """Check that all of these projects may be changed.

        Raises: KeyRefused.
        """
        if not all(map(self.writes, projects)):
            raise KeyRefused("this key may not change that project")


class GuardedStore:
    """`store`, limited to a grant (see `keepmum.stores.base` for what each method returns). Closing it does nothing."""

    def __init__(self, store: Store, grant: Grant, faults: Faults, quota: Quota | None = None) -> None:
        self._store = store
        self._quota = quota
        self._lock = lock = _Lock(grant, faults)
        features = store.features
        is_whole = grant.read is None and grant.write is None
        vectors, versions, reviews = features.vector_search, features.versions, features.review_state
        self.features = Features(
            vector_search=None if vectors is None else _GuardedVectors(vectors, store, lock),
            versions=None if versions is None else _GuardedVersions(versions, lock),
            aging=features.aging if is_whole else None,
            maintenance=features.maintenance if is_whole else None,
            erasure=features.erasure if is_whole else None,
            citations=None if features.citations is None else _GuardedCitations(features.citations, lock),
            review_state=None if reviews is None else _GuardedReviews(reviews, store, lock),
        )
        self.capabilities = replace(store.capabilities, cannot={**store.capabilities.cannot, **NO_FOLDERS})

    @property
    def notice(self) -> str:
        """A recent event that the operator should know of."""
        return self._store.notice

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply changes of permitted projects.

        Raises: KeyRefused when one is of another project, QuotaExceeded.
        """
        states = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        self._lock.check_writes([memory.project for memory in states])
        with contextlib.nullcontext() if self._quota is None else self._quota.writing(changes):
            return self._store.commit(changes, self._loggable(activity))

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids that may be read."""
        return self._lock.readable(self._store.get(ids))

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories with ids in [first, last], in order."""
        found: list[Memory] = []
        start = first
        while len(found) < limit:
            page = self._store.between(start, last, limit + 1)
            fresh = [memory for memory in page if memory.id > start or start == first]
            found += self._lock.readable(fresh)
            if len(page) <= limit:
                break
            start = page[-1].id
        return found[:limit]

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key."""
        return self._one(self._store.by_key(space, key))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The last memory that had a key."""
        return self._one(self._store.last_by_key(space, key))

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with this text."""
        return self._one(self._store.same_text(space, text))

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first."""
        found = self._store.search(words, self._lock.within(wanted), limit)
        allowed = {memory.id for memory in self._lock.expected(memory for memory, _ in found)}
        return [(memory, score) for memory, score in found if memory.id in allowed]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in this order."""
        found = self._store.browse(self._lock.within(wanted), order=order, limit=limit, offset=offset)
        return self._lock.expected(found)

    def count(self, wanted: Filter) -> int:
        """Number of memories that pass the filter."""
        return self._store.count(self._lock.within(wanted))

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that those of these memories that may be changed were loaded."""
        self._store.reinforce([memory.id for memory in self.get(ids) if self._lock.writes(memory.project)], now)

    def history(self, memory: str) -> list[Revision]:
        """The revisions of a memory that may be read."""
        return self._store.history(memory) if self.get([memory]) else []

    def log(self, activity: Sequence[Activity]) -> None:
        """Append the entries about projects that may be changed."""
        self._store.log(self._loggable(activity))

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest activity in projects that may be read."""
        limited = wanted._replace(projects=self._lock.among(wanted.projects))
        return self._store.activity(limit, project, limited, after)

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        """How often each agent did what in each project that may be read on each day."""
        read = self._lock.read
        return [each for each in self._store.activity_days(since, project) if read is None or each.project in read]

    def facets(self, wanted: Filter) -> Facets:
        """How many of the memories that pass the filter have each kind, agent, tag, status and trust."""
        return self._store.facets(self._lock.within(wanted))

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts."""
        return self._store.outlines(self._lock.within(wanted))

    def changes(self) -> int:
        """A number that differs after memories have changed."""
        return self._store.changes()

    def health(self) -> dict[str, JsonValue]:
        """Facts about the store; numbers of memories only under a grant to read all of them."""
        facts = self._store.health()
        return facts if self._lock.read is None else {name: facts[name] for name in ("writable", "reason", "integrity")}

    def close(self) -> None:
        """Nothing: the store belongs to the server."""

    def _one(self, memory: Memory | None) -> Memory | None:
        return memory if memory is not None and self._lock.reads(memory.project) else None

    def _loggable(self, activity: Sequence[Activity]) -> list[Activity]:
        return [event for event in activity if self._lock.writes(event.project)]


class _GuardedVectors:
    """Vector search within a grant."""

    def __init__(self, search: VectorSearch, store: Store, lock: _Lock) -> None:
        self._search = search
        self._store = store
        self._lock = lock

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Candidates within the grant."""
        return self._search.search(words, vector, self._lock.within(wanted), limit)

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text."""
        found = self._search.similar(embedding, self._lock.within(wanted), limit)
        allowed = {memory.id for memory in self._lock.expected(memory for memory, _ in found)}
        return [(memory, cosine) for memory, cosine in found if memory.id in allowed]

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        """The nearest others of each of `ids`."""
        allowed = {memory.id for memory in self._lock.readable(self._store.get([*ids, *among]))}
        return self._search.neighbours(
            [one for one in ids if one in allowed], [one for one in among if one in allowed], cosine, most
        )

    @property
    def problem(self) -> str:
        """Why vector search is off."""
        return self._search.problem

    def other_model(self, model: str) -> str | None:
        """Another model whose vectors the store holds."""
        return self._search.other_model(model)

    def pending(self, model: str, limit: int) -> list[Memory]:
        """Memories without a vector of `model`."""
        return self._lock.readable(self._search.pending(model, limit))

    def count_pending(self, model: str) -> int:
        """Number of memories without a vector of `model`."""
        return self._search.count_pending(model)

    def is_ready(self, model: str) -> bool:
        """Whether nothing is pending."""
        return self._search.is_ready(model)

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Store vectors of memories that may be changed."""
        return self._search.save([pair for pair in embedded if self._lock.writes(pair[0].project)])

    def update_index(self, model: str) -> None:
        """Bring the index up to date."""
        self._search.update_index(model)


class _GuardedVersions:
    """Search for versions within a grant."""

    def __init__(self, versions: VersionSearch, lock: _Lock) -> None:
        self._versions = versions
        self._lock = lock

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """Memories that may say the same."""
        found = self._versions.near(memories, self._lock.within(wanted), cosine, among)
        return [near for near in found if self._lock.reads(near.memory.project)]


class _GuardedCitations:
    """Citations of memories within a grant."""

    def __init__(self, citations: CitationStore, lock: _Lock) -> None:
        self._citations = citations
        self._lock = lock

    def uncited(self, project: str, limit: int) -> list[Memory]:
        """Memories whose citations were not resolved yet."""
        return self._citations.uncited(project, limit) if self._lock.reads(project) else []

    def cite(self, resolved: Sequence[tuple[Memory, tuple[Citation, ...]]]) -> int:
        """Store citations of memories that may be changed."""
        return self._citations.cite([pair for pair in resolved if self._lock.writes(pair[0].project)])


class _GuardedReviews:
    """The state of reviews within a grant."""

    def __init__(self, reviews: ReviewState, store: Store, lock: _Lock) -> None:
        self._reviews = reviews
        self._store = store
        self._lock = lock

    def mark_wrong(self, memory: Memory, mark: WrongMark, embedding: Embedding | None) -> None:
        """Mark a memory that may be changed."""
        self._lock.check_writes([memory.project])
        self._reviews.mark_wrong(memory, mark, embedding)

    def unmark_wrong(self, memories: Sequence[str]) -> int:
        """Remove marks of memories that may be changed."""
        found = [memory for memory in self._store.get(memories) if self._lock.writes(memory.project)]
        return self._reviews.unmark_wrong([memory.id for memory in found])

    def marked_of(self, user: str) -> list[str]:
        """The memories of a user that have a mark."""
        return [memory.id for memory in self._lock.readable(self._store.get(self._reviews.marked_of(user)))]

    def wrong_like(
        self, spaces: Sequence[str], text: str, embedding: Embedding | None, cosine: float
    ) -> list[tuple[WrongMark, float]]:
        """The marks on texts like this one."""
        return self._reviews.wrong_like(list(filter(self._lock.reads_space, spaces)), text, embedding, cosine)

    def postpone(self, item: str, now: int, until: int | None) -> None:
        """Hide a review item."""
        self._reviews.postpone(item, now, until)

    def resume_item(self, item: str) -> None:
        """Show a review item again."""
        self._reviews.resume_item(item)

    def postponed(self, now: int) -> frozenset[str]:
        """The hidden review items."""
        return self._reviews.postponed(now)


_: Callable[[Store, Grant, Faults], Store] = GuardedStore  # a type checker compares it with the protocol
