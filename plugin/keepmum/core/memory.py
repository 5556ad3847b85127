"""The values of the memory model. All are immutable; `dataclasses.replace` makes a changed copy.

Times are integers: milliseconds since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

__all__ = [
    "KINDS",
    "LASTING_KINDS",
    "LIMITS",
    "LISTED",
    "SCOPES",
    "SOURCE_KINDS",
    "STATUSES",
    "TIERS",
    "TRUSTED",
    "TRUST_LEVELS",
    "Action",
    "Activity",
    "Band",
    "Candidate",
    "Change",
    "Citation",
    "DayCount",
    "Embedding",
    "Facets",
    "Filter",
    "JsonValue",
    "Kind",
    "Legs",
    "Limits",
    "LogFilter",
    "Match",
    "Memory",
    "Order",
    "Outline",
    "Position",
    "Revision",
    "Scope",
    "SourceKind",
    "Status",
    "Tier",
    "Trust",
    "WrongMark",
    "default_tier",
    "space_of",
    "trust_rank",
]

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

Kind = Literal[
    "decision", "preference", "instruction", "fact", "project", "task", "skill",
    "snippet", "workflow", "troubleshooting", "relationship", "personality", "note",
]  # fmt: skip
Scope = Literal["project", "global", "session", "shared"]
Tier = Literal["long", "mid", "session"]
Status = Literal["active", "archived", "superseded", "tombstoned", "trashed"]
# Where a revision came from, decided by its entry point and never by its content: a person at a terminal or in the
# dashboard, an agent of this user, a server that the user approved, or anything else (imports, files of others).
Trust = Literal["person", "agent", "team", "outside"]
SourceKind = Literal["user", "agent", "web", "file", "tool"]  # where an agent says that it has the content from
Band = Literal["match", "weak"]  # how well a memory fits a query
Order = Literal["updated", "created", "accessed", "importance"]
Action = Literal[
    "created", "updated", "conflict", "superseded", "archived", "trashed",
    "tombstoned", "restored", "purged", "recalled", "loaded", "refused", "imported", "masked",
    "confirmed", "wrong", "pinned", "unpinned", "postponed",
]  # fmt: skip

LISTED = "server:listed"  # the `origin` of a memory whose text was not loaded yet; its title is used as text
KINDS: tuple[Kind, ...] = get_args(Kind)
SCOPES: tuple[Scope, ...] = get_args(Scope)
TIERS: tuple[Tier, ...] = get_args(Tier)
STATUSES: tuple[Status, ...] = get_args(Status)
TRUST_LEVELS: tuple[Trust, ...] = get_args(Trust)
TRUSTED: tuple[Trust, ...] = ("person", "agent", "team")  # levels that may be shown to a model unasked
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
LASTING_KINDS: tuple[Kind, ...] = tuple(
    kind for kind in KINDS if kind not in {"project", "task", "troubleshooting", "note"}
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one memory's fields: `text` and `data` in bytes of UTF-8, the others in characters or items."""

    text: int = 64 * 1024
    data: int = 64 * 1024
    title: int = 120
    key: int = 255
    why: int = 5_000
    source: int = 2_000
    tags: int = 20
    tag: int = 100
    query: int = 1_000
    name: int = 200  # of an agent, project, session or user
    revision: int = 1_000_000_000_000  # that a sender may claim; those that follow it can be greater


LIMITS = Limits()


def default_tier(kind: Kind) -> Tier:
    """The default tier of a kind: "mid" fades with time, "long" does not."""
    return "long" if kind in LASTING_KINDS else "mid"


def space_of(scope: Scope, project: str | None, session: str | None, user: str | None) -> str:
    """The namespace in which a key is unique; an equal key in another space is another memory."""
    owner = {"global": "", "session": session, "project": project, "shared": project}[scope]
    return "\x1f".join((scope, owner or "", user or ""))


def trust_rank(trust: Trust) -> int:
    """The rank of a trust level, greater is better; an agent and a team server rank the same."""
    return {"person": 2, "agent": 1, "team": 1, "outside": 0}[trust]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Code that a memory mentions, as it was at one commit."""

    path: str  # from the top of the repository, with slashes
    commit: str  # the full hash
    blob: str  # of the file at that commit, as git has it
    symbol: str | None = None  # the qualified name of a definition; None for the file as a whole
    line: int | None = None  # of the definition, from 1
    digest: str | None = None  # of the definition's lines; None for the file as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory: its text, its provenance and its use."""

    id: str
    text: str
    title: str
    created_at: int
    updated_at: int
    key: str | None = None
    why: str | None = None
    kind: Kind = "note"
    tags: tuple[str, ...] = ()
    scope: Scope = "project"
    project: str | None = None  # the project's id, not its name
    session: str | None = None
    user: str | None = None
    agent: str = "unknown"
    tier: Tier = "mid"
    importance: float = 0.5  # 0 to 1
    confidence: float = 0.7  # 0 to 1
    data: JsonValue = None
    git: Mapping[str, JsonValue] | None = None
    source: str | None = None
    source_kind: SourceKind | None = None
    origin: str = "mcp"  # the channel: mcp, cli, import
    status: Status = "active"
    supersedes: str | None = None
    superseded_by: str | None = None
    accessed_at: int | None = None
    access_count: int = 0
    expires_at: int | None = None
    trashed_at: int | None = None
    created_by: str = "unknown"
    updated_by: str = "unknown"
    revision: int = 1
    trust: Trust = "agent"  # of this revision
    confirmed_at: int | None = None  # when a person said that this text is true
    confirmed_by: str | None = None
    pinned: bool = False  # never fades, and comes first in the briefing
    citations: tuple[Citation, ...] | None = None  # None: not resolved yet

    @property
    def space(self) -> str:
        """The namespace in which this memory's key is unique."""
        return space_of(self.scope, self.project, self.session, self.user)

    def is_visible(self, now: int) -> bool:
        """Whether a search may return it at `now`: active and not expired."""
        return self.status == "active" and (self.expires_at is None or self.expires_at > now)


