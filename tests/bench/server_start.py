"""From the start of the server to its list of tools, and from the end of its input to its own.

python tests/bench/server_start.py [--quick]
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
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_figures import ROOT, Row, bare_start, environment, is_quick, print_table

__all__ = ["rows"]

ROUNDS = 40
ATTEMPTS = 3  # of waiting for the background work of a server before its input ends
MIB = 1024  # KiB
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Visit(NamedTuple):
    """One server from its start to its end."""

    listed: float  # seconds from the start to the list of tools
    recalled: float  # seconds from the start to the first answer out of the store
    ended: float  # seconds from the end of input to the end of the process
    listed_mib: float | None  # resident memory when the list was there; None where no system tells
    recalled_mib: float | None
    list_bytes: int


def rows(*, quick: bool) -> Iterator[Row]:
    """The cost of a start, as a ratio to a bare interpreter in the same run."""
    visits, bare = [], []
    with tempfile.TemporaryDirectory() as home:
        visit(Path(home))  # fills the caches
        for _ in range(ROUNDS // 4 if quick else ROUNDS):
            bare.append(bare_start())
            visits.append(visit(Path(home)))
    listed = statistics.median(one.listed for one in visits)
    ratio = listed / statistics.median(bare)
    yield Row("spawn -> tools/list answered", f"{listed * 1e3:.1f} ms", "<= 60 ms", listed <= 0.060)
    yield Row("the same / a bare interpreter", f"{ratio:.1f} x", "<= 6 x", ratio <= 6)
    memory = [one.listed_mib for one in visits if one.listed_mib is not None]
    if memory:
        yield Row("memory at tools/list", f"{max(memory):.1f} MiB", "<= 25 MiB", max(memory) <= 25)
        full = max(one.recalled_mib or 0 for one in visits)
        yield Row("memory after the first recall", f"{full:.1f} MiB", "-")
    size = visits[0].list_bytes
    yield Row("tools/list", f"{size:,} bytes", "<= 6,000 bytes", size <= 6_000)
    recalled = statistics.median(one.recalled for one in visits)
    yield Row("spawn -> first recall answered", f"{recalled * 1e3:.1f} ms", "-")
    ended = max(one.ended for one in visits)
    yield Row("end of input -> end of process, slowest", f"{ended * 1e3:.1f} ms", "<= 100 ms", ended <= 0.1)


def visit(home: Path, project: Path | None = None) -> Visit:
    """Start a server in a project, list its tools, ask it once, and let it go."""
    command = [sys.executable, "-I", "-S", str(ROOT / "plugin" / "launch.py"), "mcp", "--client", "bench"]
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home), cwd=project or home
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(method: str, params: object, request_id: int) -> bytes:
            message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
            os.write(server.stdin.fileno(), json.dumps(message).encode() + b"\n")  # type: ignore[union-attr] # a pipe
            return server.stdout.readline()  # type: ignore[union-attr] # a pipe

        ask("initialize", HANDSHAKE, 1)
        tools = json.loads(ask("tools/list", {}, 2))["result"]
        listed, listed_mib = time.perf_counter() - started, resident(server.pid)
        ask("tools/call", {"name": "recall", "arguments": {"query": "anything"}}, 3)
        recalled, recalled_mib = time.perf_counter() - started, resident(server.pid)
        size = len(json.dumps(tools, separators=(",", ":")))
        closed = time.perf_counter()
        server.stdin.close()
        server.wait(10)
        return Visit(listed, recalled, time.perf_counter() - closed, listed_mib, recalled_mib, size)


def resident(pid: int) -> float | None:
    """Resident memory of a process in MiB, where `/proc` tells it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    return next(int(line.split()[1]) / MIB for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
