"""Latency of `recall` and `remember` in the real server over many realistic memories.

python tests/bench/store_recall.py [--quick]       10,000 memories; without --quick 100,000 as well
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.server_start import HANDSHAKE
from bench.store_corpus import memories, questions
from bench.store_figures import ROOT, Row, environment, is_quick, percentile, print_table
from keepmum.core.memory import Change
from keepmum.stores import SqliteSpec, open_store

__all__ = ["rows"]

QUESTIONS = 300
WRITES = 60
BATCH = 2_000
GOAL = 0.015  # seconds
ANSWERED = 0.99  # of the questions; some consist of words such as "in most cases", which no memory answers
LIMIT = 60.0  # seconds


class Server:
    """A running server whose requests are timed."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-I", "-S", str(ROOT / "plugin" / "launch.py"), "mcp", "--client", "bench"]
        variables = {**environment(home), "KEEPMUM_PROJECT": "alpha"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, cwd=home)
        self._numbers = count(1)
        self.ask("initialize", HANDSHAKE)

    def ask(self, method: str, params: object) -> tuple[float, str]:
        """Seconds until the answer, and the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        message = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        line = json.dumps(message).encode() + b"\n"
        asked = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return time.perf_counter() - asked, answer.decode()

    def call(self, tool: str, **arguments: object) -> tuple[float, str]:
        """The same for a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def cpu_seconds(self) -> float | None:
        """CPU time of the server, which other load does not affect; None on systems without /proc."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Close the input of the server and wait for its exit."""
        self.process.communicate(timeout=60)


def rows(*, quick: bool) -> Iterator[Row]:
    """Times at each size; only the first has a target."""
    for size in (10_000,) if quick else (10_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            fill(home / ".keepmum" / "memory.db", size)
            with closing(Server(home)) as server:
                server.call("recall", query="the first question opens the store")
                wait_for_backup(home / ".keepmum" / "backups")
                yield from _figures(server, size)


def fill(path: Path, size: int) -> None:
    """Create a store with `size` memories."""
    path.parent.mkdir()
    with closing(open_store(SqliteSpec(str(path)))) as store:
        now = time.time_ns() // 1_000_000
        changes = (Change(None, memory) for memory in memories(size, now))
        while some := list(islice(changes, BATCH)):
            store.commit(some)


def wait_for_backup(folder: Path) -> None:
    """Wait until the server has made its daily backup, which is not part of a recall."""
    deadline = time.monotonic() + LIMIT
    while not list(folder.glob("memory-*.db")) and time.monotonic() < deadline:
        time.sleep(0.05)


def _figures(server: Server, size: int) -> Iterator[Row]:
    before = server.cpu_seconds()
    answers = [server.call("recall", query=question) for question in questions(QUESTIONS)]
    after = server.cpu_seconds()
    found = sum("mem_" in answer for _, answer in answers)
    times = [seconds for seconds, _ in answers]
    p50, p95 = statistics.median(times), percentile(times, 95)
    measured = f"p50 {p50 * 1e3:.1f} p95 {p95 * 1e3:.1f} ms"
    goal = size == 10_000
    yield Row(f"recall, {size:,} memories", measured, "p95 <= 15 ms" if goal else "-", p95 <= GOAL if goal else None)
    if before is not None and after is not None:
        yield Row("  CPU time, on average", f"{(after - before) / QUESTIONS * 1e3:.1f} ms", "-")
    yield Row(f"queries with a result, {size:,}", f"{found} of {QUESTIONS}", ">= 99 %", found >= ANSWERED * QUESTIONS)
    writes = [server.call("remember", text=f"{words}, written now")[0] for words in questions(WRITES, seed=3)]
    p50, p95 = statistics.median(writes), percentile(writes, 95)
    yield Row(f"remember, {size:,} memories", f"p50 {p50 * 1e3:.1f} p95 {p95 * 1e3:.1f} ms", "-")


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
