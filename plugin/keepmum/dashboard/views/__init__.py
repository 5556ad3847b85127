"""The views: what each shows, as JSON, made from reads that change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from keepmum.dashboard.base import Dashboard, View
from keepmum.dashboard.views import browse, detail
from keepmum.dashboard.views.about import about, verbs_of

__all__ = ["VIEWS", "about", "offered", "verbs_of"]

VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "live": lambda *_: {},
        "memories": browse.memories,
        "memory": detail.detail,
        "code": detail.code,
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
