"""HTTP requests to a memory server: total deadline, retries, size limits, and protection of the key.

The key is sent to one origin only: over verified TLS, or over plain HTTP to a loopback address. Redirects are not
followed. Proxies, certificates and credentials named by environment variables are ignored, because a project's
settings can set variables.
"""

from __future__ import annotations

import contextlib
import email.utils
import functools
import ipaddress
import queue
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

import httpx

from keepmum.core.errors import KeyRefused, StoreError, StoreUnavailable
from keepmum.core.version import VERSION
from keepmum.stores.rest.responses import parse
from keepmum.workspace.credentials import Server

__all__ = ["HttpClient", "RequestRefused"]

_SECONDS = 2.0  # for a request with all its retries
_MAX_BYTES = 4 * 1024 * 1024
_BULK_SECONDS = 60.0  # for a request that lists everything
_MAX_BULK_BYTES = 64 * 1024 * 1024
_RETRIES = 3
_FIRST_PAUSE = 0.1  # seconds; doubled for each retry, then a random part of it is waited
_MAX_RETRY_AFTER = 60.0  # seconds
_KEEP_ALIVE = 60.0  # seconds
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
_MAX_MESSAGE = 200  # characters of the server's own error message
_TOO_SLOW = "the server took too long to answer"
_NO_CONNECTION = "the server cannot be reached"


