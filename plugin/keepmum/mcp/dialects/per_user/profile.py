"""A user's profile, derived from memories by rules, without a model. Pure and deterministic."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

from keepmum.core.memory import JsonValue, Memory
from keepmum.mcp.dialects.per_user.views import category_of

__all__ = ["SUMMED_UP", "confidence", "profile", "summary"]

SUMMED_UP = ("fact", "skill", "preference", "project")

_AVOIDS = re.compile(
    r"\b(?:don['\u2019]?t|doesn['\u2019]?t|do not|does not|avoid\w*|dislike\w*|hate[sd]?|never)\b", re.IGNORECASE
)
_LIKES = re.compile(r"\b(?:prefer\w*|like[sd]?|appreciate[sd]?|enjoy\w*|love[sd]?)\b", re.IGNORECASE)
_LEARNS = re.compile(r"\b(?:learn\w*|studying|new to|beginner)\b", re.IGNORECASE)
_USES = re.compile(r"\b(?:use[sd]?|using|runs?|stack|works? with|deploys?)\b", re.IGNORECASE)
_ENOUGH = 20  # memories for full confidence


def summary(memories: Sequence[Memory]) -> str | None:
    """The user in one line: the three most important facts and two skills; None without any."""
    facts, skills = _of(memories, "fact")[:3], _of(memories, "skill")[:2]
    chosen = [*facts, *skills] or _of(memories, "preference")[:2] or _of(memories, "project")[:1]
    return "; ".join(memory.text.rstrip(". ") for memory in chosen) or None


def profile(memories: Sequence[Memory]) -> dict[str, JsonValue]:
    """The profile; each entry is the text of one memory."""
    preferences = [*_of(memories, "preference"), *_of(memories, "relationship")]
    avoided = [memory for memory in preferences if _AVOIDS.search(memory.text)]
    liked = [memory for memory in preferences if memory not in avoided and _LIKES.search(memory.text)]
    skills = _of(memories, "skill")
    learnt = [memory for memory in skills if _LEARNS.search(memory.text)]
    guided = [*_of(memories, "instruction"), *_of(memories, "personality")]
    first = next(iter(_of(memories, "preference")), None)
    return {
        "summary": summary(memories),
        "communicationStyle": {
            "preference": first.text if first else None,
            "avoidances": _texts(avoided, 3),
            "appreciated": _texts(liked, 5),
        },
        "technicalContext": {
            "expertise": _texts((memory for memory in skills if memory not in learnt), 5),
            "learning": _texts(learnt, 5),
            "stack": _texts((memory for memory in _of(memories, "fact") if _USES.search(memory.text)), 5),
        },
        "interactionGuidelines": _texts(guided, 10),
        "activeProjects": _texts(_of(memories, "project", _last_used), 5),
    }


def confidence(memories: Sequence[Memory]) -> float:
    """The profile's confidence, 0 to 1: the mean of its memories, reduced while they are few."""
    if not memories:
        return 0.0
    mean = sum(memory.confidence for memory in memories) / len(memories)
    return round(min(1.0, len(memories) / _ENOUGH) * mean, 2)


def _weight(memory: Memory) -> tuple[float, int]:
    return memory.importance, memory.updated_at


def _last_used(memory: Memory) -> tuple[float, int]:
    return float(max(memory.accessed_at or 0, memory.updated_at)), memory.created_at


def _of(
    memories: Sequence[Memory], category: str, order: Callable[[Memory], tuple[float, int]] = _weight
) -> list[Memory]:
    """The memories of a category, sorted in descending order."""
    found = [memory for memory in memories if category_of(memory) == category]
    return sorted(found, key=lambda memory: (*order(memory), memory.id), reverse=True)


def _texts(memories: Iterable[Memory], limit: int) -> list[JsonValue]:
    return list(itertools.islice((memory.text for memory in memories), limit))
