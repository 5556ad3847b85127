"""Renders and ranks memories for this dialect. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum.core.memory import KINDS, JsonValue, Kind, Memory
from keepmum.core.retention import DAY_MS
from keepmum.mcp.dialects.handlers import iso, outside_mark
from keepmum.mcp.dialects.per_user import CATEGORIES

__all__ = ["category_of", "entity", "falls_under", "idle_days", "kinds_of", "recency", "tier_of", "weekly_decay"]

_OTHERS: Mapping[Kind, str] = {"task": "project"}  # kinds of other dialects; the rest are facts
_RECENT_DAYS = 30.0
_WEEK = 7.0
_WEEKLY_FACTOR = 0.9


def category_of(memory: Memory) -> str:
    """The memory's category, one of this dialect's seven."""
    return memory.kind if memory.kind in CATEGORIES else _OTHERS.get(memory.kind, "fact")


def kinds_of(category: str) -> tuple[Kind, ...]:
    """The kinds that are shown as a category."""
    return tuple(kind for kind in KINDS if (kind if kind in CATEGORIES else _OTHERS.get(kind, "fact")) == category)


def falls_under(memory: Memory, path: str) -> bool:
    """Whether a memory is in a category or subcategory, such as `preference` or `preference/tone`."""
    if "/" not in path:
        return category_of(memory) == path
    return any(tag == path or tag.startswith(f"{path}/") for tag in memory.tags)


def tier_of(memory: Memory) -> str:
    """The memory's tier in this dialect."""
    return "long-term" if memory.tier == "long" else "mid-term"


def idle_days(memory: Memory, now: int) -> float:
    """Days since a memory was last recalled or changed; not negative."""
    return max(0, now - max(memory.accessed_at or 0, memory.updated_at)) / DAY_MS


def recency(memory: Memory, now: int) -> float:
    """1 for a memory used now, 0.5 after 30 days, towards 0."""
    return 1 / (1 + idle_days(memory, now) / _RECENT_DAYS)


def weekly_decay(memory: Memory, now: int) -> float | None:
    """The importance after decay, a tenth per week without use; None if no decay is due.

    Long-term memories and instructions do not decay.
    """
    days = idle_days(memory, now)
    if memory.tier == "long" or category_of(memory) == "instruction" or days < _WEEK:
        return None
    return float(memory.importance * _WEEKLY_FACTOR ** (days / _WEEK))


def entity(memory: Memory, now: int) -> dict[str, JsonValue]:
    """A memory with all fields, for exports; without its vector, which is worth nothing without its model.

    `decayFactor` is what its importance is multiplied by at the next use.
    """
    decayed = weekly_decay(memory, now)
    factor = 1.0 if decayed is None or not memory.importance else round(decayed / memory.importance, 4)
    return {
        "id": memory.id,
        "userId": memory.user,
        "tier": tier_of(memory),
        "category": category_of(memory),
        "content": memory.text,
        "context": memory.why,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "tags": list(memory.tags),
        "createdAt": iso(memory.created_at),
        "lastAccessedAt": iso(memory.accessed_at),
        "accessCount": memory.access_count,
        "decayFactor": factor,
        "source": {"conversationId": memory.session, "messageId": None},
        "status": memory.status,
        "supersedes": memory.supersedes,
        "supersededById": memory.superseded_by,
        "createdBy": memory.created_by,
        **outside_mark(memory),
    }
