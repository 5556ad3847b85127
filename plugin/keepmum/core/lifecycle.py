"""The states of a memory and the transitions between them: pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keepmum.core import retention
from keepmum.core.memory import Action, Memory, Outline, Status

__all__ = ["FORGET_MODES", "TRASH_DAYS", "due_change", "next_revision", "same_content", "with_status"]

TRASH_DAYS = 30
# By mode of `forget`: the new status, None for removal, and the action in the activity log.
FORGET_MODES: Mapping[str, tuple[Status | None, Action]] = {
    "archive": ("archived", "archived"),
    "trash": ("trashed", "trashed"),
    "purge": (None, "purged"),
}
_ARCHIVE_BELOW = 0.1  # importance, under the `linear` policy
_BOOKKEEPING = ("git", "updated_at", "updated_by", "revision", "expires_at", "accessed_at", "access_count")


def next_revision(memory: Memory, now: int, agent: str) -> Memory:
    """The memory with the next revision number, updated now by `agent`."""
    return replace(memory, updated_at=now, updated_by=agent, revision=memory.revision + 1)


def with_status(memory: Memory, status: Status, now: int, agent: str) -> Memory:
    """The next revision of the memory, with another status."""
    return replace(next_revision(memory, now, agent), status=status, trashed_at=now if status == "trashed" else None)


def same_content(one: Memory, other: Memory) -> bool:
    """Whether two revisions differ at most in bookkeeping: git, times, author, revision and use."""
    return replace(one, **{name: getattr(other, name) for name in _BOOKKEEPING}) == other


def due_change(memory: Memory | Outline, now: int, policy: str) -> str | None:
    """The change that is due because of a memory's age: `purge`, `trash`, `archive`, `tombstone`, or None."""
    if memory.status == "trashed":
        in_trash = now - (memory.trashed_at or memory.updated_at)
        return "purge" if in_trash >= TRASH_DAYS * retention.DAY_MS else None
    if memory.expires_at is not None and memory.expires_at <= now:
        return "trash"
    if policy == "ebbinghaus" and retention.retention(memory, now) < retention.TOMBSTONE_BELOW:
        return "tombstone"
    if policy == "linear" and retention.linear_importance(memory, now) < _ARCHIVE_BELOW:
        return "archive"
    return None
