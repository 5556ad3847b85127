"""Two processes with different models on one store: vectors are of one model only, and nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import keepmum
from keepmum.embedding.fake import FakeEmbedder

pytestmark = pytest.mark.usefixtures("shared_bytecode")

EACH = 25  # memories of each process
LIMIT = 120  # seconds
_PROGRAM = """
import sys
import keepmum
from keepmum.embedding.fake import FakeEmbedder

path, model, count = sys.argv[1:]
with keepmum.open_memory(path, FakeEmbedder(model=model)) as memory:
    for number in range(int(count)):
        memory.remember(text=f"{model} keeps number {number}")
        assert memory.recall(f"{model} keeps number {number}", limit=60)
    print(memory.lexical_only)
"""


def running(path: Path, model: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _PROGRAM, str(path), model, str(EACH)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def reasons(tmp_path: Path) -> dict[str, str]:
    """The reason for which each process's search is lexical at the end; empty when it is not."""
    processes = {model: running(tmp_path / "notes.db", model) for model in ("one", "two")}
    said = {}
    for model, process in processes.items():
        out, err = process.communicate(timeout=LIMIT)
        assert (process.returncode, err) == (0, "")
        said[model] = out.strip()
    return said


def test_the_vectors_are_of_one_model_and_the_other_process_says_so(reasons: dict[str, str], tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as db:
        query = "SELECT DISTINCT name FROM vectors JOIN models ON models.id = model WHERE vector IS NOT NULL"
        ((held,),) = db.execute(query).fetchall()
    winner = held.partition("-")[0]
    (loser,) = reasons.keys() - {winner}
    assert reasons[winner] == ""
    assert f"embedded by {held}" in reasons[loser]
    assert "`keepmum reembed`" in reasons[loser]


def test_what_the_other_process_kept_is_embedded_by_the_first(reasons: dict[str, str], tmp_path: Path) -> None:
    winner, loser = sorted(reasons, key=lambda model: reasons[model])
    with keepmum.open_memory(tmp_path / "notes.db", FakeEmbedder(model=winner)) as memory:
        found = memory.recall(f"{loser} keeps number 7", limit=60)
        assert "vector 1.00" in found[0].why
        assert memory.count() == 2 * EACH
