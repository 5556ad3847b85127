"""`subscriptions/listen` of a running server: which changes a client learns of, and when its stream ends."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, ResourceUpdated, Subscription
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

import own_server
from server_process import ADA, BOB, TeamServer

LIMIT = 60.0  # seconds for a whole conversation
CONTEXT, ACTIVITY = "memory://current-context", "memory://agent-activity"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@contextlib.asynccontextmanager
async def client_of(
    server: TeamServer, key: str, *, project: str = "api", mode: str = "auto", query: str = ""
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}", "X-Keepmum-Project": project}
    url = f"http://127.0.0.1:{server.port}/mcp{query}"
    with anyio.fail_after(LIMIT):
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=LIMIT) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            yield client


def store(server: TeamServer, text: str, project: str = "api", sender: str = BOB, **more: str) -> str:
    answer = server.ask("POST", "/api/v2/memories", {"text": text, "project": project, **more}, key=sender)
    assert answer.status in {200, 201}, answer.body
    return str(answer.body["data"]["id"])


async def in_thread(call: Callable[..., Any], *given: Any) -> Any:
    return await anyio.to_thread.run_sync(call, *given)


async def next_of(stream: Subscription, number: int = 1) -> set[str]:
    """The URIs of the next updates."""
    found = [await anext(stream) for _ in range(number)]
    return {event.uri for event in found if isinstance(event, ResourceUpdated)}


def test_a_client_learns_which_of_its_resources_changed(server: TeamServer) -> None:
    async def converse() -> None:
        known = await in_thread(store, server, "Deploys go through the blue pool")
        named = [CONTEXT, f"memory://{known}", "memory://db", "memory://other", "https://elsewhere.example"]
        async with client_of(server, ADA) as client, client.listen(resource_subscriptions=named) as stream:
            assert stream.honored.resource_subscriptions == named[:4]
            await in_thread(lambda: server.ask("PATCH", f"/api/v2/memories/{known}", {"text": "Deploys are blue"}))
            assert await next_of(stream, 2) == {CONTEXT, f"memory://{known}"}
            await client.call_tool("remember", {"text": "We chose Postgres", "key": "db"})
            assert await next_of(stream, 2) == {CONTEXT, "memory://db"}
            await client.call_tool("forget", {"ids": ["db"]})
            assert await next_of(stream, 2) == {CONTEXT, "memory://db"}

    anyio.run(converse)


def test_another_project_is_not_heard_of(server: TeamServer) -> None:
    """Neither another project of the key, except by id, nor one that it may not read, by whatever name."""

    async def converse() -> None:
        web = await in_thread(store, server, "Fonts come from the shelf", "web", ADA)
        foreign = await in_thread(store, server, "The vault is in the cellar", "secret-project")
        named = [CONTEXT, ACTIVITY, "memory://place", f"memory://{web}", f"memory://{foreign}"]
        async with client_of(server, ADA) as client, client.listen(resource_subscriptions=named) as stream:
            assert stream.honored.resource_subscriptions == named  # as for one that does not exist

            def change() -> None:
                server.ask("PATCH", f"/api/v2/memories/{foreign}", {"text": "The vault is upstairs"}, key=BOB)
                for project in ("secret-project", "web"):
                    store(server, f"The key of this is taken in {project}", project, key="place")
                server.ask("PATCH", f"/api/v2/memories/{web}", {"text": "Fonts come from the drawer"})
                store(server, "The last change, which is ours")

            await in_thread(change)
            assert await next_of(stream, 3) == {f"memory://{web}", CONTEXT, ACTIVITY}

    anyio.run(converse)


def test_the_key_of_a_memory_that_comes_later_is_heard_of_in_the_project_only(server: TeamServer) -> None:
    async def converse() -> None:
        async with client_of(server, BOB) as client, client.listen(resource_subscriptions=["memory://later"]) as stream:
            await in_thread(lambda: store(server, "Elsewhere", "web", key="later"))
            await in_thread(lambda: store(server, "Here", key="later"))
            await in_thread(lambda: store(server, "Here too", key="other"))
            assert await next_of(stream) == {"memory://later"}
            await in_thread(lambda: store(server, "Here, changed", key="later"))
            assert await next_of(stream) == {"memory://later"}

    anyio.run(converse)


def test_lists_of_tools_never_change_and_are_not_acknowledged(server: TeamServer) -> None:
    async def converse() -> None:
        async with client_of(server, ADA) as client:
            announced = client.server_capabilities
            assert announced is not None
            assert announced.resources is not None
            assert announced.tools is not None
            assert (announced.resources.subscribe, announced.resources.list_changed) == (True, None)
            assert announced.tools.list_changed is None
            async with client.listen(tools_list_changed=True, resources_list_changed=True) as stream:
                assert stream.honored.model_dump(exclude_none=True) == {}

    anyio.run(converse)


def test_a_client_of_2025_is_offered_no_subscriptions(server: TeamServer) -> None:
    async def converse() -> None:
        async with client_of(server, ADA, mode="legacy") as client:
            announced = client.server_capabilities
            assert announced is not None
            assert announced.resources is not None
            assert not announced.resources.subscribe
            with pytest.raises(ListenNotSupportedError):
                await client.listen(resource_subscriptions=[CONTEXT]).__aenter__()
            with pytest.warns(MCPDeprecationWarning), pytest.raises(MCPError, match="Method not found"):
                await client.session.subscribe_resource(CONTEXT)

    anyio.run(converse)


@pytest.mark.parametrize(
    ("project", "query", "uris", "problem"),
    [
        ("secret-project", "", [CONTEXT], "project: is none that this key may use; it has api, web"),
        ("no-such-project", "", [CONTEXT], "project: is none that this key may use; it has api, web"),
        ("", "", [CONTEXT], "project: is not named"),
        ("api", "", [f"memory://{number}" for number in range(101)], "more than 100 resources"),
        ("api", "?dialect=shared", [CONTEXT], "Method not found"),
    ],
)
def test_a_stream_is_refused(server: TeamServer, project: str, query: str, uris: list[str], problem: str) -> None:
    async def converse() -> None:
        async with client_of(server, ADA, project=project, query=query) as client:
            with pytest.raises(MCPError, match=problem):
                await client.listen(resource_subscriptions=uris).__aenter__()

    anyio.run(converse)


class RawStream:
    """A stream at the level of HTTP."""

    def __init__(self, server: TeamServer, key: str) -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "cursor", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"_meta": meta, "notifications": {"resourceSubscriptions": [CONTEXT]}}
        body = {"jsonrpc": "2.0", "id": "a", "method": "subscriptions/listen", "params": params}
        headers = {
            "Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "subscriptions/listen", "X-Keepmum-Project": "api",
        }  # fmt: skip
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT)
        self._connection.request("POST", "/mcp", json.dumps(body).encode(), headers)
        self.answer = self._connection.getresponse()

    def next(self) -> dict[str, Any]:
        """The next message."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and (line := self.answer.readline()):
            if line.startswith(b"data: "):
                return dict(json.loads(line[6:]))
        raise AssertionError("the stream ended, or had no message within the limit")

    def close(self) -> None:
        self._connection.close()


