"""When the server stops, each connection is answered what it has sent by then, and is closed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from keepmum.server.edge import protocol
from keepmum.server.edge.protocol import TimedProtocol

WAIT = 60.0  # seconds for a test
HEAD, BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n", b"body"


class Peers:
    """A connection, from both sides."""

    def __init__(self) -> None:
        self.made: asyncio.Future[TimedProtocol] = asyncio.get_running_loop().create_future()
        self.begun = asyncio.Event()  # a request
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def application(self, _: Any, receive: Any, send: Any) -> None:
        """An application that answers once the body is here."""
        self.begun.set()
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


Talk = Callable[[Peers, TimedProtocol], Awaitable[None]]


def run(talk: Talk) -> None:
    """Connect to a server of one connection, and do what `talk` does."""

    async def converse() -> None:
        peers = Peers()
        config = uvicorn.Config(
            peers.application, interface="asgi3", http=TimedProtocol, ws="none", log_config=None, timeout_keep_alive=60
        )
        config.load()

        class Watched(TimedProtocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                peers.made.set_result(self)

        server = await asyncio.get_running_loop().create_server(
            lambda: Watched(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
        )
        async with server, asyncio.timeout(WAIT):
            peers.reader, peers.writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            with contextlib.closing(peers.writer):
                await talk(peers, await peers.made)

    asyncio.run(converse())


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is closed for its slowness."""
    for name in ("HEAD_SECONDS", "READ_SECONDS", "END_SECONDS"):
        monkeypatch.setattr(protocol, name, WAIT)


@pytest.mark.parametrize("earlier", [0, 1], ids=["first", "second"])
def test_a_request_that_nobody_has_read_yet_is_answered(earlier: int) -> None:
    async def talk(peers: Peers, connection: TimedProtocol) -> None:
        for _ in range(earlier):
            peers.writer.write(HEAD + BODY)
            await peers.reader.readuntil(b"\r\n\r\n")
        peers.writer.write(HEAD + BODY)  # it is in the socket, and the server does not run before it stops
        connection.shutdown()
        answer = await peers.reader.read()  # to the end of the connection
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.count(b"connection: close") == 1

    run(talk)


def test_a_request_that_arrives_in_parts_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "END_SECONDS", 0.0)

    async def talk(peers: Peers, connection: TimedProtocol) -> None:
        peers.writer.write(HEAD)
        await peers.begun.wait()
        connection.shutdown()
        peers.writer.write(BODY[:2])
        await peers.writer.drain()
        peers.writer.write(BODY[2:])
        answer = await peers.reader.read()
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.count(b"connection: close") == 1

    run(talk)


def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "END_SECONDS", 0.0)

    async def talk(peers: Peers, connection: TimedProtocol) -> None:
        connection.shutdown()
        assert await peers.reader.read() == b""

    run(talk)
