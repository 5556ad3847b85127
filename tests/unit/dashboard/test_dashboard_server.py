"""The server on this machine answers the tab that the user opened, and nobody else."""

from __future__ import annotations

import io
import json
import socket
from email.message import Message

import pytest

from keepmum.dashboard import site
from keepmum.dashboard.http import DashboardServer, _Request
from keepmum.dashboard.sessions import Tokens
from keepmum.service import MemoryService
from unit.dashboard.pages import Page, Reply, request

ASK = b'{"view": "live"}'


def _raw(port: int, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


# -- a session


def test_a_tab_with_a_session_gets_answers(page: Page, agent: MemoryService) -> None:
    agent.remember("deploys go through the blue pool")
    assert [row["title"] for row in page.ask("memories")["rows"]] == ["deploys go through the blue pool"]


def test_a_token_opens_one_session(server: DashboardServer) -> None:
    address = server.address
    Page.opened(address)
    with pytest.raises(AssertionError, match="status=401"):
        Page.opened(address)


def test_a_token_that_is_not_used_within_two_minutes_opens_nothing() -> None:
    now = 0.0
    tokens = Tokens(lambda: now)
    token = tokens.new()
    now = 121.0
    assert not tokens.spend(token)


def test_a_session_is_its_cookie_and_the_secret_of_its_tab(page: Page, server: DashboardServer) -> None:
    other = Page.opened(server.address)
    assert page.post("/api/ask", {"view": "live"}, X_Keepmum_Tab=None).status == 401, "a stolen cookie"
    assert page.post("/api/ask", {"view": "live"}, Cookie=None).status == 401, "a stolen secret"
    assert page.post("/api/ask", {"view": "live"}, X_Keepmum_Tab=other.headers["X-Keepmum-Tab"]).status == 401
    assert page.post("/api/ask", {"view": "live"}).status == 200


def test_another_user_of_the_machine_gets_no_data(server: DashboardServer) -> None:
    for path in ("/api/ask", "/api/change", "/api/export"):
        reply = request(
            server.server_port, "POST", path,
            {"Origin": f"http://127.0.0.1:{server.server_port}", "Content-Type": "application/json"}, ASK,
        )  # fmt: skip
        assert reply.status == 401
        assert reply.json["error"]["kind"] == "session"


def test_the_cookie_is_for_no_script_and_no_other_site(server: DashboardServer) -> None:
    token = server.address.partition("#t=")[2]
    origin = f"http://127.0.0.1:{server.server_port}"
    reply = request(server.server_port, "POST", "/session", {"Origin": origin, "Authorization": f"Bearer {token}"})
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(reply.headers["Set-Cookie"].split("; "))


# -- where a request comes from


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:{port}", "", "0.0.0.0:{port}"]
)
def test_a_page_that_rebinds_its_name_to_this_machine_is_refused(page: Page, host: str) -> None:
    named = host.format(port=page.port)
    assert request(page.port, "GET", "/", {"Host": named}).status == 421
    assert page.post("/api/ask", {"view": "live"}, Host=named, Origin=f"http://{named}").status == 421


def test_two_hosts_are_refused(page: Page) -> None:
    host = f"Host: 127.0.0.1:{page.port}\r\n".encode()
    assert b" 421 " in _raw(page.port, b"GET / HTTP/1.1\r\n" + host + b"Host: evil.example\r\n\r\n").splitlines()[0]
    assert b" 421 " in _raw(page.port, b"GET / HTTP/1.1\r\n\r\n").splitlines()[0]


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Origin": "http://evil.example"}, id="another site"),
        pytest.param({"Origin": "http://127.0.0.1:1"}, id="another port"),
        pytest.param({"Origin": "null"}, id="a sandbox or a file"),
        pytest.param({"Origin": None}, id="no origin on a call"),
        pytest.param({"Origin": "https://127.0.0.1:{port}"}, id="another scheme"),
        pytest.param({"Origin": "http://localhost:{port}"}, id="another name of this machine"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="another port, as the browser says"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="another site, as the browser says"),
    ],
)
def test_a_call_from_another_page_is_refused(page: Page, headers: dict[str, str | None]) -> None:
    sent = {name: value and value.format(port=page.port) for name, value in headers.items()}
    for path in ("/api/ask", "/api/change", "/api/export", "/session"):
        assert request(page.port, "POST", path, {**page.headers, **sent}, ASK).status == 403


def test_two_origins_are_refused(page: Page) -> None:
    lines = [f"{name}: {value}" for name, value in page.headers.items()]
    head = [f"Host: 127.0.0.1:{page.port}", *lines, "Origin: http://evil.example", f"Content-Length: {len(ASK)}"]
    sent = "\r\n".join(["POST /api/ask HTTP/1.1", *head, "", ""]).encode() + ASK
    assert b" 403 " in _raw(page.port, sent).splitlines()[0]


def test_a_link_from_elsewhere_opens_the_page_and_nothing_else(page: Page) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert request(page.port, "GET", "/", followed).status == 200
    assert request(page.port, "GET", "/", {**followed, "Sec-Fetch-Dest": "iframe"}).status == 403
    assert request(page.port, "GET", "/app.js", followed).status == 403
    assert request(page.port, "GET", "/", {**followed, "Sec-Fetch-Mode": "no-cors"}).status == 403


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/json, text/plain"],
)
def test_a_call_that_a_form_could_send_is_refused(page: Page, kind: str) -> None:
    assert page.post("/api/ask", {"view": "live"}, Content_Type=kind).status == 415


