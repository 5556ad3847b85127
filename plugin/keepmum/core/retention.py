"""How memories fade: pure functions of how often and how lately a memory was loaded.

Forgetting never hides what is asked for: in a ranking the curve weighs at most a tenth (`prior`); it decides alone
only which memories become tombstones.
"""

from __future__ import annotations

import math

from keepmum.core.memory import Candidate, Memory

__all__ = ["DAY_MS", "HALF_LIFE_DAYS", "TOMBSTONE_BELOW", "linear_importance", "prior", "retention", "stability"]

DAY_MS = 86_400_000
HALF_LIFE_DAYS = 27.0  # of a memory that was never loaded
TOMBSTONE_BELOW = 0.01
_PRIOR_WEIGHT = 0.1
_WEEKLY_LOSS = 0.1


def stability(access_count: int) -> float:
    """How much slower a memory fades for having been loaded `access_count` times; 1.0 for never."""
    return 1.0 + math.log1p(access_count)


def retention(memory: Memory | Candidate, now: int) -> float:
    """The share of a memory that is left at `now`, from 1.0 down to 0.0; the long tier does not fade."""
    if memory.tier == "long":
        return 1.0
    days = _idle_days(memory, now)
    return math.exp(-math.log(2) * days / (HALF_LIFE_DAYS * stability(memory.access_count)))


def linear_importance(memory: Memory, now: int) -> float:
    """Importance under the `linear` policy: a tenth less for every whole week without a load, below 0.1 it archives."""
    if memory.tier == "long":
        return memory.importance
    return memory.importance * (1.0 - _WEEKLY_LOSS) ** int(_idle_days(memory, now) // 7)


def prior(memory: Memory | Candidate, now: int) -> float:
    """The factor that fading may put on a relevance score: 0.9 to 1.0."""
    return 1.0 - _PRIOR_WEIGHT * (1.0 - retention(memory, now))


def _idle_days(memory: Memory | Candidate, now: int) -> float:
    """Days since last load or change, never negative: a clock that was set back makes no memory younger than new."""
    last = max(memory.accessed_at or 0, memory.updated_at)
    return max(0, now - last) / DAY_MS
