"""One dialect as a server of the SDK, which speaks the protocol of both eras. What it offers is the dialect's data."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from keepmum.core import jsonrpc
from keepmum.core.version import VERSION
from keepmum.mcp.client import Client
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.session import lists_of
from keepmum.server.mcp.caller import Caller
from keepmum.server.mcp.calls import Edge, RemoteCall
from keepmum.service.team import Team

__all__ = ["CALLER", "SESSION", "Context", "Listen", "request_of", "sender_of", "server_of"]

CALLER = "keepmum_caller"  # in the state of a request: who sends it
SESSION = "keepmum_session"  # in the state of a request: makes the session token for a client's name and version

_LISTS_LAST = 3_600_000  # milliseconds; they change with the version of the server only
_CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(_LISTS_LAST),
    "resources/list": CacheHint(_LISTS_LAST),
    "resources/templates/list": CacheHint(_LISTS_LAST),
    "prompts/list": CacheHint(_LISTS_LAST),
    "resources/read": CacheHint(0),
    "server/discover": CacheHint(_LISTS_LAST),
}
_PARAMETERS: Mapping[str, type[types.RequestParams]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
}
_CALLS = {"tools/list": "tools/call", "resources/list": "resources/read", "prompts/list": "prompts/get"}

Context = ServerRequestContext[Any, Request]
Listen = Callable[[Context, types.SubscriptionsListenRequestParams], Awaitable[types.SubscriptionsListenResult]]


class _Server(Server[Any]):
    """The SDK's server, whose lists never change while it runs."""

    def get_capabilities(self, *given: Any, **named: Any) -> types.ServerCapabilities:
        """What the server announces; the SDK would announce changes of lists because it serves subscriptions."""
        announced = super().get_capabilities(*given, **named)
        for part in (announced.tools, announced.prompts, announced.resources):
            if part is not None:
                part.list_changed = None
        return announced


def server_of(dialect: str, team: Team, limiter: anyio.CapacityLimiter, edge: Edge, listen: Listen) -> Server[Any]:
    """The SDK's server for a dialect; calls run in threads that `limiter` counts."""
    surface = DIALECTS[dialect][0]
    lists = lists_of(surface)
    server = _Server(
        "keepmum",
        version=VERSION,
        instructions=surface.instructions,
        cache_hints=_CACHE_HINTS,
        get_tool_input_schema={tool.name: tool.parameters for tool in surface.tools}.get,
    )

    async def list_all(context: Context, params: types.RequestParams) -> HandlerResult:
        if isinstance(params, types.PaginatedRequestParams) and params.cursor is not None:
            raise MCPError(jsonrpc.INVALID_PARAMS, "invalid params: lists have one page, without a cursor")
        return _complete(context, lists[context.method])

    async def call(context: Context, params: types.RequestParams) -> HandlerResult:  # noqa: ARG001 - the raw ones are checked
        sender = sender_of(context)
        request = RemoteCall(dialect, context.method, context.params or {}, sender, context.protocol_version)
        try:
            result = await anyio.to_thread.run_sync(request.answer, team, edge, limiter=limiter)
        except jsonrpc.RpcError as error:
            raise MCPError(_code(error, context.protocol_version), error.message) from None
        return _complete(context, result)

    for method in lists:
        server.add_request_handler(method, _PARAMETERS[method], list_all)
        if method in _CALLS:
            server.add_request_handler(_CALLS[method], _PARAMETERS[_CALLS[method]], call)
    if "resources/list" in lists:
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)
    server.middleware.append(functools.partial(_as_on_stdio, lists))
    return server


async def _as_on_stdio(
    lists: Mapping[str, Mapping[str, object]], context: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Give lists the bytes that they have on standard input, and a client of the handshake era its session.

    The error for an unknown method does not repeat its name, which may be any text.
    """
    try:
        result = await call_next(context)
    except MCPError as error:
        if error.code == jsonrpc.METHOD_NOT_FOUND:
            raise MCPError(error.code, error.message) from None  # without its data
        raise
    if context.method in lists and isinstance(result, dict):
        return {**result, **lists[context.method]}  # the SDK puts the fields of an entry in an order of its own
    if context.method == "initialize":
        client = Client(context.params or {})
        _state(context)[SESSION](client.name, client.agent_version)
    return result


def _code(error: jsonrpc.RpcError, protocol: str) -> int:
    """The code of an error; since 2026-07-28 there is none of its own for a resource that does not exist."""
    is_missing = error.code == jsonrpc.RESOURCE_NOT_FOUND and protocol in MODERN_PROTOCOL_VERSIONS
    return jsonrpc.INVALID_PARAMS if is_missing else error.code


def _complete(context: ServerRequestContext[Any, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """A result with the mark that it is one, which clients require since 2026-07-28."""
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return {**result, "resultType": "complete"} if is_modern else dict(result)


def sender_of(context: Context) -> Caller:
    """Who sends a request."""
    caller = _state(context)[CALLER]
    assert isinstance(caller, Caller)
    return caller


def request_of(context: ServerRequestContext[Any, Any]) -> Request:
    """The HTTP request."""
    request = context.request
    assert isinstance(request, Request)
    return request


def _state(context: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    """The state of the HTTP request."""
    state: dict[str, Any] = request_of(context).scope["state"]
    return state
