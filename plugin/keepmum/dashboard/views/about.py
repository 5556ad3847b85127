"""What frames every screen: the project, how much there is, and what may be done here."""

from __future__ import annotations

from keepmum.core.memory import LIMITS
from keepmum.core.review import DECISIONS, Decision
from keepmum.core.version import VERSION
from keepmum.dashboard.arguments import JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.service.handoffs import Handoffs

__all__ = ["about", "decisions_of", "verbs_of"]

_VERBS = (
    "edit", "put_back", "archive", "restore", "still_true", "confirm", "forget", "pin", "wrong", "tag", "decide",
    "undo", "undo_agent", "withdraw", "give", "take_out",
)  # fmt: skip
_ONLY_PAGE = frozenset({"undo_agent", "withdraw", "give", "take_out"})
_PERSONS = frozenset({"confirm", "pin", "wrong", "accept"})  # verbs and decisions of a person alone


def verbs_of(dashboard: Dashboard) -> list[str]:
    """The verbs that are not refused here."""
    if not dashboard.service.store.capabilities.writable:
        return []
    kept = frozenset[str]() if dashboard.where == "page" else _ONLY_PAGE
    offered = [verb for verb in _VERBS if verb not in kept and (dashboard.is_person or verb not in _PERSONS)]
    return offered if dashboard.verbs is None else [verb for verb in offered if verb in dashboard.verbs]


def decisions_of(dashboard: Dashboard) -> list[Decision]:
    """The decisions about items of the review queue that are not refused here."""
    if dashboard.verbs is not None and "decide" not in dashboard.verbs:
        return []
    return [each for each in DECISIONS if dashboard.is_person or each not in _PERSONS]


def about(dashboard: Dashboard) -> JsonObject:
    """The frame of every screen; what takes long is found out again only when memories have changed."""
    service = dashboard.service
    place = service.place
    state = (service.changes(), place)
    counted: JsonObject = dashboard.remembered("about", state, lambda: _counted(dashboard), patient=True)
    return {
        "project": service.masked(place.name),
        "root": service.masked(place.root or ""),
        **counted,
        "where": dashboard.where,
        "store": service.store_kind,
        "read_only": service.store.capabilities.reason if not service.store.capabilities.writable else "",
        "off": dashboard.facts.off(),
        "notices": service.notices(),
        "lexical_only": service.lexical_only,
        "can": verbs_of(dashboard),
        "decisions": decisions_of(dashboard),
        "version": VERSION,
        "limits": {
            "text": LIMITS.text, "title": LIMITS.title, "why": LIMITS.why, "tags": LIMITS.tags, "tag": LIMITS.tag,
            "query": LIMITS.query,
        },
    }  # fmt: skip


def _counted(dashboard: Dashboard) -> JsonObject:
    service = dashboard.service
    facets = service.facets()
    return {
        "folders": max(1, service.folders()),
        "agents": len(facets.agents),
        "memories": sum(facets.kinds.values()),
        "everywhere": service.count(scope="all"),
        "review": sum(service.review_counts().values()),
        "handoffs": len(Handoffs(service, None).pending()),
    }
