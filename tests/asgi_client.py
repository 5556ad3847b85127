"""Sends requests to an ASGI application in this process, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlencode

__all__ = ["AsgiClient", "Received"]

_LIMIT = 30.0  # seconds for one request
Application = Callable[[Any, Any, Any], Awaitable[None]]


class Received(NamedTuple):
    """One answer."""

    status: int
    headers: Mapping[str, str]  # by name in lower case
    raw: bytes


class AsgiClient:
    """A client of one application, which runs between `with` and its end."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._loop = asyncio.new_event_loop()

    def ask(  # noqa: PLR0917 - the parts of a request
        self, method: str, path: str, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None,
        body: bytes = b"", leaves_after: float | None = None,
    ) -> Received:  # fmt: skip
        """The answer to one request; of a stream, what was sent until the client leaves, in seconds."""
        asked = self._ask(method, path, query or {}, headers or {}, body, leaves_after)
        return self._loop.run_until_complete(asked)

    async def _ask(  # noqa: PLR0917 - the parts of a request
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
        leaves_after: float | None,
    ) -> Received:
        sent = {"host": "127.0.0.1", "content-length": str(len(body)), **headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": quote(path).encode(), "root_path": "", "query_string": urlencode(query).encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
        }  # fmt: skip
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        started: dict[str, Any] = {"status": 0, "headers": []}
        parts: list[bytes] = []
        gone = asyncio.Event()

        async def receive() -> Any:
            if waiting:
                return waiting.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            else:
                parts.append(message.get("body", b""))

        if leaves_after is not None:
            self._loop.call_later(leaves_after, gone.set)
        try:
            await asyncio.wait_for(self._application(scope, receive, send), _LIMIT)
        finally:
            gone.set()
        names = {name.decode().lower(): value.decode() for name, value in started["headers"]}
        return Received(started["status"], names, b"".join(parts))

    def __enter__(self) -> Self:
        self._begun: asyncio.Queue[Any] = asyncio.Queue()
        self._answered: asyncio.Queue[Any] = asyncio.Queue()
        self._life = asyncio.ensure_future(
            self._application({"type": "lifespan", "state": {}}, self._begun.get, self._answered.put), loop=self._loop
        )
        self._exchange("lifespan.startup")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._exchange("lifespan.shutdown")
        self._loop.run_until_complete(self._life)
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def _exchange(self, event: str) -> None:
        self._begun.put_nowait({"type": event})
        answer = self._loop.run_until_complete(asyncio.wait_for(self._answered.get(), _LIMIT))
        assert answer["type"] == f"{event}.complete", answer
