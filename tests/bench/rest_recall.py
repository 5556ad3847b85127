"""The time of a recall at a team's server, compared with a bare HTTP request to that server.

    python tests/bench/rest_recall.py [--quick]

The server answers every search with the same ten titles after a fixed delay. The reference sends the same request over
a connection that is kept open. The two alternate, so that other load on the machine affects both.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_figures import Row, is_quick, print_table

OWN_SECONDS = 0.025  # an embedding and a vector search
ROUNDS = 300
GOAL = 1.15
_HITS = [
    {"id": f"0193f3c4-7d2e-4000-8000-{number:012}", "title": f"Deploys of pool {number} go first", "project": "alpha",
     "score": 1 / (number + 1)}
    for number in range(10)
]  # fmt: skip
_ANSWER = json.dumps({"data": _HITS}).encode()


class _Searches(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # a response is sent in one piece

    def do_GET(self) -> None:
        time.sleep(OWN_SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", str(len(_ANSWER)))
        self.end_headers()
        self.wfile.write(_ANSWER)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        del format, args


def _serve(tell: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Searches)
    tell.send(server.server_port)
    server.serve_forever()


def rows(*, quick: bool) -> Iterator[Row]:
    """The ratio, and both times."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    try:
        port = here.recv()
        with tempfile.TemporaryDirectory() as folder:
            recall, reference = _both(port, folder, ROUNDS // 6 if quick else ROUNDS)
    finally:
        server.kill()
        server.join()
    ratio = statistics.median(recall) / statistics.median(reference)
    times = f"{statistics.median(recall) * 1000:.1f} against {statistics.median(reference) * 1000:.1f} ms"
    yield Row("recall at a server, against a bare request", f"{ratio:.2f} x ({times})", f"<= {GOAL} x", ratio <= GOAL)


def _both(port: int, folder: str, rounds: int) -> tuple[list[float], list[float]]:
    """The times of recalls and of bare requests, alternating."""
    from keepmum.service import Place, ServiceOptions, open_service
    from keepmum.stores import RestSpec, SqliteSpec
    from keepmum.workspace.credentials import Server
    from keepmum_scanner import scan

    server = Server(f"http://127.0.0.1:{port}", "a-key")
    service = open_service(
        RestSpec(server, SqliteSpec(f"{folder}/mirror.db"), folder), scan,
        ServiceOptions(place=Place(project="alpha", name="alpha"), agent="bench", home=folder),
    )  # fmt: skip
    bare = http.client.HTTPConnection("127.0.0.1", port)

    def ask() -> None:
        bare.request("GET", "/api/v1/memories/search?query=pool&limit=50&project=alpha")
        json.loads(bare.getresponse().read())

    recall, reference = [], []
    with service:
        for number in range(rounds + 10):
            words = f"which pool goes first in round {number}"
            taken = (_seconds(lambda words=words: service.recall(words)), _seconds(ask))  # type: ignore[misc]
            if number >= 10:
                recall.append(taken[0])
                reference.append(taken[1])
    bare.close()
    return recall, reference


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
