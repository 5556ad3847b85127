"""Serves the table of routes: key, role, rate, validation, then the route itself in a bounded pool of threads."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as PathRoute

from keepmum.core.errors import SecretFound, report_unexpected
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call, Forbidden, HttpError, header_text
from keepmum.server.edge import ajv, validation
from keepmum.server.edge.at_once import AtOnce
from keepmum.server.edge.errors import answer_to
from keepmum.server.edge.gate import Gate
from keepmum.server.edge.rates import Kind, RateLimits
from keepmum.server.edge.record import Record, record_of
from keepmum.server.edge.responses import encoded
from keepmum.server.feed import Feed
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.roles import Principal
from keepmum.server.routes import Route
from keepmum.server.state import ServerState
from keepmum.service.team import Team

__all__ = ["Dispatcher", "response_of"]

_NOBODY = Principal(id="", name="nobody", key="", roles={})
_ANY = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
_EXPORTS = 2  # of one key at the same time
_IN_MEMORY = 1024 * 1024  # bytes of a body; a larger one is kept in a file
_LARGE_AT_ONCE = 2  # of a key
_LARGE_ANSWERS = 8  # of a key
_PART = 64 * 1024  # bytes
_PROJECT = "x-keepmum-project"
_JSON = ("application/json", "")  # media types of a JSON body; clients of version 1 may send none


class Dispatcher:
    """Serves routes over one team's memory."""

    def __init__(  # noqa: PLR0913 - what every request needs
        self,
        team: Team,
        ring: KeyRing,
        gate: Gate,
        rates: RateLimits,
        *,
        state: ServerState,
        feed: Feed,
        threads: int,
        refused: Callable[[str], None] = lambda _: None,
        metrics: Callable[[], bytes] = bytes,
    ) -> None:
        """Serve at most `threads` requests at the same time; `refused` is called with the rule of each secret."""
        self.limiter = anyio.CapacityLimiter(threads)
        self._large = AtOnce(_LARGE_AT_ONCE, "imports")
        self._large_answers = AtOnce(_LARGE_ANSWERS, "large answers that were not read yet")
        self._team = team
        self._gate = gate
        self._rates = rates
        self._ring = ring
        self._state = state
        self._feed = feed
        self._exports = AtOnce(_EXPORTS, "exports")
        self._refused = refused
        self._metrics = metrics

    def paths(self, routes: Sequence[Route]) -> list[PathRoute]:
        """The routes of a Starlette application; literal paths have precedence over those with parameters."""
        by_path: dict[str, dict[str, Route]] = {}
        for route in sorted(routes, key=lambda each: each.path.count("{")):
            by_path.setdefault(route.path, {})[route.method] = route
        return [PathRoute(path, self._endpoint(methods), methods=_ANY) for path, methods in by_path.items()]

    def _endpoint(self, methods: Mapping[str, Route]) -> Callable[[Request], Awaitable[Response]]:
        """What serves one path."""
        version = next(iter(methods.values())).version

        async def serve(request: Request) -> Response:
            record = record_of(request.scope)
            try:
                route = _of_method(methods, request.method)
                record.route = route.path
                answer = await self._answer(request, route, record)
            except ClientDisconnect:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a route raises becomes an answer
                answer = self._failed(error, record, version)
            return response_of(answer)

        return serve

    async def _answer(self, request: Request, route: Route, record: Record) -> Answer:
        headers = {name.lower(): value for name, value in request.headers.items()}
        principal = _limited(headers, await self.principal(headers)) if route.role else _NOBODY
        if principal is None:
            return self._gate.refuse(headers, record.source)
        record.principal = principal.id
        if route.role:
            if not principal.may_anywhere(route.role):
                if headers.get(_PROJECT):
                    raise Forbidden(f"this key is not {route.role} of the project that X-Keepmum-Project names")
                raise Forbidden(f"this key has no project in which it is {route.role}")
            kind: Kind = "read" if route.role == "reader" else "write"
            self._rates.take(principal.key, kind)

        def run() -> Answer:
            """Validate and serve; a large body must not stop the event loop."""
            call = replace(
                self.call_of(principal),
                path=_path(route, request.path_params),
                query=_query(route, request.query_params.multi_items()),
                body=_json_body(route, raw, headers.get("content-type", "")),
                raw=raw,
                headers=headers,
                request_id=record.request_id,
                hides=route.version > 1,
                current_principal=lambda: _limited(headers, self._gate.principal(headers)),
            )
            return route.run(call)

        large = self._large.holding(principal.key) if route.largest > _IN_MEMORY else contextlib.nullcontext()
        with large, tempfile.SpooledTemporaryFile(_IN_MEMORY) as raw:
            await _receive(request, route.largest, raw)
            answer = await anyio.to_thread.run_sync(run, limiter=self.limiter)
        return await self._paced(answer, principal.key)

    async def _paced(self, answer: Answer, key: str) -> Answer:
        """The same answer. A large one is sent as its client reads it, and counted for the key until all is sent.

        Raises: TooManyAtOnce.
        """
        if answer.body is None or isinstance(answer.body, (Iterator, AsyncIterator)):
            return answer
        body, media_type = encoded(answer)
        headers = {**answer.headers, "content-type": media_type}
        if len(body) <= _IN_MEMORY:
            return Answer(answer.status, body, headers)

        async def sent() -> AsyncIterator[bytes]:
            with self._large_answers.holding(key):
                for start in range(0, len(body), _PART):
                    yield body[start : start + _PART]

        parts = sent()
        first = await anext(parts)  # so that a key with too many is refused before the answer begins
        return Answer(answer.status, _joined(first, parts), {**headers, "content-length": str(len(body))})

    def call_of(self, principal: Principal) -> Call:
        """A call with what all requests share and nothing else yet."""
        return Call(
            team=self._team,
            principal=principal,
            secret=self._ring.secret,
            forget_keys=self._ring.forget,
            save_uses=self._ring.save_uses,
            feed=self._feed,
            exports=self._exports,
            metrics=self._metrics,
            state=self._state,
        )

    async def principal(self, headers: Mapping[str, str]) -> Principal | None:
        """The sender of a request with these headers; a key that is not cached is looked up in a thread.

        Raises: StoreError when the keys cannot be read.
        """
        if self._gate.answers_at_once(headers):
            return self._gate.principal(headers)
        return await anyio.to_thread.run_sync(self._gate.principal, headers, limiter=self.limiter)

    def _failed(self, error: Exception, record: Record, version: int) -> Answer:
        if isinstance(error, SecretFound):
            for _, rule, _ in error.places:
                self._refused(rule)
        answer = answer_to(error, version)
        if answer.status == 500:
            report_unexpected(f"request {record.request_id}", error)
        return answer


