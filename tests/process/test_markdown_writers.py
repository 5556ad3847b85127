"""Many processes write Markdown memories at once without losing any.

KEEPMUM_TEST_FULL=1 runs the full numbers; the default takes less than a minute.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keepmum.core.memory import Filter
from keepmum.stores.markdown import MarkdownStore

pytestmark = [pytest.mark.disk, pytest.mark.heavy]

ROOT = Path(__file__).resolve().parent.parent.parent
FULL = bool(os.environ.get("KEEPMUM_TEST_FULL"))
WRITERS, WRITES = (16, 100) if FULL else (16, 12)
LIMIT = 580.0  # seconds
WRITER = """
import sys, time
from keepmum.core import ids
from keepmum.core.memory import Change, Memory
from keepmum.stores.markdown import MarkdownStore
from dataclasses import replace

root, cache, name, count = sys.argv[1:]
store = MarkdownStore(root, cache, "alpha")
for number in range(int(count)):
    at = time.time_ns() // 1_000_000
    text = f"{name} wrote {number}"
    memory = Memory(id=ids.new_id(at), text=text, title=text, created_at=at, updated_at=at, project="alpha")
    store.commit([Change(None, memory)])
    if number % 3 == 0:
        store.commit([Change(memory, replace(memory, text=text + " twice", revision=2))])
store.close()
"""


def start(folder: Path, cache: Path, name: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(str(ROOT / part) for part in ("plugin", "scanner", "hooks"))
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(cache), name, str(WRITES)],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("caches", [1, 4], ids=["one cache", "separate caches"])
def test_many_writers_lose_nothing(tmp_path: Path, caches: int) -> None:
    """With separate caches, as for two users of one folder, the processes share no lock either."""
    folder = tmp_path / "repository"
    folder.mkdir()
    writers = [start(folder, tmp_path / f"cache{number % caches}", f"w{number}") for number in range(WRITERS)]
    assert [writer.communicate(timeout=LIMIT)[1] for writer in writers] == [b""] * WRITERS
    with contextlib.closing(MarkdownStore(str(folder), str(tmp_path / "cache0"), "alpha")) as store:
        found = store.browse(Filter(now=9**15, project="alpha"), limit=100_000)
        assert sorted(memory.text for memory in found) == sorted(
            f"w{writer} wrote {number}{' twice' if number % 3 == 0 else ''}"
            for writer in range(WRITERS)
            for number in range(WRITES)
        )
        assert store.notice == ""
    assert len(list(folder.rglob("*.md"))) == WRITERS * WRITES
