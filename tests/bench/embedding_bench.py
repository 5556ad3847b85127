"""Cost of the local model: loading, memory, and embedding a query or a long text.

Times on a busy machine are compared with a reference from the same run: an empty interpreter, and the 32-bit matrix
products of one query, by numpy on one thread.

python tests/bench/embedding_bench.py [--quick]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_figures import ROOT, Row, bare_start, is_quick, print_table

__all__ = ["rows"]

ROUNDS = 15
_CHILD = """
import json, sys, time
(folder,) = sys.argv[1:]
def private():
    try:
        with open("/proc/self/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))
    except OSError:
        return None
def milliseconds(*works, rounds):
    taken = [[] for _ in works]
    for _ in range(rounds):
        for work, times in zip(works, taken):
            begun = time.perf_counter()
            work()
            times.append((time.perf_counter() - begun) * 1e3)
    return [sorted(times)[rounds // 2] for times in taken]
before = private()
begun = time.perf_counter()
from keepmum.embedding.minilm import MiniLm
embedder = MiniLm.open(folder)
opened = time.perf_counter() - begun
query = "how do we roll back a release that took both pools down at once?"
text = "Deploys go through the blue pool first, since a bad release took both down. " * 20
(long,) = milliseconds(lambda: embedder.embed([text]), rounds=10)
after = private()
import numpy as np
rng = np.random.default_rng(1)
shapes = [(384, 1152), (384, 384), (384, 1536), (1536, 384)] * 6
weights = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
inputs = {width: rng.standard_normal((16, width), dtype=np.float32) for width in (384, 1536)}
def products():
    for weight in weights:
        inputs[len(weight)] @ weight
query, products = milliseconds(lambda: embedder.embed([query]), products, rounds=100)
print(json.dumps({
    "open": opened, "query": query, "products": products, "long": long,
    "private": None if before is None else (after - before) / 1024,
}))
"""


def rows(*, quick: bool) -> Iterator[Row]:
    """The median of each figure over fresh processes; no rows when the model cannot be fetched."""
    from embedding_models import Unavailable, installed, published

    cache = ROOT / ".cache" / "models"
    try:
        folder = installed(cache, published(cache))
    except Unavailable as reason:
        sys.stderr.write(f"no figures of the model: {reason}\n")
        return
    seen, bare = [], []
    for _ in range(ROUNDS // 5 if quick else ROUNDS):
        bare.append(bare_start())
        seen.append(_process(folder))
    of = {name: statistics.median(one[name] for one in seen) for name in ("open", "query", "products", "long")}
    ratio = of["open"] / statistics.median(bare)
    yield Row("model: import, check and load", f"{of['open'] * 1e3:.0f} ms", "<= 300 ms", of["open"] <= 0.3)
    yield Row("the same / a bare interpreter", f"{ratio:.0f} x", "<= 30 x", ratio <= 30)
    memory = [one["private"] for one in seen]
    if None not in memory:  # only Linux reports it
        most = max(memory)
        yield Row("model: private memory, after long texts", f"{most:.0f} MiB", "<= 80 MiB", most <= 80)
    yield Row("model: a query of 16 pieces, p50", f"{of['query']:.1f} ms", "<= 3 ms", of["query"] <= 3)
    share = of["query"] / of["products"]
    yield Row("the same / its matrix products in numpy", f"{share:.2f} x", "<= 0.8 x", share <= 0.8)
    share = of["long"] / of["query"]
    yield Row("model: a text of 256 pieces / that", f"{share:.0f} x, {of['long']:.0f} ms", "<= 25 x", share <= 25)


def _process(folder: Path) -> dict[str, Any]:
    """The figures of one process."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("plugin", "hooks", "scanner"))
    environ = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _CHILD, str(folder)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
