"""`/mcp` as an ASGI application: any process answers any request, because nothing is kept between two of them."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from keepmum.core.errors import KeepmumError
from keepmum.mcp.dialects import DEFAULT, DIALECTS
from keepmum.server.call import Answer, header_text
from keepmum.server.dispatch import response_of
from keepmum.server.edge.errors import answer_to, error_body
from keepmum.server.edge.record import Record, record_of
from keepmum.server.feed import Feed
from keepmum.server.mcp import messages, metadata, session_token
from keepmum.server.mcp.caller import Caller, FindPrincipal
from keepmum.server.mcp.calls import Edge
from keepmum.server.mcp.dialect import CALLER, SESSION, server_of
from keepmum.server.mcp.listening import Listener
from keepmum.server.mcp.metadata import Resource
from keepmum.server.people.roles import Principal
from keepmum.service.team import Team

__all__ = ["McpEndpoint"]

LARGEST = 4 * 1024 * 1024  # bytes of a request, as on standard input
PATH = "/mcp"
_SESSION_HEADER = "mcp-session-id"

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
        feed: Feed,
        resource: Resource = Resource(),  # noqa: B008 - it is frozen
    ) -> None:
        """`secret` signs sessions."""
        self._principal = principal
        self._refuse = refuse
        self._secret = secret
        self._resource = resource
        self._managers = {
            dialect: StreamableHTTPSessionManager(
                server_of(dialect, team, limiter, edge, Listener(dialect, team, feed, principal, edge, limiter).serve),
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
        return response_of(Answer(200, self._resource_at(request).document()))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, record = Request(scope), record_of(scope)
        record.route = PATH
        try:
            found = _refusal(request) or await self._admitted(request, record)
        except KeepmumError as error:
            found = answer_to(error)
        if isinstance(found, Principal):
            body = await messages.read(receive, LARGEST)
            problem = None if body.content is None else messages.problem(body.content)
            if problem is None:
                await self._forward(request, found, body.receive, send)
                return
            found = Answer(400, problem)
        await response_of(found)(scope, receive, send)

    async def _admitted(self, request: Request, record: Record) -> Principal | Answer:
        """The sender of a request, or the answer to one that may not be served."""
        headers = dict(request.headers)
        principal = await self._principal(headers)
        if principal is None:
            refused = self._refuse(headers, record.source)
            problem = "invalid_token" if "authorization" in headers else ""
            return self._with_challenge(request, refused, problem) if refused.status == 401 else refused
        record.principal = principal.id
        if principal.may_anywhere("reader"):
            return principal
        refused = Answer(403, error_body(403, "this key may read in no project"))
        return self._with_challenge(request, refused, "insufficient_scope")

    def _with_challenge(self, request: Request, refused: Answer, problem: str) -> Answer:
        challenge = {"www-authenticate": self._resource_at(request).challenge(problem)}
        return refused._replace(headers={**refused.headers, **challenge})

    async def _forward(self, request: Request, principal: Principal, receive: Receive, send: Send) -> None:
        """Serve a request by the SDK, with the session token of a client that introduces itself."""
        scope, added = request.scope, dict[bytes, bytes]()

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

    def _caller(self, request: Request, principal: Principal) -> Caller:
        headers = request.headers
        token = headers.get(_SESSION_HEADER, "")
        return Caller(
            principal,
            project=header_text(headers.get("x-keepmum-project", "")) or request.query_params.get("project", ""),
            agent=header_text(headers.get("x-keepmum-agent", "")),
            session=session_token.read(self._secret, token, principal.id, time.time()) if token else None,
        )

    def _resource_at(self, request: Request) -> Resource:
        url = self._resource.url or f"{request.url.scheme}://{request.url.netloc}"
        return self._resource._replace(url=url)


class _Endpoint:
    """An ASGI application, in a form that a route does not take for a function of a request."""

    def __init__(self, serve: Callable[[Scope, Receive, Send], object]) -> None:
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._serve(scope, receive, send)  # type: ignore[misc]


def _refusal(request: Request) -> Answer | None:
    """The answer to a request that no key allows."""
    if request.method != "POST":  # there are no sessions to end, and no stream outside a request
        return Answer(405, error_body(405, "send a POST"), {"allow": "POST"})
    if _dialect(request) not in DIALECTS:
        return Answer(400, error_body(400, f"there is no such dialect; choose one of {', '.join(DIALECTS)}"))
    return None


def _dialect(request: Request) -> str:
    return request.query_params.get("dialect") or request.headers.get("x-keepmum-dialect") or DEFAULT


def _uncached(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() != b"cache-control"]
    return [*kept, (b"cache-control", b"private, no-store")]
