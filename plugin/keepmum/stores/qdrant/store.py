"""The Qdrant store: memories are points; history, activity and reviews are in a SQLite file of the server.

Qdrant has no transactions. A change is checked and written under one lock of this process: its history and its audit
event first, then its points. When Qdrant fails, the history is rolled back.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

from keepmum.core import ids, keys, ranking, similarity
from keepmum.core.memory import (
    Activity,
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
    Position,
    Revision,
)
from keepmum.stores.base import EVERY_ENTRY, STORED, Capabilities, Features, Near, Receipt, Redact, Store
from keepmum.stores.guarded import NO_FOLDERS
from keepmum.stores.qdrant import words as sparse
from keepmum.stores.qdrant.collection import EVERYTHING, LIGHT, PAGE, Collection
from keepmum.stores.qdrant.conditions import (
    Condition,
    any_of,
    has_text,
    has_vector,
    in_space,
    is_missing,
    one_of,
    passes,
    searched,
    with_ids,
)
from keepmum.stores.qdrant.editor import Draft, Editor, is_same
from keepmum.stores.qdrant.layout import BM25
from keepmum.stores.qdrant.payload import OURS, Record, memory_of, own_fields, use_of, written_time
from keepmum.stores.qdrant.vectors import QdrantVectors, lexical_request
from keepmum.stores.sqlite import SqliteStore, edits
from keepmum.stores.sqlite.rows import digest, encoded

__all__ = ["CANNOT", "QdrantStore"]

CANNOT = {
    "conflicts": "Qdrant does not report when two servers change a memory at once; the last one wins",
    "transactions": "Qdrant keeps no transaction: after a crash, a memory may lack the history of its last change",
    **NO_FOLDERS,
}
_SHARING = 8  # memories that share words with another one, the latest first
_COMPARED = 8 * _SHARING  # memories whose words are compared with those of another one
_ACTIONS = {(False, True): "create", (True, True): "update", (True, False): "delete"}  # whether before and after exist
_MOST_POINTS = 1 << 32
_SPELLED = 30  # characters of a complete id

Along = Callable[[Connection, Sequence[Change]], None]


class QdrantStore:
    """A `Store` in a Qdrant collection (see `keepmum.stores.base` for what each method returns)."""

    def __init__(self, collection: Collection, ledger: SqliteStore, along: Along | None = None) -> None:
        """`ledger` keeps what Qdrant cannot; `along` writes more there, in the transaction of each commit."""
        self._collection = collection
        self._ledger = ledger
        self._along = along
        self._lock = threading.Lock()
        self._vectors = QdrantVectors(collection, self._conditions, self._embed)
        self._editor = Editor(collection, self._vectors.takes)
        self.features = Features(
            vector_search=self._vectors,
            versions=self,
            aging=self,
            maintenance=self,
            erasure=self,
            citations=self,
            review_state=ledger.features.review_state,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What the ledger can, without what Qdrant cannot."""
        return dataclasses.replace(self._ledger.capabilities, cannot=CANNOT)

    @property
    def notice(self) -> str:
        """The last repair of the ledger."""
        return self._ledger.notice

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        with self._lock:
            self._apply(changes, activity, erases=False)
        return STORED

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes, redact history, activity and audit events. Qdrant frees deleted points when it optimises."""
        with self._lock:
            self._apply(changes, activity, erases=True)
            for event, fields in self._collection.events():
                self._redact_event(event, fields, redact)
            return self._ledger.cleanse([], [], redact)

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        with self._lock:
            found = self._collection.points(_uuids(ids), ["access_count"])
            counts = {str(point.id): (point.payload or {}).get("access_count") or 0 for point in found}
            self._collection.set_fields([(uuid, use_of(count + 1, now)) for uuid, count in counts.items()])

    def log(self, activity: Sequence[Activity]) -> None:
        self._ledger.log(activity)

    def cite(self, resolved: Sequence[tuple[Memory, tuple[Citation, ...]]]) -> int:
        with self._lock:
            current = {memory.id: memory for memory in self.get([memory.id for memory, _ in resolved])}
            fresh = [
                (ids.to_uuid(memory.id), {"citations": encoded(tuple(map(dataclasses.asdict, citations)))})
                for memory, citations in resolved
                if memory.id in current and is_same(memory, current[memory.id])
            ]
            self._collection.set_fields(fresh, key=OURS)
        return len(fresh)

    def upkeep(self, now: int) -> None:
        """The ledger's upkeep."""
        self._ledger.upkeep(now)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        found = {memory.id: memory for memory in map(memory_of, self._collection.points(_uuids(ids)))}
        return [found[memory] for memory in ids if memory in found]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        start = ids.complete_id(first[:_SPELLED])
        begin = None if start is None else ids.to_uuid(start)
        found = map(memory_of, self._collection.scroll([], start=begin, page_size=min(limit + 1, PAGE)))
        after = itertools.dropwhile(lambda memory: memory.id < first, found)
        return list(itertools.islice(itertools.takewhile(lambda memory: memory.id <= last, after), limit))

    def by_key(self, space: str, key: str) -> Memory | None:
        return next((memory for memory in self._with_key(space, key) if memory.status == "active"), None)

    def last_by_key(self, space: str, key: str) -> Memory | None:
        found = self._with_key(space, key)
        return max(found, key=lambda one: (one.status == "active", one.updated_at, one.id), default=None)

    def same_text(self, space: str, text: str) -> Memory | None:
        same = any_of(one_of("digest", [digest(text)]), has_text(text))
        found = map(memory_of, self._collection.scroll([in_space(space), same]))
        return next((one for one in found if one.status == "active" and digest(one.text) == digest(text)), None)

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first by BM25."""
        weights = sparse.query(words)
        requests = []
        if weights:
            requests = [lexical_request(weights, self._conditions(wanted), limit, EVERYTHING, searched(wanted))]
        return [(memory_of(point), point.score) for answer in self._collection.query(requests) for point in answer]

    def near(
        self,
        memories: Sequence[Memory],
        wanted: Filter,
        cosine: float | None,
        among: Sequence[str] = (),  # noqa: ARG002 - see below
    ) -> list[Near]:
        """The memories that are similar to one of `memories`: by vectors where it has one, else by shared words.

        Qdrant compares with all memories, so those `among` are too.
        """
        conditions = self._conditions(wanted)
        asked = [] if cosine is None else [memory.id for memory in memories]
        pairs, compared = self._vectors.pairs(asked, conditions, cosine or 0.0)
        left = [memory for memory in memories if memory.id not in compared]
        return [*pairs, *(near for memory in left for near in self._sharing(memory, conditions))]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """A page of memories. Qdrant orders by one field only, so all that pass are read first, without their texts."""
        places = sorted((_place(one, order) for one in self._light(wanted)), reverse=True)
        if wanted.after is not None:
            after = wanted.after
            last = (after.value, after.updated_at if order == "importance" else 0, after.id)
            places = [place for place in places if place < last]
        return self.get([memory for *_, memory in places[offset : offset + limit]])

    def count(self, wanted: Filter) -> int:
        return self._collection.count(self._conditions(wanted))

    def facets(self, wanted: Filter) -> Facets:
        counts: list[Counter[str]] = [Counter() for _ in Facets._fields]
        for memory in self._light(wanted):
            values: tuple[Iterable[str], ...] = (
                [memory.kind], [memory.agent], memory.tags, [memory.status], [memory.trust],
            )  # fmt: skip
            for counter, found in zip(counts, values, strict=True):
                counter.update(found)
        return Facets(*counts)

    def outlines(self, wanted: Filter) -> list[Outline]:
        names = Outline._fields[:-1]
        return [
            Outline._make([*(getattr(memory, name) for name in names), digest(memory.text)])
            for memory in map(memory_of, self._collection.scroll(self._conditions(wanted)))
        ]

    def uncited(self, project: str, limit: int) -> list[Memory]:
        waiting = [one_of("project", [project]), one_of("status", ["active"]), is_missing("citations")]
        found = [one for one in map(memory_of, self._collection.scroll(waiting)) if one.status == "active"]
        return sorted(found, key=lambda one: one.id, reverse=True)[:limit]

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        found = [
            memory
            for memory in map(memory_of, self._collection.scroll([one_of("status", ["active", "trashed"])], LIGHT))
            if _is_due(memory, now, trashed_by) or _may_fade(memory)
        ]
        found.sort(key=lambda one: (not _is_due(one, now, trashed_by), max(one.accessed_at or 0, one.updated_at)))
        return self.get([memory.id for memory in found[:limit]])

    def history(self, memory: str) -> list[Revision]:
        return self._ledger.history(memory)

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        return self._ledger.activity(limit, project, wanted, after)

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        return self._ledger.activity_days(since, project)

    def changes(self) -> int:
        """A number that differs after a change here, or when another server made or removed a memory."""
        return self._ledger.changes() * _MOST_POINTS + self._collection.count() % _MOST_POINTS

    def health(self) -> dict[str, JsonValue]:
        """Facts about the ledger, and about the points of the collection."""
        statuses = Counter(memory.status for memory in map(memory_of, self._collection.scroll([], LIGHT)))
        counts: dict[str, JsonValue] = {
            "memories": statuses.total(),
            "indexed": self._collection.count([has_vector(BM25)]),
            "statuses": {str(status): count for status, count in statuses.items()},
            "collection": self._collection.name,
        }
        return {**self._ledger.health(), **counts}

    def close(self) -> None:
        self._collection.close()
        self._ledger.close()

    # -- one transaction

    def _apply(self, changes: Sequence[Change], activity: Sequence[Activity], *, erases: bool) -> None:
        """Write changes with their history, their audit events and the activity."""
        draft = self._editor.draft(changes)
        with self._ledger.database.writing() as db:
            if self._along is not None:
                self._along(db, changes)
            purged = edits.record(db, changes, activity)
            edits.next_number(db)
            if erases:
                db.executemany("DELETE FROM wrong WHERE memory = ?", [(memory,) for memory in purged])
            self._write(draft, [_event(change, activity) for change in changes])

    def _embed(self, embeddings: Sequence[tuple[Memory, Embedding]]) -> int:
        """Store vectors of memories whose text is unchanged; returns how many were stored."""
        with self._lock:
            draft = self._editor.embed(embeddings)
            self._write(draft, [])
        asked = {memory.id for memory, _ in embeddings}
        return sum(point.memory.id in asked for point in draft.points)

    def _write(self, draft: Draft, events: Sequence[Mapping[str, str]]) -> None:
        written = [point.written() for point in draft.points]
        purged = _uuids(draft.purged)
        self._collection.note(events)
        self._collection.write(written)
        self._collection.forget_titles(purged)  # before the points, since a purge without points cannot be repeated
        self._collection.delete(purged)

    def _redact_event(self, event: str, fields: Mapping[str, Any], redact: Redact) -> None:
        """Pass an audit event through `redact`, under the names that the activity log has for its fields."""
        names = {"agent": "actor", "project": "project", "detail": "title"}
        known = {ours: fields[theirs] for ours, theirs in names.items() if theirs in fields}
        about = fields.get("memoryId")
        redacted = redact(ids.complete_id(about) if isinstance(about, str) else None, known)
        changed = {names[name]: value for name, value in redacted.items() if value != known.get(name)}
        if changed:
            self._collection.change_event(event, changed)

    # -- finding

    def _conditions(self, wanted: Filter) -> list[Condition]:
        """A filter as conditions; a key pattern as the ids that match it, since Qdrant knows no patterns."""
        found = passes(wanted)
        if wanted.keys is not None:
            records = self._collection.scroll(found, [f"{OURS}.key"])
            matching = [str(one.id) for one in records if keys.matches(_key(one), wanted.keys)]
            found = [with_ids(matching)]
        return found

    def _light(self, wanted: Filter) -> Iterator[Memory]:
        """All memories that pass, without their texts."""
        return map(memory_of, self._collection.scroll(self._conditions(wanted), LIGHT))

    def _with_key(self, space: str, key: str) -> list[Memory]:
        return list(map(memory_of, self._collection.scroll([in_space(space), one_of("key", [key])])))

    def _sharing(self, memory: Memory, conditions: Sequence[Condition]) -> list[Near]:
        """The latest of the memories that hold all words of a group of another one's words."""
        groups = [sparse.indices(group) for group in similarity.lookup_terms(memory)]
        weights = dict.fromkeys(frozenset().union(*groups), 1.0)
        requests = [lexical_request(weights, conditions, _COMPARED, EVERYTHING)] if weights else []
        found = [memory_of(point) for answer in self._collection.query(requests) for point in answer]
        sharing = [
            other
            for other in found
            if other.id != memory.id and any(group <= _said(other) for group in groups if group)
        ]
        sharing.sort(key=lambda other: other.id, reverse=True)
        return [Near(memory.id, other, None) for other in sharing[:_SHARING]]


