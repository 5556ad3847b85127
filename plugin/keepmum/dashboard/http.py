"""The dashboard's server on this machine: it answers only this user's browser.

Every answer has the headers of `site.HEADERS`. A call needs the right `Host` (against DNS rebinding), no foreign
`Origin` or `Sec-Fetch-Site` (against requests by other pages, also by those of other ports), a session's cookie and the
secret of its tab (`sessions`). There are no CORS headers.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from keepmum.core.errors import InvalidInput
from keepmum.dashboard import site
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.failures import Failure, failure
from keepmum.dashboard.sessions import Secrets, Sessions, Tokens
from keepmum.dashboard.worker import Worker

__all__ = ["IDLE_SECONDS", "DashboardServer"]

IDLE_SECONDS = 1800.0
_HOST = "127.0.0.1"
_MOST_BYTES = 2 * 1024 * 1024  # of a request; a text of 64 KiB may have six times as many bytes in JSON
_MOST_CONNECTIONS = 64
_MOST_SESSIONS = 32
_SECONDS = 60.0  # that a connection may be silent
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"
_NO_SESSION = "this page has no session; run `keepmum dashboard` again"
_FORMATS: Mapping[str, str] = {
    "jsonl": "application/x-ndjson; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}


class DashboardServer(http.server.ThreadingHTTPServer):
    """Serves the page and its calls on 127.0.0.1, and the port given or a free one; use it in a `with`.

    Raises: OSError when the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = False  # no other process may listen on this port at the same time
    request_queue_size = 32

    def __init__(self, worker: Worker, port: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__((_HOST, port), _Request)
        self.worker = worker
        self.tokens = Tokens(clock)
        self.sessions = Sessions(_MOST_SESSIONS)
        self.origins = {f"{name}:{self.server_port}" for name in (_HOST, "localhost")}
        self._clock = clock
        self._connections = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._last_call = clock()

    @property
    def address(self) -> str:
        """A new address of the page; its token opens one session."""
        return f"http://{_HOST}:{self.server_port}/#t={self.tokens.new()}"

    @property
    def idle(self) -> float:
        """Seconds since the last call of a session."""
        return self._clock() - self._last_call

    def note_call(self) -> None:
        """Note that a session has called now."""
        self._last_call = self._clock()

    def process_request(self, request: Any, client_address: Any) -> None:  # Any: as the base class has it
        """Answer in a thread of its own; one connection too many is closed."""
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # Any: as the base class has it
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # Any: as the base class has it
        """Say nothing: a browser closes connections as it likes, and a message could hold what was sent."""


class _Request(http.server.BaseHTTPRequestHandler):
    server: DashboardServer
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.1"  # an answer to a damaged request line has headers, too
    server_version = "keepmum"
    sys_version = ""
    timeout = _SECONDS

    def parse_request(self) -> bool:
        """Read request line and headers; also a client of HTTP/0.9 gets headers with its answer."""
        parsed = super().parse_request()
        self.request_version = self.default_request_version
        return parsed

    def do_GET(self) -> None:
        """A static file."""
        self.close_connection = self.close_connection or self.headers.get("Content-Length", "0") != "0"
        if self._refused():
            return
        file = site.static_files().get(self.path.partition("?")[0])
        if file is None:
            self._say(404, "there is no such page")
        else:
            self._send(200, file.content, file.content_type)

    do_HEAD = do_GET  # noqa: N815 - named by the base class

    def do_POST(self) -> None:
        """A session for a token, or a call."""
        if self._refused(writes=True):
            return
        if self.path == "/session":
            self._open_session()
            return
        answer = self._CALLS.get(self.path)
        if answer is None:
            self._say(404, "there is no such call")
        elif not self.server.sessions.has(Secrets(self._cookie(), self.headers.get("X-Keepmum-Tab", ""))):
            self.close_connection = True  # the body was not read
            self._send_json(401, {"error": {"kind": "session", "message": _NO_SESSION}})
        elif self.headers.get("Content-Type", "").replace(" ", "").lower() not in _JSON_TYPES:
            self._say(415, "send application/json")
        else:
            self.server.note_call()
            self._answer(answer)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """An error of the protocol, with the headers of every answer and none of the client's words."""
        self.close_connection = True
        self._say(code, "this request cannot be answered")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
        """Log nothing: a request line may hold what should stay private."""

    # -- access

    def _refused(self, *, writes: bool = False) -> bool:
        """Whether the request was refused because of where it comes from."""
        if self.headers.get_all("Host") not in [[origin] for origin in self.server.origins]:
            self._say(421, f"ask for {_HOST}:{self.server.server_port}")
            return True
        origins = self.headers.get_all("Origin") or []
        if origins not in ([[]] if not writes else []) + [[f"http://{self.headers['Host']}"]]:
            self._say(403, "this request comes from another page")
            return True
        site_of_origin = self.headers.get("Sec-Fetch-Site", "none")
        if site_of_origin not in {"same-origin", "none"} and not self._is_navigation():
            self._say(403, "this request comes from another page")
            return True
        return False

    def _is_navigation(self) -> bool:
        """Whether someone follows a link or a file to the page itself, which holds no data before a session."""
        how = self.headers.get("Sec-Fetch-Mode"), self.headers.get("Sec-Fetch-Dest")
        return self.command == "GET" and self.path == site.INDEX and how == ("navigate", "document")

    def _cookie(self) -> str:
        """The value of this port's cookie."""
        for part in self.headers.get("Cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == self._cookie_name:
                return value
        return ""

    @property
    def _cookie_name(self) -> str:
        return f"keepmum_{self.server.server_port}"

    def _open_session(self) -> None:
        self._body()
        if not self.server.tokens.spend(self.headers.get("Authorization", "").removeprefix("Bearer ")):
            self._send_json(401, {"error": {"kind": "session", "message": _NO_SESSION}})
            return
        self.server.note_call()
        cookie, tab = self.server.sessions.open()
        attributes = f"{self._cookie_name}={cookie}; HttpOnly; SameSite=Strict; Path=/"
        self._send_json(200, {"tab": tab}, {"Set-Cookie": attributes})

    # -- calls

    def _answer(self, call: Callable[[_Request, Arguments], None]) -> None:
        try:
            call(self, self._arguments())
        except _TooLarge:
            self._say(413, "this request is too large")
        except ConnectionError:  # the browser has closed the tab
            self.close_connection = True
        except Exception as error:  # noqa: BLE001 - an error in one call must not end the connection
            self._send_failure(failure(error))

    def _ask(self, given: Arguments) -> None:
        view, args = given.text("view"), given.members("args")
        self._send_json(200, self.server.worker.run(lambda desk: desk.ask(view, args)))

    def _change(self, given: Arguments) -> None:
        verb, args = given.text("do"), given.members("args")
        self._send_json(200, self.server.worker.run(lambda desk: desk.change(verb, args)))

    def _export(self, given: Arguments) -> None:
        kind = given.choice("format", tuple(_FORMATS), "jsonl")
        members = given.members("filter") | {"query": given.text("query")}
        texts = self.server.worker.each(lambda desk: desk.export(kind, members))
        first = next(texts, "")  # an error before the first text can still be answered
        self._send_stream(_FORMATS[kind], first, texts)

    _CALLS: ClassVar[Mapping[str, Callable[[_Request, Arguments], None]]] = {
        "/api/ask": _ask,
        "/api/change": _change,
        "/api/export": _export,
    }

    def _arguments(self) -> Arguments:
        """The members of the JSON object that was sent.

        Raises: InvalidInput.
        """
        try:
            values = json.loads(self._body())
        except ValueError:
            raise InvalidInput("request", "is not JSON") from None
        except RecursionError:
            raise InvalidInput("request", "is nested too deeply") from None
        if not isinstance(values, dict):
            raise InvalidInput("request", "must be an object")
        return Arguments(values)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self.close_connection = True
            raise InvalidInput("request", "must have a length")
        if int(length) > _MOST_BYTES:
            self.close_connection = True
            raise _TooLarge
        return self.rfile.read(int(length))

    # -- answers

    def _say(self, status: int, message: str) -> None:
        self.close_connection = self.close_connection or self.command != "GET"  # a body may be unread
        self._send(status, message.encode(), _TEXT)

    def _send_failure(self, failed: Failure) -> None:
        self._send_json(failed.status, failed.body)

    def _send_json(self, status: int, value: JsonObject, more: Mapping[str, str] | None = None) -> None:
        # Half a surrogate pair, which JSON can carry and UTF-8 cannot, is replaced.
        self._send(status, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), _JSON, more)

    def _send(self, status: int, body: bytes, content_type: str, more: Mapping[str, str] | None = None) -> None:
        self._start(status, content_type, {"Content-Length": str(len(body)), **(more or {})})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_stream(self, content_type: str, first: str, rest: Iterator[str]) -> None:
        """A text in parts. When a part fails the connection ends early, so that no half of a list looks whole."""
        self._start(200, content_type, {"Transfer-Encoding": "chunked"})
        with contextlib.closing(_Chunks(self.wfile.write)) as chunks:
            try:
                chunks.write(first)
                for text in rest:
                    chunks.write(text)
            except Exception as error:  # noqa: BLE001 - as in `_answer`
                chunks.broken = True
                self.close_connection = True
                failure(error)  # reports an unexpected one
                self.connection.shutdown(socket.SHUT_RDWR)

    def _start(self, status: int, content_type: str, more: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, **site.HEADERS, **more}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


_JSON_TYPES = frozenset({_JSON, f"{_JSON};charset=utf-8"})


class _TooLarge(Exception):
    pass


class _Chunks:
    """Writes texts as chunks, and the last one at the end unless something broke."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self.broken = False

    def write(self, text: str) -> None:
        """Write one text; an empty one would end the stream."""
        body = text.encode("utf-8", "replace")
        if body:
            self._write(b"%x\r\n%s\r\n" % (len(body), body))

    def close(self) -> None:
        """Write the end."""
        if not self.broken:
            self._write(b"0\r\n\r\n")
