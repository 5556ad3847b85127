"""What a recall by words and meaning costs in large stores, of realistic texts with made-up vectors.

    python tests/bench/retrieval/retrieval_scale.py [SIZE …]     4,000 when missing; 1,000,000 takes an hour to fill

The question's own vector is made up too: what the model takes for one is told by `keepmum model status`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

import numpy as np

from bench import store_figures  # puts our folders on the path
from bench.store_corpus import memories, questions
from keepmum import open_memory
from keepmum.memory import Change, Embedding
from keepmum.stores import STORES
from keepmum.vectors import pack, unit

if TYPE_CHECKING:
    from keepmum.embedding.base import Vectors

__all__ = ["MadeUp", "fill", "rows"]

QUESTIONS = 200
BATCH = 2_000
GOALS = {4_000: 0.005, 100_000: 0.030, 1_000_000: 0.150}  # seconds, at the median
_DIMENSIONS, _TOPICS = 384, 500


class MadeUp:
    """Vectors that gather around a few hundred topics, as those of real texts do."""

    model, dimensions = "made-up", _DIMENSIONS

    def __init__(self) -> None:
        self._chance = np.random.default_rng(1)
        self._topics = self._drawn(_TOPICS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row near some topic for each text."""
        near = self._topics[self._chance.integers(0, _TOPICS, len(texts))]
        return unit(near + np.float32(0.8) * self._drawn(len(texts)))

    def _drawn(self, count: int) -> Vectors:
        return unit(self._chance.standard_normal((count, _DIMENSIONS), dtype=np.float32))


def rows(sizes: Sequence[int]) -> Iterator[store_figures.Row]:
    """Times at each size, and what the processor had to do with them."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HOME"] = os.environ["KEEPMUM_HOME"] = folder
            path, embedder = Path(folder, "memory.db"), MadeUp()
            fill(path, size, embedder)
            with open_memory(path, embedder, project="alpha") as memory:
                begun = time.perf_counter()
                memory.recall("the first question makes the index")
                yield store_figures.Row(
                    f"the index of {size:,} vectors", f"{time.perf_counter() - begun:.1f} s, once", "-"
                )
                seconds, worked = [], time.process_time()
                for question in questions(QUESTIONS):
                    asked = time.perf_counter()
                    memory.recall(question)
                    seconds.append(time.perf_counter() - asked)
                worked = (time.process_time() - worked) / QUESTIONS
        p50, goal = statistics.median(seconds), GOALS.get(size)
        told = f"p50 {p50 * 1e3:.1f} p95 {store_figures.percentile(seconds, 95) * 1e3:.1f} ms"
        reach = "-" if goal is None else f"p50 <= {goal * 1e3:.0f} ms"
        yield store_figures.Row(
            f"recall by words and meaning, {size:,}", told, reach, None if goal is None else p50 <= goal
        )
        yield store_figures.Row("  of the processor's time, on average", f"{worked * 1e3:.1f} ms", "-")


def fill(path: Path, size: int, embedder: MadeUp) -> None:
    with closing(STORES["sqlite"](str(path))) as store:
        left = memories(size, time.time_ns() // 1_000_000)
        while some := list(islice(left, BATCH)):
            made = (Embedding(embedder.model, pack(vector)) for vector in embedder.embed([one.text for one in some]))
            store.commit([Change(None, memory, vector) for memory, vector in zip(some, made, strict=True)])


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[4_000], help="memories; 4,000 when missing")
    store_figures.print_table(rows(parser.parse_args().sizes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
