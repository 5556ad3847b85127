"""The interface between the service and a store, and the optional features of a store.

A store saves and finds memories. It makes no decisions about them and scans nothing; the service does both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, Protocol

from keepmum.core.errors import StoreError
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
    Scope,
    WrongMark,
)

__all__ = [
    "EVERY_ENTRY",
    "STORED",
    "Aging",
    "Capabilities",
    "CitationStore",
    "Composite",
    "Erasure",
    "Features",
    "FileBacked",
    "FollowsFolder",
    "LocalState",
    "LocalStore",
    "Maintenance",
    "Near",
    "QueryVector",
    "QuestionSearch",
    "Receipt",
    "Redact",
    "Remote",
    "ReviewState",
    "StaleWrite",
    "Store",
    "Transactions",
    "VectorSearch",
    "VersionSearch",
    "caveat",
    "cut",
    "holds_scope",
    "known_folders",
    "local",
    "reading",
]


# Returns the vector of a query, or None when only the words count. The vector may still be computed in another thread,
# so callers ask for it as late as possible.
QueryVector = Callable[[], Embedding | None]

# Takes the id of a memory (or None) and fields that mention it; returns the same fields with secrets replaced.
Redact = Callable[[str | None, Mapping[str, JsonValue]], Mapping[str, JsonValue]]


class StaleWrite(StoreError):
    """Another process changed the memory, or took its key, after it was read. Read again and decide again."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store guarantees right now."""

    writable: bool = True
    reason: str = ""  # why it is not writable, and the next step
    cannot: Mapping[str, str] = field(default_factory=dict)  # missing guarantees: name to a sentence for the user


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a transaction."""

    ids: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # our id to the id a server assigned
    queued: int = 0  # writes that wait for a server, including this one; 0 when everything is stored

    def settled(self, memory: Memory) -> Memory:
        """`memory` with the id under which it is stored."""
        return replace(memory, id=self.ids.get(memory.id, memory.id))


STORED = Receipt()
EVERY_ENTRY = LogFilter()


class VectorSearch(Protocol):
    """Search by vectors and words together. All vectors of a store are of one model.

    Raises: StoreError (StoreReadOnly, StoreBusy) from any method.
    """

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Up to `limit` memories that hold any of `words` and up to `limit` nearest to `vector`, unordered.

        When the vector index is so far behind that only `update_index` catches up, the search is lexical only.
        """

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, nearest first, with the cosine between the two texts alone."""

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        """For each of `ids` with a vector, up to `most` others that are at least `cosine` similar, nearest first."""

    @property
    def problem(self) -> str:
        """Why vector search is off until someone repairs it, in a sentence; empty when it works."""

    def other_model(self, model: str) -> str | None:
        """Another model whose vectors this store holds, if any; they cannot be compared with those of `model`."""

    def pending(self, model: str, limit: int) -> list[Memory]:
        """Memories that have no vector of `model` yet."""

    def count_pending(self, model: str) -> int:
        """Number of memories that have no vector of `model` yet."""

    def is_ready(self, model: str) -> bool:
        """Whether no memory is pending and a search can bring the vector index up to date by itself."""

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Store vectors of memories whose text is unchanged; returns how many were stored."""

    def update_index(self, model: str) -> None:
        """Bring the vector index up to date, however long that takes."""


