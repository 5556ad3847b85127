"""What a team's server costs: `python tests/bench/team_server.py`.

Prints the time of a service for one request and of checking a key, the start of the process beside its imports, its
memory at rest, and a search by 64 clients beside the same search in this process.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / name) for name in ("tests", "plugin", "scanner", "hooks", "installers")]
sys.path[:0] = SOURCES

from keepmum.server.people.api_keys import ApiKeys  # noqa: E402 - the path is set above
from keepmum.service import Place  # noqa: E402
from keepmum.service.team import ORGANISATION, Grant, Team, TeamSqliteSpec, open_team  # noqa: E402
from keepmum.workspace.allowlist import AllowlistScanner  # noqa: E402
from server_process import ADA, KEYS, TeamServer  # noqa: E402

GRANT = Grant(ORGANISATION, frozenset({"api"}), frozenset({"api"}))
PLACE = Place(project="api", name="api")
MEMORIES, CLIENTS, SEARCHES = 200, 64, 256


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        with contextlib.closing(open_team(TeamSqliteSpec(f"{folder}/memory.db"), AllowlistScanner(None))) as team:
            _print("service for a request", _microseconds(lambda: _served(team)), "us", 200)
            keys = ApiKeys(KEYS)
            _print("check of a key", _microseconds(lambda: keys.find(ADA)), "us", 50)
        imports = min(
            _seconds([sys.executable, "-c", "import starlette, uvicorn, mcp.server, prometheus_client"])
            for _ in range(3)
        )
        starts = []
        for number in range(3):
            started = time.perf_counter()
            with TeamServer(Path(folder) / f"start{number}", environ={"KEEPMUM_SERVER_MODEL": "false"}) as server:
                starts.append(time.perf_counter() - started)
                resting = _resident(server.process.pid)
        _print("start beside its imports", min(starts) / imports, "x", 2)
        _print("memory at rest", resting, "MiB", 110)
        _search(Path(folder) / "search")


def _search(home: Path) -> None:
    settings = {
        "KEEPMUM_SERVER_MODEL": "false",
        "KEEPMUM_SERVER_LIMITS_READS": "0",
        "KEEPMUM_SERVER_LIMITS_WRITES": "0",
    }
    with TeamServer(home, environ=settings) as server:
        for number in range(MEMORIES):
            text = f"memory {number} about deploys, pools and word{number % 17}"
            assert server.ask("POST", "/api/v1/memories", {"text": text, "title": text, "project": "api"}).status == 201
        taken: list[float] = []

        def ask(number: int) -> int:
            started = time.perf_counter()
            status = server.ask("GET", f"/api/v1/memories/search?query=pools+word{number % 17}").status
            taken.append(time.perf_counter() - started)
            return status

        started = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as pool:
            statuses = set(pool.map(ask, range(SEARCHES)))
        together = SEARCHES / (time.perf_counter() - started)
        assert statuses == {200}, statuses
        server.stop()
    with contextlib.closing(
        open_team(TeamSqliteSpec(str(home / "server" / "memory.db")), AllowlistScanner(None))
    ) as team:
        started = time.perf_counter()
        for number in range(SEARCHES):
            with team.service(GRANT, actor="ada", place=Place(), origin="rest") as service:
                service.recall(f"pools word{number % 17}", scope="all", weak=True)
        alone = SEARCHES / (time.perf_counter() - started)
    taken.sort()
    sys.stdout.write(f"search by {CLIENTS} clients: {together:.0f}/s, in one thread without HTTP {alone:.0f}/s\n")
    _print("p95 beside p50", taken[int(len(taken) * 0.95)] / statistics.median(taken), "x", 3)


def _served(team: Team) -> None:
    with team.service(GRANT, actor="ada", place=PLACE, origin="rest"):
        pass


def _microseconds(work: Callable[[], object]) -> float:
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(200):
            work()
        rounds.append((time.perf_counter() - started) / 200 * 1e6)
    return min(rounds)


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, env={"PATH": os.defpath})
    return time.perf_counter() - started


def _resident(process: int) -> float:
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def _print(what: str, value: float, unit: str, most: float) -> None:
    sys.stdout.write(f"{what}: {value:.1f} {unit} (at most {most:g}): {'ok' if value <= most else 'MISSED'}\n")


if __name__ == "__main__":
    main()
