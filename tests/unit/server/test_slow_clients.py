"""Clients that send slowly: the head of a request and its body have a limit in time each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from uvicorn.server import ServerState

from keepmum.server.edge import protocol
from keepmum.server.edge.envelope import Envelope, Interrupted, Limits
from keepmum.server.edge.hosts import Hosts
from keepmum.server.edge.protocol import TimedProtocol
from server_app import client_of, keys

LIMIT = 0.3  # seconds for a head
STEP = 0.02  # seconds between two bytes
WAIT = 60.0  # seconds for a test
MUCH = 32 * 1024 * 1024  # bytes
ANSWERS = 8  # large ones of a key
REQUEST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n"
Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _echo(_: Any, receive: Any, send: Any) -> None:
    """An application that answers once the body is here."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


def _run(
    client: Client, monkeypatch: pytest.MonkeyPatch, head_seconds: float = LIMIT, read_seconds: float = WAIT,
    application: Any = _echo,
) -> None:  # fmt: skip
    """Connect to a server whose clients have these seconds for a head and to read, and do what `client` does."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", head_seconds)
    monkeypatch.setattr(protocol, "READ_SECONDS", read_seconds)

    async def run() -> None:
        config = uvicorn.Config(application, http=TimedProtocol, ws="none", log_config=None, timeout_keep_alive=60)
        config.load()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: TimedProtocol(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
        )
        async with server, asyncio.timeout(WAIT):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            await client(reader, writer)
            writer.close()

    asyncio.run(run())


async def _drip(writer: asyncio.StreamWriter, data: bytes) -> None:
    for byte in data:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(STEP)


def _clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Stops the clock of the running event loop; the function that it returns lets it go on by some seconds."""
    loop = asyncio.get_running_loop()
    now = [loop.time()]
    monkeypatch.setattr(loop, "time", lambda: now[0])

    def advance(seconds: float) -> None:
        now[0] += seconds

    return advance


async def _closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        assert await _closed(reader)

    _run(client, monkeypatch)


def test_a_head_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dripping = asyncio.create_task(_drip(writer, b"GET / HTTP/1.1\r\nx: " + b"a" * 10_000))
        assert await _closed(reader)
        dripping.cancel()

    _run(client, monkeypatch)


def test_the_head_of_a_second_request_has_the_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        monkeypatch.setattr(protocol, "HEAD_SECONDS", LIMIT)
        writer.write(b"GET / HT")
        assert await _closed(reader)

    _run(client, monkeypatch, WAIT)


def test_a_body_and_a_pause_between_requests_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        advance = _clock(monkeypatch)
        for _ in range(2):
            writer.write(REQUEST)
            await writer.drain()
            for _ in range(40):
                await asyncio.sleep(0)
                advance(STEP)
                writer.write(b"a")
                await writer.drain()
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")

    _run(client, monkeypatch)


async def _never() -> Any:
    await anyio.sleep_forever()


async def _byte_by_byte() -> Any:
    await anyio.sleep(STEP)
    return {"type": "http.request", "body": b"a", "more_body": True}


@pytest.mark.parametrize("receive", [_never, _byte_by_byte])
def test_a_body_that_does_not_arrive_in_time_is_answered(receive: Callable[[], Any]) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/health", "query_string": b"", "headers": [], "client": ("::1", 1),
    }  # fmt: skip
    envelope = Envelope(Interrupted(_echo), Hosts(""), limits=Limits(body_seconds=0.1))

    async def run() -> None:
        with anyio.fail_after(WAIT):
            await envelope(scope, receive, send)

    anyio.run(run)
    assert [message.get("status") for message in sent] == [408, None]


WITH_BODIES = {
    "/api/v1/memories": "application/json",
    "/api/v2/memories": "application/json",
    "/api/v2/import": "application/x-ndjson",
    "/dashboard/session": "application/json",
    "/mcp": "application/json",
}


@pytest.mark.parametrize("path", WITH_BODIES)
@pytest.mark.parametrize(("leaves", "status"), [(True, 499), (False, 408)])
def test_a_body_that_does_not_arrive_is_no_failure_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, *, leaves: bool, status: int
) -> None:
    monkeypatch.setattr("keepmum.server.app.Limits", lambda: Limits(body_seconds=WAIT if leaves else 0.1))
    headers = {
        "host": "127.0.0.1:3100", "origin": "http://127.0.0.1:3100", "authorization": "Bearer ada",
        "content-type": WITH_BODIES[path], "accept": "application/json, text/event-stream",
    }  # fmt: skip
    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"", "client": ("127.0.0.1", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    sent: list[Any] = []
    waiting: list[Any] = [{"type": "http.request", "body": b'{"te', "more_body": True}]

    async def receive() -> Any:
        if not waiting and not leaves:
            await anyio.sleep_forever()
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        with anyio.fail_after(WAIT):
            await client.app(scope, receive, send)

    with client_of("sqlite", tmp_path, keys(ada=["api"])) as client:
        assert client.portal is not None
        client.portal.call(run)
    assert sent[0]["status"] == status


async def _answer_much(_: Any, receive: Any, send: Any) -> None:
    """An application whose answer is larger than what the system takes from it at once."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": bytes(MUCH)})


def test_a_client_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader._limit = 0  # type: ignore[attr-defined]  # so that the stream reads nothing by itself
        writer.write(REQUEST.replace(b"40", b"0"))
        await writer.drain()
        with pytest.raises(ConnectionError):  # it was reset
            await _drip(writer, bytes(100_000))

    _run(client, monkeypatch, read_seconds=LIMIT, application=_answer_much)


def test_a_client_that_reads_slowly_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        advance = _clock(monkeypatch)
        writer.write(REQUEST.replace(b"40", b"0").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        size = 0
        while part := await reader.read(MUCH // 16):
            size += len(part)
            advance(STEP)
            await asyncio.sleep(0)
        assert size > MUCH

    _run(client, monkeypatch, read_seconds=1.0, application=_answer_much)


def test_a_key_has_a_few_large_answers_at_a_time(tmp_path: Path) -> None:
    with client_of("sqlite", tmp_path, keys(ada=["api"], bob=["api"])) as client:
        for number in range(20):
            body = {"text": f"{number} word " * 7_000, "project": "api"}
            assert client.post("/api/v2/memories", json=body, headers={"Authorization": "Bearer ada"}).is_success
        statuses: list[int] = []
        answered = anyio.Event()

        async def ask(key: str) -> None:
            waiting = [{"type": "http.request", "body": b"", "more_body": False}]

            async def receive() -> Any:
                return waiting.pop() if waiting else await anyio.sleep_forever()

            async def send(message: Any) -> None:
                """Note the status; read the body only when all requests have one."""
                if "status" in message:
                    statuses.append(message["status"])
                if len(statuses) == ANSWERS + 2:
                    answered.set()
                await answered.wait()

            headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {key}".encode())]
            scope = {
                "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1",
                "method": "GET", "scheme": "http", "path": "/api/v2/memories", "raw_path": b"/api/v2/memories",
                "root_path": "", "query_string": b"limit=100", "headers": headers, "client": ("127.0.0.1", 1),
                "server": ("127.0.0.1", 80), "state": {},
            }  # fmt: skip
            await client.app(scope, receive, send)

        async def ask_all() -> None:
            async with anyio.create_task_group() as group:
                for key in ["ada"] * (ANSWERS + 1) + ["bob"]:
                    group.start_soon(ask, key)

        assert client.portal is not None
        client.portal.call(ask_all)
    assert sorted(statuses) == [200] * (ANSWERS + 1) + [429]
