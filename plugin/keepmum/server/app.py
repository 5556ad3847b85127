"""The server as an ASGI application: the only place where its parts meet."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from keepmum.server import audit, events, health, v1
from keepmum.server.call import HttpError
from keepmum.server.dispatch import Dispatcher, response_of
from keepmum.server.edge.envelope import App, Envelope, Limits
from keepmum.server.edge.errors import answer_to
from keepmum.server.edge.gate import Gate, KeyLookup
from keepmum.server.edge.hosts import Hosts, is_loopback
from keepmum.server.edge.rates import RateLimits
from keepmum.server.mcp import McpEndpoint
from keepmum.server.people import routes as people
from keepmum.server.people.keys import KeyRing
from keepmum.server.routes import Route
from keepmum.server.settings import ServerSettings
from keepmum.server.state import ServerState
from keepmum.service.team import Team

__all__ = ["ROUTES", "build"]

ROUTES: tuple[Route, ...] = (*health.ROUTES, *v1.ROUTES, *people.ROUTES, *audit.ROUTES, *events.ROUTES)


def build(
    team: Team,
    ring: KeyRing,
    settings: ServerSettings,
    lookups: Sequence[KeyLookup] = (),
    state: ServerState | None = None,
) -> App:
    """The application over a team's memory; `ring` has its keys, `lookups` know others."""
    gate = Gate([ring.find, *lookups], ring.answers_at_once)
    rates = RateLimits(settings.reads_per_minute, settings.writes_per_minute)
    dispatcher = Dispatcher(team, ring, gate, rates, state=state or ServerState(), threads=settings.threads)
    mcp = McpEndpoint(team, dispatcher.principal, gate.refuse, ring.secret, dispatcher.limiter, url=settings.url)
    app = Starlette(
        routes=[*mcp.routes, *dispatcher.paths(ROUTES)],
        lifespan=lambda _: mcp.running(),
        exception_handlers={HTTPException: _not_found},
    )
    return Envelope(
        app,
        Hosts(settings.url, settings.hosts),
        limits=Limits(),
        proxies=settings.trusted_proxies,
        only_proxies=not is_loopback(settings.bind) and not settings.tls_cert,
    )


async def _not_found(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return response_of(answer_to(HttpError(status, "there is no such path")))
