"""Work that one agent left for another."""

from __future__ import annotations

from dataclasses import asdict

from keepmum.core.errors import Ambiguous, InvalidInput, NotFound
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.service.handoffs import Handoff, Handoffs

__all__ = ["handoffs", "waiting"]

_DONE = 100  # that are shown


def handoffs(dashboard: Dashboard, _: Arguments) -> JsonObject:
    """Every handoff by its state, newest first."""
    found = Handoffs(dashboard.service, None).all()
    rows = {status: [each for each in found if each.status == status] for status in ("pending", "in_progress")}
    return {
        "waiting": [_shown(dashboard, each) for each in rows["pending"]],
        "in_progress": [_shown(dashboard, each) for each in rows["in_progress"]],
        "done": [_shown(dashboard, each) for each in found if each.status == "completed"][:_DONE],
    }


def waiting(dashboard: Dashboard) -> list[JsonObject]:
    """The handoffs that wait for an agent, newest first."""
    return [_shown(dashboard, each) for each in Handoffs(dashboard.service, None).pending()]


def _shown(dashboard: Dashboard, handoff: Handoff) -> JsonObject:
    values = asdict(handoff)
    del values["context_keys"]
    return {**values, "needs": [_need(dashboard, key) for key in handoff.context_keys]}


def _need(dashboard: Dashboard, key: str) -> JsonObject:
    try:
        memory = dashboard.service.find(key)
    except (NotFound, Ambiguous, InvalidInput):
        return {"key": key, "id": None, "title": ""}
    return {"key": key, "id": memory.id, "title": memory.title}
