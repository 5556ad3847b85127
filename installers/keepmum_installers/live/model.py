"""A scripted model on loopback, which records each request that reaches it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

__all__ = ["Call", "Model", "ModelApi", "Reply", "Say"]

Json = dict[str, Any]
_LARGEST = 32 << 20  # bytes of a request; a client's context has about a hundredth of that


@dataclass(frozen=True, slots=True)
class Say:
    """A text answer, which ends the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; it uses the offered tool whose name is `tool`, or ends with it after a separator."""

    tool: str
    input: Json = field(default_factory=dict)


Reply = Say | Call


class ModelApi(Protocol):
    """The HTTP API between a client and its model."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Whether the request is a turn of the conversation, and no auxiliary request of the client."""

    def tools(self, body: Json) -> list[str]:
        """The names of the offered tools, as the model has to spell them."""

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:
        """Content type and body of the model's answer, the `number`-th of this run."""

    def auxiliary(self, path: str) -> bytes:
        """The JSON response to an auxiliary request."""


class Model:
    """A scripted model that listens while it is open; after the end of its script it answers "done"."""

    def __init__(self, api: ModelApi, script: list[Reply]) -> None:
        self.requests: list[Json] = []
        self._api = api
        self._script = deque(script)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """The address at which it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def tools(self) -> list[str]:
        """The names of the tools that the first request offered."""
        return self._api.tools(self.requests[0]) if self.requests else []

    def texts(self) -> list[str]:
        """Each request as JSON text."""
        return [json.dumps(body, ensure_ascii=False) for body in self.requests]

    def will(self, *replies: Reply) -> None:
        """Add replies to the end of the script."""
        with self._lock:
            self._script.extend(replies)

    def respond(self, path: str, body: Json) -> tuple[str, bytes]:
        """Content type and body of the response to one request."""
        if not self._api.is_turn(path, body):
            return "application/json", self._api.auxiliary(path)
        with self._lock:
            self.requests.append(body)
            reply = self._script.popleft() if self._script else Say("done")
            number = len(self.requests)
        return self._api.answer(body, self._offered(reply, body), number)

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _offered(self, reply: Reply, body: Json) -> Reply:
        """The reply with the tool's name as the client offers it; a text when the tool is not offered."""
        if isinstance(reply, Say):
            return reply
        names = self._api.tools(body)
        name = next(
            (name for name in names if name == reply.tool or name.endswith((f"_{reply.tool}", f"-{reply.tool}"))), None
        )
        return Call(name, reply.input) if name else Say(f"there is no tool {reply.tool}")


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Print nothing: the requests are recorded."""

        def do_HEAD(self) -> None:
            self._send("text/plain", b"")

        def do_GET(self) -> None:
            self._respond({})

        def do_POST(self) -> None:
            length = min(int(self.headers.get("content-length") or 0), _LARGEST)
            body: Any = {}
            with contextlib.suppress(ValueError):  # an auxiliary request may send anything
                body = json.loads(self.rfile.read(length) or b"{}")
            self._respond(body if isinstance(body, Mapping) else {})

        def _respond(self, body: Mapping[str, Any]) -> None:
            self._send(*model.respond(self.path.partition("?")[0], dict(body)))

        def _send(self, kind: str, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
