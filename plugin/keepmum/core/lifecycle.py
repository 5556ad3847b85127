"""How a memory passes from one state to the next: pure functions of the memory, the time and who acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keepmum.core import retention
from keepmum.core.memory import Action, Memory, Status

__all__ = ["FORGET_MODES", "TRASH_DAYS", "due_change", "next_revision", "same_content", "with_status"]

TRASH_DAYS = 30
FORGET_MODES: Mapping[str, tuple[Status | None, Action]] = {  # ways to forget; no status: nothing is left
    "archive": ("archived", "archived"),
    "trash": ("trashed", "trashed"),
    "purge": (None, "purged"),
}
_FADED_IMPORTANCE = 0.1
_BOOKKEEPING = ("git", "updated_at", "updated_by", "revision", "expires_at", "accessed_at", "access_count")


def next_revision(memory: Memory, now: int, agent: str) -> Memory:
    """The next revision of a memory, by `agent`."""
    return replace(memory, updated_at=now, updated_by=agent, revision=memory.revision + 1)


def with_status(memory: Memory, status: Status, now: int, agent: str) -> Memory:
    """The next revision of a memory, in another state."""
    return replace(next_revision(memory, now, agent), status=status, trashed_at=now if status == "trashed" else None)


def same_content(one: Memory, other: Memory) -> bool:
    """Whether two revisions of a memory differ in bookkeeping alone."""
    return replace(one, **{name: getattr(other, name) for name in _BOOKKEEPING}) == other


def due_change(memory: Memory, now: int, policy: str) -> str | None:
    """What the passing of time does to a memory: `purge`, `trash`, `archive`, `tombstone`, or None for nothing."""
    if memory.status == "trashed":
        in_trash = now - (memory.trashed_at or memory.updated_at)
        return "purge" if in_trash >= TRASH_DAYS * retention.DAY_MS else None
    if memory.expires_at is not None and memory.expires_at <= now:
        return "trash"
    if policy == "ebbinghaus" and retention.retention(memory, now) < retention.TOMBSTONE_BELOW:
        return "tombstone"
    if policy == "linear" and retention.linear_importance(memory, now) < _FADED_IMPORTANCE:
        return "archive"
    return None
