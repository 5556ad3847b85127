"""When the vector files are stale, damaged, missing or of another store, search still returns what the store holds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.fake import FakeEmbedder
from keepmum.service import MemoryService
from unit.core.service_parts import OpenService

LIMIT = 60.0  # seconds
TEXTS = [f"zebra {number} runs" for number in range(12)]


@pytest.fixture
def service(open_memory: OpenService) -> MemoryService:
    """A service whose vector files are current."""
    made = opened(open_memory)
    for text in TEXTS:
        made.remember(text)
    assert found(made) == TEXTS
    return made


@pytest.fixture
def copy(service: MemoryService, keepmum_home: Path) -> Path:
    """The folder of the vector files."""
    assert service.count() == len(TEXTS)
    (folder,) = (keepmum_home / "cache").glob("vectors-*")
    return folder


def opened(open_memory: OpenService) -> MemoryService:
    return open_memory(embedder=BackgroundEmbedder(FakeEmbedder), patient=True)


def found(service: MemoryService) -> list[str]:
    """The first result of a vector search for each text."""
    best = [service.recall(text, limit=1)[0] for text in TEXTS]
    assert all("vector 1.00" in match.why for match in best)
    return [match.memory.text for match in best]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def fill(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [cut, fill, empty, Path.unlink])
@pytest.mark.parametrize("kind", ["vectors-*", "signs-*", "state.json"])
def test_damaged_vector_files_are_rebuilt(
    open_memory: OpenService, copy: Path, kind: str, harm: Callable[[Path], None]
) -> None:
    (path,) = copy.glob(kind)
    harm(path)
    again = opened(open_memory)
    again.recall(TEXTS[0])  # may be lexical, when this search detects the damage
    assert found(again) == TEXTS


def test_stale_vector_files_are_updated(open_memory: OpenService, copy: Path, tmp_path: Path) -> None:
    shutil.copytree(copy, tmp_path / "before")
    opened(open_memory).remember("a lion sleeps")
    assert "vector 1.00" in opened(open_memory).recall("a lion sleeps", limit=1)[0].why
    shutil.rmtree(copy)
    shutil.copytree(tmp_path / "before", copy)
    again = opened(open_memory)
    assert "vector 1.00" in again.recall("a lion sleeps", limit=1)[0].why
    assert found(again) == TEXTS


def test_a_restored_store_is_not_searched_with_newer_vectors(
    open_memory: OpenService, service: MemoryService, keepmum_home: Path, tmp_path: Path
) -> None:
    service.close()
    before = tmp_path / "before.db"
    shutil.copy(keepmum_home / "memory.db", before)
    wal = keepmum_home / "memory.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0, "all of it lies in the one file"
    later = opened(open_memory)
    later.remember("a lion sleeps")
    later.recall("a lion sleeps")
    later.close()
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (keepmum_home / name).unlink(missing_ok=True)
    shutil.copy(before, keepmum_home / "memory.db")
    again = opened(open_memory)
    assert found(again) == TEXTS
    assert all(match.memory.text != "a lion sleeps" for match in again.recall("a lion sleeps", limit=50))
    again.remember("a tiger wakes")
    assert again.recall("a tiger wakes", limit=1)[0].memory.text == "a tiger wakes"


def test_vector_files_may_be_deleted_while_a_server_runs(service: MemoryService, copy: Path) -> None:
    shutil.rmtree(copy)
    service.remember("a lion sleeps")
    service.recall("a lion sleeps")
    assert found(service) == TEXTS
    assert service.recall("a lion sleeps", limit=1)[0].memory.text == "a lion sleeps"
