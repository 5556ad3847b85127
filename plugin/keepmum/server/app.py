"""The server as an ASGI application: the only place where its parts meet."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as PathRoute

from keepmum.core.errors import report_unexpected
from keepmum.core.memory import JsonValue
from keepmum.server import audit, health, v1
from keepmum.server.call import Answer, Call, Forbidden, HttpError
from keepmum.server.edge import validation
from keepmum.server.edge.errors import answer_to, error_body
from keepmum.server.edge.gate import Gate, KeyLookup
from keepmum.server.mcp import McpEndpoint
from keepmum.server.people import routes as people
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.roles import Principal
from keepmum.server.routes import Route
from keepmum.service.team import Team

__all__ = ["ROUTES", "build"]

ROUTES: tuple[Route, ...] = (*health.ROUTES, *v1.ROUTES, *people.ROUTES, *audit.ROUTES)
_NOBODY = Principal(id="", name="nobody", key="", roles={})
_STANDARD = {"cache-control": "private, no-store", "keepmum-api": "2"}


def build(
    team: Team, ring: KeyRing, lookups: Sequence[KeyLookup] = (), *, threads: int = 16, url: str = ""
) -> Starlette:
    """The application over a team's memory; `ring` has its keys, `lookups` know others."""
    gate = Gate([ring.find, *lookups], ring.answers_at_once)
    server = _Server(team, ring, gate, threads)
    endpoint = McpEndpoint(team, server.principal, gate.refuse, ring.secret, server.limiter, url=url)
    by_path: dict[str, dict[str, Route]] = {}
    for route in sorted(ROUTES, key=lambda each: each.path.count("{")):  # literal paths come first
        by_path.setdefault(route.path, {})[route.method] = route
    return Starlette(
        routes=[
            *endpoint.routes,
            *(PathRoute(path, server.endpoint(methods), methods=_ANY) for path, methods in by_path.items()),
        ],
        lifespan=lambda _: endpoint.running(),
        exception_handlers={HTTPException: _not_found},
    )


_ANY = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]


class _Server:
    """Serves the table of routes."""

    def __init__(self, team: Team, ring: KeyRing, gate: Gate, threads: int) -> None:
        self._team = team
        self._ring = ring
        self._gate = gate
        self.limiter = anyio.CapacityLimiter(threads)

    def endpoint(self, methods: dict[str, Route]) -> Callable[[Request], Awaitable[Response]]:
        """What serves one path."""

        async def serve(request: Request) -> Response:
            request_id = str(uuid.uuid4())
            method = "GET" if request.method == "HEAD" and "GET" in methods else request.method
            try:
                answer = await self._answer(request, _of_method(methods, method), request_id)
            except ClientDisconnect:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a route raises becomes an answer
                answer = answer_to(error)
                if answer.status == 500:
                    report_unexpected(f"request {request_id}", error)
            return _response(answer, request_id)

        return serve

    async def _answer(self, request: Request, route: Route, request_id: str) -> Answer:
        headers = {name.lower(): value for name, value in request.headers.items()}
        principal = await self.principal(headers) if route.role else _NOBODY
        if principal is None:
            return self._gate.refuse(headers, request.client.host if request.client else "")
        if route.role and not principal.may_anywhere(route.role):
            raise Forbidden(f"this key has no project in which it is {route.role}")
        raw = await _body(request, route.largest)
        call = Call(
            team=self._team,
            principal=principal,
            path=dict(request.path_params),
            query=validation.parameters(route, request.query_params.multi_items()),
            body=validation.json_body(raw, route.body) if route.body is not None else {},
            raw=raw,
            headers=headers,
            request_id=request_id,
            secret=self._ring.secret,
            forget_keys=self._ring.forget,
            again=lambda: self._gate.principal(headers),
            hides=route.hides,
        )
        return await anyio.to_thread.run_sync(route.run, call, limiter=self.limiter)

    async def principal(self, headers: Mapping[str, str]) -> Principal | None:
        """Who sends a request with these headers; a key that is not known yet is looked up in a thread.

        Raises: StoreError when the keys cannot be read.
        """
        if self._gate.answers_at_once(headers):
            return self._gate.principal(headers)
        return await anyio.to_thread.run_sync(self._gate.principal, headers, limiter=self.limiter)


def _of_method(methods: Mapping[str, Route], method: str) -> Route:
    """The route of a path for a method.

    Raises: HttpError when there is none.
    """
    if method not in methods:
        raise HttpError(405, f"this path has no {method}", {"allow": ", ".join(sorted(methods))})
    return methods[method]


async def _body(request: Request, largest: int) -> bytes:
    """The body, read up to its limit.

    Raises: HttpError when it is larger.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > largest:
            raise HttpError(413, f"the body is larger than {largest:,} bytes")
        parts.append(part)
    return b"".join(parts)


async def _not_found(_: Request, __: Exception) -> Response:
    return _response(Answer(404, error_body(404, "there is no such path")), str(uuid.uuid4()))


def _response(answer: Answer, request_id: str) -> Response:
    headers = {**_STANDARD, "x-request-id": request_id, **answer.headers}
    if isinstance(answer.body, bytes):
        return Response(answer.body, answer.status, headers)
    if isinstance(answer.body, Iterator):
        return StreamingResponse(answer.body, answer.status, headers)
    if answer.status in {204, 304}:
        return Response(None, answer.status, headers)
    return Response(_json(answer.body), answer.status, headers, "application/json; charset=utf-8")


def _json(value: JsonValue) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