def _uuids(memories: Sequence[str]) -> list[str]:
    """The ids of points; what is no complete id has none."""
    return [ids.to_uuid(memory) for memory in memories if ids.complete_id(memory) is not None]


def _key(record: Record) -> str | None:
    key = own_fields(record).get("key")
    return key if isinstance(key, str) else None


def _said(memory: Memory) -> frozenset[int]:
    """The tokens of what a memory says."""
    said = f"{memory.title}\n{memory.text}"
    return sparse.indices([said, ranking.subwords(said)])


def _event(change: Change, activity: Sequence[Activity]) -> dict[str, str]:
    """The audit event of a change, as a shared-agent-memory server writes it."""
    memory = change.after or change.before
    assert memory is not None
    done = next((event for event in activity if event.memory == memory.id), None)
    event = {
        "memoryId": ids.to_uuid(memory.id),
        "action": _ACTIONS[change.before is not None, change.after is not None],
        "actor": memory.updated_by if done is None else done.agent,
        "project": memory.project or "",
        "timestamp": written_time(memory.updated_at if done is None else done.at),
    }
    return event if change.after is None else {**event, "title": memory.title}


def _is_due(memory: Memory, now: int, trashed_by: int) -> bool:
    if memory.status == "trashed":
        return (memory.trashed_at or memory.updated_at) <= trashed_by
    return memory.status == "active" and memory.expires_at is not None and memory.expires_at <= now


def _may_fade(memory: Memory) -> bool:
    return memory.status == "active" and memory.tier != "long" and not memory.pinned


def _place(memory: Memory, order: Order) -> tuple[float, int, str]:
    place = Position.of(memory, order)
    return place.value, place.updated_at if order == "importance" else 0, place.id


_: Callable[[Collection, SqliteStore], Store] = QdrantStore  # a type checker compares it with the protocol
