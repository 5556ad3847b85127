"""A scripted model on loopback that speaks the Messages API and records each request.

with MockModel() as model:
    model.will(Say("hello"), Call("Read", {"file_path": "/x"}), Say("done"))
    ...  # run a client with its base URL at model.url
    assert "context" in model.requests[0].text
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from keepmum_installers.live.messages import Messages
from keepmum_installers.live.model import Call, ModelApi, Reply, Say

__all__ = ["Call", "MockModel", "Request", "Say"]

Json = dict[str, Any]
_LIMIT = 60  # seconds


@dataclass(frozen=True)
class Request:
    """A request from a client to the model."""

    body: Json

    @property
    def text(self) -> str:
        """The whole request as one text, for searching."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def news(self) -> str:
        """The text that the client added last: the messages after the model's last answer."""
        return "\n".join(_texts(self._new_messages()))

    @property
    def tools(self) -> dict[str, Json]:
        """The definitions of the tools that the model may call, by name."""
        return {tool["name"]: tool for tool in self.body.get("tools") or []}

    def errors(self) -> list[str]:
        """The texts of those tool results in the new messages that report a failure."""
        return [
            "\n".join(_texts([{"content": block.get("content")}]))
            for message in self._new_messages()
            for block in _blocks(message)
            if block.get("type") == "tool_result" and block.get("is_error")
        ]

    def _new_messages(self) -> list[Json]:
        messages: list[Json] = self.body.get("messages") or []
        answers = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
        return messages[answers[-1] + 1 :] if answers else messages


@dataclass(frozen=True)
class _Rule:
    text: str
    reply: Reply
    after: threading.Event | None


class MockModel:
    """A scripted model; a context manager that listens while it is open."""

    def __init__(self, wire: ModelApi | None = None, to_messages: Callable[[Json], Json] = dict) -> None:
        """Use the given wire format; `to_messages` converts its requests to the form of the Messages API."""
        self.wire = wire or Messages()
        self._to_messages = to_messages
        self.requests: list[Request] = []  # those of the conversation and of subagents, in order of arrival
        self._replies: deque[Reply] = deque()
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def will(self, *replies: Reply) -> None:
        """Use these replies for the next requests, in order; after them the model answers "done"."""
        with self._lock:
            self._replies.extend(replies)

    def whenever(self, text: str, reply: Reply, *, after: threading.Event | None = None) -> None:
        """Use this reply once, for the first request whose new messages contain `text`, before the script.

        With `after`, the reply waits for that event.
        """
        with self._lock:
            self._rules.append(_Rule(text, reply, after))

    def answer(self, body: Json) -> Reply:
        """The reply to a request, which is recorded; a client's auxiliary requests (titles, quotas) have no tools."""
        request = Request(self._to_messages(body))
        if not request.tools:
            return Say("ok")
        with self._lock:
            self.requests.append(request)
            rule = next((rule for rule in self._rules if rule.text in request.news), None)
            if rule is None:
                return self._replies.popleft() if self._replies else Say("done")
            self._rules.remove(rule)
        if rule.after is not None:
            assert rule.after.wait(_LIMIT), "the event that the reply waits for did not happen"
        return rule.reply

    def asked(self, text: str) -> list[Request]:
        """The requests whose new messages contain `text`."""
        with self._lock:
            return [request for request in self.requests if text in request.news]

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def _texts(messages: list[Json]) -> Iterator[str]:
    """Every text in the messages, including those in tool results."""
    for message in messages:
        for block in _blocks(message):
            if block.get("type") == "text":
                yield str(block["text"])
            elif block.get("type") == "tool_result":
                yield from _texts([{"content": block.get("content")}])


def _handler(model: MockModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Log nothing: the requests are recorded."""

        def do_HEAD(self) -> None:
            self._send("text/plain", b"")

        def do_GET(self) -> None:
            self._send("application/json", model.wire.auxiliary(self.path))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            path = self.path.partition("?")[0]
            if model.wire.is_turn(path, body):
                self._send(*model.wire.answer(body, model.answer(body), len(model.requests)))
            else:
                kind = "text/event-stream" if path.endswith(":streamGenerateContent") else "application/json"
                self._send(kind, model.wire.auxiliary(path))  # titles, telemetry and the like

        def _send(self, kind: str, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
