"""A store with one set of ids for all projects, as one in which an id of a project that cannot be read is free.

Only what a client says and what it is answered is renamed: below this, in the file, its indexes, its history and
its repair, each memory has an id of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

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
    Capabilities,
    CitationStore,
    Erasure,
    Near,
    QueryVector,
    Receipt,
    Redact,
    ReviewState,
    StaleWrite,
    Store,
    VectorSearch,
    VersionSearch,
)
from keepmum.stores.sqlite.team_ids import SharedId, TeamIds, new_row

__all__ = ["ProjectIds"]

_Row = TypeVar("_Row", Candidate, Outline)
_LINKS = ("id", "supersedes", "superseded_by")  # the fields of a memory that hold ids


class ProjectIds:
    """`store`, which is limited to a grant, with the ids of its projects (see `base` for what each method returns)."""

    def __init__(
        self,
        store: Store,
        whole: Store,
        table: TeamIds,
        read: frozenset[str] | None,
        alone: Callable[[str | None], Store],
    ) -> None:
        """`whole` finds the memories of every project; `read` are the projects of the grant, None for all.

        `alone` is this store with one project of the grant only.
        """
        self._store = store
        self._whole = whole
        self._table = table
        self._read = read
        self._names = names = _Names({} if read is None else table.stored(read))
        features = store.features
        vectors, versions = features.vector_search, features.versions
        citations, reviews, erasure = features.citations, features.review_state, features.erasure
        self.features = features._replace(
            vector_search=None if vectors is None else _Vectors(vectors, names),
            versions=None if versions is None else _Versions(versions, names),
            citations=None if citations is None else _Citations(citations, names),
            review_state=None if reviews is None else _Reviews(reviews, names),
            erasure=None if erasure is None else _Erasure(erasure, table),
            alone=alone,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What the store guarantees."""
        return self._store.capabilities

    @property
    def notice(self) -> str:
        """A recent event that the operator should know of."""
        return self._store.notice

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply changes; a new memory whose id is used in projects that cannot be read is stored under another id.

        Raises: as the store.
        """
        with self._table.lock:
            added = [*self._rows_of_new(changes), *self._rows_of_moved(changes)]
            names = self._names.with_rows(added)
            with self._table.committing(changes, added):
                receipt = self._store.commit(list(map(names.change_in, changes)), list(map(names.event_in, activity)))
            self._names.update(names)
        return receipt

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded."""
        self._store.reinforce(self._names.ids_in(ids), now)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log."""
        self._store.log(list(map(self._names.event_in, activity)))

    def _rows_of_new(self, changes: Sequence[Change]) -> Iterator[SharedId]:
        """The rows of new memories whose ids are used elsewhere; none for an id that is taken in a readable project."""
        new = [change.after for change in changes if change.before is None and change.after is not None]
        holders = (
            {one.id: one for one in self._whole.get(self._names.ids_in(memory.id for memory in new))} if new else {}
        )
        for memory in new:
            holder, project = holders.get(self._names.id_in(memory.id)), memory.project or ""
            if holder is not None and (self._read is None or (holder.project or "") in self._read):
                continue  # the commit will say so
            if holder is not None and not self._table.uses(memory.id):
                yield SharedId(holder.id, holder.id, holder.project or "")
            if holder is not None or self._table.uses(memory.id):
                yield self._table.find(memory.id, project) or new_row(memory.id, project)

    def _rows_of_moved(self, changes: Sequence[Change]) -> Iterator[SharedId]:
        """The rows of memories that get another project.

        Raises: StaleWrite when a memory there has the same id.
        """
        for before, after in ((change.before, change.after) for change in changes):
            if before is None or after is None or before.project == after.project:
                continue
            known, project = self._table.at(self._names.id_in(before.id)), after.project or ""
            if known is not None and self._table.find(known.id, project) is not None:
                raise StaleWrite("the id is taken in that project")
            if known is not None:
                yield known._replace(project=project)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids."""
        return self._names.memories_out(self._store.get(self._names.ids_in(ids)))

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories with ids in [first, last], in order."""
        names = self._names
        if not names.stored:
            return self._store.between(first, last, limit)
        renamed = [stored for ident, stored in names.stored.items() if first <= ident <= last]
        # The stored ids may be in the range too, wherever those that they stand for are.
        found = self._store.between(first, last, limit + len(names.stored))
        plain = [memory for memory in found if memory.id not in names.own]
        both = [*plain, *names.memories_out(self._store.get(renamed))]
        return sorted(both, key=lambda memory: memory.id)[:limit]

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
        found = self._store.search(words, self._names.filter_in(wanted), limit)
        return [(self._names.memory_out(memory), score) for memory, score in found]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, in this order."""
        found = self._store.browse(self._names.filter_in(wanted), order=order, limit=limit, offset=offset)
        return self._names.memories_out(found)

    def count(self, wanted: Filter) -> int:
        """Number of memories that pass the filter."""
        return self._store.count(self._names.filter_in(wanted))

    def history(self, memory: str) -> list[Revision]:
        """The revisions of a memory."""
        return list(map(self._names.revision_out, self._store.history(self._names.id_in(memory))))

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest activity."""
        names = self._names
        about = wanted._replace(memory=wanted.memory and names.id_in(wanted.memory))
        return list(map(names.event_out, self._store.activity(limit, project, about, after)))

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        """How often each agent did what."""
        return self._store.activity_days(since, project)

    def facets(self, wanted: Filter) -> Facets:
        """How many of the memories that pass the filter have each kind, agent, tag, status and trust."""
        return self._store.facets(self._names.filter_in(wanted))

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts."""
        found = self._store.outlines(self._names.filter_in(wanted))
        return list(map(self._names.row_out, found))

    def changes(self) -> int:
        """A number that differs after memories have changed."""
        return self._store.changes()

    def health(self) -> dict[str, JsonValue]:
        """Facts about the store."""
        return self._store.health()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _one(self, memory: Memory | None) -> Memory | None:
        return None if memory is None else self._names.memory_out(memory)


