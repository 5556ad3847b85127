"""API version 2: complete memories, revisions, cursors, review, transfer."""

from __future__ import annotations

from keepmum.server.routes import Route
from keepmum.server.v2 import batch, lists, memories, overview, projects, reviews, transfer

__all__ = ["ROUTES"]


def _with_errors(route: Route) -> Route:
    """The route, of which a write may also find another revision than it names."""
    return route if route.role == "reader" else route._replace(errors=(412,))


ROUTES = tuple(
    map(
        _with_errors,
        (
            *overview.ROUTES,
            *memories.ROUTES,
            *lists.ROUTES,
            *batch.ROUTES,
            *reviews.ROUTES,
            *transfer.ROUTES,
            *projects.ROUTES,
        ),
    )
)
