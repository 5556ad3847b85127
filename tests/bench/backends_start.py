"""The handshake, a first recall and a hook with every kind of store configured, relative to the embedded store.

python tests/bench/backends_start.py [--quick]        10,000 Markdown memories; with --quick 1,000
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from pytest_httpserver import HTTPServer

from bench.server_start import visit
from bench.store_corpus import memories
from bench.store_figures import ROOT, Row, environment, is_quick, print_table
from keepmum.service.importers.memories import write_file
from keepmum.workspace import credentials
from rest_server import KEY, FakeServer, behind

__all__ = ["rows"]

ROUNDS = 25
MOST = 1.10  # times what the embedded store takes
CLOSED = "http://127.0.0.1:9"  # nothing listens on the port of `discard`
KINDS = {
    "sqlite": 'backend.kind = "sqlite"',
    "a server that is away": f'backend.kind = "rest"\nbackend.origin = "{CLOSED}"',
    "a server": 'backend.kind = "rest"\nbackend.origin = "{origin}"',
    "Markdown": 'backend.kind = "markdown"',
    "all three": 'backend.routes = ["project:markdown", "shared:rest"]\nbackend.origin = "{origin}"',
}


def rows(*, quick: bool) -> Iterator[Row]:
    """Medians of interleaved rounds, each with the ratio to the embedded store."""
    with tempfile.TemporaryDirectory() as folder, HTTPServer(threaded=True) as listening:
        origin = behind(listening, FakeServer())
        homes = dict(zip(KINDS, _homes(Path(folder), origin), strict=True))
        _fill(Path(folder, "shop"), 1_000 if quick else 10_000)
        for home in homes.values():
            visit(home, Path(folder, "shop"))  # fills the caches
        listed: dict[str, list[float]] = {kind: [] for kind in homes}
        recalled: dict[str, list[float]] = {kind: [] for kind in homes}
        hooked: dict[str, list[float]] = {kind: [] for kind in homes}
        for _ in range(ROUNDS // 5 if quick else ROUNDS):
            for kind, home in homes.items():
                seen = visit(home, Path(folder, "shop"))
                listed[kind].append(seen.listed)
                recalled[kind].append(seen.recalled)
                hooked[kind].append(_hook(home, Path(folder, "shop")))
    for what, times in (("tools/list", listed), ("Stop hook", hooked), ("first recall", recalled)):
        usual = statistics.median(times["sqlite"])
        for kind in KINDS:
            taken = statistics.median(times[kind])
            judged = what != "first recall"
            measured = f"{taken * 1e3:.1f} ms, {taken / usual:.2f} x"
            yield Row(
                f"{what}, {kind}",
                measured,
                f"<= {MOST} x" if judged else "-",
                taken <= MOST * usual if judged else None,
            )


def _homes(folder: Path, origin: str) -> Iterator[Path]:
    for number, text in enumerate(KINDS.values()):
        home = folder / f"home{number}"
        state = home / ".keepmum"
        state.mkdir(parents=True)
        (state / "config.toml").write_text(text.replace("{origin}", origin) + "\n", encoding="utf-8")
        for place in (origin, CLOSED):
            credentials.store(str(state), place, KEY)
        yield home


def _fill(project: Path, count: int) -> None:
    (project / ".git").mkdir(parents=True)
    for memory in memories(count, time.time_ns() // 1_000_000):
        write_file(str(project / ".memories"), replace(memory, project=None))


def _hook(home: Path, project: Path) -> float:
    """Seconds that a Stop hook takes."""
    payload = {"session_id": "bench", "cwd": str(project), "hook_event_name": "Stop", "prompt_id": f"{time.time_ns()}"}
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / "run.py"), "stop", "--client", "claude-code"]
    started = time.perf_counter()
    subprocess.run(
        command, input=json.dumps(payload).encode(), env=environment(home), cwd=project, check=True, capture_output=True
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
