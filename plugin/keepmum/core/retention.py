"""Forgetting: how much of a memory is left, from how often and how recently it was loaded. Pure functions.

Fading never hides a result: in a ranking it changes the score by at most a tenth (`prior`). On its own it decides only
which memories become tombstones.
"""

from __future__ import annotations

import math

from keepmum.core.memory import Candidate, Memory, Outline

__all__ = ["DAY_MS", "HALF_LIFE_DAYS", "TOMBSTONE_BELOW", "linear_importance", "prior", "retention", "stability"]

DAY_MS = 86_400_000
HALF_LIFE_DAYS = 27.0  # of a memory that was never loaded
TOMBSTONE_BELOW = 0.01
_PRIOR_WEIGHT = 0.1
_WEEKLY_LOSS = 0.1


def stability(access_count: int) -> float:
    """The factor by which loading a memory `access_count` times lengthens its half-life; 1.0 for zero."""
    return 1.0 + math.log1p(access_count)


def retention(memory: Memory | Candidate | Outline, now: int) -> float:
    """The share of a memory that is left at `now`, from 1.0 down to 0.0; always 1.0 in the long tier or when pinned."""
    if memory.tier == "long" or memory.pinned:
        return 1.0
    days = _idle_days(memory, now)
    return math.exp(-math.log(2) * days / (HALF_LIFE_DAYS * stability(memory.access_count)))


def linear_importance(memory: Memory | Outline, now: int) -> float:
    """The importance under the `linear` policy: a tenth less for each whole week without a load."""
    if memory.tier == "long" or memory.pinned:
        return memory.importance
    return memory.importance * (1.0 - _WEEKLY_LOSS) ** int(_idle_days(memory, now) // 7)


def prior(memory: Memory | Candidate, now: int) -> float:
    """The factor for fading in a ranking: 0.9 to 1.0."""
    return 1.0 - _PRIOR_WEIGHT * (1.0 - retention(memory, now))


def _idle_days(memory: Memory | Candidate | Outline, now: int) -> float:
    """Days since the last load, change or confirmation; 0 when the clock was set back."""
    last = max(memory.accessed_at or 0, memory.updated_at, memory.confirmed_at or 0)
    return max(0, now - last) / DAY_MS
