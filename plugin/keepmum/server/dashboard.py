"""The dashboard on a team's server: the page of `keepmum.dashboard` behind a sign-in with a key.

A call needs the cookie and the tab's secret of a session, and an `Origin` that `edge.hosts` has found to be this
server's. What is shown and done is what the role of the key's person allows in the chosen project, and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from keepmum.core.errors import InvalidInput, NotFound, SecretFound
from keepmum.core.memory import LIMITS
from keepmum.dashboard import site
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.desk import Desk
from keepmum.dashboard.failures import failure
from keepmum.server.call import Call, HttpError
from keepmum.server.dashboard_sessions import SECONDS, Session, Sessions
from keepmum.server.edge.rates import Kind, RateLimits
from keepmum.server.edge.record import record_of
from keepmum.server.people.failures import Failures
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.roles import EVERY_PROJECT, ROLES, Principal, Role
from keepmum.service.team import Team

__all__ = ["TeamDashboard"]

_PATH = "/dashboard"
_AGENT = "dashboard"  # the label of what is written; the author is the person of the key
_FOLDER = Path(__file__).parent / "sign_in"
_MOST_BYTES = 2 * 1024 * 1024  # of a request, as on loopback
_IN_MEMORY = 1024 * 1024  # bytes of an export
_PART = 64 * 1024
_SIGN_IN = "./sign-in.html"
_OF_WRITERS = frozenset({"edit", "put_back", "archive", "restore", "still_true", "forget", "tag", "undo"})
_JSON_TYPES = frozenset({"application/json", "application/json;charset=utf-8"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_NOTHING: Mapping[str, str] = MappingProxyType({})
_FORMATS: Mapping[str, str] = {
    "jsonl": "application/x-ndjson; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}


class TeamDashboard:
    """The routes of the dashboard of one team's memory."""

    def __init__(  # noqa: PLR0913, PLR0917 - what the server shares with its other routes
        self,
        team: Team,
        ring: KeyRing,
        failures: Failures,
        rates: RateLimits,
        limiter: anyio.CapacityLimiter,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`failures` counts wrong keys by address; `refused` is called with the rule of each secret."""
        self.sessions = Sessions()
        self._team = team
        self._ring = ring
        self._failures = failures
        self._rates = rates
        self._limiter = limiter
        self._refused = refused
        self._files = {**site.static_files(), **site.static_files(_FOLDER)}
        self._calls: Mapping[str, Callable[[_Asked, Arguments], Response]] = {
            "/projects": self._projects,
            "/project": self._choose,
            "/leave": self._leave,
            "/api/ask": self._ask,
            "/api/change": self._change,
            "/api/export": self._export,
        }

    @property
    def routes(self) -> list[Route]:
        """The paths below `/dashboard/`."""
        path = _PATH + "{path:path}"
        return [Route(path, self._file, methods=["GET"]), Route(path, self._call, methods=["POST"])]

    async def _file(self, request: Request) -> Response:
        """A static file. It holds no data, so a link from elsewhere may lead to the page."""
        record_of(request.scope).route = _PATH
        path = request.path_params["path"]
        if not path:
            return Response(None, 308, {**site.HEADERS, "location": f"{_PATH}/"})
        if _is_foreign(request) and not (path == site.INDEX and _is_navigation(request)):
            return _error(403, "forbidden", "this request comes from another page")
        file = self._files.get(path)
        if file is None:
            return _error(404, "not-found", "there is no such page")
        return Response(file.content, 200, {**site.HEADERS, "content-type": file.content_type})

    async def _call(self, request: Request) -> Response:
        record = record_of(request.scope)
        record.route = _PATH
        path = request.path_params["path"]
        if _is_foreign(request) or "origin" not in request.headers:
            return _error(403, "forbidden", "this request comes from another page")
        if path != "/session" and path not in self._calls:
            return _error(404, "not-found", "there is no such call")
        if request.headers.get("content-type", "").replace(" ", "").lower() not in _JSON_TYPES:
            return _error(415, "invalid", "send application/json")
        raw = await _body(request)
        if raw is None:
            return _error(413, "invalid", "this request is too large")

        def answer() -> Response:
            """The answer, in a thread."""
            try:
                if path == "/session":
                    return self._open(request, _arguments(raw))
                asked = self._asked(request, "write" if path == "/api/change" else "read")
                if asked is None:
                    return _error(401, "session", "sign in again", go=_SIGN_IN)
                record.principal = asked.principal.id
                return self._calls[path](asked, _arguments(raw))
            except Exception as error:  # noqa: BLE001 - whatever a call raises becomes an answer
                return self._failed(error)

        return await anyio.to_thread.run_sync(answer, limiter=self._limiter)

    # -- sessions

    def _open(self, request: Request, given: Arguments) -> Response:
        """A session for a key."""
        cookie_name, attributes = _cookie_of(request)
        principal = self._ring.find(given.text("key"))
        if principal is None:
            wait = self._failures.note(record_of(request.scope).source)
            if wait:
                problem = "too many sign-ins with a wrong key; wait, and check the key"
                return _error(429, "busy", problem, {"retry-after": str(int(wait) + 1)})
            return _error(
                401, "session", "this is no key of this server, or it counts no more; see `keepmum keys list`"
            )
        self._rates.take(principal.key, "read")
        record_of(request.scope).principal = principal.id
        names = _names(principal)
        session_project = "" if EVERY_PROJECT in principal.roles else names[0]
        cookie, tab = self.sessions.open(principal.key, session_project)
        body = {"tab": tab, **_choice(principal, session_project)}
        return _json(body, {"set-cookie": f"{cookie_name}={cookie}; {attributes}"})

    def _asked(self, request: Request, kind: Kind) -> _Asked | None:
        """Whose session the request belongs to; None without one, or when its key counts no more.

        Raises: HttpError when the key sent too many requests.
        """
        cookie = request.cookies.get(_cookie_of(request)[0], "")
        session = self.sessions.find(cookie, request.headers.get("x-keepmum-tab", ""))
        if session is None:
            return None
        principal = self._ring.holder(session.key)
        if principal is None:
            self.sessions.end(session)
            return None
        self._rates.take(session.key, kind)
        return _Asked(session, principal)

    def _projects(self, asked: _Asked, _: Arguments) -> Response:
        """The projects that the key may read."""
        return _json(_choice(asked.principal, asked.session.project))

    def _choose(self, asked: _Asked, given: Arguments) -> Response:
        """Show another project."""
        project = given.text("project", LIMITS.name)
        with self._desk(asked._replace(session=Session(asked.session.key, project, asked.session.until))):
            asked.session.choose(project)  # only what a service accepts
        return _json({})

    def _leave(self, asked: _Asked, _: Arguments) -> Response:
        """Sign out."""
        self.sessions.end(asked.session)
        return _json({})

    # -- calls of the page

    def _ask(self, asked: _Asked, given: Arguments) -> Response:
        with self._desk(asked) as desk:
            return _json(desk.ask(given.text("view"), given.members("args")))

    def _change(self, asked: _Asked, given: Arguments) -> Response:
        with self._desk(asked) as desk:
            return _json(desk.change(given.text("do"), given.members("args")))

    def _export(self, asked: _Asked, given: Arguments) -> Response:
        """A file, which is complete before its first byte is sent."""
        kind = given.choice("format", tuple(_FORMATS), "jsonl")
        file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed after the last part
        try:
            with self._desk(asked) as desk:
                for text in desk.export(kind, given.members("filter") | {"query": given.text("query")}):
                    file.write(text.encode("utf-8", "replace"))
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return StreamingResponse(_parts(file), 200, {**site.HEADERS, "content-type": _FORMATS[kind]})

    @contextlib.contextmanager
    def _desk(self, asked: _Asked) -> Iterator[Desk]:
        """What answers the page: a service that reads and writes in the chosen project, as the role there allows.

        Raises: NotFound when the key may not read the project any more.
        """
        session, project = asked.session, asked.session.project
        principal = _in_project(asked.principal, project)
        role = principal.role_in(project) or "reader"
        is_curator = principal.may("curator", project)
        call = Call(team=self._team, principal=principal)
        with call.service(
            project, "reader", agent=_AGENT, trust="person" if is_curator else "team", quiet=True
        ) as service:
            yield Desk(Dashboard(service, "server", memo=session.memo, verbs=_VERBS[role]))

    def _failed(self, error: Exception) -> Response:
        if isinstance(error, SecretFound):
            for _, rule, _ in error.places:
                self._refused(rule)
        if isinstance(error, HttpError):
            return _error(error.status, "failed", str(error), error.headers)
        failed = failure(error)
        return JSONResponse(failed.body, failed.status, {**site.HEADERS})


class _Asked(NamedTuple):
    """Whose call it is."""

    session: Session
    principal: Principal


_VERBS: Mapping[Role, frozenset[str] | None] = {
    "reader": frozenset(), "writer": _OF_WRITERS, "curator": None, "admin": None,
}  # fmt: skip


def _names(principal: Principal) -> list[str]:
    """The projects that a key names."""
    return sorted(name for name in principal.roles if name not in {EVERY_PROJECT, ""}) or [""]


def _choice(principal: Principal, project: str) -> JsonObject:
    names = [name for name in _names(principal) if name]
    return {"project": project, "projects": names, "every": EVERY_PROJECT in principal.roles}


def _in_project(principal: Principal, project: str) -> Principal:
    """The same principal with what they may do in one project, and in the space of none.

    There they may read only, unless their role is as great as in the project. Without a project they have the role that
    counts in all projects.

    Raises: NotFound when they may not read it.
    """
    if not project and EVERY_PROJECT in principal.roles:
        return principal._replace(roles={EVERY_PROJECT: principal.roles[EVERY_PROJECT]})
    held, shared = principal.role_in(project), principal.role_in("")
    if held is None or project == EVERY_PROJECT:
        raise NotFound("this key may read no project of this name")
    roles: dict[str, Role] = {project: held}
    if project and shared is not None:
        roles[""] = shared if ROLES.index(shared) >= ROLES.index(held) else "reader"
    return principal._replace(roles=roles)


def _is_foreign(request: Request) -> bool:
    """Whether a page of another site or port has sent this; `Envelope` has refused other origins."""
    return request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}


def _is_navigation(request: Request) -> bool:
    how = request.headers.get("sec-fetch-mode"), request.headers.get("sec-fetch-dest")
    return how == ("navigate", "document")


def _cookie_of(request: Request) -> tuple[str, str]:
    """Name and attributes of the cookie, by the scheme that the browser sees.

    Raises: HttpError without TLS, except on this machine.
    """
    scheme, _, host = request.headers["origin"].partition("://")
    attributes = f"HttpOnly; SameSite=Strict; Path=/; Max-Age={SECONDS:.0f}"
    if scheme == "https":
        return "__Host-keepmum", f"Secure; {attributes}"
    name, _, port = host.rpartition(":")
    if (name or host) not in _LOOPBACK and host not in _LOOPBACK:
        raise HttpError(403, "sign in by HTTPS; without it others could read your key")
    return f"keepmum_server_{port}", attributes


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


def _json(value: JsonObject, more: Mapping[str, str] = _NOTHING) -> Response:
    # Half a surrogate pair, which JSON can carry and UTF-8 cannot, is replaced.
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, 200, {**site.HEADERS, **more, "content-type": "application/json"})


def _error(status: int, kind: str, message: str, headers: Mapping[str, str] = _NOTHING, **more: str) -> Response:
    return JSONResponse({"error": {"kind": kind, "message": message, **more}}, status, {**site.HEADERS, **headers})