class Position(NamedTuple):
    """The place of a memory in a list, from which the next page goes on, whatever is written meanwhile."""

    order: Order
    value: float  # of the field that the order is by; 0 when it has none
    updated_at: int
    id: str

    @classmethod
    def of(cls, memory: Memory, order: Order) -> Position:
        """The place of a memory in a list of this order."""
        values: Mapping[Order, float | None] = {
            "updated": memory.updated_at, "created": memory.created_at, "accessed": memory.accessed_at,
            "importance": memory.importance,
        }  # fmt: skip
        return cls(order, values[order] or 0, memory.updated_at, memory.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The memories that a read considers; lexical and vector search apply the same filter."""

    now: int
    project: str | None = None
    session: str | None = None
    user: str | None = None
    everywhere: bool = False  # all projects, not only this one and the global space
    projects: tuple[str, ...] | None = None  # of these projects only, whatever else passes; "" is the one of no project
    scopes: tuple[Scope, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    all_tags: bool = False
    agent: str | None = None
    since: int | None = None
    until: int | None = None
    statuses: tuple[Status, ...] = ("active",)
    keys: str | None = None  # a pattern that the key must match (`keepmum.core.keys`)
    tier: Tier | None = None
    trusts: tuple[Trust, ...] = ()
    after: Position | None = None  # of a list in this order, only what follows; no other read looks at it


class Legs(NamedTuple):
    """The values that ranked a match, for `explain`."""

    lexical: float  # 0 to 1, relative to the best lexical score
    lexical_rank: int  # from 1; 0 when lexical search did not find it
    cosine: float | None
    vector_rank: int  # from 1; 0 when vector search did not find it
    prior: float  # the factor for age, importance and project
    terms: tuple[str, ...] = ()  # of the query, that the memory holds


@dataclass(frozen=True, slots=True)
class Match:
    """A memory that matches a query. Scores are comparable only within one query."""

    memory: Memory
    score: float
    why: str  # lexical score, cosine, ranks and prior, for `explain`
    legs: Legs | None = None  # None without a query
    previous: Memory | None = None  # an older version with other content, which this one stands for
    band: Band = "match"
    fit: float = 1.0  # 0 to 1, comparable between queries; a match has at least .5


class Candidate(NamedTuple):
    """A memory that may match a query, reduced to the fields that ranking needs."""

    id: str
    kind: Kind
    scope: Scope
    project: str | None
    tier: Tier
    importance: float
    updated_at: int
    accessed_at: int | None
    access_count: int
    trust: Trust
    pinned: bool = False
    confirmed_at: int | None = None
    lexical: float = 0.0  # relevance from lexical search, greater is better; 0 when no term matches
    cosine: float | None = None  # of its vector and the query's; None when it has no vector

    @classmethod
    def lexical_only(cls, memory: Memory, score: float) -> Candidate:
        """A candidate found by lexical search, without a vector."""
        return cls._make([*(getattr(memory, name) for name in cls._fields[:-2]), score, None])


class Outline(NamedTuple):
    """A memory, reduced to the fields that decide whether a person should review it."""

    id: str
    revision: int
    kind: Kind
    tier: Tier
    importance: float
    status: Status
    updated_at: int
    accessed_at: int | None
    access_count: int
    expires_at: int | None
    trashed_at: int | None
    trust: Trust
    confirmed_at: int | None
    pinned: bool
    supersedes: str | None
    digest: str  # of the text


class Facets(NamedTuple):
    """How many memories have each value of a field."""

    kinds: Mapping[str, int]
    agents: Mapping[str, int]
    tags: Mapping[str, int]
    statuses: Mapping[str, int]
    trusts: Mapping[str, int]


class WrongMark(NamedTuple):
    """A person's statement that a memory is wrong; it outlives the text."""

    memory: str  # its id
    at: int
    by: str
    reason: str  # may be empty


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vector of a text, made by one model."""

    model: str
    vector: bytes  # of length 1, in half precision: 2 bytes per dimension, little-endian


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a transaction: create (`before` is None), purge (`after` is None) or replace.

    The store refuses the whole transaction when its current memory differs from `before`.
    """

    before: Memory | None
    after: Memory | None
    embedding: Embedding | None = None  # of `after`, when already computed
    past: tuple[Revision, ...] = ()  # the history of a created memory that comes from another store, latest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One entry of the activity log: who did what to which memory, and when. It contains no memory text."""

    at: int
    agent: str
    action: Action
    memory: str | None = None
    key: str | None = None
    project: str | None = None
    detail: str = ""
    cursor: str = field(default="", compare=False)  # its place in a store's log, to read on from there


class LogFilter(NamedTuple):
    """The entries of the activity log that a read considers."""

    agent: str | None = None
    actions: tuple[Action, ...] = ()
    memory: str | None = None
    since: int | None = None
    projects: tuple[str, ...] | None = None  # as in `Filter`


class DayCount(NamedTuple):
    """How often an agent did one thing in one project on one day."""

    day: int  # days since 1970, UTC
    agent: str
    action: Action
    project: str  # empty for none
    times: int


@dataclass(frozen=True, slots=True)
class Revision:
    """The state of a memory before one change, and who made the change."""

    memory: str
    revision: int
    at: int
    agent: str
    action: Action
    before: Mapping[str, JsonValue]
