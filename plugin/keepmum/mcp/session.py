"""The MCP protocol of one connection.

Used by two threads. The reading thread passes every line to `receive`, which answers the handshake, lists and pings at
once. Other requests are submitted as jobs for the thread that owns the handlers, so that opening the store does not
delay the handshake, and a cancellation is seen while a tool runs.

Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle (and `…/utilities`), read 2026-11-21.
"""

from __future__ import annotations

import _thread

from keepmum.core import jsonrpc
from keepmum.mcp import calls
from keepmum.mcp.client import Client
from keepmum.mcp.surface import LOG_LEVELS
from keepmum.mcp.worker import Work, Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from keepmum.mcp.surface import OpenHandlers, Surface

    Json = dict[str, object]
    Job = Callable[[], None]
    Settle = Callable[[Json | None], None]  # called once per message with its response, or None

__all__ = ["Session", "lists_of"]

_MAX_BATCH = 256  # messages; a response may be larger than its request
_MAX_PENDING = 1024  # requests; more mean that the client is in a loop


class Session:
    """The server side of one connection.

    `send` takes a message for the client, from either thread. `submit` takes a job for the thread that owns the
    handlers; that thread runs jobs in order and calls `close` after the last.
    """

    def __init__(  # noqa: PLR0913 - keyword-only collaborators
        self,
        surface: Surface,
        open_handlers: OpenHandlers,
        *,
        name: str,
        version: str,
        send: Callable[[object], None],
        submit: Callable[[Job], None],
    ) -> None:
        self._own_surface: Final = surface
        self._surface = surface  # with what this client can show
        self._identity: Final = {"name": name, "version": version}
        self._send: Final = send
        self._submit: Final = submit
        self._worker: Final = Worker(open_handlers, self._notify, self._log)
        self._pending: Final[dict[jsonrpc.RequestId, Work]] = {}
        self._client: Client | None = None  # None until `initialize`
        self._roots_asked = 0  # number of requests; part of the id, and only the last response counts
        self._log_level = LOG_LEVELS.index("warning")
        self._lists = lists_of(surface)
        self._answers: Final[dict[str, Callable[[Json], Json]]] = {
            "initialize": self._initialize,
            "ping": lambda _: {},
            "logging/setLevel": self._set_log_level,
        }

    def receive(self, line: bytes | None) -> None:
        """Handle one line from the client; None stands for a line that was too long. Never raises."""
        try:
            message = _message(line)
            if isinstance(message, list):
                self._handle_batch(message)
            else:
                self._handle(message, self._send_if_any)
        except jsonrpc.RpcError as error:
            self._send(jsonrpc.failure(error.request_id, error))
        except Exception as error:  # noqa: BLE001 - an error in one message must not end the session
            self._send(jsonrpc.failure(None, jsonrpc.internal_error("a message", error)))

    def close(self) -> None:
        """Close the handlers if they were opened; runs as the last job."""
        self._worker.close()

    # --- the reading thread -------------------------------------------------------------------------------------

    def _handle_batch(self, messages: list[object]) -> None:
        if self._client is None or not self._client.batches:
            raise jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, "invalid request: this protocol version has no batches")
        if not 0 < len(messages) <= _MAX_BATCH:
            raise jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, f"invalid request: a batch has 1 to {_MAX_BATCH} messages")
        batch = _Batch(len(messages), self._send)
        for message in messages:
            self._handle(message, batch.settle)

    def _handle(self, message: object, settle: Settle) -> None:
        try:
            parsed = jsonrpc.parse(message)
        except jsonrpc.RpcError as error:
            settle(jsonrpc.failure(error.request_id, error))
            return
        if isinstance(parsed, jsonrpc.Request):
            self._handle_request(parsed, settle)
            return
        if isinstance(parsed, jsonrpc.Notification):
            self._handle_notification(parsed)
        else:
            self._handle_response(parsed)
        settle(None)

    def _handle_request(self, request: jsonrpc.Request, settle: Settle) -> None:
        try:
            if request.method in self._lists:
                settle(jsonrpc.result(request.id, self._list(request)))
            elif request.method in self._answers:
                settle(jsonrpc.result(request.id, self._answers[request.method](request.params)))
            else:
                self._queue(request, settle)
        except jsonrpc.RpcError as error:
            settle(jsonrpc.failure(request.id, error))
        except Exception as error:  # noqa: BLE001 - as in `receive`
            settle(jsonrpc.failure(request.id, jsonrpc.internal_error("this request", error)))

    def _list(self, request: jsonrpc.Request) -> Json:
        """A complete list; also before the handshake, because inspectors ask for lists first."""
        if request.params.get("cursor") is not None:
            raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "invalid params: lists have one page, without a cursor")
        return self._lists[request.method]

    def _initialize(self, params: Json) -> Json:
        """The handshake; may be repeated by a client that reconnects through a wrapper."""
        self._client = client = Client(params)
        self._surface = _shown_to(client, self._own_surface)
        self._lists = lists_of(self._surface)
        return {
            "protocolVersion": client.protocol,
            "capabilities": _capabilities(self._surface),
            "serverInfo": self._identity,
            "instructions": self._surface.instructions,
        }

    def _set_log_level(self, params: Json) -> Json:
        level = params.get("level")
        if level not in LOG_LEVELS:
            raise jsonrpc.RpcError(
                jsonrpc.INVALID_PARAMS, f'invalid params: "level" must be one of {", ".join(LOG_LEVELS)}'
            )
        self._log_level = LOG_LEVELS.index(level)
        return {}

    def _queue(self, request: jsonrpc.Request, settle: Settle) -> None:
        call = calls.plan(self._surface, request.method, request.params)
        if call is None:
            # For example `server/discover`: Claude Code asks for it first since 2.1.329 and waits up to three seconds.
            raise jsonrpc.RpcError(jsonrpc.METHOD_NOT_FOUND, "method not found")
        if self._client is None:
            raise jsonrpc.RpcError(
                jsonrpc.INVALID_REQUEST, "invalid request: initialize first; memories record their author"
            )
        if request.id in self._pending:
            raise jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, "invalid request: a request with this id is pending")
        if len(self._pending) >= _MAX_PENDING:
            raise jsonrpc.RpcError(jsonrpc.INTERNAL_ERROR, f"{_MAX_PENDING} requests are pending; retry later")
        work = self._pending[request.id] = Work(request, call, self._client)
        self._submit(lambda: self._run_call(work, settle))

    def _handle_notification(self, notification: jsonrpc.Notification) -> None:
        if notification.method == "notifications/cancelled":
            request_id = notification.params.get("requestId")
            work = self._pending.get(request_id) if isinstance(request_id, (str, int, float)) else None
            if work is not None:
                work.cancelled = True
        elif self._client is None:
            return  # not initialized
        elif notification.method == "notifications/initialized":
            client = self._client
            self._submit(lambda: self._worker.warm(client))
            self._ask_roots(client)
        elif notification.method == "notifications/roots/list_changed":
            self._ask_roots(self._client)

    def _ask_roots(self, client: Client) -> None:
        if client.has_roots:
            self._roots_asked += 1
            self._send({"jsonrpc": "2.0", "id": self._roots_id(), "method": "roots/list"})

    def _handle_response(self, response: jsonrpc.Response) -> None:
        client = self._client
        if client is not None and self._roots_asked and response.id == self._roots_id():
            self._submit(lambda: self._worker.set_roots(client, response.result))

    def _roots_id(self) -> str:
        return f"roots-{self._roots_asked}"

    def _send_if_any(self, message: Json | None) -> None:
        if message is not None:
            self._send(message)

    # --- the handlers' thread -----------------------------------------------------------------------------------

    def _run_call(self, work: Work, settle: Settle) -> None:
        answer = None if work.cancelled else self._worker.answer(work)
        del self._pending[work.request.id]  # before the response: the client may then reuse the id
        settle(None if work.cancelled else answer)

    def _log(self, level: str, message: str) -> None:
        if LOG_LEVELS.index(level) >= self._log_level:
            params: Json = {"level": level, "logger": self._identity["name"], "data": message}
            self._notify("notifications/message", params)

    def _notify(self, method: str, params: Json) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})


