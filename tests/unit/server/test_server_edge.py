"""What the edge of the server refuses, adds and counts, whatever the route."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from keepmum.server.docs import OPENAPI, VENDORED
from keepmum.server.edge.envelope import Envelope
from keepmum.server.edge.hosts import Hosts
from keepmum.server.edge.proxies import Proxies
from keepmum.server.edge.rates import RateLimits
from server_app import client_of, keys

KEY = {"Authorization": "Bearer ada"}
CONFIG = "/api/v1/config"
MEMORIES = "/api/v1/memories"
MEMORY = {"text": "a", "title": "b", "project": "api"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    given = keys(ada=["api"], root=None)
    with client_of("sqlite", tmp_path_factory.mktemp("server"), given, {"writes_per_minute": 0}) as served:
        yield served


def _post(client: TestClient, body: bytes, **headers: str) -> Any:
    return client.post(MEMORIES, content=body, headers={**KEY, "Content-Type": "application/json", **headers})


def test_every_answer_has_the_standard_headers(client: TestClient) -> None:
    for path in (CONFIG, "/health", "/no/such/path", "/mcp"):
        headers = client.get(path).headers
        assert (headers["keepmum-api"], headers["cache-control"]) == ("2", "private, no-store")
        assert headers["x-content-type-options"] == "nosniff"
        assert len(headers["x-request-id"]) == 26


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:3100"])
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    assert client.get(CONFIG, headers={**KEY, "Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1.evil:3100"])
def test_another_origin_is_refused(client: TestClient, origin: str) -> None:
    assert client.get(CONFIG, headers={**KEY, "Origin": origin}).status_code == 403


def test_pages_of_this_server_may_ask(client: TestClient) -> None:
    assert client.get(CONFIG, headers={**KEY, "Origin": "http://127.0.0.1:3100"}).status_code == 200


@pytest.mark.parametrize("name", ["key", "api_key", "access_token", "Token"])
def test_a_key_in_the_address_is_refused(client: TestClient, name: str) -> None:
    assert client.get(CONFIG, params={name: "ada"}, headers=KEY).status_code == 400


@pytest.mark.parametrize("name", ["Authorization", "Idempotency-Key", "If-Match", "X-Keepmum-Project"])
def test_a_header_that_counts_is_sent_once(client: TestClient, name: str) -> None:
    twice = [(name, "Bearer ada"), (name, "Bearer root"), *KEY.items()]
    assert client.get(CONFIG, headers=twice).status_code == 400


def test_a_body_with_two_lengths_is_refused(client: TestClient) -> None:
    lengths = {"Content-Length": "5", "Transfer-Encoding": "chunked"}
    answer = _post(client, json.dumps(MEMORY).encode(), **lengths)
    assert (answer.status_code, answer.headers["connection"]) == (400, "close")


def test_too_many_headers_are_refused(client: TestClient) -> None:
    assert client.get(CONFIG, headers={**KEY, **{f"x-{n}": "1" for n in range(70)}}).status_code == 431


def test_a_large_body_is_refused_also_in_chunks(client: TestClient) -> None:
    assert _post(client, b" " * (1024 * 1024 + 1)).status_code == 413
    chunks = client.post(
        MEMORIES,
        content=iter([b" " * 65_536] * 20),
        headers={**KEY, "Content-Type": "application/json"},
    )
    assert chunks.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"text":' * 65 + b"1" + b"}" * 65,
        b'{"text": Infinity, "title": "b", "project": "api"}',
        b'{"text": 1e999, "title": "b", "project": "api"}',
        b'{"text": "a", "text": "b", "title": "b", "project": "api"}',
        b'{"text": "\xff", "title": "b", "project": "api"}',
        b'{"text": "\\ud800", "title": "b", "project": "api"}',
        b'{"text": "\\u0000", "title": "b", "project": "api"}',
        b'{"text": ' + b"9" * 10_000 + b', "title": "b", "project": "api"}',
        b"",
        b"null",
        b"{",
    ],
    ids=lambda body: str(body[:24]),
)
def test_a_body_that_is_not_plain_json_is_refused(client: TestClient, body: bytes) -> None:
    assert _post(client, body).status_code == 400


def test_a_compressed_body_is_refused(client: TestClient) -> None:
    body = gzip.compress(json.dumps(MEMORY).encode())
    assert _post(client, body, **{"Content-Encoding": "gzip"}).status_code == 415


def test_another_media_type_is_refused(client: TestClient) -> None:
    assert _post(client, b"{}", **{"Content-Type": "text/plain"}).status_code == 415


def test_another_method_is_answered_with_those_that_exist(client: TestClient) -> None:
    answer = client.patch(MEMORIES, headers=KEY)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_key_that_asks_too_often_has_to_wait(tmp_path: Path) -> None:
    with client_of("sqlite", tmp_path, keys(ada=["api"], bob=["api"]), {"reads_per_minute": 3}) as limited:
        statuses = [limited.get(CONFIG, headers=KEY).status_code for _ in range(7)]
        assert statuses == [200] * 6 + [429]
        answer = limited.get(CONFIG, headers=KEY)
        assert int(answer.headers["retry-after"]) >= 1
        assert limited.get(CONFIG, headers={"Authorization": "Bearer bob"}).status_code == 200


def test_tokens_come_back_with_time() -> None:
    now = [0.0]
    rates = RateLimits(60, 60, clock=lambda: now[0])
    for _ in range(120):
        rates.take("ada", "read")
    with pytest.raises(Exception, match="too many reads"):
        rates.take("ada", "read")
    now[0] = 1.0
    rates.take("ada", "read")
    assert rates.refused == 1


def test_the_document_of_the_api_is_served_without_a_key(client: TestClient) -> None:
    expected = Path(OPENAPI).read_bytes()
    assert [client.get(path).content for path in ("/openapi.json", "/docs/json")] == [expected] * 2


def test_its_page_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/docs")
    assert "https://" not in page.text
    assert "script-src 'self';" in page.headers["content-security-policy"]
    for name in ("swagger-ui.css", "swagger-ui-bundle.js", "start.js"):
        assert client.get(f"/docs/{name}").status_code == 200
    assert client.get("/docs/..%2Fapp.py").status_code == 404


def test_the_files_of_swagger_ui_are_those_of_its_package(client: TestClient) -> None:
    served = {name: hashlib.sha256(client.get(f"/docs/{name}").content).hexdigest() for name in VENDORED}
    assert served == VENDORED


def test_figures_are_for_keys_of_every_project(client: TestClient) -> None:
    assert client.get(CONFIG, headers=KEY).status_code == 200
    assert client.get("/metrics", headers=KEY).status_code == 403
    text = client.get("/metrics", headers={"Authorization": "Bearer root"}).text
    assert 'keepmum_requests_total{method="GET",route="/api/v1/config",status="200"}' in text
    assert "keepmum_isolation_faults 0.0" in text


def test_every_request_with_a_wrong_key_is_counted(tmp_path: Path) -> None:
    with client_of("sqlite", tmp_path, keys(root=None)) as served:
        wrong = [served.get(CONFIG, headers={"Authorization": "Bearer wrong"}).status_code for _ in range(12)]
        text = served.get("/metrics", headers={"Authorization": "Bearer root"}).text
    assert wrong == [401] * 10 + [429] * 2
    assert "keepmum_key_failures_total 12.0" in text


def test_the_log_has_the_route_and_neither_path_nor_text(
    client: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.post(MEMORIES, json={**MEMORY, "text": "a zirconium text"}, headers=KEY)
    client.get(f"{MEMORIES}/search", params={"query": "zirconium text"}, headers=KEY)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["route"], line["status"]) for line in lines] == [(MEMORIES, 201), (f"{MEMORIES}/search", 200)]
    assert {*lines[0]} == {"at", "event", "id", "principal", "method", "route", "status", "ms", "bytes"}
    assert "zirconium" not in str(lines)


async def never() -> Any:
    await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("10.0.0.5", {"x-forwarded-proto": "https"}, 200),
        ("10.0.0.5", {"x-forwarded-proto": "http"}, 403),
        ("192.0.2.1", {"x-forwarded-proto": "https"}, 403),
        ("127.0.0.1", {}, 200),
    ],
)
def test_without_tls_only_the_proxy_and_this_machine_are_served(
    peer: str, headers: dict[str, str], status: int
) -> None:
    sent: list[Any] = []
    sources: list[str] = []

    async def app(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = {"host": "memory.example", "x-forwarded-for": "203.0.113.9, 198.51.100.7", **headers}
    scope = {
        "type": "http", "method": "GET", "path": "/api", "query_string": b"", "client": (peer, 1),
        "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
    }  # fmt: skip
    envelope = Envelope(
        app, Hosts("https://memory.example"), proxies=Proxies(["10.0.0.0/8"]), only_proxies=True,
        done=lambda record, *_: sources.append(record.source),
    )  # fmt: skip
    anyio.run(envelope, scope, never, send)
    assert sent[0]["status"] == status
    assert sources == ["198.51.100.7" if peer == "10.0.0.5" else peer]


EVERYWHERE = {
    "id": "0198b7c0-0000-7000-8000-000000000001",
    "text": "a",
    "title": "b",
    "project": "*",
    "created_at": 1,
    "updated_at": 1,
}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/memories", {**MEMORY, "project": "*"}),
        ("/api/v2/memories", {"text": "a", "project": "*"}),
        ("/api/v2/memories", {"memory": EVERYWHERE}),
        ("/api/v2/memories:batch", {"items": [{"id": EVERYWHERE["id"], "memory": EVERYWHERE}], "atomic": True}),
        ("/api/v2/handoffs", {"project": "*", "summary": "a", "next_steps": "b"}),
    ],
)
def test_nothing_is_stored_in_a_project_that_means_every_one(client: TestClient, path: str, body: object) -> None:
    refused = client.post(path, json=body, headers={"Authorization": "Bearer root"})
    assert refused.status_code == 400, refused.text
    assert "project" in refused.text


def test_nothing_is_imported_into_a_project_that_means_every_one(client: TestClient) -> None:
    headers = {"Authorization": "Bearer root", "Content-Type": "application/x-ndjson"}
    done = client.post("/api/v2/import", content=json.dumps(EVERYWHERE), headers=headers).json()["data"]
    assert (done["stored"], done["refused"]) == (0, 1)
    assert "must be one project" in done["problems"][0]["message"]
