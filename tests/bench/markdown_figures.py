"""Times of the Markdown store: building the index, a later start, and recall.

python tests/bench/markdown_figures.py [--quick]       10,000 files; with --quick 2,000, without goals
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench import store_figures
from bench.store_corpus import memories, questions
from keepmum.core import ranking
from keepmum.core.memory import Filter, JsonValue
from keepmum.service.importers.memories import write_file
from keepmum.stores.markdown import FOLDER, MarkdownStore

Row = store_figures.Row

__all__ = ["rows"]

QUESTIONS = 300
STARTS = 7
COLD, WARM, RECALL = 5.0, 0.150, 0.030  # seconds
GIT: dict[str, JsonValue] = {
    "branch": "main",
    "commit": "0f3a9c1d2e4b",
    "dirty": True,
    "files_changed": ["src/shop.py", "tests/test_shop.py"],
}


def rows(*, quick: bool) -> Iterator[Row]:
    """Times for one size, with CPU time, since the page cache is shared with other processes."""
    size = 2_000 if quick else 10_000
    goal = not quick
    with tempfile.TemporaryDirectory() as folder:
        root, now = Path(folder, "shop"), time.time_ns() // 1_000_000
        for memory in memories(size, now):
            write_file(str(root / FOLDER), replace(memory, git=GIT))
        wall, spent = _started(root)
        value = f"{wall:.1f} s, {spent:.1f} s of CPU time"
        yield Row(
            f"index of {size:,} files, built at first", value, "<= 5 s" if goal else "-", wall <= COLD if goal else None
        )
        starts = [_started(root) for _ in range(STARTS)]
        wall, spent = (statistics.median(each) for each in zip(*starts, strict=True))
        value = f"{wall * 1e3:.0f} ms, {spent * 1e3:.0f} ms of CPU time"
        yield Row(
            f"{size:,} files at a later start", value, "<= 150 ms" if goal else "-", wall <= WARM if goal else None
        )
        with closing(_opened(root)) as store:
            times = [_asked(store, question, now) for question in questions(QUESTIONS)]
        p50, p95 = statistics.median(times), store_figures.percentile(times, 95)
        value = f"p50 {p50 * 1e3:.1f} p95 {p95 * 1e3:.1f} ms"
        yield Row(f"recall, {size:,} files", value, "p95 <= 30 ms" if goal else "-", p95 <= RECALL if goal else None)


def _opened(root: Path) -> MarkdownStore:
    return MarkdownStore(str(root), str(root.parent / "cache"), "shop")


def _started(root: Path) -> tuple[float, float]:
    """Seconds from opening a store to its first result, and the CPU seconds of them."""
    wall, spent = time.perf_counter(), time.process_time()
    with closing(_opened(root)) as store:
        store.browse(Filter(now=time.time_ns() // 1_000_000, everywhere=True), limit=10)
    return time.perf_counter() - wall, time.process_time() - spent


def _asked(store: MarkdownStore, question: str, now: int) -> float:
    started = time.perf_counter()
    store.search(ranking.terms(question), Filter(now=now, everywhere=True), 50)
    return time.perf_counter() - started


if __name__ == "__main__":
    store_figures.print_table(rows(quick=store_figures.is_quick(__doc__)))