class _Batch:
    """Collects the responses to one batch and sends them together when all are settled."""

    def __init__(self, size: int, send: Callable[[object], None]) -> None:
        self._open = size
        self._send: Final = send
        self._answers: Final[list[Json]] = []
        self._lock: Final = _thread.allocate_lock()  # both threads call settle

    def settle(self, answer: Json | None) -> None:
        """Settle one message, with its response if it has one."""
        with self._lock:
            self._open -= 1
            if answer is not None:
                self._answers.append(answer)
            done = self._open == 0
        if done and self._answers:
            self._send(self._answers)


def _message(line: bytes | None) -> object:
    if line is None:
        raise jsonrpc.RpcError(
            jsonrpc.INVALID_REQUEST, f"invalid request: a message has at most {jsonrpc.MAX_LINE} bytes"
        )
    return jsonrpc.decode(line)


def _shown_to(client: Client, surface: Surface) -> Surface:
    """The surface, with the panel for a client that can show it; others see and pay nothing of it."""
    if not client.apps:
        return surface
    from keepmum.mcp.panel import with_panel  # no other client waits for this

    return with_panel(surface)


def lists_of(surface: Surface) -> dict[str, Json]:
    """The response to each list method that the surface supports."""
    lists: dict[str, Json] = {}
    if surface.tools:
        lists["tools/list"] = {"tools": [tool.to_wire() for tool in surface.tools]}
    if surface.resources or surface.templates:
        lists["resources/list"] = {"resources": [resource.to_wire() for resource in surface.resources]}
        lists["resources/templates/list"] = {"resourceTemplates": [one.to_wire() for one in surface.templates]}
    if surface.prompts:
        lists["prompts/list"] = {"prompts": [prompt.to_wire() for prompt in surface.prompts]}
    return lists


def _capabilities(surface: Surface) -> Json:
    """The server's capabilities; its lists never change while it runs."""
    capabilities: Json = {"logging": {}}
    if surface.tools:
        capabilities["tools"] = {}
    if surface.resources or surface.templates:
        capabilities["resources"] = {}
    if surface.prompts:
        capabilities["prompts"] = {}
    return capabilities
