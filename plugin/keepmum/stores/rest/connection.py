"""Connections that a clock watches: every wait for the network ends at one deadline.

A read timeout alone is none, since it starts anew with each byte of a server that drips. The deadline belongs to the
thread that asks, so connections can be shared and used again.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator

import httpcore
import httpx

from keepmum.core.errors import StoreUnavailable

__all__ = ["Deadline", "WatchedTransport"]

_CONNECTIONS = 4  # a server of ours has few threads
_IDLE_SECONDS = 60.0


class Deadline(threading.local):
    """The moment by which this thread's request must be through."""

    _end = 0.0

    def start(self, seconds: float) -> None:
        """Let `seconds` run from now."""
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left.

        Raises: StoreUnavailable when none are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise StoreUnavailable("the server took too long to answer")
        return left


class WatchedTransport(httpx.BaseTransport):
    """HTTP/1.1 over TCP and TLS, with connections that are kept, no proxy, and the deadline on every wait."""

    def __init__(self, deadline: Deadline, context: ssl.SSLContext | None, *, loopback: bool) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_WatchedBackend(deadline, loopback=loopback),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, its body not yet read."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        answer = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
            )
        )
        assert isinstance(answer.stream, Iterable)
        return httpx.Response(status_code=answer.status, headers=answer.headers, stream=_Body(answer.stream))

    def close(self) -> None:
        """Let all connections go."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        close = getattr(self._stream, "close", None)
        if close is not None:
            close()


class _WatchedBackend(httpcore.NetworkBackend):
    def __init__(self, deadline: Deadline, *, loopback: bool) -> None:
        self._deadline = deadline
        self._loopback = loopback
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(  # type: ignore[override] # the options of a socket are none of ours
        self, host: str, port: int, timeout: float | None = None, local_address: str | None = None, **_: object
    ) -> httpcore.NetworkStream:
        del timeout, local_address
        failure: Exception = httpcore.ConnectError("the name has no address")
        for address in self._addresses(host, port):
            try:
                return _WatchedStream(
                    self._sockets.connect_tcp(address, port, timeout=self._deadline.left()), self._deadline
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def _addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a name; the system's own lookup knows no deadline, so a thread of its own waits for it."""
        found: list[str] = []

        def look_up() -> None:
            try:
                found.extend(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
            except OSError:
                return

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(self._deadline.left())
        addresses = list(dict.fromkeys(found))
        if self._loopback and not all(ipaddress.ip_address(address).is_loopback for address in addresses):
            raise httpcore.ConnectError("the name of this machine leads to another")
        return addresses


class _WatchedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        self._stream.write(buffer, self._deadline.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        del timeout
        secured = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left())
        return _WatchedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
