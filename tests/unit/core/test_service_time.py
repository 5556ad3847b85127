"""Effects of time on memories, and clocks that jump."""

from __future__ import annotations

import pytest

from keepmum.core.memory import Memory
from keepmum.service import MemoryService
from unit.core.service_parts import Clock, OpenService


def pass_time(service: MemoryService, clock: Clock, days: float) -> None:
    """Advance the clock day by day, with a sweep on each day."""
    for _ in range(int(days)):
        clock.advance(days=1)
        service.sweep()
    clock.advance(days=days % 1)
    service.sweep()


def status(service: MemoryService, memory: Memory) -> str:
    return service.find(memory.id).status


@pytest.fixture
def swept(service: MemoryService) -> MemoryService:
    """A service that has recorded the time once."""
    service.sweep()
    return service


def test_an_expired_memory_moves_to_the_trash(swept: MemoryService, clock: Clock) -> None:
    memory = swept.remember("zebra", ttl_seconds=60).memory
    clock.advance(seconds=61)
    assert swept.sweep() == 1
    assert status(swept, memory) == "trashed"


def test_the_trash_is_kept_for_thirty_days(swept: MemoryService, clock: Clock) -> None:
    memory = swept.remember("zebra").memory
    swept.forget([memory.id])
    pass_time(swept, clock, 29.9)
    assert status(swept, memory) == "trashed"
    pass_time(swept, clock, 0.2)
    assert swept.store.get([memory.id]) == []


@pytest.mark.parametrize(("loads", "days"), [(0, 179.4), (1, 303.7)])
def test_a_faded_memory_becomes_a_tombstone(swept: MemoryService, clock: Clock, loads: int, days: float) -> None:
    memory = swept.remember("zebra").memory
    for _ in range(loads):
        swept.load([memory.id])
    pass_time(swept, clock, days - 0.2)
    assert status(swept, memory) == "active"
    pass_time(swept, clock, 0.4)
    assert status(swept, memory) == "tombstoned"
    assert swept.recall("zebra") == []


def test_a_tombstone_comes_back(swept: MemoryService, clock: Clock) -> None:
    memory = swept.remember("zebra").memory
    pass_time(swept, clock, 180)
    swept.undo(memory.id)
    swept.sweep()
    assert status(swept, memory) == "active"


def test_long_term_memories_do_not_fade(swept: MemoryService, clock: Clock) -> None:
    memory = swept.remember("zebra", kind="decision").memory
    pass_time(swept, clock, 400)
    assert status(swept, memory) == "active"


def test_the_linear_policy_archives_what_is_no_longer_important(open_memory: OpenService, clock: Clock) -> None:
    service = open_memory(policy="linear")
    service.sweep()
    memory = service.remember("zebra", importance=0.5).memory
    pass_time(service, clock, 15 * 7)
    assert status(service, memory) == "active"
    pass_time(service, clock, 7)
    assert status(service, memory) == "archived"


@pytest.mark.parametrize("days", [1.01, 365, 36_500, -1, -365])
def test_a_clock_jump_loses_no_memory(swept: MemoryService, clock: Clock, days: float) -> None:
    trashed = swept.remember("zebra").memory
    swept.forget([trashed.id])
    expiring = swept.remember("gnu", ttl_seconds=60).memory
    clock.advance(days=days)
    assert swept.sweep() == 0
    clock.advance(days=-days)
    assert swept.sweep() == 0
    assert (status(swept, trashed), status(swept, expiring)) == ("trashed", "active")


def test_the_first_sweep_only_records_the_time(service: MemoryService, clock: Clock) -> None:
    memory = service.remember("zebra", ttl_seconds=60).memory
    clock.advance(seconds=61)
    assert service.sweep() == 0
    assert status(service, memory) == "active"
    assert service.sweep() == 1


def test_a_sweep_reaches_due_memories_past_any_number_of_old_ones(swept: MemoryService, clock: Clock) -> None:
    for number in range(510):
        swept.remember(f"an old note, number {number}")
    clock.advance(seconds=1)
    memory = swept.remember("zebra", ttl_seconds=60).memory
    clock.advance(seconds=61)
    assert swept.sweep() == 1
    assert status(swept, memory) == "trashed"


def test_effects_of_time_are_logged(swept: MemoryService, clock: Clock) -> None:
    swept.remember("zebra", ttl_seconds=60)
    clock.advance(seconds=61)
    swept.sweep()
    assert [event.action for event in swept.activity()] == ["trashed", "created"]
