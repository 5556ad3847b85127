"""The server as an ASGI application: the only place where its parts meet."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from keepmum.server import audit, docs, events, health, v1, v2
from keepmum.server.call import HttpError
from keepmum.server.dashboard import TeamDashboard
from keepmum.server.dispatch import Dispatcher, response_of
from keepmum.server.edge.envelope import App, Envelope, Interrupted, Limits
from keepmum.server.edge.errors import answer_to
from keepmum.server.edge.gate import Gate, Keys
from keepmum.server.edge.hosts import Hosts
from keepmum.server.edge.proxies import Proxies, is_loopback
from keepmum.server.edge.rates import RateLimits
from keepmum.server.edge.record import Record
from keepmum.server.feed import Feed
from keepmum.server.logs import log
from keepmum.server.mcp import Edge, McpEndpoint, Resource
from keepmum.server.metrics import Metrics
from keepmum.server.people import routes as people
from keepmum.server.people.keys import KeyRing
from keepmum.server.routes import Route
from keepmum.server.settings import ServerSettings
from keepmum.server.state import ServerState
from keepmum.service.team import Team

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.server.people.oidc.opening import Oidc

__all__ = ["ROUTES", "build"]

ROUTES: tuple[Route, ...] = (
    *health.ROUTES, *docs.ROUTES, *v1.ROUTES, *v2.ROUTES, *people.ROUTES, *audit.ROUTES, *events.ROUTES,
)  # fmt: skip


def build(
    team: Team,
    ring: KeyRing,
    settings: ServerSettings,
    others: Sequence[Keys] = (),
    state: ServerState | None = None,
) -> App:
    """The application over a team's memory; `ring` has its keys, `others` have more."""
    oidc = _open_oidc(team, ring, settings)
    gate = Gate([ring, *others, *([oidc.members] if oidc else [])])
    rates = RateLimits(settings.reads_per_minute, settings.writes_per_minute)
    metrics = Metrics(team, rates)
    state = state or ServerState()
    feed = Feed(team.records, state)
    dispatcher = Dispatcher(
        team, ring, gate, rates, state=state, feed=feed, threads=settings.threads,
        refused=metrics.refused, metrics=metrics.text,
    )  # fmt: skip
    edge = Edge(rates.take, metrics.refused)
    mcp = McpEndpoint(
        team, dispatcher.principal, gate.refuse, ring.secret, dispatcher.limiter, edge, feed,
        Resource(settings.url, settings.oidc_issuer, settings.oidc_scopes),
    )  # fmt: skip
    dashboard = TeamDashboard(
        team, gate, rates, dispatcher.limiter, dispatcher.call_of, metrics.refused, oidc.flow if oidc else None
    )
    app = Starlette(
        routes=[*mcp.routes, *dashboard.routes, *dispatcher.paths(ROUTES)],
        lifespan=lambda _: mcp.running(),
        middleware=[Middleware(Interrupted)],
        exception_handlers={HTTPException: _not_found},
    )
    return Envelope(
        app,
        Hosts(settings.url, settings.hosts),
        limits=Limits(),
        proxies=Proxies(settings.trusted_proxies),
        done=functools.partial(_note, metrics),
        only_proxies=not is_loopback(settings.bind) and not settings.tls_cert,
    )


def _open_oidc(team: Team, ring: KeyRing, settings: ServerSettings) -> Oidc | None:
    """The identity provider, if there is one; its modules load an HTTP client, which other servers do not need."""
    if not settings.oidc_issuer:
        return None
    from keepmum.server.people.oidc import opening

    return opening.open_oidc(settings, team.records, team.scan, ring.secret)


def _note(metrics: Metrics, record: Record, method: str, seconds: float) -> None:
    """Log and count one response; a health check that succeeds is not worth a line."""
    metrics.done(record, method, seconds)
    if record.status != 200 or not record.route.startswith("/health"):
        log(
            "request", id=record.request_id, principal=record.principal, method=method, route=record.route,
            status=record.status, ms=round(seconds * 1000, 1), bytes=record.size,
        )  # fmt: skip


async def _not_found(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return response_of(answer_to(HttpError(status, "there is no such path")))
