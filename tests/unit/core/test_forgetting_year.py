"""A simulated year: what is kept, what fades, what becomes a tombstone."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from keepmum.core import retention
from keepmum.core.memory import Memory
from keepmum.service import MemoryService

pytestmark = pytest.mark.heavy


class Year:
    """The simulation, and what was seen at the end of it."""

    def __init__(self, script: ModuleType) -> None:
        self.script = script
        self.end = 0
        self.memories: list[Memory] = []
        self.weeks = script.year(self._watch)

    def _watch(self, service: MemoryService, now: int) -> None:
        self.end = now
        self.memories = list(self.script.everything(service))

    def those(self, status: str) -> list[Memory]:
        return [memory for memory in self.memories if memory.status == status]


@pytest.fixture(scope="module")
def year(root: Path) -> Iterator[Year]:
    specification = importlib.util.spec_from_file_location("docs_forgetting", root / "docs" / "forgetting.py")
    assert specification is not None
    assert specification.loader is not None
    before = list(sys.path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    yield Year(module)
    sys.path[:] = before


def test_the_picture_shows_this_year(year: Year) -> None:
    drawn = year.script.draw(year.weeks)
    assert Path(year.script.TARGET).read_text(encoding="utf-8") == drawn, "run: python3 docs/forgetting.py"


def test_nothing_lasting_fades(year: Year) -> None:
    assert [memory for memory in year.those("tombstoned") if memory.tier == "long"] == []


def test_a_tombstone_was_not_loaded_for_half_a_year(year: Year) -> None:
    tombstones = year.those("tombstoned")
    assert tombstones
    idle = [memory.updated_at - max(memory.accessed_at or 0, memory.created_at) for memory in tombstones]
    assert min(idle) > 179 * retention.DAY_MS


def test_everything_that_stays_in_sight_is_worth_it(year: Year) -> None:
    active = year.those("active")
    assert min(retention.retention(memory, year.end) for memory in active) >= retention.TOMBSTONE_BELOW


def test_the_trash_is_emptied(year: Year) -> None:
    trashed = year.those("trashed")
    assert trashed
    assert all(year.end - (memory.trashed_at or 0) < 30 * retention.DAY_MS for memory in trashed)
