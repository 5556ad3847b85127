"""The guard in front of a server that is reached over Streamable HTTP: to the client it looks like a local one.

The transport is the SDK's, with its sessions, streams and redirects that stay on one origin. Here messages are read and
written anew, since HTTP carries each by itself.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
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
    from mcp.client._transport import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

__all__ = ["run"]

_CHUNK = 64 * 1024
_GRACE = 5.0  # seconds after the end of input for what was asked before it
_CONNECT, _READ = 30.0, 300.0  # seconds, as the SDK has them: a server may hold a stream open
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _Unusable(Exception):
    """Why the server cannot be reached this way; the message repeats no address and no value."""


def run(url: str, headers: Sequence[tuple[str, str]], *, mask_results: bool) -> int:
    """Exit status of a conversation over standard input and output: 0 at its end, 1 when it could not be held.

    Each header is its name and the environment variable that holds its value.
    """
    try:
        _check(url)
        values = _values(headers, os.environ)
        import anyio
        from mcp.client import streamable_http  # noqa: F401 - whether it is there; it is used below
    except _Unusable as problem:
        return _told(str(problem), 2)
    except ImportError:
        return _told("--url needs the package `mcp`, which is not here; `keepmum install` fetches it", 1)
    logging.disable(logging.CRITICAL)  # the SDK logs what it could not read, which may hold a secret
    conversation = _Conversation(url, values, mask_results=mask_results)
    try:
        anyio.run(conversation.hold)
    except Exception as error:  # noqa: BLE001 - whatever it is, its words may quote a message
        conversation.break_off()
        return _told(f"the server cannot be reached any more ({_kind(error)})", 1)
    return 0


class _Conversation:
    """One client and one remote server."""

    def __init__(self, url: str, headers: Mapping[str, str], *, mask_results: bool) -> None:
        self._url: Final = url
        self._headers: Final = headers
        self._mask: Final = mask_results
        self._output: Final = Output(1)
        self._pending: Final = Pending()
        self._greeting: jsonrpc.RequestId | None = None  # the id of `initialize`
        self._all_answered: anyio.Event | None = None  # made at the end of input
        self._protocol: str | None = None  # what the two agreed on; HTTP wants it in each later request

    async def hold(self) -> None:
        """Carry messages both ways until the input ends, and what was asked is answered."""
        import anyio
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        timeout = httpx2.Timeout(_CONNECT, read=_READ)
        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=timeout) as http,
            streamable_http_client(self._url, http_client=http) as (incoming, outgoing),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._carry_out, incoming)
            await self._carry_in(outgoing)
            self._all_answered = anyio.Event()
            if self._pending.left():
                with anyio.move_on_after(_GRACE):
                    await self._all_answered.wait()
            tasks.cancel_scope.cancel()

    def break_off(self) -> None:
        """Tell the client that what it still waits for will not come."""
        for request_id in self._pending.left():
            self._output.answer(refusal.server_ended(request_id, "cannot be reached; start a new session to try again"))

    async def _carry_in(self, outgoing: WriteStream[SessionMessage]) -> None:
        from anyio import to_thread

        lines = Lines(LONGEST)
        while chunk := await to_thread.run_sync(os.read, 0, _CHUNK, abandon_on_cancel=True):
            for line in lines.feed(chunk):
                await self._pass_in(line, outgoing)
        await self._pass_in(lines.rest(), outgoing)

    async def _pass_in(self, line: bytes, outgoing: WriteStream[SessionMessage]) -> None:
        verdict = gate.judge(line)
        if verdict.answer is not None:
            self._output.answer(verdict.answer)
        if not verdict.forward.strip():
            return
        try:
            value = jsonrpc.decode(verdict.forward)
            for message in value if isinstance(value, list) else [value]:
                await self._send(message, outgoing)
        except jsonrpc.RpcError as error:
            self._output.answer(jsonrpc.failure(error.request_id, error))

    async def _send(self, message: object, outgoing: WriteStream[SessionMessage]) -> None:
        """Post one message.

        Raises: RpcError when it is none.
        """
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp_types import jsonrpc_message_adapter
        from pydantic import ValidationError

        parsed = jsonrpc.parse(message)
        try:
            typed = jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            raise jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, "invalid request: not a message of MCP") from None
        if isinstance(parsed, jsonrpc.Request):
            self._pending.ask(jsonrpc.encode(message))
            self._greeting = parsed.id if parsed.method == "initialize" else self._greeting
        stamp = {"mcp-protocol-version": self._protocol} if self._protocol else {}
        await outgoing.send(SessionMessage(typed, ClientMessageMetadata(headers=stamp)))

    async def _carry_out(self, incoming: ReadStream[SessionMessage | Exception]) -> None:
        async for item in incoming:
            if isinstance(item, Exception):
                _told(f"the server sent what is no message ({type(item).__name__})", 1)
                continue
            message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            self._listen(message)
            line = jsonrpc.encode(message)
            self._output.write(results.masked(line) if self._mask else line)
            self._pending.hear(line)
            if self._all_answered is not None and not self._pending.left():
                self._all_answered.set()

    def _listen(self, message: Mapping[str, Any]) -> None:
        """Take the version of the protocol from the answer to the greeting."""
        if self._greeting is not None and message.get("id") == self._greeting:
            self._protocol = (message.get("result") or {}).get("protocolVersion")
            self._greeting = None


def _check(url: str) -> None:
    """Nothing, when the address may be spoken to.

    Raises: _Unusable.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host:
        raise _Unusable("--url takes an http or https address")
    if parts.username is not None or parts.password is not None or scan(url):
        raise _Unusable("the address holds a secret, which every user of this machine can see; use --header-env")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise _Unusable("plain http goes to this machine alone; use https")


def _values(headers: Sequence[tuple[str, str]], environ: Mapping[str, str]) -> dict[str, str]:
    """The headers with their values.

    Raises: _Unusable naming the variable that is missing, or holds what no header can.
    """
    values = {}
    for name, variable in headers:
        value = environ.get(variable)
        if value is None:
            raise _Unusable(f"the environment variable {variable}, for the header {name}, is not set")
        if not value.isascii() or not value.isprintable():
            raise _Unusable(f"the environment variable {variable} holds what no header can carry")
        values[name] = value
    return values


def _kind(error: BaseException) -> str:
    """What went wrong, by the name of the first error in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__


def _told(problem: str, status: int) -> int:
    sys.stderr.write(f"keepmum guard: {problem}\n")
    return status
