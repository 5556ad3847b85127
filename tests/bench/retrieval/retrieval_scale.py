"""What a recall by words and meaning costs in large stores, of realistic texts with made-up vectors.

    python tests/bench/retrieval/retrieval_scale.py [SIZE …] [--model FOLDER] [--keep FOLDER]

With the installed model (`keepmum model status` names its folder) each question is read by it as well, and its time
counts; where to lie, its vector is still made up, as are those that it is looked for among. 1,000,000 memories take
10 minutes to fill, or a moment where `--keep` has them from the last time, and 5 GB.
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
from keepmum.core.memory import Change, Embedding, Filter
from keepmum.embedding.minilm import MiniLm
from keepmum.stores import SqliteSpec, open_store
from keepmum.stores.vectors import normalised, pack

if TYPE_CHECKING:
    from keepmum.embedding import Embedder
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
        return normalised(near + np.float32(0.8) * self._drawn(len(texts)))

    def _drawn(self, count: int) -> Vectors:
        return normalised(self._chance.standard_normal((count, _DIMENSIONS), dtype=np.float32))


class Read(MadeUp):
    """The same, and a question is read by the model as well, for the time that it takes."""

    def __init__(self, model: Embedder) -> None:
        super().__init__()
        self._model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row near some topic for each text."""
        self._model.embed(texts)
        return super().embed(texts)


def rows(sizes: Sequence[int], questioned: MadeUp, kept: Path | None = None) -> Iterator[store_figures.Row]:
    """Times at each size, what the processor had to do with them, and what the process held in the end."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as passing:
            folder = kept / str(size) if kept else Path(passing)
            folder.mkdir(parents=True, exist_ok=True)
            os.environ["HOME"] = os.environ["KEEPMUM_HOME"] = str(folder)
            path = folder / "memory.db"
            begun = time.perf_counter()
            if fill(path, size, MadeUp()):
                yield store_figures.Row(f"filling it with {size:,}", f"{time.perf_counter() - begun:.0f} s", "-")
            with open_memory(path, questioned, project="alpha") as memory:
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
        yield store_figures.Row("  CPU time, on average", f"{worked * 1e3:.1f} ms", "-")
        if (own := _own()) is not None:
            yield store_figures.Row("  memory that is the process's own", f"{own:.0f} MiB", "-")


def fill(path: Path, size: int, embedder: MadeUp) -> bool:
    """Make a store of so many memories where there is none yet; whether it was made."""
    with closing(open_store(SqliteSpec(str(path)))) as store:
        now = time.time_ns() // 1_000_000
        if store.count(Filter(now=now, everywhere=True)) == size:
            return False
        left = memories(size, now)
        while some := list(islice(left, BATCH)):
            made = (Embedding(embedder.model, pack(vector)) for vector in embedder.embed([one.text for one in some]))
            store.commit([Change(None, memory, vector) for memory, vector in zip(some, made, strict=True)])
    return True


def _own() -> float | None:
    """MiB that the process shares with no other; None where the system does not tell."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")) / 1024


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[4_000], help="memories; 4,000 when missing")
    parser.add_argument("--model", type=Path, help="folder of the installed model")
    parser.add_argument("--keep", type=Path, help="folder in which the stores stay for the next time")
    options = parser.parse_args()
    questioned = Read(MiniLm.open(str(options.model))) if options.model else MadeUp()
    store_figures.print_table(rows(options.sizes, questioned, options.keep))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
