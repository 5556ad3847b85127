"""Bodies and heads that are made to exhaust a server: each is refused, and the process does not grow.

The limits in time are in `tests/unit/server/test_slow_clients.py`.
"""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from own_server import OwnServer

MEMORIES, IMPORT = "/api/v2/memories", "/api/v2/import"
LARGEST = 64 * 1024 * 1024  # bytes of an import
GROWTH = 64 * 1024  # KiB
DEEP = b"[" * 1_000_000
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":'

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process in /proc")


class Measured:
    """A server, and by how much it grew."""

    def __init__(self, server: OwnServer) -> None:
        self.server = server
        self.send(MEMORIES, b'{"text": "a first memory", "project": "api"}')
        self.send("/mcp", b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        self._first = self._kib("VmRSS")

    @property
    def growth(self) -> int:
        """By how many KiB the process was ever larger than before the first bomb."""
        return self._kib("VmHWM") - self._first

    def send(self, path: str, body: bytes, **headers: str) -> int:
        """The status of a request."""
        media_type = "application/x-ndjson" if path == IMPORT else "application/json"
        sent = {"Content-Type": media_type, "Accept": "application/json, text/event-stream", **headers}
        return self.server.ask("POST", path, raw=body, key=self.server.key, headers=sent).status

    def _kib(self, name: str) -> int:
        lines = Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with OwnServer(tmp_path_factory.mktemp("server")) as server:
        yield Measured(server)


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        pytest.param(MEMORIES, b'{"text":' + DEEP, {}, 400, id="a million arrays"),
        pytest.param("/mcp", ASKED + DEEP, {}, 400, id="a million arrays by MCP"),
        pytest.param(IMPORT, DEEP + b"\n", {}, 200, id="a million arrays in a line"),
        pytest.param(MEMORIES, b'{"text": "a", "confidence": Infinity}', {}, 400, id="infinity"),
        pytest.param(MEMORIES, b'{"text": "a", "text": "b", "project": "api"}', {}, 400, id="a field twice"),
        pytest.param(
            MEMORIES, gzip.compress(b"a" * LARGEST), {"Content-Encoding": "gzip"}, 415, id="a compressed body"
        ),
        pytest.param(IMPORT, gzip.compress(b"a" * LARGEST), {}, 200, id="a compressed body that says nothing"),
        pytest.param(IMPORT, b"\n" * LARGEST, {}, 413, id="64 MiB of lines"),
        pytest.param(IMPORT, b"a" * LARGEST, {}, 200, id="64 MiB in a line"),
        pytest.param(IMPORT, b"a" * (LARGEST + 1), {}, 413, id="more than 64 MiB"),
        pytest.param(MEMORIES, b'{"text": "' + b"a" * 1_000_000 + b'"}', {}, 400, id="a long text"),
    ],
)  # fmt: skip
def test_a_bomb_is_refused_and_nothing_grows(
    measured: Measured, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert measured.send(path, body, **headers) == status
    assert measured.growth < GROWTH
    assert measured.server.ask("GET", "/api/v2", key=measured.server.key).status == 200


def test_ten_thousand_headers_are_refused(measured: Measured) -> None:
    head = b"GET /api/v2 HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"x-%d: 1\r\n" % n for n in range(10_000))
    with socket.create_connection(("127.0.0.1", measured.server.port), 60) as connection:
        connection.sendall(head + b"\r\n")
        assert connection.recv(100).split()[1] in {b"400", b"431"}
    assert measured.growth < GROWTH


def test_what_is_refused_of_an_import_is_counted(measured: Measured) -> None:
    headers = {"Content-Type": "application/x-ndjson"}
    answer = measured.server.ask("POST", IMPORT, raw=b"{}\n" * 1_000, key=measured.server.key, headers=headers)
    found = answer.body["data"]
    assert (found["stored"], found["refused"], len(found["problems"])) == (0, 1_000, 50)


def test_a_key_sends_two_large_bodies_at_a_time(measured: Measured) -> None:
    server = measured.server
    head = (
        f"POST {IMPORT} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {server.key}\r\n"
        "Content-Type: application/x-ndjson\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    )
    held = [socket.create_connection(("127.0.0.1", server.port), 60) for _ in range(2)]
    try:
        for connection in held:
            connection.sendall(head.encode())
            assert b" 100 " in connection.recv(100)  # the body is awaited
        assert measured.send(IMPORT, b"{}\n") == 429
        for connection in held:
            connection.sendall(b"{}\n")
            assert b" 200 " in connection.recv(100)
        assert measured.send(IMPORT, b"{}\n") == 200
    finally:
        for connection in held:
            connection.close()