class _Names:
    """Ids as clients know them into those under which memories are stored, and back; empty when all are the same."""

    def __init__(self, stored: Mapping[str, str]) -> None:
        self.stored = dict(stored)
        self.own = {there: ident for ident, there in stored.items()}

    def with_rows(self, rows: Iterable[SharedId]) -> _Names:
        """These, with those of new rows of the table."""
        return _Names({**self.stored, **{row.id: row.stored for row in rows if row.id != row.stored}})

    def update(self, other: _Names) -> None:
        """Take over the ids of `other`; the parts of a store share one object."""
        self.stored, self.own = other.stored, other.own

    def id_in(self, ident: str) -> str:
        return self.stored.get(ident, ident)

    def id_out(self, stored: str) -> str:
        return self.own.get(stored, stored)

    def ids_in(self, idents: Iterable[str]) -> list[str]:
        return list(map(self.id_in, idents))

    def memory_in(self, memory: Memory) -> Memory:
        return _renamed(memory, self.stored)

    def memory_out(self, memory: Memory) -> Memory:
        return _renamed(memory, self.own)

    def memories_out(self, memories: Iterable[Memory]) -> list[Memory]:
        return list(map(self.memory_out, memories))

    def row_out(self, row: _Row) -> _Row:
        return row._replace(id=self.own[row.id]) if row.id in self.own else row

    def change_in(self, change: Change) -> Change:
        before, after = (each and self.memory_in(each) for each in (change.before, change.after))
        return replace(change, before=before, after=after) if self.stored else change

    def event_in(self, event: Activity) -> Activity:
        return replace(event, memory=self.stored[event.memory]) if event.memory in self.stored else event

    def event_out(self, event: Activity) -> Activity:
        return replace(event, memory=self.own[event.memory]) if event.memory in self.own else event

    def revision_out(self, past: Revision) -> Revision:
        links = {name: self.id_out(held) for name in _LINKS if isinstance(held := past.before.get(name), str)}
        return replace(past, memory=self.id_out(past.memory), before={**past.before, **links}) if self.own else past

    def filter_in(self, wanted: Filter) -> Filter:
        after = wanted.after
        if after is None or after.id not in self.stored:
            return wanted
        return replace(wanted, after=after._replace(id=self.stored[after.id]))


def _renamed(memory: Memory, names: Mapping[str, str]) -> Memory:
    """A memory with the ids that it holds renamed."""
    if not names:
        return memory
    changed = {name: names[held] for name in _LINKS if (held := getattr(memory, name)) in names}
    return replace(memory, **changed) if changed else memory  # type: ignore[arg-type]  # all of them are text


