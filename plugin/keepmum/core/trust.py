"""What a write of one trust level may do to a memory of another: pure functions.

The level of a write is that of its entry point. What it says about itself can lower the level and never raises it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keepmum.core.memory import JsonValue, Memory, SourceKind, Trust, trust_rank
from keepmum.core.ranking import index_terms

__all__ = ["first", "is_higher", "of_revision", "of_write", "repeats", "revised", "says_the_same", "unconfirmed"]

_TAKEN_FROM_OUTSIDE: frozenset[SourceKind | None] = frozenset({"web", "file", "tool"})
_STATEMENT = (  # the fields that a memory's author chose; the others are about its use
    "title", "text", "why", "key", "kind", "tags", "data", "source", "scope", "project", "session", "user", "agent",
)  # fmt: skip
_REPEATED = 0.8  # of the words of a text; a text that holds as many of them repeats it


def of_write(entry: Trust, source_kind: SourceKind | None) -> Trust:
    """The trust of a write at an entry point, with the source that its author names."""
    return "outside" if source_kind in _TAKEN_FROM_OUTSIDE else entry


def is_higher(one: Memory, other: Memory) -> bool:
    """Whether a memory is trusted more than another, which then cannot replace it."""
    return trust_rank(one.trust) > trust_rank(other.trust)


def says_the_same(one: Memory, other: Memory) -> bool:
    """Whether two revisions differ at most in what is not a statement of an author: importance, times, use, trust."""
    return all(getattr(one, name) == getattr(other, name) for name in _STATEMENT)


def repeats(new: str, old: str) -> bool:
    """Whether a text holds most words of another."""
    words = set(index_terms(old))
    return len(words & set(index_terms(new))) >= _REPEATED * len(words)


def revised(after: Memory, present: Memory) -> Memory:
    """`after`, which has the trust of its write, as the next revision of `present`.

    Who repeats a statement does not vouch for it, unless it is a person. So what an agent makes of text from outside
    stays from outside, and a change of importance alone keeps trust and confirmation.
    """
    if says_the_same(after, present) and after.trust != "person":
        return replace(
            after, trust=present.trust, source_kind=present.source_kind, pinned=present.pinned,
            confirmed_at=present.confirmed_at, confirmed_by=present.confirmed_by,
        )  # fmt: skip
    if after.trust != "person":
        after = replace(after, confirmed_at=None, confirmed_by=None, trust=of_revision(after, present))
    return replace(after, pinned=after.pinned and after.trust != "outside")


def of_revision(after: Memory, replaced: Memory) -> Trust:
    """The trust of a memory that replaces another: from outside when it repeats what came from there."""
    taken_over = replaced.trust == "outside" and repeats(f"{after.title}\n{after.text}", replaced.text)
    return "outside" if taken_over and after.trust != "person" else after.trust


def unconfirmed(memory: Memory, trust: Trust) -> Memory:
    """`memory` with this trust and without what only this user can say of it, whatever it claims."""
    return replace(memory, trust=trust, confirmed_at=None, confirmed_by=None, pinned=False)


def first(values: Mapping[str, JsonValue]) -> Trust:
    """The trust of a revision that was stored before there was a trust level, by its channel."""
    origin = str(values.get("origin") or "mcp")
    if origin.startswith("server"):
        return "team"
    levels: Mapping[str, Trust] = {"cli": "person", "import": "outside"}
    return levels.get(origin, "agent")
