"""Whether the server lives, and whether it is ready."""

from __future__ import annotations

from keepmum.server.call import Answer, Call
from keepmum.server.routes import Route

__all__ = ["ROUTES"]

_HEALTH = {
    "type": "object",
    "properties": {"status": {"type": "string"}, "modelReady": {"type": "boolean"}},
    "required": ["status", "modelReady"],
}


def health(call: Call) -> Answer:
    """The health check of Shared Agent Memory."""
    ready = call.team.model_ready
    return Answer(200 if ready else 503, {"status": "ok" if ready else "starting", "modelReady": ready})


ROUTES = (Route("GET", "/health", health, None, "Whether the server is ready", "health", {200: _HEALTH, 503: _HEALTH}),)
