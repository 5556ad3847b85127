"""Which memories a person should review, why, and what they can do about each: pure functions.

A memory that is trusted less than the one that it wants to replace stays active and names the other in `supersedes`;
the two are a contradiction for a person to decide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from keepmum.core import lifecycle
from keepmum.core.memory import Kind, Memory, Outline, Revision
from keepmum.core.memory_text import day
from keepmum.core.retention import DAY_MS

__all__ = [
    "ACTIONS",
    "DECISIONS",
    "GROUPS",
    "RULE_KINDS",
    "Decision",
    "Entry",
    "Group",
    "Known",
    "Near",
    "entries",
    "item_id",
    "open_conflict",
    "reason",
]

Group: TypeAlias = Literal[
    "contradictions", "conflicts", "changed-code", "outside", "unconfirmed", "expiring", "duplicates", "unused"
]
Decision: TypeAlias = Literal[
    "accept", "still-true", "confirm", "wrong", "edit", "merge", "put-back", "both", "forget", "later", "pin"
]

GROUPS: tuple[Group, ...] = get_args(Group)  # what matters most comes first
DECISIONS: tuple[Decision, ...] = get_args(Decision)
RULE_KINDS: frozenset[Kind] = frozenset({"instruction", "preference", "workflow", "personality"})
ACTIONS: Mapping[Group, tuple[Decision, ...]] = {  # what can be done about an item; what fits best comes first
    "contradictions": ("merge", "edit", "both", "wrong", "forget", "later"),
    "conflicts": ("still-true", "put-back", "edit", "both", "wrong", "forget", "later"),
    "changed-code": ("still-true", "edit", "wrong", "forget", "later"),
    "outside": ("confirm", "edit", "wrong", "forget", "later"),
    "unconfirmed": ("confirm", "edit", "wrong", "forget", "later"),
    "expiring": ("still-true", "pin", "edit", "wrong", "forget", "later"),
    "duplicates": ("merge", "edit", "both", "wrong", "forget", "later"),
    "unused": ("still-true", "pin", "edit", "wrong", "forget", "later"),
}
_SOON_DAYS = 14  # before a memory expires or fades
_GRACE_DAYS = 30  # a younger memory that was never loaded is not reported
_STALE_DAYS = 180


class Near(NamedTuple):
    """An older memory that says nearly the same, or contradicts."""

    older: str
    cosine: float
    contradicts: bool


class Entry(NamedTuple):
    """One item of the queue, without texts."""

    group: Group
    memories: tuple[Outline, ...]  # of two, the newer first
    cosine: float | None = None
    detail: str = ""  # what changed in the code that is cited, or who replaced the value of another

    @property
    def place(self) -> tuple[int, int, str]:
        """A key that orders the queue: by group, then what expires soonest or is latest, then by id."""
        first = self.memories[0]
        soon = first.expires_at if self.group == "expiring" else None
        return GROUPS.index(self.group), -first.updated_at if soon is None else soon, first.id


class Known(NamedTuple):
    """What was found out about the memories of a queue, by the id of a memory."""

    similar: Mapping[str, Sequence[Near]]  # the older ones that it is to be compared with, what matters most first
    changed: Mapping[str, str]  # what changed in the code that it cites
    replaced: Mapping[str, str]  # who replaced the value that another agent had stored


def entries(outlines: Iterable[Outline], known: Known, now: int, policy: str) -> list[Entry]:
    """The items of a queue, unordered; each memory is the first of one item at most.

    Args:
        outlines: all active memories.
        known: what was found out about them.
        now: the time.
        policy: how memories fade.
    """
    by_id = {outline.id: outline for outline in outlines}
    found = []
    for outline in by_id.values():
        group = _group_of(outline, known, now, policy)
        # Text from outside is first confirmed or removed: it must not be one key away from replacing another memory.
        similar = known.similar.get(outline.id, ()) if outline.trust != "outside" else ()
        near = next((each for each in similar if each[0] in by_id), None)
        higher = by_id.get(outline.supersedes or "")
        if higher is not None:
            found.append(Entry("contradictions", (outline, higher)))
        elif near is not None and (near[2] or group in {None, "unused"}):
            found.append(Entry("contradictions" if near[2] else "duplicates", (outline, by_id[near[0]]), near[1]))
        elif group is not None:
            details = known.replaced if group == "conflicts" else known.changed
            found.append(Entry(group, (outline,), None, details.get(outline.id, "")))
    return found


def open_conflict(history: Iterable[Revision]) -> Revision | None:
    """The change by which an agent replaced another's value, if nothing but pins came after it that was not undone.

    `history` has the latest revision first, as stores return it; its state is the value that was replaced.
    """
    changes: list[Revision] = []
    for past in reversed(list(history)):
        if past.action == "restored" and changes:
            changes.pop()
        elif past.action not in {"pinned", "unpinned"}:
            changes.append(past)
    return changes[-1] if changes and changes[-1].action == "conflict" else None


def item_id(entry: Entry) -> str:
    """The id of an item: the same as long as its memories do not change."""
    parts = [
        entry.group,
        entry.detail,
        *(f"{memory.id}@{memory.revision}@{memory.digest}" for memory in entry.memories),
    ]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()


def reason(entry: Entry, memories: Sequence[Memory]) -> str:
    """Why an item is in the queue, in one sentence."""
    return _REASONS[entry.group](entry, memories[0])


def _group_of(outline: Outline, known: Known, now: int, policy: str) -> Group | None:
    """The group of a memory by itself."""
    is_rule = outline.kind in RULE_KINDS and outline.trust != "person" and outline.confirmed_at is None
    groups: Mapping[Group, bool] = {
        "conflicts": outline.id in known.replaced,
        "changed-code": outline.id in known.changed,
        "outside": outline.trust == "outside",
        "unconfirmed": is_rule,
        "expiring": lifecycle.due_change(outline, now + _SOON_DAYS * DAY_MS, policy) is not None,
        "unused": _is_unused(outline, now),
    }
    return next((group for group, fits in groups.items() if fits), None)


def _is_unused(outline: Outline, now: int) -> bool:
    idle = now - max(_last_use(outline), outline.confirmed_at or 0)
    return idle > (_STALE_DAYS if outline.access_count else _GRACE_DAYS) * DAY_MS and not outline.pinned


def _last_use(memory: Memory | Outline) -> int:
    return max(memory.accessed_at or 0, memory.updated_at)


def _of_two(entry: Entry, _: Memory) -> str:
    if entry.cosine is None:
        return "The first was to replace the second, which is trusted more; both were kept for you to decide."
    relation = "contradict each other" if entry.group == "contradictions" else "say nearly the same"
    return f"The two {relation} (similarity {entry.cosine:.2f})."


def _of_conflict(entry: Entry, memory: Memory) -> str:
    about = f" of {memory.key}" if memory.key else ""
    return f"{entry.detail} replaced the value{about} that another agent had stored."


def _of_expiry(_: Entry, memory: Memory) -> str:
    if memory.expires_at is not None:
        return f"It expires on {day(memory.expires_at)}."
    return f"It fades within {_SOON_DAYS} days: nobody has loaded it since {day(_last_use(memory))}."


def _of_disuse(_: Entry, memory: Memory) -> str:
    if memory.access_count:
        return f"Nobody has loaded or changed it since {day(_last_use(memory))}."
    return f"It was stored on {day(memory.updated_at)}, and nobody has loaded it since."


_REASONS: Mapping[Group, Callable[[Entry, Memory], str]] = {
    "contradictions": _of_two,
    "conflicts": _of_conflict,
    "changed-code": lambda entry, _: f"{entry.detail[:1].upper()}{entry.detail[1:]}.",
    "outside": lambda *_: "It comes from outside, and nobody has confirmed it.",
    "unconfirmed": lambda _, memory: f"An agent noted this {memory.kind}, and nobody has confirmed it.",
    "expiring": _of_expiry,
    "duplicates": _of_two,
    "unused": _of_disuse,
}
