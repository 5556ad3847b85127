"""Reembedding is killed repeatedly; in the end every memory has been embedded, and few of them twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import keepmum
from keepmum.embedding.fake import FakeEmbedder

pytestmark = [pytest.mark.disk, pytest.mark.heavy]

COUNT, KILLS = 200, 5
BATCH = 8  # memories whose vectors are stored at once: what a kill may lose
LIMIT = 120  # seconds
_PROGRAM = """
import os, sys
import keepmum
from keepmum.embedding.fake import FakeEmbedder

class Noting(FakeEmbedder):
    def embed(self, texts):
        for text in texts:
            os.write(noted, (text.splitlines()[0] + "\\n").encode())
        return super().embed(texts)

def show(done, total):
    global left
    print(done, total, flush=True)
    left -= 1
    if left == 0:
        sys.stdin.read()

noted, left = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT), int(sys.argv[3])
with keepmum.open_memory(sys.argv[1], Noting(model="new")) as memory:
    done = memory.reembed(show)
print("ended", done, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store whose memories have vectors of an old model."""
    path = tmp_path / "notes.db"
    with keepmum.open_memory(path, FakeEmbedder(model="old")) as memory:
        for number in range(COUNT):
            memory.remember(text=f"zebra {number} runs")
    return path


def running(store: Path, noted: Path, waits_after: int = 0) -> subprocess.Popen[str]:
    """A reembedding; it waits after a number of progress lines, or never."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _PROGRAM, str(store), str(noted), str(waits_after)]
    return subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def kill_after(lines: int, store: Path, noted: Path, *, waits: bool = True) -> list[str]:
    """The progress lines of a reembedding that is killed after `lines` of them, or later if it never waits."""
    with running(store, noted, lines if waits else 0) as process:
        assert process.stdout is not None
        progress = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        process.wait(LIMIT)
    return progress


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """The file to which each text is appended that the new model embeds."""
    return tmp_path / "noted.txt"


def test_after_kills_at_any_batch_all_is_embedded_and_little_of_it_twice(store: Path, noted: Path) -> None:
    for kill in range(KILLS):
        kill_after(1 + kill % 2, store, noted, waits=False)
    with running(store, noted) as process:
        out = process.communicate(timeout=LIMIT)[0]
    assert (process.returncode, out.splitlines()[-1].split()[0]) == (0, "ended")
    embedded = [text for text in noted.read_text(encoding="utf-8").splitlines() if text.startswith("zebra")]
    assert len(set(embedded)) == COUNT  # beyond the sample texts that the model is calibrated with
    assert len(embedded) <= COUNT + KILLS * BATCH
    with keepmum.open_memory(store, FakeEmbedder(model="new")) as memory:
        assert memory.reembed() == 0
        assert memory.notices() == []
        assert "vector 1.00" in memory.recall("zebra 7 runs")[0].why


def test_progress_counts_what_is_left(store: Path, noted: Path) -> None:
    (first,) = kill_after(1, store, noted)
    assert first == f"{BATCH} {COUNT}\n"
    (again,) = kill_after(1, store, noted)
    done, total = map(int, again.split())
    assert (done, total % BATCH) == (BATCH, COUNT % BATCH)
    assert total < COUNT


@pytest.mark.parametrize("model", ["old", "new"])
def test_half_of_one_model_and_half_of_another_are_never_searched_together(
    store: Path, noted: Path, model: str
) -> None:
    kill_after(1, store, noted)
    with keepmum.open_memory(store, FakeEmbedder(model=model)) as memory:
        assert all("vector" not in match.why for match in memory.recall("zebra 7 runs", limit=50))
        assert "`keepmum reembed`" in memory.lexical_only


def test_a_server_of_the_old_model_embeds_nothing_while_the_store_changes(store: Path, noted: Path) -> None:
    kill_after(1, store, noted)
    with keepmum.open_memory(store, FakeEmbedder(model="old")) as memory:
        memory.remember(text="a lion sleeps")
    with running(store, noted) as process:
        process.communicate(timeout=LIMIT)
    assert "a lion sleeps" in noted.read_text(encoding="utf-8").splitlines()
    with keepmum.open_memory(store, FakeEmbedder(model="new")) as memory:
        assert "vector 1.00" in memory.recall("a lion sleeps")[0].why
