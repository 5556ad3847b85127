"""What a team's server costs: `python tests/bench/team_server.py`.

Prints the time of a service for one request and of checking a key, the start of the process next to its imports, its
memory at rest, a search by 64 clients next to the same search in this process, and on PostgreSQL next to the statements
of the search without HTTP, by 64 clients too, in a small and in a large project.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import psycopg

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / name) for name in ("tests", "plugin", "scanner", "hooks", "installers")]
sys.path[:0] = SOURCES

import postgres_server  # noqa: E402 - the path is set above
from bench import store_corpus  # noqa: E402
from keepmum.core.memory import Change  # noqa: E402
from keepmum.server.people.api_keys import ApiKeys  # noqa: E402
from keepmum.service import Place  # noqa: E402
from keepmum.service.team import ORGANISATION, Grant, PostgresSpec, Team, TeamSqliteSpec, open_team  # noqa: E402
from keepmum.stores.postgres.access import Database, Pool  # noqa: E402
from keepmum.workspace.allowlist import AllowlistScanner  # noqa: E402
from postgres_server import Addresses  # noqa: E402
from server_process import ADA, KEYS, TeamServer  # noqa: E402

GRANT = Grant(ORGANISATION, frozenset({"api"}), frozenset({"api"}))
ADAS = Grant(ORGANISATION, frozenset({"api", "web"}), frozenset({"api", "web"}))  # of her key; "web" has no memory
PLACE = Place(project="api", name="api")
MEMORIES, CLIENTS, SEARCHES = 200, 64, 256
LARGE = 4_519  # memories, those of the project for which the limit was set
ASKED = store_corpus.questions(17)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        with contextlib.closing(open_team(TeamSqliteSpec(f"{folder}/memory.db"), AllowlistScanner(None))) as team:
            _print("service for a request", _microseconds(lambda: _served(team)), "us", 200)
            keys = ApiKeys(KEYS, b"")
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
        for memories in (MEMORIES, LARGE):
            _search_next_to_statements(Path(folder) / f"postgres{memories}", memories)


def _fill(server: TeamServer) -> None:
    """Store memories by HTTP."""
    for memory in store_corpus.memories(MEMORIES, time.time_ns() // 1_000_000):
        body = {"text": memory.text, "title": memory.title, "project": "api", "tags": list(memory.tags)}
        assert server.ask("POST", "/api/v1/memories", body).status == 201


def _search(home: Path) -> None:
    settings = {
        "KEEPMUM_SERVER_MODEL": "false",
        "KEEPMUM_SERVER_LIMITS_READS": "0",
        "KEEPMUM_SERVER_LIMITS_WRITES": "0",
    }
    with TeamServer(home, environ=settings) as server:
        _fill(server)
        taken: list[float] = []

        def ask(number: int) -> int:
            started = time.perf_counter()
            status = server.ask("GET", f"/api/v1/memories/search?query={quote(ASKED[number % len(ASKED)])}").status
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
                service.recall(ASKED[number % len(ASKED)], scope="all", weak=True)
        alone = SEARCHES / (time.perf_counter() - started)
    taken.sort()
    sys.stdout.write(f"search by {CLIENTS} clients: {together:.0f}/s, in one thread without HTTP {alone:.0f}/s\n")
    _print("p95 beside p50", taken[int(len(taken) * 0.95)] / statistics.median(taken), "x", 3)


class Transaction(NamedTuple):
    """What one search asked the database for in a transaction."""

    grant: Sequence[Any]
    statements: list[tuple[str, Sequence[Any]]]  # name of the method of `Database`, and its arguments


def _fill_database(addresses: Addresses, memories: int) -> None:
    """Store memories and make PostgreSQL's statistics of them, as its autovacuum does within a minute."""
    changes = [
        Change(None, replace(memory, project="api", key=None))
        for memory in store_corpus.memories(memories, time.time_ns() // 1_000_000)
    ]
    with contextlib.closing(open_team(PostgresSpec(addresses.app), AllowlistScanner(None))) as team:
        for start in range(0, len(changes), 200):
            team.shared.acting(GRANT).commit(changes[start : start + 200])
    with psycopg.connect(addresses.admin, autocommit=True) as db:
        db.execute("ANALYZE")


def _search_next_to_statements(home: Path, memories: int) -> None:
    """Print how much slower a search by HTTP is than its statements, each by 64 clients."""
    addresses = postgres_server.database(f"of_{memories}")
    _fill_database(addresses, memories)
    address = addresses.app
    settings = {
        "KEEPMUM_SERVER_MODEL": "false",
        "KEEPMUM_SERVER_LIMITS_READS": "0",
        "KEEPMUM_SERVER_LIMITS_WRITES": "0",
        "KEEPMUM_SERVER_DATABASE_URL": address,
    }
    with TeamServer(home, environ=settings) as server:
        clients = threading.local()
        statuses = set()

        def ask(number: int) -> None:
            connection = getattr(clients, "connection", None)
            if connection is None:
                connection = clients.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            path = f"/api/v1/memories/search?query={quote(ASKED[number % len(ASKED)])}"
            connection.request("GET", path, headers={"Authorization": f"Bearer {ADA}"})
            answer = connection.getresponse()
            answer.read()
            statuses.add(answer.status)

        by_http, taken = _together(ask)
        assert statuses == {200}, statuses
    searches = [list(_recorded(address, number)) for number in range(len(ASKED))]
    with contextlib.closing(Pool(address, 8)) as pool:  # as many connections as the server has

        def run(number: int) -> None:
            for grant, statements in searches[number % len(ASKED)]:
                with pool.acting(*grant) as database:
                    for method, arguments in statements:
                        getattr(database, method)(*arguments)

        alone, _ = _together(run)
    sys.stdout.write(
        f"search of {memories:,} memories on PostgreSQL by {CLIENTS} clients: {by_http:.0f}/s,"
        f" its statements {alone:.0f}/s\n"
    )
    _print("statements next to HTTP", alone / by_http, "x", 1.5)
    _print("p95 next to p50 on PostgreSQL", taken[int(len(taken) * 0.95)] / statistics.median(taken), "x", 3)


def _together(work: Callable[[int], None]) -> tuple[float, list[float]]:
    """How many calls a second 64 threads make, and how long each took, sorted."""
    taken: list[float] = []

    def timed(number: int) -> None:
        started = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - started)

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(timed, range(CLIENTS)))  # connects
        taken.clear()
        started = time.perf_counter()
        list(threads.map(timed, range(SEARCHES * 2)))
        rate = SEARCHES * 2 / (time.perf_counter() - started)
    return rate, sorted(taken)


def _recorded(address: str, number: int) -> Iterator[Transaction]:
    """The transactions of one search."""
    found: list[Transaction] = []
    acting, methods = Pool.acting, {name: getattr(Database, name) for name in ("query", "query_named", "run")}

    def recording(pool: Pool, *grant: Any) -> Any:
        found.append(Transaction(grant, []))
        return acting(pool, *grant)

    def noted(name: str) -> Callable[..., Any]:
        def call(database: Database, *arguments: Any) -> Any:
            found[-1].statements.append((name, arguments))
            return methods[name](database, *arguments)

        return call

    with contextlib.ExitStack() as patches:
        team = patches.enter_context(contextlib.closing(open_team(PostgresSpec(address), AllowlistScanner(None))))
        patches.enter_context(unittest.mock.patch.object(Pool, "acting", recording))
        for name in methods:
            patches.enter_context(unittest.mock.patch.object(Database, name, noted(name)))
        for _ in range(2):  # the second request knows what the server knows after the first
            found.clear()
            with team.service(ADAS, actor="ada", place=Place(), origin="rest") as service:
                service.recall(ASKED[number], scope="all", weak=True)
        yield from [each for each in found if each.statements]


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
