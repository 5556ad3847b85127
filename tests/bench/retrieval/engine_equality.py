"""Whether another engine ranks as SQLite does: the same memories, vectors and questions through our service over both.

    python tests/bench/retrieval/engine_equality.py DATA --model FOLDER [--engine qdrant] [--sets a,b] [--split dev]

Prints a line for each set: nDCG@10 of both engines, the share of questions with the same first ten in the same order,
and the ratio of their median times. DATA and FOLDER are as in `retrieval_run`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

from bench import store_figures  # noqa: F401 - puts our folders on the path
from bench.retrieval.retrieval_data import Space, load
from bench.retrieval.retrieval_measures import measure
from bench.retrieval.retrieval_systems import Keepmum, ReadOnce
from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.minilm import MiniLm
from keepmum.service import MemoryService, Place, ServiceOptions
from keepmum.stores import Store, sqlite

_DEPTH = 10
_BROAD = 3  # times as many are asked for where several are parts of one answer
_COLUMNS = ("set", "questions", "nDCG@10 SQLite", "nDCG@10 other", "same first ten", "time, ratio of medians")


def _postgres(folder: Path) -> Store:
    import postgres_server

    return postgres_server.open_at(folder)


def _qdrant(folder: Path) -> Store:
    import qdrant_server

    return qdrant_server.open_at(folder, dimensions=384)


ENGINES: Mapping[str, Callable[[Path], Store]] = {
    "postgres": _postgres,
    "qdrant": _qdrant,
    "sqlite": lambda folder: sqlite.SqliteStore(str(folder / "memory.db")),
}


class OnEngine(Keepmum):
    """Our service over one engine, in a project."""

    def __init__(self, embedder: ReadOnce, engine: str) -> None:
        super().__init__(embedder)
        self.memory.close()
        folder = Path(self._folder.name)
        self.memory = MemoryService(
            ENGINES[engine](folder),
            lambda _: (),
            ServiceOptions(
                place=Place(project="alpha", name="alpha"),
                embedder=BackgroundEmbedder(lambda: embedder),
                patient=True,
            ),
        )


class Compared:
    """What both engines found in the spaces of a set."""

    def __init__(self) -> None:
        self.scores: list[tuple[float, float]] = []
        self.same = 0
        self.seconds: list[tuple[float, float]] = []

    def ask(self, space: Space, systems: Sequence[OnEngine]) -> None:
        """Ask both systems every question of a space."""
        for question in space.questions:
            ranked, seconds = [], []
            for system in systems:
                started = time.perf_counter()
                found = system.search(question.text, _DEPTH * _BROAD if space.parents else _DEPTH)
                seconds.append(time.perf_counter() - started)
                ranked.append(list(dict.fromkeys(space.parents.get(one, one) for one in found))[:_DEPTH])
            first, second = (measure(one, question.grades)["nDCG@10"] for one in ranked)
            self.scores.append((first, second))
            self.same += ranked[0] == ranked[1]
            self.seconds.append((seconds[0], seconds[1]))

    def line(self, name: str) -> str:
        """The figures, as a line of a table."""
        ours, theirs = (statistics.fmean(column) for column in zip(*self.scores, strict=True))
        times = [statistics.median(column) for column in zip(*self.seconds, strict=True)]
        share = self.same / len(self.scores)
        return f"| {name} | {len(self.scores)} | {ours:.3f} | {theirs:.3f} | {share:.1%} | {times[1] / times[0]:.2f} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the sets")
    parser.add_argument("--model", type=Path, required=True, help="folder of the installed model")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="postgres", help="compared with SQLite")
    parser.add_argument("--sets", default="amb,devmem,changelog,locomo,cosqa", help="names, with commas")
    parser.add_argument("--split", default="dev")
    options = parser.parse_args(argv)
    print("| " + " | ".join(_COLUMNS) + " |\n|" + "---|" * len(_COLUMNS))  # noqa: T201 - a report
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = os.environ["KEEPMUM_HOME"] = home
        embedder = ReadOnce(MiniLm.open(str(options.model)))
        for name in options.sets.split(","):
            compared = Compared()
            for space in load(options.data / name / options.split):
                systems = [OnEngine(embedder, engine) for engine in ("sqlite", options.engine)]
                for system in systems:
                    system.index(space.memories)
                    system.search(space.questions[0].text, _DEPTH)  # the first opens files
                compared.ask(space, systems)
                for system in systems:
                    system.close()
            print(compared.line(name), flush=True)  # noqa: T201 - a report
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
