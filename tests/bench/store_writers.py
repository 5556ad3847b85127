"""Many processes that write to one store: lost writes, refused writes, throughput.

python tests/bench/store_writers.py [--quick]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_figures import Row, is_quick, print_table
from process.store_actors import open_at, start_writer

__all__ = ["rows"]

LIMIT = 500  # seconds


def rows(*, quick: bool) -> Iterator[Row]:
    """16 processes with 500 writes each; a tenth of the writes when `quick`."""
    writers, writes = 16, 50 if quick else 500
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "memory.db")
        started = time.perf_counter()
        running = [start_writer(path, f"writer-{number}", writes) for number in range(writers)]
        outputs = [writer.communicate(timeout=LIMIT) for writer in running]
        seconds = time.perf_counter() - started
        acknowledged = [line.split()[0] for output, _ in outputs for line in output.decode().splitlines()]
        errors = [line for _, output in outputs for line in output.splitlines()]
        with closing(open_at(path, "reader")) as service:
            kept = {memory.id for memory in service.store.get(list(set(acknowledged)))}
            integrity = service.health()["integrity"]
        lost = sum(memory not in kept for memory in acknowledged) + writers * writes - len(acknowledged)
    what = f"{writers} processes x {writes} writes"
    measured = f"{lost} lost, {len(errors)} errors, {integrity}"
    yield Row(what, measured, "0 lost, 0 errors, ok", measured == "0 lost, 0 errors, ok")
    yield Row("  writes per second, in total", f"{writers * writes / seconds:.0f}", "-")


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
