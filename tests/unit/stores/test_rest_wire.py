"""One request and its answer: in time, within bounds, with the key where it belongs and nowhere else."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_httpserver import HTTPServer

from hidden import assert_hidden
from keepmum.core.errors import KeyRefused, StoreError, StoreUnavailable
from keepmum.stores.rest.wire import Refused, Wire
from keepmum.workspace.credentials import Server
from rest_server import KEY, Answer, FakeServer, behind
from unit.stores.rest_parts import raw_server

SHORT = 0.4  # seconds that a request may take here
SLACK = 1.5  # seconds by which a busy machine may be late
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture
def wire(origin: str) -> Iterator[Wire]:
    made = Wire(Server(origin, KEY), seconds=SHORT * 5)
    yield made
    made.close()


def asked(origin: str, method: str = "GET", *, seconds: float = SHORT) -> tuple[Exception, float]:
    """What a request ends with, and after how many seconds."""
    wire = Wire(Server(origin, KEY), seconds=seconds)
    began = time.monotonic()
    with pytest.raises(StoreError) as caught:
        wire.ask(method, "/api/v1/config")
    wire.close()
    return caught.value, time.monotonic() - began


# -- in time


def _drip(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(_HEAD)
    while True:
        connection.sendall(b" ")
        time.sleep(0.02)


def _drip_head(connection: socket.socket) -> None:
    connection.recv(4096)
    for letter in _HEAD * 100:
        connection.sendall(bytes([letter]))
        time.sleep(0.02)


def _hang(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def _break(connection: socket.socket) -> None:
    connection.recv(4096)


@pytest.mark.parametrize("serve", [_drip, _drip_head, _hang], ids=["drips", "drips its head", "hangs"])
def test_a_slow_server_costs_no_more_than_the_deadline(serve: Callable[[socket.socket], None]) -> None:
    with raw_server(serve) as origin:
        error, took = asked(origin)
    assert isinstance(error, StoreUnavailable)
    assert "took too long" in str(error)
    assert took < SHORT + SLACK


def test_a_server_that_is_not_there_is_told_as_that() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        origin = f"http://127.0.0.1:{taken.getsockname()[1]}"
    error, _ = asked(origin)
    assert isinstance(error, StoreUnavailable)
    assert error.unsent, "nothing was sent"
    assert str(error) == f"{origin}: the server cannot be reached"


def test_a_connection_that_breaks_may_have_carried_the_request() -> None:
    with raw_server(_break) as origin:
        error, _ = asked(origin, "POST")
    assert isinstance(error, StoreUnavailable)
    assert not error.unsent


# -- again, where that is safe


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_a_read_is_tried_again_when_the_server_is_busy(wire: Wire, fake: FakeServer, status: int) -> None:
    answers = [Answer(status), Answer(status)]
    fake.fault = lambda _: answers.pop() if answers else None
    assert wire.ask("GET", "/api/v1/config")["data"]["modelReady"] is True
    assert len(fake.requests) == 3


def test_a_write_that_creates_is_sent_once(wire: Wire, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(503)
    with pytest.raises(StoreUnavailable, match="cannot serve just now"):
        wire.ask("POST", "/api/v1/memories", body={})
    assert len(fake.requests) == 1


def test_a_server_that_stays_busy_is_asked_four_times_at_most(wire: Wire, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(500)
    with pytest.raises(StoreUnavailable):
        wire.ask("GET", "/api/v1/config")
    assert 1 <= len(fake.requests) <= 4


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("7", 7, 7), ("100000", 60, 60), ("Wed, 21 Oct 2099 07:28:00 GMT", 60, 60), ("soon", 0, 0), ("-1", 0, 0)],
)
def test_the_time_that_a_server_asks_for_is_told_on(
    wire: Wire, fake: FakeServer, header: str, least: float, most: float
) -> None:
    fake.fault = lambda _: Answer(429, headers={"Retry-After": header})
    with pytest.raises(StoreUnavailable) as caught:
        wire.ask("POST", "/api/v1/memories", body={})
    assert least <= caught.value.retry_after <= most


def test_a_wait_beyond_the_deadline_is_not_sat_out(wire: Wire, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "30"})
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        wire.ask("GET", "/api/v1/config")
    assert time.monotonic() - began < SHORT * 5 + SLACK
    assert len(fake.requests) == 1


def test_connections_are_used_again() -> None:
    connections: list[int] = []

    def serve(connection: socket.socket) -> None:
        connections.append(0)
        number = len(connections) - 1
        while connection.recv(4096):
            connections[number] += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(serve) as origin:
        wire = Wire(Server(origin, KEY), seconds=SHORT * 5)
        for _ in range(3):
            wire.ask("GET", "/api/v1/config")
        wire.close()
    assert connections == [3], "requests of each connection"


# -- refusals


def test_a_key_that_is_not_taken_is_told_with_what_to_do(origin: str, fake: FakeServer) -> None:
    fake.keys = {}
    error, _ = asked(origin)
    assert isinstance(error, KeyRefused)
    assert "`keepmum login" in str(error)
    assert len(fake.requests) == 1, "no second try"


def test_a_key_for_another_project_is_told_as_that(wire: Wire, fake: FakeServer) -> None:
    fake.keys = {KEY: ["beta"]}
    with pytest.raises(KeyRefused, match="not for this project"):
        wire.ask("GET", "/api/v1/memories/recent", query={"project": "alpha"})


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"code": 400, "message": "project must be a specific name"}}, ": project must be a specific name"),
        ({"error": "Bad Request"}, ": Bad Request"),
        ({"error": {"code": 400}}, ""),
        ([], ""),
        (b"<html>no", ""),
    ],
    ids=["an object", "a word", "no message", "a list", "HTML"],
)
def test_both_shapes_of_error_are_read(wire: Wire, fake: FakeServer, body: Any, told: str) -> None:
    fake.fault = lambda _: Answer(400, body)
    with pytest.raises(Refused) as caught:
        wire.ask("GET", "/api/v1/config")
    assert str(caught.value).endswith(f"the server refused (400){told}")


def test_a_servers_message_shows_no_secret_and_no_second_line(wire: Wire, fake: FakeServer) -> None:
    secret = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    fake.fault = lambda _: Answer(400, {"error": {"code": 400, "message": f"bad\n{secret}\x1b[31m" + "x" * 500}})
    with pytest.raises(Refused) as caught:
        wire.ask("GET", "/api/v1/config")
    assert_hidden(secret[:8], str(caught.value))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


# -- answers


def _nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param(b"<!doctype html><p>Sign in", "did not answer in JSON", id="HTML"),
        pytest.param(b'{"data": NaN}', "did not answer in JSON", id="NaN"),
        pytest.param(b'{"data": Infinity}', "did not answer in JSON", id="infinity"),
        pytest.param('{"data": "ü"}'.encode("latin-1"), "another encoding than UTF-8", id="Latin-1"),
        pytest.param('{"data": 1}'.encode("utf-16"), "another encoding than UTF-8", id="UTF-16"),
        pytest.param(_nested(66), "more than 64 levels", id="deep"),
        pytest.param(_nested(100_000), "did not answer in JSON", id="too deep to parse"),
        pytest.param(b'{"data": [', "did not answer in JSON", id="cut off"),
        pytest.param(b" " * (4 * 1024 * 1024 + 1), "larger than 4 MiB", id="large"),
    ],
)
def test_an_answer_that_is_none_is_one_sentence(wire: Wire, fake: FakeServer, raw: bytes, told: str) -> None:
    fake.fault = lambda _: Answer(200, raw)
    with pytest.raises(StoreError, match=told):
        wire.ask("GET", "/api/v1/config")


def test_depth_64_and_nearly_4_mib_are_answers(wire: Wire, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(200, _nested(64) + b" " * (4 * 1024 * 1024 - 128))
    assert wire.ask("GET", "/api/v1/config") is not None


def test_a_compressed_answer_is_not_unpacked(wire: Wire, fake: FakeServer) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    fake.fault = lambda _: Answer(200, bomb, {"Content-Encoding": "gzip"})
    with pytest.raises(StoreError, match="not asked for"):
        wire.ask("GET", "/api/v1/config")
    assert fake.requests[0].headers["Accept-Encoding"] == "identity"


# -- the key


def test_the_key_is_a_bearer_in_the_header_and_stands_nowhere_else(wire: Wire, fake: FakeServer) -> None:
    wire.ask("GET", "/api/v1/config", query={"a": "b"})
    request = fake.requests[0]
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert_hidden(KEY, request.url)
    assert_hidden(KEY, repr(Server(wire.origin, KEY)))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(wire: Wire, fake: FakeServer, httpserver: HTTPServer, status: int) -> None:
    other = FakeServer()
    with HTTPServer() as elsewhere:
        target = behind(elsewhere, other)
        fake.fault = lambda _: Answer(status, headers={"Location": f"{target}/api/v1/config"})
        with pytest.raises(StoreError, match="leads to another address"):
            wire.ask("GET", "/api/v1/config")
    assert other.requests == []
    assert httpserver.url_for("") != target


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_that_a_variable_names_sees_nothing(
    monkeypatch: pytest.MonkeyPatch, origin: str, fake: FakeServer, name: str
) -> None:
    proxy = FakeServer()
    with HTTPServer() as elsewhere:
        monkeypatch.setenv(name, behind(elsewhere, proxy))
        monkeypatch.setenv("NO_PROXY", "")
        wire = Wire(Server(origin, KEY))
        wire.ask("GET", "/api/v1/config")
        wire.close()
    assert proxy.requests == []
    assert len(fake.requests) == 1


def test_a_name_of_this_machine_that_leads_elsewhere_gets_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    error, took = asked("http://localhost:9")
    assert isinstance(error, StoreUnavailable)
    assert took < SHORT + SLACK


@pytest.mark.parametrize(
    ("host", "trusted"), [("127.0.0.1", False), ("127.0.0.2", True)], ids=["unknown", "of another"]
)
def test_a_certificate_that_does_not_vouch_for_the_server_stops_the_key(
    tmp_path: Path, host: str, *, trusted: bool
) -> None:
    with tls_server(tmp_path, host) as (origin, certificate, heard):
        wire = Wire(Server(origin, KEY, ca_file=certificate if trusted else None))
        with pytest.raises(StoreUnavailable, match="certificate is not trusted"):
            wire.ask("GET", "/api/v1/config")
        wire.close()
    assert heard == []


def test_a_certificate_that_the_user_trusts_is_enough(tmp_path: Path) -> None:
    with tls_server(tmp_path, "127.0.0.1") as (origin, certificate, heard):
        wire = Wire(Server(origin, KEY, ca_file=certificate))
        assert wire.ask("GET", "/api/v1/config") == {}
        wire.close()
    assert b"Bearer" in heard[0]


def test_a_file_of_authorities_that_holds_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(StoreError, match=r"backend\.ca_file"):
        Wire(Server("https://memory.example", KEY, ca_file=str(tmp_path / "none.pem")))


def test_another_transport_can_stand_in() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=iter([json.dumps({"path": request.url.path}).encode()]))

    transport = httpx.MockTransport(answer)
    wire = Wire(Server("https://memory.example", KEY), transport=transport)
    assert wire.ask("GET", "/health") == {"path": "/health"}


@contextlib.contextmanager
def tls_server(folder: Path, host: str) -> Iterator[tuple[str, str, list[bytes]]]:
    """A TLS server whose certificate is for `host`: its origin, the certificate, and what it heard."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate of this test")
    names = {name: str(folder / name) for name in ("key.pem", "certificate.pem")}
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=test", "-addext", f"subjectAltName=IP:{host}", "-keyout", names["key.pem"],
         "-out", names["certificate.pem"]],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(names["certificate.pem"], names["key.pem"])
    heard: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            heard.append(secured.recv(4096))
            secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(serve) as origin:
        yield origin.replace("http:", "https:"), names["certificate.pem"], heard
