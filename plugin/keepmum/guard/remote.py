"""The guard of a server over Streamable HTTP; the client sees a local stdio server.

The SDK's transport handles sessions, streams and redirects, which stay on one origin.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import AsyncIterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from keepmum.core import jsonrpc
from keepmum.guard import gate, refusal, results
from keepmum.guard.lines import Lines
from keepmum.guard.output import Output
from keepmum.guard.pending import Pending
from keepmum.guard.verdict import LONGEST
from keepmum_scanner import scan

if TYPE_CHECKING:
    import anyio
    from mcp.shared.message import SessionMessage

__all__ = ["run"]

_CHUNK = 64 * 1024
_GRACE = 5.0  # seconds to answer pending requests after the end of input
_CONNECT, _READ = 30.0, 300.0  # seconds, the SDK's values: a server may keep a stream open
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _Outgoing(Protocol):
    """The SDK's stream of messages to the server."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""


class _ConfigurationError(Exception):
    """The configuration is wrong; the message repeats no address and no value."""


def run(url: str, headers: Sequence[tuple[str, str]], *, mask_results: bool) -> int:
    """Connect standard input and output to the server; return 0 at the end of input, 1 on a failure, 2 on wrong usage.

    `headers` are pairs of header name and environment variable.
    """
    try:
        _check(url)
        values = _values(headers, os.environ)
        import anyio
        from mcp.client import streamable_http  # noqa: F401 - checks that it is installed
    except _ConfigurationError as problem:
        return _fail(str(problem), 2)
    except ImportError:
        return _fail("--url needs the package `mcp`; `keepmum install` installs it", 1)
    logging.disable(logging.CRITICAL)  # the SDK logs messages it cannot parse, which may contain a secret
    conversation = _Conversation(url, values, mask_results=mask_results)
    try:
        anyio.run(conversation.run)
    except Exception as error:  # noqa: BLE001 - the text of any error may quote a message
        conversation.fail_pending()
        return _fail(f"the connection to the server was lost ({_kind(error)})", 1)
    return 0


class _Conversation:
    """One client and one remote server."""

    def __init__(self, url: str, headers: Mapping[str, str], *, mask_results: bool) -> None:
        self._url: Final = url
        self._headers: Final = headers
        self._mask: Final = mask_results
        self._output: Final = Output(1)
        self._pending: Final = Pending()
        self._initialize_id: jsonrpc.RequestId | None = None  # the id of the `initialize` request
        self._all_answered: anyio.Event | None = None  # created at the end of input
        self._protocol: str | None = None  # the negotiated version, sent in a header of each later request

    async def run(self) -> None:
        """Forward messages both ways until the input ends and pending requests are answered."""
        import anyio
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        timeout = httpx2.Timeout(_CONNECT, read=_READ)
        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=timeout) as http,
            streamable_http_client(self._url, http_client=http) as (incoming, outgoing),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._forward_output, incoming)
            await self._forward_input(outgoing)
            self._all_answered = anyio.Event()
            if self._pending.unanswered():
                with anyio.move_on_after(_GRACE):
                    await self._all_answered.wait()
            tasks.cancel_scope.cancel()

    def fail_pending(self) -> None:
        """Answer pending requests with an error."""
        for request_id in self._pending.unanswered():
            self._output.send(refusal.server_ended(request_id, "is unreachable; start a new session to try again"))

    async def _forward_input(self, outgoing: _Outgoing) -> None:
        from anyio import to_thread

        lines = Lines(LONGEST)
        while chunk := await to_thread.run_sync(os.read, 0, _CHUNK, abandon_on_cancel=True):
            for line in lines.feed(chunk):
                await self._forward_line(line, outgoing)
        await self._forward_line(lines.rest(), outgoing)

    async def _forward_line(self, line: bytes, outgoing: _Outgoing) -> None:
        verdict = gate.judge(line)
        if verdict.answer is not None:
            self._output.send(verdict.answer)
        if not verdict.forward.strip():
            return
        try:
            value = jsonrpc.decode(verdict.forward)
            for message in value if isinstance(value, list) else [value]:
                await self._send(message, outgoing)
        except jsonrpc.RpcError as error:
            self._output.send(jsonrpc.failure(error.request_id, error))

    async def _send(self, message: object, outgoing: _Outgoing) -> None:
        """Send one message.

        Raises: RpcError when it is not an MCP message.
        """
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp.types import jsonrpc_message_adapter

        parsed = jsonrpc.parse(message)
        try:
            typed = jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValueError:  # of pydantic
            raise jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, "invalid request: not an MCP message") from None
        if isinstance(parsed, jsonrpc.Request):
            self._pending.add_requests(jsonrpc.encode(message))
            self._initialize_id = parsed.id if parsed.method == "initialize" else self._initialize_id
        stamp = {"mcp-protocol-version": self._protocol} if self._protocol else {}
        await outgoing.send(SessionMessage(typed, ClientMessageMetadata(headers=stamp)))

    async def _forward_output(self, incoming: AsyncIterable[SessionMessage | Exception]) -> None:
        async for item in incoming:
            if isinstance(item, Exception):
                _fail(f"the server sent an invalid message ({type(item).__name__})", 1)
                continue
            message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            self._read_protocol(message)
            line = jsonrpc.encode(message)
            self._output.write(results.masked(line) if self._mask else line)
            self._pending.add_responses(line)
            if self._all_answered is not None and not self._pending.unanswered():
                self._all_answered.set()

    def _read_protocol(self, message: Mapping[str, Any]) -> None:
        """Take the protocol version from the response to `initialize`."""
        if self._initialize_id is not None and message.get("id") == self._initialize_id:
            self._protocol = (message.get("result") or {}).get("protocolVersion")
            self._initialize_id = None


def _check(url: str) -> None:
    """Check that the address may be used.

    Raises: _ConfigurationError.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host:
        raise _ConfigurationError("--url needs an http or https address")
    if parts.username is not None or parts.password is not None or scan(url):
        raise _ConfigurationError("the address contains a secret, which all local users can see; use --header-env")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise _ConfigurationError("plain http is allowed to this machine only; use https")


def _values(headers: Sequence[tuple[str, str]], environ: Mapping[str, str]) -> dict[str, str]:
    """The headers with their values.

    Raises: _ConfigurationError naming the variable that is missing or not valid in a header.
    """
    values = {}
    for name, variable in headers:
        value = environ.get(variable)
        if value is None:
            raise _ConfigurationError(f"the environment variable {variable}, for the header {name}, is not set")
        if not value.isascii() or not value.isprintable():
            raise _ConfigurationError(f"the environment variable {variable} is not valid in a header")
        values[name] = value
    return values


def _kind(error: BaseException) -> str:
    """The type of the error; of a group, the type of its first error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__


def _fail(problem: str, status: int) -> int:
    sys.stderr.write(f"keepmum guard: {problem}\n")
    return status
