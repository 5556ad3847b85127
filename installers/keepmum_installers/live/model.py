"""A model that says what it is told to, on loopback: it remembers each request, so that one can see what reached it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

__all__ = ["Call", "Model", "Reply", "Say", "Wire"]

Json = dict[str, Any]
_LARGEST = 32 << 20  # bytes of a request; a client's whole context is a hundredth of it


@dataclass(frozen=True, slots=True)
class Say:
    """An answer that ends the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """An answer that uses a tool; the one offered whose name is `tool`, or ends with it after a separator."""

    tool: str
    input: Json = field(default_factory=dict)


Reply = Say | Call


class Wire(Protocol):
    """The form in which a client asks its model."""

    def is_question(self, path: str, body: Json) -> bool:
        """Whether this request is a turn of the conversation, and none of the client's own errands."""

    def tools(self, body: Json) -> list[str]:
        """The names of the tools that the model may call, as the model has to spell them."""

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:
        """Content type and bytes of the model's answer, the `number`-th of this run."""

    def errand(self, path: str) -> bytes:
        """The JSON with which any other request is satisfied."""


class Model:
    """A scripted model that listens while it is open; it says "done" when the script is at its end."""

    def __init__(self, wire: Wire, script: list[Reply]) -> None:
        self.requests: list[Json] = []
        self._wire = wire
        self._script = deque(script)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def tools(self) -> list[str]:
        """The names of the tools that the first request offered."""
        return self._wire.tools(self.requests[0]) if self.requests else []

    def texts(self) -> list[str]:
        """Each request as one text, to search in."""
        return [json.dumps(body, ensure_ascii=False) for body in self.requests]

    def will(self, *replies: Reply) -> None:
        """Answer the next requests so, one after the other."""
        with self._lock:
            self._script.extend(replies)

    def respond(self, path: str, body: Json) -> tuple[str, bytes]:
        """Content type and bytes of the answer to one request."""
        if not self._wire.is_question(path, body):
            return "application/json", self._wire.errand(path)
        with self._lock:
            self.requests.append(body)
            reply = self._script.popleft() if self._script else Say("done")
            number = len(self.requests)
        return self._wire.answer(body, self._offered(reply, body), number)

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
        """A call under the name that the client gave the tool; words where it is not offered."""
        if isinstance(reply, Say):
            return reply
        names = self._wire.tools(body)
        name = next(
            (name for name in names if name == reply.tool or name.endswith((f"_{reply.tool}", f"-{reply.tool}"))), None
        )
        return Call(name, reply.input) if name else Say(f"there is no tool {reply.tool}")


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Say nothing: the requests are remembered."""

        def do_HEAD(self) -> None:
            self._send("text/plain", b"")

        def do_GET(self) -> None:
            self._respond({})

        def do_POST(self) -> None:
            length = min(int(self.headers.get("content-length") or 0), _LARGEST)
            body: Any = {}
            with contextlib.suppress(ValueError):  # an errand may send anything
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
