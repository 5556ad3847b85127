"""The outermost layer of the server: it limits and names each request, and logs and counts each response."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import anyio
from starlette.requests import ClientDisconnect

from keepmum.core import ids
from keepmum.server.call import Answer, HttpError
from keepmum.server.edge.errors import answer_to
from keepmum.server.edge.hosts import Hosts
from keepmum.server.edge.proxies import Proxies, is_loopback
from keepmum.server.edge.record import RECORD, Record, record_of
from keepmum.server.edge.responses import encoded

__all__ = ["Envelope", "Interrupted", "Limits"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
_KEY_NAMES = frozenset({"key", "api_key", "apikey", "token", "access_token", "authorization"})
_ONCE = (b"authorization", b"idempotency-key", b"if-match", b"x-keepmum-project")
_CLIENT_LEFT = 499  # in the log and the metrics, as nginx has it; nobody reads this answer
_HEALTH = "/health"  # requested by orchestrators, under any name of the machine
_HEADERS = {
    "cache-control": "private, no-store",
    "keepmum-api": "2",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


class Limits(NamedTuple):
    """What one request may cost."""

    headers: int = 64
    body_seconds: float = 30.0  # until the whole body is here


class Envelope:
    """Wraps the application; what it refuses never reaches a route."""

    def __init__(  # noqa: PLR0913 - the parts of the edge
        self,
        app: App,
        hosts: Hosts,
        *,
        limits: Limits = Limits(),  # noqa: B008 - it is frozen
        proxies: Proxies = Proxies(),  # noqa: B008 - it never changes
        only_proxies: bool = False,
        done: Callable[[Record, str, float], None] = lambda *_: None,
    ) -> None:
        """Wrap `app`.

        Args:
            app: the application.
            hosts: the names of the server.
            limits: of each request.
            proxies: whose `X-Forwarded-*` is believed.
            only_proxies: whether requests of other machines must come through a proxy, since this server has no TLS.
            done: called after each response with its record, its method and the seconds that it took.
        """
        self._app = app
        self._hosts = hosts
        self._limits = limits
        self._proxies = proxies
        self._only_proxies = only_proxies
        self._done = done

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _named(scope["headers"])
        record = Record(ids.new_id()[4:], self._proxies.source(_peer(scope), headers.get("x-forwarded-for", "")))
        scope[RECORD] = record
        started = time.perf_counter()
        sending = _Sending(send, record)
        try:
            self._check(scope, headers)
        except HttpError as refused:
            await sending.answer(answer_to(refused))
        else:
            await self._serve(scope, receive, sending)
        finally:
            self._done(record, str(scope["method"]), time.perf_counter() - started)

    async def _serve(self, scope: Scope, receive: Receive, sending: _Sending) -> None:
        deadline = time.monotonic() + self._limits.body_seconds
        is_read = False

        async def limited() -> Message:
            """The next part of the body, in time."""
            nonlocal is_read
            if is_read:
                return await receive()
            with anyio.fail_after(max(0.0, deadline - time.monotonic())):
                message = await receive()
            is_read = not message.get("more_body", False)
            return message

        await self._app(scope, limited, sending)

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Check what can be refused before anything else is done.

        Raises: HttpError.
        """
        if len(scope["headers"]) > self._limits.headers:
            raise HttpError(431, f"the request has more than {self._limits.headers} headers", {"connection": "close"})
        path = str(scope["path"])
        if path != _HEALTH and not path.startswith(_HEALTH + "/"):
            self._hosts.check(headers)
            if self._only_proxies and not self._is_behind_proxy(scope, headers):
                raise HttpError(403, "this server is reached by HTTPS, through its proxy")
        names = [name for name, _ in scope["headers"]]
        repeated = [name for name in _ONCE if names.count(name) > 1]
        if repeated or {"content-length", "transfer-encoding"} <= headers.keys():
            what = f"{repeated[0].decode()} twice" if repeated else "two lengths of its body"
            raise HttpError(400, f"the request has {what}, which a proxy may read differently", {"connection": "close"})
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise HttpError(415, "compressed bodies are not accepted")
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name.lower() in _KEY_NAMES for name, _ in given):
            raise HttpError(400, "a key belongs into the header Authorization, never into the address")

    def _is_behind_proxy(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        peer = _peer(scope)
        if peer in self._proxies:
            return headers.get("x-forwarded-proto", "https").lower() == "https"
        return is_loopback(peer)


class _Sending:
    """Sends a response with the standard headers, and counts its bytes."""

    def __init__(self, send: Send, record: Record) -> None:
        self._send = send
        self._record = record

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._record.status = message["status"]
            message["headers"] = _with_standard(message.get("headers", ()), self._record.request_id)
        elif message["type"] == "http.response.body":
            self._record.size += len(message.get("body", b""))
        await self._send(message)

    async def answer(self, answer: Answer) -> None:
        await _send_answer(answer, self)


class Interrupted:
    """Wraps the routes: ends a request whose body did not arrive, which is no failure of the server."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await self._app(scope, receive, send)
        except ClientDisconnect:
            await _end(scope, send, HttpError(_CLIENT_LEFT, "the client has left"))
        except TimeoutError:
            await _end(scope, send, HttpError(408, "the request took too long to arrive", {"connection": "close"}))


async def _end(scope: Scope, send: Send, reason: HttpError) -> None:
    """Answer with the reason, unless an answer has begun."""
    if scope["type"] == "http" and not record_of(scope).status:
        await _send_answer(answer_to(reason), send)


async def _send_answer(answer: Answer, send: Send) -> None:
    body, media_type = encoded(answer)
    headers = {**answer.headers, "content-length": str(len(body)), "content-type": media_type}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _with_standard(headers: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    names = {name.lower() for name, _ in given}
    standard = {**_HEADERS, "x-request-id": request_id}
    more = [(name.encode(), value.encode()) for name, value in standard.items() if name.encode() not in names]
    return [*given, *more]


def _named(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name; one that is sent several times is one list, so that none hides another."""
    named: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        named[name] = f"{named[name]}, {value}" if name in named else value
    return named


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""
