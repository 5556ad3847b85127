"""The time of the review queue with 10,000 memories, each an item, half of them near duplicates.

    python tests/bench/review_queue.py [--quick]

The reference reads the same 10,000 memories with their texts, as a listing does. The cases alternate with it, so that
other load on the machine affects both.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_corpus import memories
from bench.store_figures import Row, is_quick, print_table
from keepmum.core import ranking
from keepmum.core.memory import Change, Embedding, Filter
from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.fake import FakeEmbedder
from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import SqliteSpec, vectors

COUNT = 10_000
ROUNDS = 15
_COUNTED = "review: counts, nothing changed / reading all memories"
_CHANGED = "review: counts after a change / reading all memories"
_PAGE = "review: a page of 50 / reading all memories"
_REFERENCE = "reading all memories"
TARGETS = {_COUNTED: 0.05, _CHANGED: 1.0, _PAGE: 1.0}


def rows(*, quick: bool) -> Iterator[Row]:
    """The counts and a page as ratios to reading all memories."""
    background = BackgroundEmbedder(FakeEmbedder)
    background.wait(60)
    with tempfile.TemporaryDirectory(prefix="keepmum-bench-") as folder:
        options = ServiceOptions(place=Place(project="alpha"), home=folder, embedder=background)
        with open_service(SqliteSpec(f"{folder}/memory.db"), lambda _: (), options) as service:
            _fill(service)
            service.compare()
            wanted = Filter(now=service.now(), project="alpha")
            cases: Mapping[str, Callable[[], object]] = {
                _COUNTED: service.review_counts,
                _CHANGED: lambda: _changed(service),
                _PAGE: service.review,
                _REFERENCE: lambda: service.store.browse(wanted, limit=COUNT),
            }
            times: dict[str, list[float]] = {name: [] for name in cases}
            for _ in range(ROUNDS // 3 if quick else ROUNDS):
                for name, run in cases.items():
                    start = time.perf_counter()
                    run()
                    times[name].append(time.perf_counter() - start)
    median = {name: statistics.median(each) for name, each in times.items()}
    for name, target in TARGETS.items():
        ratio = median[name] / median[_REFERENCE]
        yield Row(name, f"{ratio:.3f} ({1000 * median[name]:.1f} ms)", f"<= {target}", ratio <= target)


def _changed(service: MemoryService) -> object:
    service.store.commit([])
    return service.review_counts()


def _fill(service: MemoryService) -> None:
    """Store instructions by agents, and as many notes that nearly repeat them."""
    embedder, first = FakeEmbedder(), list(memories(COUNT // 2, service.now()))
    each = [replace(memory, project="alpha", kind="instruction", key=None) for memory in first]
    again = [replace(memory, kind="note", text=f"{memory.text} Indeed.") for memory in each]
    filled = [replace(memory, id=f"mem_{number:026d}") for number, memory in enumerate([*each, *again])]
    texts = [ranking.embedding_text(memory) for memory in filled]
    made = [Embedding(embedder.model, vectors.pack(embedder.embed([text])[0])) for text in texts]
    service.store.commit([Change(None, *pair) for pair in zip(filled, made, strict=True)])


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
