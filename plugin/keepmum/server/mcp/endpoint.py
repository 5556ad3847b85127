"""`/mcp` as an ASGI application: any process answers any request, because nothing is kept between two of them."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from keepmum.core.errors import KeepmumError
from keepmum.mcp.dialects import DEFAULT, DIALECTS
from keepmum.server.call import Answer
from keepmum.server.dispatch import response_of
from keepmum.server.edge.errors import answer_to, error_body
from keepmum.server.edge.record import record_of
from keepmum.server.mcp import metadata, session_token
from keepmum.server.mcp.caller import Caller
from keepmum.server.mcp.calls import Edge
from keepmum.server.mcp.dialect import CALLER, SESSION, Listen, server_of
from keepmum.server.people.roles import Principal
from keepmum.service.team import Team

__all__ = ["McpEndpoint"]

LARGEST = 4 * 1024 * 1024  # bytes of a request, as on standard input
PATH = "/mcp"
_SESSION_HEADER = "mcp-session-id"

FindPrincipal = Callable[[Mapping[str, str]], Awaitable[Principal | None]]  # by the headers of a request
Refuse = Callable[[Mapping[str, str], str], Answer]  # the answer to headers without a valid key, from a source


class McpEndpoint:
    """The routes of MCP; `running` must be entered while they are served."""

    def __init__(  # noqa: PLR0913, PLR0917 - what the server shares with its other routes
        self,
        team: Team,
        principal: FindPrincipal,
        refuse: Refuse,
        secret: bytes,
        limiter: anyio.CapacityLimiter,
        edge: Edge,
        *,
        url: str = "",
        issuers: Sequence[str] = (),
        listen: Listen | None = None,
    ) -> None:
        """`secret` signs sessions; `url` is the server's address, "" for the one that a request names."""
        self._principal = principal
        self._refuse = refuse
        self._secret = secret
        self._url = url.rstrip("/")
        self._issuers = issuers
        self._managers = {
            dialect: StreamableHTTPSessionManager(
                server_of(dialect, team, limiter, edge, listen),
                stateless=True,
                json_response=True,
                max_request_body_size=LARGEST,
            )
            for dialect in DIALECTS
        }
        # The SDK logs what it could not read, and that may be text of a memory or a key.
        logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)

    @property
    def routes(self) -> list[Route]:
        """The paths of MCP and of its metadata."""
        described = [Route(path, self._describe, methods=["GET"]) for path in metadata.PATHS]
        return [*described, Route(PATH, _Endpoint(self._serve))]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests inside the block."""
        async with contextlib.AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def _describe(self, request: Request) -> Response:
        return response_of(Answer(200, metadata.document(self._origin(request), self._issuers)))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, record = Request(scope), record_of(scope)
        record.route = PATH
        response = self._refusal(request)
        if response is not None:
            await response(scope, receive, send)
            return
        headers = dict(request.headers)
        try:
            principal = await self._principal(headers)
        except KeepmumError as error:
            await response_of(answer_to(error))(scope, receive, send)
            return
        if principal is None:
            refused = self._refuse(headers, record.source)
            told = {"www-authenticate": metadata.challenge(self._origin(request))} if refused.status == 401 else {}
            await response_of(refused._replace(headers={**refused.headers, **told}))(scope, receive, send)
            return
        record.principal = principal.id
        if not principal.may_anywhere("reader"):
            told = {"www-authenticate": metadata.challenge(self._origin(request), insufficient=True)}
            refused = Answer(403, error_body(403, "this key may read in no project"), told)
            await response_of(refused)(scope, receive, send)
            return
        added: dict[bytes, bytes] = {}

        def start_session(client: str, version: str) -> None:
            token = session_token.make(self._secret, principal.id, client, version, time.time())
            added[_SESSION_HEADER.encode()] = token.encode()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*_uncached(message.get("headers", [])), *added.items()]}
            await send(message)

        state = {**scope.get("state", {}), CALLER: self._caller(request, principal), SESSION: start_session}
        manager = self._managers[_dialect(request)]
        await manager.handle_request({**scope, "state": state}, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """The answer to what this endpoint does not offer to anybody."""
        if request.method != "POST":  # there are no sessions to end, and no stream outside a request
            return response_of(Answer(405, error_body(405, "send a POST"), {"allow": "POST"}))
        if _dialect(request) not in DIALECTS:
            known = ", ".join(DIALECTS)
            return response_of(Answer(400, error_body(400, f"there is no such dialect; choose one of {known}")))
        return None

    def _caller(self, request: Request, principal: Principal) -> Caller:
        headers = request.headers
        token = headers.get(_SESSION_HEADER, "")
        return Caller(
            principal,
            project=_text(headers.get("x-keepmum-project", "")) or request.query_params.get("project", ""),
            agent=_text(headers.get("x-keepmum-agent", "")),
            session=session_token.read(self._secret, token, principal.id, time.time()) if token else None,
        )

    def _origin(self, request: Request) -> str:
        return self._url or f"{request.url.scheme}://{request.url.netloc}"


class _Endpoint:
    """An ASGI application, in a form that a route does not take for a function of a request."""

    def __init__(self, serve: Callable[[Scope, Receive, Send], object]) -> None:
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._serve(scope, receive, send)  # type: ignore[misc]


def _dialect(request: Request) -> str:
    return request.query_params.get("dialect") or request.headers.get("x-keepmum-dialect") or DEFAULT


def _text(header: str) -> str:
    """A header's value as UTF-8, which clients send, although HTTP says Latin-1."""
    return header.encode("latin-1").decode("utf-8", "replace")


def _uncached(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() != b"cache-control"]
    return [*kept, (b"cache-control", b"private, no-store")]
