"""Many processes on one store: no write is lost or refused, and killing a process does no harm.

KEEPMUM_TEST_FULL=1 runs the full numbers; the smaller default ones take less than a minute.
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
from pathlib import Path

import pytest

from process.store_actors import open_at, start_writer

pytestmark = [pytest.mark.disk, pytest.mark.heavy]

FULL = bool(os.environ.get("KEEPMUM_TEST_FULL"))
WRITERS, WRITES = (16, 500) if FULL else (8, 60)
KILLS, CRASHERS = (200, 4) if FULL else (12, 4)
LIMIT = 580.0  # seconds


def acknowledged(output: bytes) -> list[tuple[str, int]]:
    """Id and revision of every write acknowledged with a complete line."""
    lines = output.decode().split("\n")[:-1]
    return [(memory, int(revision)) for memory, _, revision in (line.partition(" ") for line in lines)]


def assert_clean(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
        db.rollback()
    assert list(path.parent.glob("*.corrupt-*")) == []


def test_many_writers_lose_nothing_and_are_never_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writers = [start_writer(str(path), f"writer-{number}", WRITES) for number in range(WRITERS)]
    outputs = [writer.communicate(timeout=LIMIT) for writer in writers]
    assert [errors for _, errors in outputs] == [b""] * WRITERS
    kept = [ack for output, _ in outputs for ack in acknowledged(output)]
    assert len(kept) == WRITERS * WRITES
    with contextlib.closing(open_at(str(path), "reader")) as service:
        newest: dict[str, int] = {}
        for memory, revision in kept:
            newest[memory] = max(revision, newest.get(memory, 0))
        found = {memory.id: memory.revision for memory in service.store.get(list(newest))}
        assert found == newest
        shared = -(-WRITES // 5)
        assert len(found) == WRITERS * (WRITES - shared) + shared
    assert_clean(path)


def test_killing_writers_loses_no_acknowledged_write(tmp_path: Path) -> None:
    path, chance = tmp_path / "memory.db", random.Random(1)
    kept: list[tuple[str, int]] = []
    writers: list[subprocess.Popen[bytes]] = []
    for round_number in range(KILLS // CRASHERS):
        writers = [start_writer(str(path), f"w{round_number}-{number}", 100_000) for number in range(CRASHERS)]
        for writer in chance.sample(writers, CRASHERS):
            assert writer.stdout is not None
            taken = b"".join(writer.stdout.readline() for _ in range(chance.randrange(1, 12)))
            writer.kill()
            rest, errors = writer.communicate(timeout=LIMIT)
            assert errors == b""
            kept += acknowledged(taken + rest)
    with contextlib.closing(open_at(str(path), "reader")) as service:
        found = {memory.id: memory.revision for memory in service.store.get([memory for memory, _ in kept])}
        lost = [memory for memory, revision in kept if found.get(memory, 0) < revision]
        assert lost == []
        assert len(kept) >= KILLS
    assert_clean(path)
