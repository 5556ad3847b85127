"""The time of the dashboard's views with 10,000 memories.

    python tests/bench/dashboard_views.py [--quick]

A search is compared with the service's own search. The other views are compared with reading all memories with their
texts, which no view does. The cases alternate with their references, so that other load affects both.
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
from keepmum.core.memory import Change, Filter
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.desk import Desk
from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import SqliteSpec

COUNT = 10_000
ROUNDS = 15
_QUERY = "which pool does a deploy use first"
_SEARCH, _ALL = "the service's own search", "reading all memories"
TARGETS: Mapping[str, tuple[str, float]] = {
    "a search": (_SEARCH, 2.0),
    "the start of the list": (_ALL, 0.1),
    "a range in the middle": (_ALL, 0.1),
    "the list after a change": (_ALL, 1.0),
    "one memory": (_ALL, 0.1),
    "home, nothing changed": (_ALL, 0.2),
    "home after a change": (_ALL, 2.0),
}


def rows(*, quick: bool) -> Iterator[Row]:
    """Each view as a ratio to its reference."""
    with tempfile.TemporaryDirectory(prefix="keepmum-bench-") as folder:
        options = ServiceOptions(place=Place(project="alpha"), home=folder, trust="person", quiet=True)
        with open_service(SqliteSpec(f"{folder}/memory.db"), lambda _: (), options) as service:
            filled = [replace(each, project="alpha", key=None) for each in memories(COUNT, service.now())]
            service.store.commit([Change(None, memory) for memory in filled])
            median = _measured(_cases(service, filled[0].id), ROUNDS // 3 if quick else ROUNDS)
    for name, (reference, target) in TARGETS.items():
        ratio = median[name] / median[reference]
        measured = f"{ratio:.3f} ({1000 * median[name]:.1f} ms)"
        yield Row(f"dashboard: {name} / {reference}", measured, f"<= {target}", ratio <= target)


def _cases(service: MemoryService, memory: str) -> Mapping[str, Callable[[], object]]:
    desk = Desk(Dashboard(service, "page"))
    wanted = Filter(now=service.now(), project="alpha")

    def changed(view: str, **args: object) -> object:
        service.store.commit([])
        desk.dashboard.memo.clear()
        return desk.ask(view, args)

    return {
        _SEARCH: lambda: service.recall(_QUERY, limit=61, quiet=True),
        _ALL: lambda: service.store.browse(wanted, limit=COUNT),
        "a search": lambda: desk.ask("memories", {"query": _QUERY}),
        "the start of the list": lambda: desk.ask("memories", {}),
        "the list after a change": lambda: changed("memories", offset=COUNT // 2),
        "a range in the middle": lambda: desk.ask("memories", {"offset": COUNT // 2}),
        "one memory": lambda: desk.ask("memory", {"id": memory}),
        "home after a change": lambda: changed("home"),
        "home, nothing changed": lambda: desk.ask("home", {}),
    }


def _measured(cases: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each case, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, run in cases.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
