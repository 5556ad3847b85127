"""Whether the process lives, and whether it can serve."""

from __future__ import annotations

from keepmum.core.errors import StoreError
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call, Forbidden
from keepmum.server.people.roles import EVERY_PROJECT
from keepmum.server.routes import Route, Schema

__all__ = ["ROUTES"]

_TEXT: Schema = {"type": "string"}
_HEALTH: Schema = {
    "type": "object",
    "properties": {"status": _TEXT, "modelReady": {"type": "boolean"}},
    "required": ["status", "modelReady"],
}
_LIVE: Schema = {"type": "object", "properties": {"status": _TEXT}, "required": ["status"]}
_READY: Schema = {
    "type": "object",
    "properties": {"status": _TEXT, "database": _TEXT, "meaning": _TEXT},
    "required": ["status", "database", "meaning"],
}


def health(call: Call) -> Answer:
    """The health check of Shared Agent Memory: whether the model is loaded."""
    ready = call.team.model_ready
    return Answer(200 if ready else 503, {"status": "ok" if ready else "starting", "modelReady": ready})


def live(_: Call) -> Answer:
    """Whether the process answers."""
    return Answer(200, {"status": "live"})


def ready(call: Call) -> Answer:
    """Whether requests can be served; without the model they can, and search is lexical."""
    database = "ok"
    try:
        call.team.check()
    except StoreError:
        database = "cannot be reached"
    status = "stopping" if call.state.stopping else "ready" if database == "ok" else "not ready"
    body: dict[str, JsonValue] = {"status": status, "database": database, "meaning": call.team.meaning}
    return Answer(200 if status == "ready" else 503, body)


def metrics(call: Call) -> Answer:
    """Figures for Prometheus, for a key of every project: they are about all of them."""
    if not call.principal.may("reader", EVERY_PROJECT):
        raise Forbidden("only a key of every project may read the figures of all")
    return Answer(200, call.metrics(), {"content-type": "text/plain; version=0.0.4; charset=utf-8"})


ROUTES = (
    Route(
        "GET", "/metrics", metrics, "reader", "Figures for Prometheus", "health", {200: {}}, produces="text/plain",
        name="metrics",
    ),
    Route("GET", "/health", health, None, "Whether the model is loaded", "health", {200: _HEALTH, 503: _HEALTH}),
    Route("GET", "/health/live", live, None, "Whether the process answers", "health", {200: _LIVE}),
    Route(
        "GET", "/health/ready", ready, None, "Whether requests can be served", "health", {200: _READY, 503: _READY},
        name="is_ready",
    ),
)  # fmt: skip
