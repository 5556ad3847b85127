"""`/mcp` of a running server, as clients of both eras see it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.session import lists_of
from server_process import ADA, BOB, Reply, TeamServer

LIMIT = 60.0  # seconds for a whole conversation
MODERN, LEGACY = "2026-07-28", "2025-11-25"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("server")) as running:
        yield running


def ask(
    server: TeamServer, method: str, params: Mapping[str, Any] | None = None, *, version: str = LEGACY, query: str = "",
    headers: Mapping[str, str] | None = None, key: str | None = ADA,
) -> Reply:  # fmt: skip
    """The answer to one request of a client of either era."""
    sent = dict(params or {})
    given = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version, **(headers or {})}
    if version == MODERN:
        sent["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "cursor", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        given["Mcp-Method"] = method
        if "name" in sent:
            given["Mcp-Name"] = sent["name"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
    return server.ask("POST", f"/mcp{query}", body, headers=given, key=key)


@pytest.mark.parametrize("version", [MODERN, LEGACY])
@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_lists_are_those_of_standard_input_byte_for_byte(server: TeamServer, dialect: str, version: str) -> None:
    for method, expected in lists_of(DIALECTS[dialect][0]).items():
        result = ask(server, method, version=version, query=f"?dialect={dialect}").body["result"]
        assert json.dumps({name: result[name] for name in expected}) == json.dumps(expected)


def test_lists_may_be_kept_by_the_client_alone(server: TeamServer) -> None:
    result = ask(server, "tools/list", version=MODERN).body["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "private")


def test_a_header_chooses_the_dialect(server: TeamServer) -> None:
    answer = ask(server, "tools/list", headers={"X-Keepmum-Dialect": "koi"})
    assert [tool["name"] for tool in answer.body["result"]["tools"]] == ["remember", "recall"]


def test_an_unknown_dialect_is_refused(server: TeamServer) -> None:
    assert ask(server, "tools/list", query="?dialect=x").status == 400


def test_a_client_without_a_key_learns_where_to_get_one(server: TeamServer) -> None:
    answer = ask(server, "tools/list", key=None)
    url = f"http://127.0.0.1:{server.port}"
    assert (answer.status, answer.raw) == (401, b'{"error":"Unauthorized"}')
    assert answer.headers["www-authenticate"] == (
        f'Bearer resource_metadata="{url}/.well-known/oauth-protected-resource/mcp", scope="memories:read"'
    )
    for path in ("", "/mcp"):
        described = server.ask("GET", f"/.well-known/oauth-protected-resource{path}", key=None)
        assert described.body["resource"] == f"{url}/mcp"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_and_no_session_to_end(server: TeamServer, method: str) -> None:
    answer = server.ask(method, "/mcp", headers={"Accept": "text/event-stream"})
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_a_body_over_4_mib_is_refused(server: TeamServer) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    assert server.ask("POST", "/mcp", raw=b" " * (4 * 1024 * 1024 + 1), headers=headers).status == 413


def test_a_session_says_who_the_agent_is(server: TeamServer) -> None:
    hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "codex-mcp-client", "version": "1"}}
    started = ask(server, "initialize", hello)
    assert started.body["result"]["instructions"] == DIALECTS["keepmum"][0].instructions
    assert started.body["result"]["serverInfo"]["name"] == "keepmum"
    headers = {"Mcp-Session-Id": started.headers["mcp-session-id"], "X-Keepmum-Project": "api"}
    stored = ask(server, "tools/call", {"name": "remember", "arguments": {"text": "Tabs"}}, headers=headers)
    assert "Kept: Tabs" in stored.body["result"]["content"][0]["text"]
    found = {"name": "recall", "arguments": {"query": "tabs", "agent": "codex"}}
    assert "Tabs" in ask(server, "tools/call", found, headers={"X-Keepmum-Project": "api"}).raw.decode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_works(server: TeamServer, mode: str) -> None:
    async def converse() -> None:
        sent = {"Authorization": f"Bearer {BOB}", "X-Keepmum-Project": mode}
        with anyio.fail_after(LIMIT):
            async with (
                httpx2.AsyncClient(headers=sent, trust_env=False, timeout=LIMIT) as http,
                Client(streamable_http_client(f"http://127.0.0.1:{server.port}/mcp", http_client=http), mode=mode) as
                client,
            ):  # fmt: skip
                assert client.protocol_version == (MODERN if mode == "auto" else LEGACY)
                stored = await client.call_tool("remember", {"text": "We chose Postgres", "key": "db"})
                assert not stored.is_error
                found = await client.call_tool("recall", {"query": "Postgres"})
                assert "We chose Postgres" in str(found.content)
                read = await client.read_resource("memory://db")
                assert "We chose Postgres" in str(read.contents)
                prompt = await client.get_prompt("session-briefing")
                assert "We chose Postgres" in str(prompt.messages)

    anyio.run(converse)


def test_nothing_of_a_request_is_logged(server: TeamServer) -> None:
    secret = f"AKIA{'QYLPMN5HHHFPZAM2'}"
    ask(server, "tools/call", {"name": "remember", "arguments": {"text": secret}})
    ask(server, "tools/call", {"name": secret, "arguments": secret})
    ask(server, secret, {"_meta": secret}, version=MODERN)
    server.ask("POST", "/mcp", raw=secret.encode(), headers={"Content-Type": "application/json", "Accept": "*/*"})
    server.stop()
    assert secret not in "".join(server.log)