async def _joined(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for part in others:
        yield part


def response_of(answer: Answer) -> Response:
    """An answer as a response."""
    if isinstance(answer.body, (Iterator, AsyncIterator)):
        return StreamingResponse(answer.body, answer.status, answer.headers)
    if answer.status in {204, 304}:
        return Response(None, answer.status, answer.headers)
    body, media_type = encoded(answer)
    return Response(body, answer.status, {**answer.headers, "content-type": media_type})


def _limited(headers: Mapping[str, str], principal: Principal | None) -> Principal | None:
    """A principal as the request may use it: in the one project that a header names, or in all of the key."""
    project = header_text(headers.get(_PROJECT, ""))
    return principal.within(project) if principal is not None and project else principal


def _of_method(methods: Mapping[str, Route], method: str) -> Route:
    """The route of a path for a method.

    Raises: HttpError when there is none.
    """
    served = "GET" if method == "HEAD" else method
    if served not in methods:
        raise HttpError(405, f"this path has no {method}", {"allow": ", ".join(sorted(methods))})
    return methods[served]


async def _receive(request: Request, largest: int, into: IO[bytes]) -> None:
    """Write the body into a file, up to its limit, and go back to the start of the file.

    Raises: HttpError when it is larger, takes too long, or there is no room for it.
    """
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > largest:
                raise HttpError(413, f"the body is larger than {largest:,} bytes", {"connection": "close"})
            into.write(part)
        into.seek(0)
    except TimeoutError:
        raise HttpError(408, "the body took too long to arrive", {"connection": "close"}) from None
    except OSError as error:
        raise HttpError(503, f"the body cannot be kept ({error.strerror})", {"connection": "close"}) from None


def _path(route: Route, given: Mapping[str, str]) -> dict[str, str]:
    """The parameters in the path."""
    if route.version > 1:
        return validation.path_parameters(route, given)
    schema = {"properties": route.path_parameters}
    return {name: str(value) for name, value in ajv.check("params", schema, given).items()}


def _query(route: Route, pairs: Sequence[tuple[str, str]]) -> dict[str, JsonValue]:
    """The parameters in the query."""
    if route.version > 1:
        return validation.parameters(route, pairs)
    given: dict[str, object] = {}
    for name, text in pairs:
        earlier = given.get(name)
        given[name] = text if earlier is None else [*(earlier if isinstance(earlier, list) else [earlier]), text]
    return ajv.check("querystring", {"properties": route.query, "required": list(route.required)}, given)


def _json_body(route: Route, raw: IO[bytes], content_type: str) -> dict[str, JsonValue]:
    """The JSON body, if the route has one."""
    if route.body is None:
        return {}
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in _JSON:
        raise HttpError(415, "Unsupported Media Type" if route.version == 1 else "the body must be application/json")
    value = validation.parsed(raw.read())
    return ajv.check("body", route.body, value) if route.version == 1 else validation.body(value, route.body)