class RequestRefused(StoreError):
    """The server refused the request with a 4xx status that has nothing to do with the key."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class HttpClient:
    """Sends requests to one server. Safe between threads."""

    def __init__(
        self, server: Server, *, transport: httpx.BaseTransport | None = None, seconds: float | None = None
    ) -> None:
        self.origin = server.origin
        self.api_version: int | None = None  # the newest API of the server; None until it has answered
        self._seconds = _SECONDS if seconds is None else seconds
        self._closed = threading.Event()
        self._headers = {
            "User-Agent": f"keepmum/{VERSION}", "Accept": "application/json", "Accept-Encoding": "identity",
        }  # fmt: skip
        if server.key:
            self._headers["Authorization"] = f"Bearer {server.key}"
        self._transport = transport
        url = urlsplit(server.origin)
        self._is_localhost = url.scheme == "http" and url.hostname == "localhost"
        self._tls = _tls_context(server.ca_file) if url.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._idle: list[_Connection] = []

    def request(  # noqa: PLR0913 - the parts of an HTTP request
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        base_revision: int | None = None,
        bulk: bool = False,
        repeatable: bool = False,
    ) -> Any:  # JSON; `responses` checks it
        """The JSON that the server answers with. Requests that are safe to repeat are retried until the deadline.

        API version 2 makes a POST with `idempotency_key` safe to repeat, and refuses a change of any other revision
        than `base_revision`. Version 1 ignores both. With `bulk`, the answer may be larger and take longer: no agent
        waits for it. A `repeatable` POST changes nothing, so it is retried as well.

        Raises: StoreUnavailable, KeyRefused, RequestRefused, StoreError.
        """
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        if base_revision is not None:
            headers["If-Match"] = f'"{base_revision}"'
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = _Connection(self._new_client())
        deadline = _Deadline(_BULK_SECONDS if bulk else self._seconds, connection, bulk=bulk)
        request = connection.client.build_request(method, path, params=query, json=body, headers=headers)
        result: Future[Any] = Future()
        connection.tasks.put(functools.partial(self._run, result, connection, request, deadline, repeatable))
        try:
            with contextlib.suppress(TimeoutError):
                return result.result(deadline.left())
        finally:
            if result.cancel():  # not finished
                connection.abort()
        if result.cancelled():
            raise StoreUnavailable(
                self._message(_TOO_SLOW if deadline.sent else _NO_CONNECTION), unsent=not deadline.sent
            )
        return result.result()

    def close(self) -> None:
        """Close idle connections now, and those in use after their requests."""
        self._closed.set()
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _run(
        self,
        result: Future[object],
        connection: _Connection,
        request: httpx.Request,
        deadline: _Deadline,
        repeatable: bool,  # noqa: FBT001 - a task passes it on
    ) -> None:
        """Send a request in the thread of its connection, and then release the connection."""
        answer, failure = None, None
        try:
            answer = self._send_with_retries(connection.client, request, deadline, repeatable=repeatable)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for the result
            failure = error
        wanted = result.set_running_or_notify_cancel()
        if wanted:
            self._idle.append(connection)
            if self._closed.is_set():  # perhaps since the connection came back
                self.close()
        else:
            connection.close()
        if failure is not None and wanted:
            result.set_exception(failure)
        elif wanted:
            result.set_result(answer)

    def _send_with_retries(
        self, client: httpx.Client, request: httpx.Request, deadline: _Deadline, *, repeatable: bool
    ) -> object:
        pause = _FIRST_PAUSE
        for attempt in range(_RETRIES + 1):
            try:
                return self._send(client, request, deadline)
            except StoreUnavailable as error:
                wait = max(error.retry_after, random.uniform(0, pause))  # noqa: S311 - spreads load, keeps no secret
                knows_repeats = "Idempotency-Key" in request.headers and (self.api_version or 1) > 1
                again = error.unsent or request.method != "POST" or knows_repeats or repeatable
                if attempt == _RETRIES or not again or deadline.left() <= wait:
                    raise
                self._closed.wait(wait)
                pause *= 2
        raise AssertionError  # the last attempt answers or raises

    def _send(self, client: httpx.Client, request: httpx.Request, deadline: _Deadline) -> object:
        limits = dict.fromkeys(("connect", "read", "write", "pool"), deadline.left())
        request.extensions = {"timeout": limits, "trace": deadline.trace}
        try:
            deadline.check()
            with contextlib.closing(client.send(request, stream=True)) as response:
                raw = self._read_body(response, deadline)
                self.api_version = _api_version(response.headers.get("keepmum-api", ""))
        except httpx.HTTPError as error:
            reason = _reason(error, sent=deadline.sent)
            raise StoreUnavailable(self._message(reason), unsent=not deadline.sent) from None
        return self._result(response, raw)

    def _read_body(self, response: httpx.Response, deadline: _Deadline) -> bytes:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise StoreError(self._message("the server compressed its answer, which was not asked for"))
        chunks, size = [], 0
        for chunk in response.iter_raw():
            size += len(chunk)
            if size > deadline.max_bytes:
                raise StoreError(self._message(f"the server's answer is larger than {deadline.max_bytes >> 20} MiB"))
            chunks.append(chunk)
            deadline.check()
        return b"".join(chunks)

    def _result(self, response: httpx.Response, raw: bytes) -> object:
        status, message = response.status_code, self._message
        if response.is_success:
            return parse(raw, self.origin)
        if 300 <= status < 400:
            raise StoreError(message("the server redirects to another address, which gets no key; use that address"))
        if status == 401:
            login = f"`keepmum login {self.origin}` stores another"
            raise KeyRefused(message(f"the server does not accept the key (401); {login}"))
        if status == 403 and (self.api_version or 1) == 1:
            raise KeyRefused(message("the key is not for this project (403); ask its issuer"))
        if status in _RETRYABLE:
            wait = _retry_after(response.headers.get("retry-after", ""))
            why = "limits how often it is asked, also with a wrong key" if status == 429 else "cannot serve just now"
            raise StoreUnavailable(message(f"the server {why} ({status})"), retry_after=wait)
        raise RequestRefused(message(f"the server refused ({status}){_error_message(raw)}"), status)

    def _message(self, text: str) -> str:
        return text if self.origin in text else f"{self.origin}: {text}"

    def _new_client(self) -> httpx.Client:
        transport = _LocalhostTransport if self._is_localhost else httpx.HTTPTransport
        limits = httpx.Limits(keepalive_expiry=_KEEP_ALIVE)
        return httpx.Client(
            base_url=self.origin,
            headers=self._headers,
            transport=self._transport or transport(verify=self._tls, trust_env=False, limits=limits),
            follow_redirects=False,
            trust_env=False,
        )


class _Connection:
    """An httpx client that serves one request at a time, in its own thread and over a connection that is kept open."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.socket: socket.socket | None = None  # the latest that httpx has opened
        self.tasks: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()  # None ends the thread
        threading.Thread(target=self._work, name="keepmum-http", daemon=True).start()

    def close(self) -> None:
        """Close the connection, and end the thread after its current task."""
        self.client.close()
        self.tasks.put(None)

    def abort(self) -> None:
        """Make the thread that uses the connection fail at once.

        Closing the socket here would be unsafe: the thread could write to another file with the same descriptor.
        """
        if self.socket is not None:
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)

    def _work(self) -> None:
        while (task := self.tasks.get()) is not None:
            task()


