"""The cost of the guard: a server behind it and the same server alone, in one interleaved run.

python tests/bench/guard_bench.py [--quick]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.server_start import HANDSHAKE, resident
from bench.store_figures import ROOT, Row, bare_start, environment, is_quick, percentile, print_table

__all__ = ["rows"]

ROUNDS = 40
MESSAGES = 2000
GUARD = (sys.executable, "-I", "-S", str(ROOT / "plugin" / "launch.py"), "guard", "--")
OURS = (sys.executable, "-I", "-S", str(ROOT / "plugin" / "launch.py"), "mcp")
# Answers at once, so that what is measured is the way there and back.
PROMPT = (
    *(sys.executable, "-I", "-S", "-c"),
    'import os, sys\nfor line in sys.stdin.buffer: os.write(1, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')',
)
OFFICIAL = ROOT / ".cache" / "clients" / "server-memory-2026.8.31" / "node_modules" / ".bin" / "mcp-server-memory"
NOTE = (
    "Deploys go through the blue pool first; the release of 2026-11-02 (commit 5f3a9c1e7b2d) showed why: half of the "
    "workers kept the old configuration until they were restarted, and nobody saw that before the queue had grown. "
)


class Visit:
    """A running server that is asked one thing at a time."""

    def __init__(self, command: Sequence[str], home: Path) -> None:
        variables = {**environment(home), "MEMORY_FILE_PATH": str(home / "graph.json"), "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables, cwd=home
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    def ask(self, method: str, params: object) -> float:
        """Seconds to the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"
        started = time.perf_counter()
        os.write(self.process.stdin.fileno(), line)
        assert self.process.stdout.readline()
        return time.perf_counter() - started


def rows(*, quick: bool) -> Iterator[Row]:
    """Starts first, then messages."""
    rounds = ROUNDS // 4 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as home:
        for name, command in (("our own server", OURS), ("server-memory of npm", (str(OFFICIAL),))):
            if Path(command[0]).exists():
                yield from _starts(name, command, rounds, Path(home))
        yield from _messages(MESSAGES // 10 if quick else MESSAGES, Path(home))


def _starts(name: str, command: Sequence[str], rounds: int, home: Path) -> Iterator[Row]:
    alone: list[float] = []
    guarded: list[float] = []
    empty: list[float] = []
    for turn in range(rounds + 1):  # the first fills the caches
        for times, words in ((alone, command), (guarded, (*GUARD, *command))):
            started = time.perf_counter()
            with Visit(words, home) as server:
                server.ask("initialize", HANDSHAKE)
                if turn:
                    times.append(time.perf_counter() - started)
        empty.append(bare_start())
    bare, through, interpreter = (statistics.median(times) for times in (alone, guarded, empty))
    target = 1.3 * bare + interpreter
    measured = f"{through * 1e3:.1f} ms, bare {bare * 1e3:.1f} ms"
    yield Row(f"{name}: start to handshake", measured, f"<= {target * 1e3:.1f} ms", through <= target)


def _messages(count: int, home: Path) -> Iterator[Row]:
    cases = {
        "ping": ("ping", {}),
        "call of 1,000 characters": ("tools/call", {"name": "keep", "arguments": {"text": (NOTE * 5)[:1000]}}),
        "call of 20 notes": (
            "tools/call",
            {"name": "keep", "arguments": {"notes": [NOTE[first : first + 100] for first in range(20)]}},
        ),
    }
    with ExitStack() as running:
        bare = running.enter_context(Visit(PROMPT, home))
        guarded = running.enter_context(Visit((*GUARD, *PROMPT), home))
        for name, (method, params) in cases.items():
            times = [(bare.ask(method, params), guarded.ask(method, params)) for _ in range(count + 20)][20:]
            added = statistics.median(through for _, through in times) - statistics.median(one for one, _ in times)
            slow = percentile([through for _, through in times], 95)
            yield Row(
                f"added to a {name}", f"{added * 1e3:.3f} ms (p95 whole {slow * 1e3:.2f})", "< 1 ms", added < 0.001
            )
        memory = resident(guarded.process.pid)
        if memory is not None:
            yield Row("memory of the guard", f"{memory:.1f} MiB", "-")


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
