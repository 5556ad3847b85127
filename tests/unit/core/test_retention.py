"""The forgetting curve, and its small effect on a ranking."""

from __future__ import annotations

import math

import pytest

from contract.stores import NOW, a_memory
from keepmum.core.memory import KINDS, Memory, default_tier
from keepmum.core.retention import (
    DAY_MS,
    HALF_LIFE_DAYS,
    TOMBSTONE_BELOW,
    linear_importance,
    prior,
    retention,
    stability,
)


def after(days: float, *, access_count: int = 0, accessed_at: int | None = None) -> float:
    """The retention of a fading memory some days after its creation."""
    memory = a_memory(tier="mid", access_count=access_count, accessed_at=accessed_at)
    return retention(memory, NOW + int(days * DAY_MS))


@pytest.mark.parametrize(("loads", "days"), [(0, 27.0), (1, 45.7), (5, 75.4), (10, 91.7), (20, 109.2)])
def test_the_half_life_grows_with_use(loads: int, days: float) -> None:
    assert round(HALF_LIFE_DAYS * stability(loads), 1) == days
    assert after(HALF_LIFE_DAYS * stability(loads), access_count=loads) == pytest.approx(0.5)


@pytest.mark.parametrize(("loads", "days"), [(0, 179.4), (5, 500.8)])
def test_a_memory_becomes_a_tombstone_after(loads: int, days: float) -> None:
    assert after(days - 0.1, access_count=loads) > TOMBSTONE_BELOW > after(days + 0.1, access_count=loads)


def test_a_load_restarts_the_curve() -> None:
    assert after(27, accessed_at=NOW + 27 * DAY_MS) == 1.0


def test_a_clock_that_was_set_back_does_not_exceed_one() -> None:
    assert after(-400) == 1.0


def test_the_long_tier_does_not_fade() -> None:
    assert retention(a_memory(tier="long"), NOW + 9999 * DAY_MS) == 1.0


@pytest.mark.parametrize("days", [0, 1, 27, 180, 36_500])
def test_fading_changes_a_score_by_at_most_a_tenth(days: int) -> None:
    assert 0.9 <= prior(a_memory(tier="mid"), NOW + days * DAY_MS) <= 1.0


@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (6.9, 1.0), (7, 0.9), (14, 0.81), (70, 0.9**10)])
def test_the_linear_policy_loses_a_tenth_per_week(days: float, left: float) -> None:
    memory = a_memory(tier="mid", importance=1.0)
    assert math.isclose(linear_importance(memory, NOW + int(days * DAY_MS)), left)


def test_the_linear_policy_does_not_change_the_long_tier() -> None:
    assert linear_importance(a_memory(tier="long"), NOW + 999 * DAY_MS) == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_tier(kind: str) -> None:
    assert default_tier(kind) in {"long", "mid"}  # type: ignore[arg-type] # a string of KINDS


def test_a_memory_is_visible_until_it_expires() -> None:
    memory: Memory = a_memory(expires_at=NOW)
    assert (memory.is_visible(NOW - 1), memory.is_visible(NOW)) == (True, False)


def test_a_pinned_memory_never_fades() -> None:
    pinned = a_memory(tier="mid", pinned=True)
    assert retention(pinned, NOW + 1_000 * DAY_MS) == 1.0
    assert linear_importance(pinned, NOW + 1_000 * DAY_MS) == pinned.importance


def test_a_confirmation_restarts_the_curve() -> None:
    confirmed = a_memory(tier="mid", confirmed_at=NOW + 27 * DAY_MS)
    assert retention(confirmed, NOW + 27 * DAY_MS) == 1.0
