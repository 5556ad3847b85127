"""Whether what was kept is found: our service and its two legs alone, on any data of the form in `retrieval_data`.

    python tests/bench/retrieval/retrieval_run.py DATA --model FOLDER [--sets a,b] [--split dev] [--systems x,y]

FOLDER holds the installed model (`keepmum model status` names it); without one, search goes by words alone. DATA may be
this folder, with the set `notes`; the system `qdrant-edge` needs the package qdrant-edge-py.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

from bench import store_figures  # puts our folders on the path
from bench.retrieval.retrieval_data import Space, load
from bench.retrieval.retrieval_measures import MEASURES, measure
from bench.retrieval.retrieval_peers import QdrantEdge
from bench.retrieval.retrieval_systems import BM25, Dense, Keepmum, ReadOnce, Split, System
from keepmum.embedding.minilm import MiniLm

__all__ = ["Result", "main", "run"]

_DEPTH = 10
# Asked for by name.
_BY_NAME = ("one store", "split over two", "half at a server (loaded)", "half at a server (titles)", "qdrant-edge")
_BROAD = 3  # times as many are asked for where several are parts of one answer
_COLUMNS = ("system", "set", "questions", *MEASURES, "p50 ms", "p95 ms", "refused")


class Result:
    """The measures of one system on one set."""

    def __init__(self) -> None:
        self.scores: list[dict[str, float]] = []
        self.seconds: list[float] = []
        self.refused = 0

    def mean(self, name: str) -> float:
        """The mean of a measure over all questions."""
        return statistics.fmean(score[name] for score in self.scores)

    def milliseconds(self, share: int) -> float:
        """So many are enough for `share` percent of the questions."""
        return store_figures.percentile(self.seconds, share) * 1e3


def run(make: Callable[[], System], spaces: Sequence[Space]) -> Result:
    """What a system finds in each space, filled anew for each."""
    result = Result()
    for space in spaces:
        system = make()
        result.refused += system.index(space.memories)
        system.search(space.questions[0].text, _DEPTH)  # the first opens files
        for question in space.questions:
            asked = time.perf_counter()
            found = system.search(question.text, _DEPTH * _BROAD if space.parents else _DEPTH)
            result.seconds.append(time.perf_counter() - asked)
            ranked = list(dict.fromkeys(space.parents.get(one, one) for one in found))
            result.scores.append(measure(ranked[:_DEPTH], question.grades))
        system.close()
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown, a line for each system and set, and the means over the sets."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = os.environ["KEEPMUM_HOME"] = home
        systems = _systems(options.model)
        print("| " + " | ".join(_COLUMNS) + " |\n|" + "---|" * len(_COLUMNS))  # noqa: T201 - a report
        for name in (
            re.split(r",(?! )", options.systems)
            if options.systems
            else [name for name in systems if name not in _BY_NAME]
        ):
            for line in _lines(name, systems[name], options.data, options.sets.split(","), options.split):
                print(line, flush=True)  # noqa: T201 - a report
    return 0


def _lines(name: str, make: Callable[[], System], data: Path, sets: Sequence[str], split: str) -> Iterator[str]:
    results = []
    for chosen in sets:
        result = run(make, list(load(data / chosen / split)))
        results.append(result)
        figures = [f"{result.mean(measured):.3f}" for measured in MEASURES]
        times = [f"{result.milliseconds(share):.1f}" for share in (50, 95)]
        yield _line(name, chosen, str(len(result.scores)), *figures, *times, str(result.refused or ""))
    means = [f"{statistics.fmean(result.mean(measured) for result in results):.3f}" for measured in MEASURES]
    yield _line(name, "**mean**", "", *means, "", "", "")


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _systems(model: Path | None) -> Mapping[str, Callable[[], System]]:
    """What is measured, by name; the model is opened once."""
    embedder = ReadOnce(MiniLm.open(str(model))) if model is not None else None
    plain: dict[str, Callable[[], System]] = {"BM25 alone": BM25, "Keepmum, words alone": lambda: Keepmum(None)}
    split: dict[str, Callable[[], System]] = {
        "one store": lambda: Split(embedder, "none"),
        "split over two": lambda: Split(embedder, "ours"),
        "half at a server (loaded)": lambda: Split(embedder, "texts"),
        "half at a server (titles)": lambda: Split(embedder, "titles"),
    }
    if embedder is None:
        return {**plain, **split}
    own: dict[str, Callable[[], System]] = {
        "MiniLM alone": lambda: Dense(embedder), "Keepmum": lambda: Keepmum(embedder),
        "qdrant-edge": lambda: QdrantEdge(embedder),
    }  # fmt: skip
    return {**plain, **own, **split}


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the sets")
    parser.add_argument("--model", type=Path, help="folder of the installed model")
    parser.add_argument("--sets", default="amb,devmem,changelog,locomo,cosqa", help="names, with commas")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--systems", help="names, with commas; those of one store when missing")
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())
