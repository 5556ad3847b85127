"""The views: what each shows, as JSON, made from reads that change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from keepmum.dashboard.base import Dashboard, View
from keepmum.dashboard.views import activity, browse, detail, handoffs, health, home, queue
from keepmum.dashboard.views.about import about, verbs_of

__all__ = ["VIEWS", "about", "offered", "verbs_of"]

VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "live": lambda *_: {},
        "home": home.home,
        "memories": browse.memories,
        "memory": detail.detail,
        "code": detail.code,
        "review": queue.queue,
        "item": queue.item,
        "activity": activity.activity,
        "activity_days": home.activity_days,
        "undo_agent": activity.undo_agent,
        "handoffs": handoffs.handoffs,
        "health": health.health,
        "audit": health.audit,
    }
)
_ELSEWHERE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "panel": frozenset({"health", "audit", "undo_agent"}),
        "server": frozenset({"health", "audit"}),
    }
)


def offered(dashboard: Dashboard) -> frozenset[str]:
    """The names of the views that can be asked for here."""
    return frozenset(VIEWS) - _ELSEWHERE.get(dashboard.where, frozenset())
