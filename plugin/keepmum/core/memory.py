"""The values that pass between the parts of the core: no I/O, no clock.

Times are whole milliseconds since 1970 in UTC. A value is never changed, only replaced (`dataclasses.replace`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

__all__ = [
    "KINDS",
    "LASTING_KINDS",
    "LIMITS",
    "SCOPES",
    "STATUSES",
    "TIERS",
    "Action",
    "Activity",
    "Candidate",
    "Change",
    "Embedding",
    "Filter",
    "JsonValue",
    "Kind",
    "Limits",
    "Match",
    "Memory",
    "Order",
    "Revision",
    "Scope",
    "Status",
    "Tier",
    "default_tier",
    "space_of",
]

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

Kind = Literal[
    "decision", "preference", "instruction", "fact", "project", "task", "skill",
    "snippet", "workflow", "troubleshooting", "relationship", "personality", "note",
]  # fmt: skip
Scope = Literal["project", "global", "session", "shared"]
Tier = Literal["long", "mid", "session"]
Status = Literal["active", "archived", "superseded", "tombstoned", "trashed"]
Order = Literal["updated", "created", "accessed", "importance"]
Action = Literal[
    "created", "updated", "conflict", "superseded", "archived", "trashed",
    "tombstoned", "restored", "purged", "recalled", "loaded", "refused", "imported", "masked",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)
SCOPES: tuple[Scope, ...] = get_args(Scope)
TIERS: tuple[Tier, ...] = get_args(Tier)
STATUSES: tuple[Status, ...] = get_args(Status)
LASTING_KINDS: tuple[Kind, ...] = tuple(
    kind for kind in KINDS if kind not in {"project", "task", "troubleshooting", "note"}
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one memory may hold; `text` and `data` in bytes of UTF-8, the rest in characters."""

    text: int = 64 * 1024
    data: int = 64 * 1024
    title: int = 120
    key: int = 255
    why: int = 5_000
    source: int = 2_000
    tags: int = 20
    tag: int = 100
    query: int = 1_000
    name: int = 200  # of an agent, a project, a session, a user


LIMITS = Limits()


def default_tier(kind: Kind) -> Tier:
    """The tier a memory of this kind lives in unless told otherwise: mid fades, long does not."""
    return "long" if kind in LASTING_KINDS else "mid"


def space_of(scope: Scope, project: str | None, session: str | None, user: str | None) -> str:
    """The space in which a key is unique: memories of two spaces never replace each other."""
    owner = {"global": "", "session": session, "project": project, "shared": project}[scope]
    return "\x1f".join((scope, owner or "", user or ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing worth remembering, with where it came from and how it has been used."""

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

    @property
    def space(self) -> str:
        """The space in which this memory's key is unique."""
        return space_of(self.scope, self.project, self.session, self.user)

    def is_visible(self, now: int) -> bool:
        """Whether a plain recall may show it at `now`: active, and not past its time to live."""
        return self.status == "active" and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories a read looks at; every leg of a search applies the same one."""

    now: int
    project: str | None = None
    session: str | None = None
    user: str | None = None
    everywhere: bool = False  # every project, not this one and the global space alone
    scopes: tuple[Scope, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    all_tags: bool = False
    agent: str | None = None
    since: int | None = None
    until: int | None = None
    statuses: tuple[Status, ...] = ("active",)
    keys: str | None = None  # a pattern that the key must fit (`keepmum.core.keys`)
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A memory that fits a query. `score` orders the matches of one query and means nothing beyond it."""

    memory: Memory
    score: float
    why: str  # which leg found it, for `explain`


class Candidate(NamedTuple):
    """A memory that may fit a query: what its place among the others depends on, and nothing else of it."""

    id: str
    kind: Kind
    scope: Scope
    project: str | None
    tier: Tier
    importance: float
    updated_at: int
    accessed_at: int | None
    access_count: int
    lexical: float = 0.0  # how well its words fit, greater is better; 0 where none does
    cosine: float | None = None  # the cosine between its meaning and the query's; None where it is not known

    @classmethod
    def lexical_only(cls, memory: Memory, score: float) -> Candidate:
        """A memory that was found by its words alone."""
        return cls._make([*(getattr(memory, name) for name in cls._fields[:-2]), score, None])


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text as a point in the space of one model."""

    model: str
    vector: bytes  # of length 1, in half precision: 2 bytes a dimension, little-endian


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a transaction: `before` None creates, `after` None purges, both replace.

    A store refuses the whole transaction when what it holds is no longer `before`.
    """

    before: Memory | None
    after: Memory | None
    embedding: Embedding | None = None  # of what `after` says, where it is known by now
    past: tuple[Revision, ...] = ()  # what a memory that is created was before, in another store; latest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Who did what, when, to which memory, and why; it holds no memory text."""

    at: int
    agent: str
    action: Action
    memory: str | None = None
    key: str | None = None
    project: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a memory was before one change, and who changed it."""

    memory: str
    revision: int
    at: int
    agent: str
    action: Action
    before: Mapping[str, JsonValue]