def test_there_are_no_cors_headers(page: Page) -> None:
    asked = request(page.port, "OPTIONS", "/api/ask", {"Origin": page.origin, "Access-Control-Request-Method": "POST"})
    assert asked.status == 501
    for reply in (asked, page.post("/api/ask", {"view": "live"})):
        assert not [name for name in reply.headers if name.lower().startswith("access-control")]


# -- paths and answers


@pytest.mark.parametrize(
    "path",
    [
        "/../http.py",
        "/%2e%2e/http.py",
        "/static/index.html",
        "//etc/passwd",
        "/lib/../../views.py",
        "/http.py",
        "/\\..\\http.py",
        "/index.html/",
        "/api/ask",
        "/vendor/NOTICE",
    ],
)
def test_a_path_names_a_file_of_the_page_or_nothing(server: DashboardServer, path: str) -> None:
    assert request(server.server_port, "GET", path, {}).status == 404


def test_every_file_of_the_page_is_served_with_its_type(server: DashboardServer) -> None:
    for path, file in site.static_files().items():
        reply = request(server.server_port, "GET", path, {})
        assert (reply.status, reply.headers["Content-Type"], reply.body) == (200, *file)


def _every_kind_of_answer(page: Page) -> dict[str, Reply]:
    port = page.port
    return {
        "the page": request(port, "GET", "/", {}),
        "only its headers": request(port, "HEAD", "/", {}),
        "no such page": request(port, "GET", "/none", {}),
        "no such call": page.post("/api/none", {}),
        "wrong host": request(port, "GET", "/", {"Host": "evil.example"}),
        "wrong origin": page.post("/api/ask", {}, Origin="http://evil.example"),
        "no session": page.post("/api/ask", {}, X_Keepmum_Tab="x"),
        "a used token": request(port, "POST", "/session", {"Origin": page.origin, "Authorization": "Bearer x"}),
        "an answer": page.post("/api/ask", {"view": "live"}),
        "a wrong call": page.post("/api/ask", {"view": "none"}),
        "another method": request(port, "DELETE", "/", {}),
        "another type": page.post("/api/ask", {}, Content_Type="text/plain"),
        "an export": page.post("/api/export", {"format": "jsonl"}),
        "too long": request(port, "POST", "/api/ask", {**page.headers, "Content-Length": "99999999"}),
        "no length": request(port, "POST", "/api/ask", {**page.headers, "Content-Length": None}),
        "a wrong length": request(port, "POST", "/api/ask", {**page.headers, "Content-Length": "-1"}),
    }


def test_every_answer_has_the_policy(page: Page) -> None:
    for what, reply in _every_kind_of_answer(page).items():
        assert {name: reply.headers.get(name) for name in site.HEADERS} == dict(site.HEADERS), what
        assert "Python" not in reply.headers["Server"], what


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\r\n\r\n", id="nothing"),
        pytest.param(b"GET\r\n\r\n", id="no path"),
        pytest.param(b"GET /\r\n\r\n", id="no version"),
        pytest.param(b"\xff\xfe /\r\n\r\n", id="no text"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", id="a later version"),
        pytest.param(b"GET / HTTP/0.9\r\n\r\n", id="an older version"),
        pytest.param(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", id="a long path"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", id="many headers"),
    ],
)
def test_what_is_not_a_request_is_refused_with_the_policy(page: Page, sent: bytes) -> None:
    answer = _raw(page.port, sent)
    assert not answer or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
    assert not answer or site.CONTENT_POLICY.encode() in answer


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b'"x"', b"{", b"\xff", b"[" * 100_000, b'{"view": 1}', b'{"view": "live", "args": []}'],
    ids=["nothing", "a list", "null", "a text", "half", "no UTF-8", "deep", "a number", "no object"],
)
def test_a_call_that_is_not_an_object_is_refused(page: Page, body: bytes) -> None:
    reply = request(page.port, "POST", "/api/ask", page.headers, body)
    assert reply.status == 422
    assert reply.json["error"]["kind"] == "invalid"


def test_a_second_request_cannot_hide_in_the_body_of_a_refused_one(page: Page) -> None:
    hidden = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n\r\n".encode()
    head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nOrigin: http://evil.example\r\n"
    sent = f"{head}Content-Length: {len(hidden)}\r\n\r\n".encode() + hidden
    assert _raw(page.port, sent).count(b"HTTP/1.1 ") == 1


def test_an_export_is_the_file_that_import_reads(page: Page, agent: MemoryService) -> None:
    for number in range(250):
        agent.remember(f"fact number {number}")
    reply = page.post("/api/export", {"format": "jsonl", "filter": {}})
    texts = {json.loads(line)["text"] for line in reply.body.decode().splitlines()}
    assert texts == {f"fact number {number}" for number in range(250)}


def test_an_export_that_is_refused_says_so(page: Page) -> None:
    assert page.post("/api/export", {"format": "xml"}).status == 422
    assert page.post("/api/export", {"format": "jsonl", "filter": {"status": "none"}}).status == 422


def test_calls_count_as_use_of_the_page_and_requests_of_others_do_not(page: Page, server: DashboardServer) -> None:
    before = server.idle
    request(page.port, "GET", "/", {})
    page.post("/api/ask", {"view": "live"}, X_Keepmum_Tab="x")
    assert server.idle >= before
    page.ask("live")
    assert server.idle < 5.0


def test_a_tab_that_is_closed_before_its_answer_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    request = _Request.__new__(_Request)
    request.headers, request.rfile = Message(), io.BytesIO(b"{}")
    request.headers["Content-Length"] = "2"

    def answer(*_: object) -> None:
        """Write to a connection that is gone."""
        raise BrokenPipeError

    request._answer(answer)
    assert request.close_connection
    assert not capsys.readouterr().err
