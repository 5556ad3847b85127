"""Writers killed at random moments: number of lost acknowledged writes, and integrity of the store.

python tests/bench/store_crash.py [--quick]
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_figures import Row, is_quick, print_table
from process.store_actors import open_at, start_writer

__all__ = ["rows"]

LIMIT = 60  # seconds
WRITERS = 4


def rows(*, quick: bool) -> Iterator[Row]:
    """200 kills under 4 writers; 20 when `quick`."""
    kills, chance = 20 if quick else 200, random.Random(5)
    acknowledged: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "memory.db")
        for round_number in range(kills // WRITERS):
            writers = [start_writer(path, f"w{round_number}-{number}", 1_000_000) for number in range(WRITERS)]
            for writer in chance.sample(writers, WRITERS):
                assert writer.stdout is not None
                output = b"".join(writer.stdout.readline() for _ in range(chance.randrange(1, 60)))
                writer.kill()
                output += writer.communicate(timeout=LIMIT)[0]
                for line in output.decode().split("\n")[:-1]:
                    memory, revision = line.split()
                    acknowledged[memory] = max(int(revision), acknowledged.get(memory, 0))
        with closing(open_at(path, "reader")) as service:
            kept = {memory.id: memory.revision for memory in service.store.get(list(acknowledged))}
            integrity = service.health()["integrity"]
    lost = sum(kept.get(memory, 0) < revision for memory, revision in acknowledged.items())
    what = f"{kills} x kill -9 under {WRITERS} writers ({len(acknowledged):,} memories)"
    yield Row(what, f"{lost} lost, {integrity}", "0 lost, ok", (lost, integrity) == (0, "ok"))


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
