"""A service over a new store, with a clock that the test sets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import SqliteSpec
from keepmum.stores.sqlite import SqliteStore
from keepmum_scanner import scan
from unit.core.service_parts import Clock, OpenService


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keepmum_home(tmp_path: Path) -> Path:
    """The folder of KEEPMUM_HOME."""
    return tmp_path / "keepmum"


@pytest.fixture
def open_memory(keepmum_home: Path, tmp_path: Path, clock: Clock) -> Iterator[OpenService]:
    """Opens the same store again, for another agent, session or project."""
    root = tmp_path / "project"
    root.mkdir()
    with contextlib.ExitStack() as stack:

        def open_one(agent: str = "claude-code", **options: Any) -> MemoryService:
            place = {"project": "alpha", "name": "Alpha", "root": str(root), **options.pop("place", {})}
            service = open_service(
                SqliteSpec(str(keepmum_home / "memory.db")), scan,
                ServiceOptions(place=Place(**place), agent=agent, clock=clock, home=str(keepmum_home), **options),
            )  # fmt: skip
            stack.callback(service.close)
            return service

        yield open_one


@pytest.fixture
def service(open_memory: OpenService) -> MemoryService:
    return open_memory()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a SQLite store, in a folder that does not exist yet."""
    return tmp_path / "home" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """A new SQLite store at `path`."""
    with contextlib.closing(SqliteStore(str(path))) as opened:
        yield opened