class QuestionSearch(Protocol):
    """A store at a server that has the vectors of memories, and takes those of questions from this machine.

    Raises: StoreError.
    """

    @property
    def model(self) -> str:
        """The model of the vectors; empty when the server has none."""

    def candidates(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Memories that hold any of `words`, and those near to the question; unordered.

        Without a vector the server computes it, if it can.
        """


class Near(NamedTuple):
    """A memory that may be a version of another one."""

    id: str  # of the other one
    memory: Memory
    cosine: float | None  # between the two; None when they were compared by their words only


class VersionSearch(Protocol):
    """Search for memories that may say the same as others, or what the others said once.

    Raises: StoreError (StoreReadOnly, StoreBusy).
    """

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """The memories that pass the filter and are at least `cosine` similar to one of `memories`.

        Without `cosine`, and where there are no vectors, those that share most words with it. Each memory is near to
        itself, which is left out. Where comparing with all memories takes too long, or only a server has them all,
        memories with an id in `among` are certainly compared.
        """


class FileBacked(Protocol):
    """Memories that are files, each with an id of its own in the file."""

    def file_of(self, memory: str) -> tuple[str, str] | None:
        """Id in the file, and path, of a memory; None when it is in no file."""

    def with_file_id(self, name: str) -> list[str]:
        """Ids of the memories whose files have this id."""

    def accept(self, ids: Sequence[str], *, accepted: bool = True) -> None:
        """Count these memories as the team's, as their files are now; those that this home wrote keep their trust.

        With `accepted` false, those that were accepted are from outside again.
        """


class Composite(Protocol):
    """Several stores in one, by name."""

    @property
    def parts(self) -> Mapping[str, Store]:
        """The stores by name."""

    def home_of(self, memory: Memory) -> str | None:
        """The name of the store that holds a memory; with two copies, the store of the newer one."""

    def route(self, scope: Scope) -> Store:
        """The store for new memories of a scope."""


class FollowsFolder(Protocol):
    """A store that holds other memories when the session moves to another folder."""

    def follow(self, root: str, project: str) -> None:
        """Switch to the memories of folder `root`, or of no folder when it is empty.

        Raises: StoreError; the store then stays where it was.
        """


class Remote(Protocol):
    """A store behind a network."""

    @property
    def local(self) -> Store:
        """What this machine has of the store; it answers without the network."""

    @property
    def caveat(self) -> str:
        """What must be said with the last answer, such as that it is not the server's; empty for nothing."""

    @property
    def cut(self) -> str:
        """Why the server's last list lacks memories, such as a limit of the server; empty when it is complete."""


class Aging(Protocol):
    """A store whose memories fade and expire."""

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """Memories whose status may be due for a change.

        First those that are certainly due: expired at `now`, or in the trash since `trashed_by`. Then those of a tier
        that fades, longest idle first.
        """


class Maintenance(Protocol):
    """A store that needs work from time to time."""

    def upkeep(self, now: int) -> None:
        """Back up, prune the activity log, tidy files; cheap when there is nothing to do."""


class Erasure(Protocol):
    """A store that can remove data without a trace."""

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes as `commit` does, pass history and activity through `redact`, leave no old byte anywhere.

        Returns the names of the backups and other copies that were removed. One new backup is made.
        """


class LocalState(Protocol):
    """What a store keeps about this machine."""

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`."""

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        """`(root, project, name)` of the folders seen since then, latest first."""

    def tick(self, now: int) -> int:
        """Save the time of a sweep; returns the time of the one before, 0 for the first.

        A difference that is negative or too large shows that the clock jumped.
        """


class CitationStore(Protocol):
    """A store that keeps the code that its memories cite."""

    def uncited(self, project: str, limit: int) -> list[Memory]:
        """Active memories of a project whose citations were not resolved yet, latest first."""

    def cite(self, resolved: Sequence[tuple[Memory, tuple[Citation, ...]]]) -> int:
        """Store the citations of memories whose revision is unchanged; returns how many were stored.

        A citation is found by the store's user, not written by an author: it makes no revision.
        """


class ReviewState(Protocol):
    """What a person decided in reviews on this machine: which memories are wrong, and what to show later."""

    def mark_wrong(self, memory: Memory, mark: WrongMark, embedding: Embedding | None) -> None:
        """Keep a mark with a digest of the text and its vector, also when the memory is purged later."""

    def unmark_wrong(self, memories: Sequence[str]) -> int:
        """Remove the marks of these memories; returns how many there were."""

    def marked_of(self, user: str) -> list[str]:
        """The ids of the memories of a user that have a mark."""

    def wrong_like(
        self, spaces: Sequence[str], text: str, embedding: Embedding | None, cosine: float
    ) -> list[tuple[WrongMark, float]]:
        """The marks in these spaces on the same text, or else on texts at least `cosine` similar, nearest first."""

    def postpone(self, item: str, now: int, until: int | None) -> None:
        """Hide a review item until a time, or with None as long as its memories do not change."""

    def resume_item(self, item: str) -> None:
        """Show a postponed review item again."""

    def postponed(self, now: int) -> frozenset[str]:
        """The ids of the review items that are hidden at `now`."""


class Transactions(Protocol):
    """A store to which many reads in one transaction cost less than one each."""

    def reading(self) -> AbstractContextManager[object]:
        """All reads of this thread inside the block are in one transaction."""


class Features(NamedTuple):
    """The optional features of a store; None for one that it does not have."""

    vector_search: VectorSearch | None = None
    versions: VersionSearch | None = None
    files: FileBacked | None = None
    composite: Composite | None = None
    folder: FollowsFolder | None = None
    remote: Remote | None = None
    aging: Aging | None = None
    maintenance: Maintenance | None = None
    erasure: Erasure | None = None
    local_state: LocalState | None = None
    citations: CitationStore | None = None
    review_state: ReviewState | None = None
    questions: QuestionSearch | None = None
    transactions: Transactions | None = None
    alone: Callable[[str | None], Store] | None = None  # with one project only, in which an id of another is free


class Store(Protocol):
    """What every store does. Each method is one transaction; all are safe between processes.

    Raises: StoreError (StoreReadOnly, StoreBusy) from any method.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this store guarantees right now."""

    @property
    def features(self) -> Features:
        """The optional features of this store."""

    @property
    def notice(self) -> str:
        """A recent event that the user should know of, such as a repair; empty for none."""

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply all changes with search index, history and activity, or nothing.

        A purge also removes the text of the memory from its history and from earlier activity.

        Raises: StaleWrite when the store no longer holds what a change expects.
        """

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, whatever their status; unknown ids are left out."""

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Up to `limit` memories with ids in [first, last], in order."""

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key."""

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The active memory with a key, or else the last one that had it, whatever its status."""

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory of a space with this text; whitespace and case are ignored."""

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Memories that hold any of `words`, best first, with their relevance (greater is better)."""

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter, latest (or most important) first."""

    def count(self, wanted: Filter) -> int:
        """Number of memories that pass the filter."""

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note that these memories were loaded at `now`."""

    def history(self, memory: str) -> list[Revision]:
        """The revisions of a memory before its current one, latest first."""

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log."""

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest activity, latest first, of one project or of all; from the entry with the cursor `after` on.

        Raises: InvalidInput when `after` is not a cursor.
        """

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        """How often each agent did what in each project on each day since then, in the order of these fields."""

    def facets(self, wanted: Filter) -> Facets:
        """How many of the memories that pass the filter have each kind, agent, tag, status and trust."""

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All memories that pass the filter, without their texts, in no order."""

    def changes(self) -> int:
        """A number that differs after memories have changed; counts of use change nothing."""

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor, such as path, counts, integrity, schema, size, backups."""

    def close(self) -> None:
        """Finish writing and release all resources."""


class LocalStore(Store, Aging, Maintenance, Erasure, LocalState, Protocol):
    """A complete store on this machine, as a remote store needs it for its mirror."""


def local(store: Store) -> Store:
    """The part of a store that answers without a network: what is known here of a remote one, else the store."""
    remote = store.features.remote
    return store if remote is None else remote.local


def reading(store: Store) -> AbstractContextManager[object]:
    """A block whose reads are in one transaction, where that costs less than one for each."""
    transactions = store.features.transactions
    return nullcontext() if transactions is None else transactions.reading()


def caveat(store: Store) -> str:
    """What must be said with the last answer of a store; empty for nothing."""
    remote = store.features.remote
    return "" if remote is None else remote.caveat


def cut(store: Store) -> str:
    """Why the last list of a store lacks memories; empty when it is complete."""
    remote = store.features.remote
    return "" if remote is None else remote.cut


def holds_scope(store: Store, scope: Scope) -> bool:
    """Whether a new memory of this scope can be stored; a team server has those of projects only."""
    composite = store.features.composite
    routed = store if composite is None else composite.route(scope)
    return scope in {"project", "shared"} or "scopes" not in routed.capabilities.cannot


def known_folders(store: Store, since: int = 0) -> list[tuple[str, str, str]]:
    """`(root, project, name)` of the project folders that a store has seen since then, latest first."""
    state = store.features.local_state
    return [] if state is None else state.roots(since)
