"""HTTP requests to a server: deadline, retries, size limits, and where the key is sent."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_httpserver import HTTPServer

from hidden import assert_hidden
from keepmum.core.errors import KeyRefused, StoreError, StoreUnavailable
from keepmum.stores.rest.http_client import HttpClient, RequestRefused
from keepmum.workspace.credentials import Server
from rest_server import KEY, Answer, FakeServer, behind
from unit.stores.rest_parts import raw_server

SHORT = 0.8  # seconds that a request may take which never gets its answer
PATIENT = 60.0  # seconds that one may take which gets an answer
SLACK = 60.0  # seconds by which a busy machine may be late
LIMIT = 60.0  # seconds for a thread to end
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture
def client(origin: str) -> Iterator[HttpClient]:
    with contextlib.closing(HttpClient(Server(origin, KEY), seconds=PATIENT)) as opened:
        yield opened


def failed_request(origin: str, method: str = "GET", *, seconds: float = SHORT) -> tuple[Exception, float]:
    """The error of a request, and after how many seconds it was raised."""
    client = HttpClient(Server(origin, KEY), seconds=seconds)
    began = time.monotonic()
    with pytest.raises(StoreError) as caught:
        client.request(method, "/api/v1/config")
    client.close()
    return caught.value, time.monotonic() - began


# -- deadline


def _drip(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(_HEAD)
    while True:
        connection.sendall(b" ")
        time.sleep(0.02)


def _drip_head(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(_HEAD[:-2] + b"X-Endless: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def _hang(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def _break(connection: socket.socket) -> None:
    connection.recv(4096)


@pytest.mark.parametrize("serve", [_drip, _drip_head, _hang], ids=["drips", "drips its head", "hangs"])
def test_a_slow_server_does_not_exceed_the_deadline(serve: Callable[[socket.socket], None]) -> None:
    with raw_server(serve) as origin:
        error, took = failed_request(origin)
    assert isinstance(error, StoreUnavailable)
    assert error.unsent or "took too long" in str(error), "a busy machine may not connect in time"
    assert took < SHORT + SLACK


def test_a_hanging_name_lookup_does_not_exceed_the_deadline(
    monkeypatch: pytest.MonkeyPatch, origin: str, fake: FakeServer
) -> None:
    answered, lookup, before = threading.Event(), socket.getaddrinfo, set(threading.enumerate())

    def hang(*arguments: Any, **options: Any) -> Any:
        answered.wait(LIMIT)
        return lookup(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    error, took = failed_request(origin, "POST")
    assert isinstance(error, StoreUnavailable)
    assert error.unsent, "nothing was sent"
    assert took < SHORT + SLACK
    answered.set()
    join_request_threads(before)
    assert fake.requests == [], "nothing is sent after the caller has stopped waiting"


@pytest.mark.parametrize("serve", [_drip, _drip_head, _hang], ids=["drips", "drips its head", "hangs"])
@pytest.mark.parametrize("tls", [False, True], ids=["HTTP", "HTTPS"])
def test_the_thread_of_a_request_past_its_deadline_ends(
    tmp_path: Path, serve: Callable[[socket.socket], None], *, tls: bool
) -> None:
    before = set(threading.enumerate())
    with contextlib.ExitStack() as stack:
        origin, certificate = stack.enter_context(raw_server(serve)), None
        if tls:
            origin, certificate, _ = stack.enter_context(tls_server(tmp_path, "127.0.0.1", serve))
        client = stack.enter_context(
            contextlib.closing(HttpClient(Server(origin, KEY, ca_file=certificate), seconds=SHORT))
        )
        with pytest.raises(StoreUnavailable):
            client.request("GET", "/api/v1/config")
        client.close()  # also ends the thread when its own timeout came first, and the connection is idle
        join_request_threads(before)


def join_request_threads(before: set[threading.Thread]) -> None:
    """Wait for the threads of requests that started since; other tests have connections of their own."""
    for thread in set(threading.enumerate()) - before:
        if thread.name == "keepmum-http":
            thread.join(LIMIT)
            assert not thread.is_alive()


def test_a_request_past_its_deadline_does_not_end_another() -> None:
    half_way, timed_out = threading.Event(), threading.Event()

    def serve(connection: socket.socket) -> None:
        if b"/slow" in connection.recv(4096):
            connection.sendall(_HEAD[:20])
            half_way.set()
            _drip_head(connection)
        timed_out.wait(LIMIT)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    def request_slow() -> None:
        while not half_way.is_set():  # a busy machine may not connect in time
            with pytest.raises(StoreUnavailable):
                http.request("GET", "/slow")
        timed_out.set()

    with raw_server(serve) as origin, contextlib.closing(HttpClient(Server(origin, KEY), seconds=SHORT * 2)) as http:
        slow = threading.Thread(target=request_slow)
        slow.start()
        assert half_way.wait(LIMIT)
        assert http.request("GET", "/other", bulk=True) == {}, "it has a later deadline"
        slow.join(LIMIT)


def test_a_refused_connection_is_reported_as_unreachable() -> None:
    error = _refused(SHORT)
    assert error.unsent, "nothing was sent"


def test_a_deadline_that_ends_before_a_connection_exists_says_that_nothing_was_sent() -> None:
    error = _refused(0.0)
    assert error.unsent


def _refused(seconds: float) -> StoreUnavailable:
    """The error of a request to a port that nobody listens on."""
    with socket.socket() as bound:  # stays bound, so that no other test's server gets the port
        bound.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{bound.getsockname()[1]}"
        error, _ = failed_request(origin, seconds=seconds)
    assert isinstance(error, StoreUnavailable)
    assert str(error) == f"{origin}: the server cannot be reached"
    return error


def test_after_a_broken_connection_the_request_counts_as_sent() -> None:
    with raw_server(_break) as origin:
        error, _ = failed_request(origin, "POST", seconds=PATIENT)
    assert isinstance(error, StoreUnavailable)
    assert not error.unsent


# -- retries


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_a_read_is_retried_when_the_server_is_busy(client: HttpClient, fake: FakeServer, status: int) -> None:
    answers = [Answer(status), Answer(status)]
    fake.fault = lambda _: answers.pop() if answers else None
    assert client.request("GET", "/api/v1/config")["data"]["modelReady"] is True
    assert len(fake.requests) == 3


def test_a_write_that_creates_is_not_retried(client: HttpClient, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(503)
    with pytest.raises(StoreUnavailable, match="cannot serve just now"):
        client.request("POST", "/api/v1/memories", body={})
    assert len(fake.requests) == 1


def test_a_request_is_tried_four_times_at_most(client: HttpClient, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(500)
    with pytest.raises(StoreUnavailable):
        client.request("GET", "/api/v1/config")
    assert 1 <= len(fake.requests) <= 4


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("7", 7, 7), ("100000", 60, 60), ("Wed, 21 Oct 2099 07:28:00 GMT", 60, 60), ("soon", 0, 0), ("-1", 0, 0)],
)
def test_retry_after_is_part_of_the_error(
    client: HttpClient, fake: FakeServer, header: str, least: float, most: float
) -> None:
    fake.fault = lambda _: Answer(429, headers={"Retry-After": header})
    with pytest.raises(StoreUnavailable) as caught:
        client.request("POST", "/api/v1/memories", body={})
    assert least <= caught.value.retry_after <= most


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(client: HttpClient, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "600"})
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        client.request("GET", "/api/v1/config")
    assert time.monotonic() - began < PATIENT
    assert len(fake.requests) == 1


def test_connections_are_reused() -> None:
    connections: list[int] = []

    def serve(connection: socket.socket) -> None:
        connections.append(0)
        number = len(connections) - 1
        while connection.recv(4096):
            connections[number] += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(serve) as origin:
        client = HttpClient(Server(origin, KEY), seconds=PATIENT)
        for _ in range(3):
            client.request("GET", "/api/v1/config")
        client.close()
    assert connections == [3], "requests of each connection"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_connections_to_localhost_are_reused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    if address == "::1" and not socket.has_dualstack_ipv6():
        pytest.skip("this system has no IPv6")
    connections: list[int] = []

    def serve(connection: socket.socket) -> None:
        connections.append(0)
        while connection.recv(4096):
            connections[-1] += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    found = [(0, 0, 0, "", (each, 0)) for each in ("::1", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", _lookup_with("localhost", found))
    with raw_server(serve, address) as origin:
        client = HttpClient(Server(f"http://localhost:{origin.rpartition(':')[2]}", KEY), seconds=PATIENT)
        for _ in range(3):
            client.request("GET", "/api/v1/config")
        client.close()
    assert connections == [3], "requests of each connection"


def _lookup_with(name: str, found: list[Any]) -> Callable[..., list[Any]]:
    lookup = socket.getaddrinfo
    return lambda host, *rest, **options: found if host == name else lookup(host, *rest, **options)


# -- refusals


def test_a_refused_key_is_reported_with_the_next_step(origin: str, fake: FakeServer) -> None:
    fake.keys = {}
    error, _ = failed_request(origin)
    assert isinstance(error, KeyRefused)
    assert "`keepmum login" in str(error)
    assert len(fake.requests) == 1, "no retry"


def test_a_key_for_another_project_is_reported(client: HttpClient, fake: FakeServer) -> None:
    fake.keys = {KEY: ["beta"]}
    with pytest.raises(KeyRefused, match="not for this project"):
        client.request("GET", "/api/v1/memories/recent", query={"project": "alpha"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"code": 400, "message": "project must be a specific name"}}, ": project must be a specific name"),
        ({"error": "Bad Request"}, ": Bad Request"),
        ({"error": {"code": 400}}, ""),
        ([], ""),
        (b"<html>no", ""),
    ],
    ids=["an object", "a word", "no message", "a list", "HTML"],
)
def test_error_messages_are_read_in_both_forms(client: HttpClient, fake: FakeServer, body: Any, message: str) -> None:
    fake.fault = lambda _: Answer(400, body)
    with pytest.raises(RequestRefused) as caught:
        client.request("GET", "/api/v1/config")
    assert str(caught.value).endswith(f"the server refused (400){message}")


def test_an_error_message_shows_no_secret_and_has_one_line(client: HttpClient, fake: FakeServer) -> None:
    secret = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    fake.fault = lambda _: Answer(400, {"error": {"code": 400, "message": f"bad\n{secret}\x1b[31m" + "x" * 500}})
    with pytest.raises(RequestRefused) as caught:
        client.request("GET", "/api/v1/config")
    assert_hidden(secret[:8], str(caught.value))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


# -- responses


def _nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(b"<!doctype html><p>Sign in", "did not answer in JSON", id="HTML"),
        pytest.param(b'{"data": NaN}', "did not answer in JSON", id="NaN"),
        pytest.param(b'{"data": Infinity}', "did not answer in JSON", id="infinity"),
        pytest.param('{"data": "ü"}'.encode("latin-1"), "did not answer in UTF-8", id="Latin-1"),
        pytest.param('{"data": 1}'.encode("utf-16"), "did not answer in UTF-8", id="UTF-16"),
        pytest.param(_nested(66), "nested more than 64 levels", id="deep"),
        pytest.param(_nested(100_000), "did not answer in JSON", id="too deep to parse"),
        pytest.param(b'{"data": [', "did not answer in JSON", id="cut off"),
        pytest.param(b" " * (4 * 1024 * 1024 + 1), "larger than 4 MiB", id="large"),
    ],
)
def test_an_invalid_response_is_reported_in_one_sentence(
    client: HttpClient, fake: FakeServer, raw: bytes, message: str
) -> None:
    fake.fault = lambda _: Answer(200, raw)
    with pytest.raises(StoreError, match=message):
        client.request("GET", "/api/v1/config")


def test_depth_64_and_nearly_4_mib_are_accepted(client: HttpClient, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(200, _nested(64) + b" " * (4 * 1024 * 1024 - 128))
    assert client.request("GET", "/api/v1/config") is not None


def test_a_compressed_response_is_not_unpacked(client: HttpClient, fake: FakeServer) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    fake.fault = lambda _: Answer(200, bomb, {"Content-Encoding": "gzip"})
    with pytest.raises(StoreError, match="not asked for"):
        client.request("GET", "/api/v1/config")
    assert fake.requests[0].headers["Accept-Encoding"] == "identity"


# -- the key


def test_the_key_is_sent_in_the_authorization_header_only(client: HttpClient, fake: FakeServer) -> None:
    client.request("GET", "/api/v1/config", query={"a": "b"})
    request = fake.requests[0]
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert_hidden(KEY, request.url)
    assert_hidden(KEY, repr(Server(client.origin, KEY)))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(client: HttpClient, fake: FakeServer, httpserver: HTTPServer, status: int) -> None:
    other = FakeServer()
    with HTTPServer() as elsewhere:
        target = behind(elsewhere, other)
        fake.fault = lambda _: Answer(status, headers={"Location": f"{target}/api/v1/config"})
        with pytest.raises(StoreError, match="redirects to another address"):
            client.request("GET", "/api/v1/config")
    assert other.requests == []
    assert httpserver.url_for("") != target


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch, origin: str, fake: FakeServer, name: str) -> None:
    proxy = FakeServer()
    with HTTPServer() as elsewhere:
        monkeypatch.setenv(name, behind(elsewhere, proxy))
        monkeypatch.setenv("NO_PROXY", "")
        client = HttpClient(Server(origin, KEY))
        client.request("GET", "/api/v1/config")
        client.close()
    assert proxy.requests == []
    assert len(fake.requests) == 1


def test_a_localhost_that_resolves_to_another_machine_gets_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    error, took = failed_request("http://localhost:9")
    assert isinstance(error, StoreUnavailable)
    assert took < SHORT + SLACK


@pytest.mark.parametrize(
    ("host", "trusted"), [("127.0.0.1", False), ("127.0.0.2", True)], ids=["unknown", "of another host"]
)
def test_an_invalid_certificate_stops_the_request(tmp_path: Path, host: str, *, trusted: bool) -> None:
    with tls_server(tmp_path, host) as (origin, certificate, received):
        client = HttpClient(Server(origin, KEY, ca_file=certificate if trusted else None))
        with pytest.raises(StoreUnavailable, match="certificate is not trusted"):
            client.request("GET", "/api/v1/config")
        client.close()
    assert received == []


def test_a_certificate_in_the_users_file_is_trusted(tmp_path: Path) -> None:
    with tls_server(tmp_path, "127.0.0.1") as (origin, certificate, received):
        client = HttpClient(Server(origin, KEY, ca_file=certificate))
        assert client.request("GET", "/api/v1/config") == {}
        client.close()
    assert b"Bearer" in received[0]


def test_a_file_without_certificates_is_named(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(StoreError, match=r"backend\.ca_file"):
        HttpClient(Server("https://memory.example", KEY, ca_file=str(tmp_path / "none.pem")))


def test_a_transport_can_be_passed_in() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=iter([json.dumps({"path": request.url.path}).encode()]))

    transport = httpx.MockTransport(answer)
    client = HttpClient(Server("https://memory.example", KEY), transport=transport)
    assert client.request("GET", "/health") == {"path": "/health"}
    client.close()


@contextlib.contextmanager
def tls_server(
    folder: Path, host: str, respond: Callable[[socket.socket], None] | None = None
) -> Iterator[tuple[str, str, list[bytes]]]:
    """A TLS server whose certificate is for `host`: its origin, the certificate, and what it received."""
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
    received: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            if respond is not None:
                respond(secured)
                return
            received.append(secured.recv(4096))
            secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(serve) as origin:
        yield origin.replace("http:", "https:"), names["certificate.pem"], received