class _Deadline:
    """When one request with its retries has to end, how far it has come, and how long its answer may be.

    Timeouts of httpx apply to a single read. They would restart with each byte of a slow server, and do not limit a
    name lookup at all. So a request runs in the thread of its connection, and its caller stops waiting at the deadline.
    """

    def __init__(self, seconds: float, connection: _Connection, *, bulk: bool = False) -> None:
        self.max_bytes = _MAX_BULK_BYTES if bulk else _MAX_BYTES
        self._end = time.monotonic() + seconds
        self._connection = connection
        self.sent = False  # whether the server may have received a part of the request

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise when no time is left.

        Raises: httpx.TimeoutException.
        """
        if not self.left():
            raise httpx.TimeoutException(_TOO_SLOW)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:  # Any: each event of httpx has other values
        """Note the socket that httpx opened, and that it sends. Send nothing after the caller has stopped waiting.

        Source: https://www.python-httpx.org/advanced/extensions/#trace, read 2026-11-22.
        """
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._connection.socket = info["return_value"].get_extra_info("socket")
        elif event.endswith("send_request_headers.started"):
            self.check()
            self.sent = True


class _LocalhostTransport(httpx.HTTPTransport):
    """Plain HTTP to `localhost`, whose addresses are checked first: a name server cannot divert the key."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the first loopback address that accepts a connection.

        Raises: httpx.ConnectError when an address belongs to another machine, or none accepts.
        """
        url, failure = request.url, httpx.ConnectError("localhost has no address")
        try:
            found = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
        except OSError:
            raise failure from None
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not all(ipaddress.ip_address(address).is_loopback for address in addresses):
            raise httpx.ConnectError("localhost resolves to another machine")
        for address in addresses:
            request.url = url.copy_with(host=address)
            try:
                return super().handle_request(request)
            except httpx.ConnectError as error:
                failure = error
            finally:
                request.url = url
        raise failure


def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    """A context that verifies certificates by the system's authorities, those of httpx, and the user's own file."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ssl.SSLError):
            raise StoreError(f"backend.ca_file: {ca_file} holds no readable certificates") from None
    return context


def _reason(error: httpx.HTTPError, *, sent: bool) -> str:
    """Why a request failed, in words. Certificate errors get their own message: trying again does not help there."""
    if "certificate" in str(error).lower():
        return "the server's certificate is not trusted; check the address, or name its authority in backend.ca_file"
    if not sent:
        return _NO_CONNECTION
    return _TOO_SLOW if isinstance(error, httpx.TimeoutException) else "the connection to the server broke"


def _api_version(header: str) -> int:
    """The newest API that a server names in `Keepmum-API`; 1 without the header."""
    return int(header) if header.isdecimal() and len(header) < 4 else 1


def _retry_after(header: str) -> float:
    """Seconds that `Retry-After` asks for, as a number or a date; 0 when it holds neither."""
    if header.strip().isdecimal():
        return min(float(header[:9]), _MAX_RETRY_AFTER)
    try:
        moment = email.utils.parsedate_to_datetime(header).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(max(0.0, moment - time.time()), _MAX_RETRY_AFTER)


def _error_message(raw: bytes) -> str:
    """The server's error message as the end of a sentence: one line, secrets masked.

    `error` may be an object with a `message`, or a string.
    """
    from keepmum_scanner import redact, scan

    try:
        error = parse(raw, "")["error"]
        message = error["message"] if isinstance(error, Mapping) else error
    except (StoreError, TypeError, KeyError):
        return ""
    if not isinstance(message, str) or not message.strip():
        return ""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in message).split())[:_MAX_MESSAGE]
    return f": {redact(line, scan(line))}"