def refusal(stream: RawStream) -> str:
    """Why a stream was refused; empty when it was not."""
    with contextlib.closing(stream):
        is_refused = stream.answer.headers["Content-Type"] == "application/json"
        return str(json.loads(stream.answer.read())["error"]["message"]) if is_refused else ""


def test_every_message_has_the_id_of_its_stream(server: TeamServer) -> None:
    stream = RawStream(server, ADA)
    first = stream.next()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    store(server, "Tabs, not spaces")
    changed = stream.next()
    assert (changed["method"], changed["params"]["uri"]) == ("notifications/resources/updated", CONTEXT)
    for message in (first, changed):
        assert message["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "a"}
    assert stream.answer.headers["X-Accel-Buffering"] == "no"
    stream.close()


def test_a_key_has_64_streams_and_those_that_were_left_are_free_again(tmp_path: Path) -> None:
    """On a server of its own, which counts no stream of another test that was closed a moment ago."""
    with TeamServer(tmp_path) as server:
        streams = [RawStream(server, ADA) for _ in range(64)]
        for stream in streams:
            stream.next()
        assert refusal(RawStream(server, ADA)) == "this key has 64 streams at the moment; end one first"
        other = RawStream(server, BOB)
        assert other.next()["method"] == "notifications/subscriptions/acknowledged"
        for stream in [*streams, other]:
            stream.close()
        end = time.monotonic() + LIMIT
        while refusal(RawStream(server, ADA)):
            assert time.monotonic() < end


def test_a_stop_completes_the_request(server: TeamServer) -> None:
    """The last test of the shared server, which it stops."""
    stream = RawStream(server, ADA)
    stream.next()
    assert server.stop() == 0
    last = stream.next()
    assert (last["id"], last["result"]["resultType"]) == ("a", "complete")
    assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "a"
    stream.close()


def test_a_withdrawn_key_hears_nothing_more() -> None:
    server = own_server.shared("sqlite")
    body = {"name": "listener", "roles": [{"project": "api", "role": "writer"}]}
    assert server.ask("POST", "/api/v2/people", body, key=server.key).status == 201
    made = server.ask("POST", "/api/v2/keys", {"person": "listener"}, key=server.key).body["data"]
    stream = RawStream(server, made["key"])
    stream.next()
    assert server.ask("DELETE", f"/api/v2/keys/{made['id']}", key=server.key).status == 204
    assert stream.next()["result"]["resultType"] == "complete"
    stream.close()
