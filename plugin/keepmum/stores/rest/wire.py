"""One request to the server and its answer as checked JSON: deadlines, retries, limits, and where the key may go.

The key is sent to one origin, over TLS that was verified or to this very machine, and never after a redirect.
Proxies, certificates and passwords that the environment names are not taken: a project's settings can set variables.
"""

from __future__ import annotations

import email.utils
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from keepmum.core.errors import KeyRefused, StoreError, StoreUnavailable
from keepmum.core.version import VERSION
from keepmum.stores.rest.answers import parse
from keepmum.stores.rest.connection import Deadline, WatchedTransport
from keepmum.workspace.credentials import Server

__all__ = ["Refused", "Wire"]

_SECONDS = 2.0  # for a request with all its retries
_MOST_BYTES = 4 * 1024 * 1024
_RETRIES = 3
_FIRST_PAUSE = 0.1  # seconds; twice as long each time, and a random part of it
_LONGEST_WAIT = 60.0  # seconds that a server may ask for
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_UNSENT = (httpcore.ConnectError, httpcore.ConnectTimeout, httpx.ConnectError, httpx.ConnectTimeout)
_LONGEST_WORD = 200  # characters of a server's own message


class Refused(StoreError):
    """The server understood the request and does not do it: a status of 4xx other than those that mean the key."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Wire:
    """The way to one server. Safe between threads."""

    def __init__(
        self, server: Server, *, transport: httpx.BaseTransport | None = None, seconds: float = _SECONDS
    ) -> None:
        self.origin = server.origin
        self.newest: int | None = None  # the newest API that the server speaks; None until it has answered
        self._seconds = seconds
        self._deadline = Deadline()
        self._rest = threading.Event()  # never set: a pause that close can end
        headers = {"User-Agent": f"keepmum/{VERSION}", "Accept": "application/json", "Accept-Encoding": "identity"}
        if server.key:
            headers["Authorization"] = f"Bearer {server.key}"
        self._client = httpx.Client(
            base_url=server.origin,
            headers=headers,
            transport=transport or self._transport(server),
            follow_redirects=False,
            trust_env=False,
        )

    def ask(  # noqa: PLR0913 - one request has these parts, most of them seldom
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        token: str | None = None,
        base: int | None = None,
    ) -> Any:
        """The JSON that the server answers with; a request that changes nothing twice is tried again for a moment.

        `token` makes a request that creates something safe to repeat, where the server knows of such tokens; `base` is
        the revision that a change is meant for, where the server knows of revisions.

        Raises: StoreUnavailable, KeyRefused, Refused, StoreError.
        """
        headers = {} if token is None else {"Idempotency-Key": token}
        if base is not None:
            headers["If-Match"] = f'"{base}"'
        self._deadline.start(self._seconds)
        pause = _FIRST_PAUSE
        for attempt in range(_RETRIES + 1):
            try:
                return self._once(method, path, query, body, headers)
            except StoreUnavailable as error:
                wait = max(error.retry_after, random.uniform(0, pause))  # noqa: S311 - spreads load, keeps no secret
                again = error.unsent or method != "POST" or (token is not None and (self.newest or 1) > 1)
                if attempt == _RETRIES or not again or not self._has(wait):
                    raise
                self._rest.wait(wait)
                pause *= 2
        raise AssertionError  # the last attempt answers or raises

    def close(self) -> None:
        """Let the connections go."""
        self._rest.set()
        self._client.close()

    def _has(self, seconds: float) -> bool:
        try:
            return self._deadline.left() > seconds
        except StoreUnavailable:
            return False

    def _once(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
    ) -> Any:
        try:
            with self._client.stream(method, path, params=query, json=body, headers=headers) as response:
                raw = self._body(response)
                self.newest = _newest(response.headers.get("keepmum-api", ""))
        except _UNSENT as error:
            raise StoreUnavailable(self._says(_why(error)), unsent=True) from None
        except (httpx.HTTPError, httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            raise StoreUnavailable(self._says(_why(error))) from None
        except StoreUnavailable as error:
            raise StoreUnavailable(self._says(str(error)), unsent=error.unsent) from None
        return self._judged(response, raw)

    def _body(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise StoreError(self._says("the server compressed its answer, which was not asked for"))
        pieces, size = [], 0
        for piece in response.iter_raw():
            size += len(piece)
            if size > _MOST_BYTES:
                raise StoreError(self._says(f"the server's answer is larger than {_MOST_BYTES >> 20} MiB"))
            pieces.append(piece)
            self._deadline.left()
        return b"".join(pieces)

    def _judged(self, response: httpx.Response, raw: bytes) -> Any:
        status = response.status_code
        if response.is_success:
            return parse(raw, self.origin)
        if 300 <= status < 400:
            raise StoreError(
                self._says("the server leads to another address, where the key is not sent; name that one")
            )
        if status == 401:
            raise KeyRefused(
                self._says(f"the server does not take the key (401); `keepmum login {self.origin}` stores another")
            )
        if status == 403:
            raise KeyRefused(self._says("the key is not for this project (403); ask whoever gave it to you"))
        if status in _BUSY:
            wait = _wait(response.headers.get("retry-after", ""))
            raise StoreUnavailable(self._says(f"the server cannot serve just now ({status})"), retry_after=wait)
        raise Refused(self._says(f"the server refused ({status}){_word(raw)}"), status)

    def _says(self, what: str) -> str:
        return what if self.origin in what else f"{self.origin}: {what}"

    def _transport(self, server: Server) -> WatchedTransport:
        parts = urlsplit(server.origin)
        secure = parts.scheme == "https"
        return WatchedTransport(self._deadline, _tls(server.ca_file) if secure else None, loopback=not secure)


def _tls(ca_file: str | None) -> ssl.SSLContext:
    """Certificates are always verified: by what this system trusts, what httpx brings, and the user's own file."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ssl.SSLError):
            raise StoreError(f"backend.ca_file: {ca_file} holds no certificates that can be read") from None
    return context


def _why(error: Exception) -> str:
    """What went wrong on the way, in words; a certificate is named, since trying again does not help there."""
    text = str(error).lower()
    if "certificate" in text:
        return "the server's certificate is not trusted; check the address, or name its authority in backend.ca_file"
    if isinstance(error, _UNSENT):
        return "the server cannot be reached"
    if isinstance(error, (httpx.TimeoutException, httpcore.TimeoutException)):
        return "the server took too long to answer"
    return "the connection to the server broke"


def _newest(text: str) -> int:
    """The newest API that a server says it speaks; the first where it says nothing."""
    return int(text) if text.isdecimal() and len(text) < 4 else 1


def _wait(text: str, clock: Callable[[], float] = time.time) -> float:
    """Seconds that `Retry-After` asks for, as a number or a date; none when it says neither."""
    if text.strip().isdecimal():
        return min(float(text[:9]), _LONGEST_WAIT)
    try:
        moment = email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(max(0.0, moment - clock()), _LONGEST_WAIT)


def _word(raw: bytes) -> str:
    """The server's own message as the rest of a sentence, on one line and without what looks like a secret.

    Both shapes of error are read: an object with a message, and a bare word.
    """
    from keepmum_scanner import redact, scan

    try:
        error = parse(raw, "")["error"]
        message = error["message"] if isinstance(error, Mapping) else error
    except (StoreError, TypeError, KeyError):
        return ""
    if not isinstance(message, str) or not message.strip():
        return ""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in message).split())[:_LONGEST_WORD]
    return f": {redact(line, scan(line))}"
