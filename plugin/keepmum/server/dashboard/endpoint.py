"""The routes of the page on a team's server.

A call needs the cookie and the tab's secret of a session, and an `Origin` that `edge.hosts` has found to be this
server's. What is shown and done is what the role of the key's person allows in the chosen project, and nothing else.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from keepmum.core.errors import InvalidInput, SecretFound
from keepmum.core.memory import LIMITS
from keepmum.dashboard import site
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.failures import failure
from keepmum.server.call import Call, Forbidden, HttpError
from keepmum.server.dashboard import administration
from keepmum.server.dashboard.desks import Desks
from keepmum.server.dashboard.replies import error, reply
from keepmum.server.dashboard.sign_in import Asked, SignIn
from keepmum.server.edge.gate import Gate
from keepmum.server.edge.rates import RateLimits
from keepmum.server.edge.record import record_of
from keepmum.server.people.provider_sign_in import ProviderSignIn
from keepmum.server.people.roles import Principal
from keepmum.service.team import Team

__all__ = ["TeamDashboard"]

_PATH = "/dashboard"
_FOLDER = Path(__file__).parent / "page"
_MOST_BYTES = 2 * 1024 * 1024  # of a request, as on loopback
_IN_MEMORY = 1024 * 1024  # bytes of an export
_PART = 64 * 1024
_SIGN_IN = "./sign-in.html"
_LINKED = frozenset({site.INDEX, _SIGN_IN[1:]})  # pages to which others may lead
_JSON_TYPES = frozenset({"application/json", "application/json;charset=utf-8"})
_FORMATS: Mapping[str, str] = {
    "jsonl": "application/x-ndjson; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}


class TeamDashboard:
    """The routes of the dashboard of one team's memory."""

    def __init__(  # noqa: PLR0913, PLR0917 - what the server shares with its other routes
        self,
        team: Team,
        gate: Gate,
        rates: RateLimits,
        limiter: anyio.CapacityLimiter,
        call_of: Callable[[Principal], Call],
        refused: Callable[[str], None] = lambda _: None,
        provider: ProviderSignIn | None = None,
    ) -> None:
        """`call_of` makes the calls of other routes; `refused` is called with the rule of each secret."""
        self._desks = Desks(team)
        self._rates = rates
        self._limiter = limiter
        self._call_of = call_of
        self._refused = refused
        self._sign_in = SignIn(team.records, gate, rates, _PATH + _SIGN_IN[1:], provider)
        self._files = {**site.static_files(), **site.static_files(_FOLDER)}
        self._calls: Mapping[str, Callable[[Asked, Arguments], Response]] = {
            "/projects": self._sign_in.projects,
            "/project": self._choose,
            "/leave": self._sign_in.leave,
            "/api/ask": self._ask,
            "/api/change": self._change,
            "/api/export": self._export,
            "/api/admin": self._administer,
        }

    @property
    def routes(self) -> list[Route]:
        """The paths below `/dashboard/`, and the one that leads there."""
        path = _PATH + "{path:path}"
        return [
            Route("/", _to_page, methods=["GET"]),
            Route(path, self._file, methods=["GET"]),
            Route(path, self._call, methods=["POST"]),
        ]

    async def _file(self, request: Request) -> Response:
        """A static file. It holds no data, so others may lead to the page, and an identity provider to the sign-in."""
        record_of(request.scope).route = _PATH
        path = request.path_params["path"]
        if not path:
            return await _to_page(request)
        if _is_foreign(request) and not (path in _LINKED and _is_navigation(request)):
            return error(403, "forbidden", "this request comes from another page")
        file = self._files.get(path)
        if file is None:
            return error(404, "not-found", "there is no such page")
        return Response(file.content, 200, {**site.HEADERS, "content-type": file.content_type})

    async def _call(self, request: Request) -> Response:
        record_of(request.scope).route = _PATH
        path = request.path_params["path"]
        if _is_foreign(request) or "origin" not in request.headers:
            return error(403, "forbidden", "this request comes from another page")
        if path not in self._sign_in.entrances and path not in self._calls:
            return error(404, "not-found", "there is no such call")
        if request.headers.get("content-type", "").replace(" ", "").lower() not in _JSON_TYPES:
            return error(415, "invalid", "send application/json")
        raw = await _body(request)
        if raw is None:
            return error(413, "invalid", "this request is too large")
        return await anyio.to_thread.run_sync(self._answer, request, path, raw, limiter=self._limiter)

    def _answer(self, request: Request, path: str, raw: bytes) -> Response:
        """The answer to a call of the page; in a thread."""
        try:
            if path in self._sign_in.entrances:
                return self._sign_in.entrances[path](request, _arguments(raw))
            asked = self._sign_in.asked(request)
            if asked is None:
                return error(401, "session", "sign in again", go=_SIGN_IN)
            record_of(request.scope).principal = asked.principal.id
            self._rates.take(asked.session.key, "write" if path == "/api/change" else "read")
            return self._calls[path](asked, _arguments(raw))
        except Exception as problem:  # noqa: BLE001 - whatever a call raises becomes an answer
            return self._failed(problem)

    def _failed(self, problem: Exception) -> Response:
        if isinstance(problem, SecretFound):
            for _, rule, _ in problem.places:
                self._refused(rule)
        if isinstance(problem, Forbidden):
            return error(403, "forbidden", str(problem))
        if isinstance(problem, HttpError):
            return error(problem.status, "failed", str(problem), problem.headers)
        failed = failure(problem)
        return reply(failed.body, status=failed.status)

    # -- calls of the page

    def _choose(self, asked: Asked, given: Arguments) -> Response:
        """Show another project."""
        project = given.text("project", LIMITS.name)
        with self._desks.open(asked._replace(session=asked.session._replace(project=project))):
            self._sign_in.choose(asked, project)  # only what a service accepts
        return reply({})

    def _ask(self, asked: Asked, given: Arguments) -> Response:
        with self._desks.open(asked) as desk:
            answer = desk.ask(given.text("view"), given.members("args"))
        admin = administration.described(asked.principal)
        if admin is not None and "about" in answer:
            answer["about"]["admin"] = admin
        return reply(answer)

    def _change(self, asked: Asked, given: Arguments) -> Response:
        with self._desks.open(asked) as desk:
            return reply(desk.change(given.text("do"), given.members("args")))

    def _administer(self, asked: Asked, given: Arguments) -> Response:
        """What an administrator asks or does, by a route of the API."""
        route = administration.operation_of(asked.principal, given)
        if route.method != "GET":
            self._rates.take(asked.session.key, "write")
        answer = administration.run(route, self._call_of(asked.principal), given)
        return reply(cast("JsonObject", answer.body or {}))

    def _export(self, asked: Asked, given: Arguments) -> Response:
        """A file, which is complete before its first byte is sent."""
        kind = given.choice("format", tuple(_FORMATS), "jsonl")
        file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed after the last part
        try:
            with self._desks.open(asked) as desk:
                for text in desk.export(kind, given.members("filter") | {"query": given.text("query")}):
                    file.write(text.encode("utf-8", "replace"))
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return StreamingResponse(_parts(file), 200, {**site.HEADERS, "content-type": _FORMATS[kind]})


async def _to_page(_: Request) -> Response:
    return Response(None, 308, {**site.HEADERS, "location": f"{_PATH}/"})


def _is_foreign(request: Request) -> bool:
    """Whether a page of another site or port has sent this; `Envelope` has refused other origins."""
    return request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}


def _is_navigation(request: Request) -> bool:
    how = request.headers.get("sec-fetch-mode"), request.headers.get("sec-fetch-dest")
    return how == ("navigate", "document")


async def _body(request: Request) -> bytes | None:
    """The body; None when it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _arguments(raw: bytes) -> Arguments:
    """The members of the JSON object that was sent.

    Raises: InvalidInput.
    """
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInput("request", "is not JSON, or is nested too deeply") from None
    if not isinstance(values, dict):
        raise InvalidInput("request", "must be an object")
    return Arguments(values)


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(_PART):
            yield part