class _Vectors:
    """Vector search."""

    def __init__(self, search: VectorSearch, names: _Names) -> None:
        self._search = search
        self._names = names

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Candidates."""
        found = self._search.search(words, vector, self._names.filter_in(wanted), limit)
        return list(map(self._names.row_out, found))

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text."""
        found = self._search.similar(embedding, self._names.filter_in(wanted), limit)
        return [(self._names.memory_out(memory), cosine) for memory, cosine in found]

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        """The nearest others of each of `ids`."""
        names = self._names
        found = self._search.neighbours(names.ids_in(ids), names.ids_in(among), cosine, most)
        return {
            names.id_out(one): [(names.id_out(other), value) for other, value in others]
            for one, others in found.items()
        }

    @property
    def problem(self) -> str:
        """Why vector search is off."""
        return self._search.problem

    def other_model(self, model: str) -> str | None:
        """Another model whose vectors the store holds."""
        return self._search.other_model(model)

    def pending(self, model: str, limit: int) -> list[Memory]:
        """Memories without a vector of `model`."""
        return self._names.memories_out(self._search.pending(model, limit))

    def count_pending(self, model: str) -> int:
        """Number of memories without a vector of `model`."""
        return self._search.count_pending(model)

    def is_ready(self, model: str) -> bool:
        """Whether nothing is pending."""
        return self._search.is_ready(model)

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Store vectors."""
        return self._search.save([(self._names.memory_in(memory), vector) for memory, vector in embedded])

    def update_index(self, model: str) -> None:
        """Bring the index up to date."""
        self._search.update_index(model)


class _Versions:
    """Search for versions."""

    def __init__(self, versions: VersionSearch, names: _Names) -> None:
        self._versions = versions
        self._names = names

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """Memories that may say the same."""
        names = self._names
        asked = list(map(names.memory_in, memories))
        found = self._versions.near(asked, names.filter_in(wanted), cosine, names.ids_in(among))
        return [Near(names.id_out(each.id), names.memory_out(each.memory), each.cosine) for each in found]


class _Citations:
    """Citations."""

    def __init__(self, citations: CitationStore, names: _Names) -> None:
        self._citations = citations
        self._names = names

    def uncited(self, project: str, limit: int) -> list[Memory]:
        """Memories whose citations were not resolved yet."""
        return self._names.memories_out(self._citations.uncited(project, limit))

    def cite(self, resolved: Sequence[tuple[Memory, tuple[Citation, ...]]]) -> int:
        """Store citations."""
        return self._citations.cite([(self._names.memory_in(memory), found) for memory, found in resolved])


class _Reviews:
    """The state of reviews."""

    def __init__(self, reviews: ReviewState, names: _Names) -> None:
        self._reviews = reviews
        self._names = names

    def mark_wrong(self, memory: Memory, mark: WrongMark, embedding: Embedding | None) -> None:
        """Mark a memory."""
        stored = self._names.memory_in(memory)
        self._reviews.mark_wrong(stored, mark._replace(memory=stored.id), embedding)

    def unmark_wrong(self, memories: Sequence[str]) -> int:
        """Remove the marks of memories."""
        return self._reviews.unmark_wrong(self._names.ids_in(memories))

    def marked_of(self, user: str) -> list[str]:
        """The memories of a user that have a mark."""
        return list(map(self._names.id_out, self._reviews.marked_of(user)))

    def wrong_like(
        self, spaces: Sequence[str], text: str, embedding: Embedding | None, cosine: float
    ) -> list[tuple[WrongMark, float]]:
        """The marks on texts like this one."""
        found = self._reviews.wrong_like(spaces, text, embedding, cosine)
        return [(mark._replace(memory=self._names.id_out(mark.memory)), value) for mark, value in found]

    def postpone(self, item: str, now: int, until: int | None) -> None:
        """Hide a review item."""
        self._reviews.postpone(item, now, until)

    def resume_item(self, item: str) -> None:
        """Show a review item again."""
        self._reviews.resume_item(item)

    def postponed(self, now: int) -> frozenset[str]:
        """The hidden review items."""
        return self._reviews.postponed(now)


class _Erasure:
    """Erasure of memories together with what the table says of them."""

    def __init__(self, erasure: Erasure, table: TeamIds) -> None:
        self._erasure = erasure
        self._table = table

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes and leave no trace."""
        self._table.forget([each.before.id for each in changes if each.before is not None and each.after is None])
        return self._erasure.cleanse(changes, activity, redact)


_: Callable[[Store, Store, TeamIds, frozenset[str] | None, Callable[[str | None], Store]], Store] = (
    ProjectIds  # checked by a type checker
)
