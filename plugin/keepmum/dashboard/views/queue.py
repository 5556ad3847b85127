"""The review queue: what agents could not settle among themselves, one item at a time."""

from __future__ import annotations

from keepmum.core.agents import identify
from keepmum.core.citations.freshness import combined
from keepmum.core.memory import LogFilter, Memory
from keepmum.core.review import DECISIONS, GROUPS, Decision, Group
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.cards import card, full
from keepmum.dashboard.views.about import decisions_of
from keepmum.dashboard.views.detail import citations_of, used
from keepmum.service import ReviewItem

__all__ = ["item", "queue"]

_PAGE, _MOST = 50, 200
_EVENTS = 50  # of the log, about one memory
_CODE_SECONDS = 0.05


def queue(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """A page of the queue; the sides of an item are complete only in `item`."""
    groups: list[Group] = [group for group in GROUPS if group in given.texts("groups", len(GROUPS))]
    page = dashboard.service.review(
        groups=groups, limit=given.number("limit", _PAGE, least=1, most=_MOST), cursor=given.text("cursor")
    )
    return {
        "counts": dict(page.counts),
        "total": sum(page.counts.values()),
        "items": [_shown(dashboard, each) for each in page.items],
        "cursor": page.cursor,
        "unchecked": page.unchecked,
    }


def item(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """One item, also a postponed one.

    Raises: NotFound when it was decided, or its memories have changed.
    """
    return {"item": _shown(dashboard, dashboard.service.review_item(given.text("item", required=True)))}


def _shown(dashboard: Dashboard, found: ReviewItem) -> JsonObject:
    first = found.memories[0]
    return {
        "id": found.id,
        "group": found.group,
        "reason": found.reason,
        "cosine": None if found.cosine is None else round(found.cosine, 2),
        "title": first.key if found.group == "conflicts" and first.key else first.title,
        "subtitle": _subtitle(found),
        "decisions": _decisions(dashboard, found),
        "sides": _sides(dashboard, found),
    }


def _decisions(dashboard: Dashboard, found: ReviewItem) -> list[Decision]:
    allowed = decisions_of(dashboard)
    return [each for each in DECISIONS if each in found.actions and each in allowed]


def _subtitle(found: ReviewItem) -> str:
    agents = dict.fromkeys(identify(memory.updated_by).title for memory in found.memories)
    near = "" if found.cosine is None else f"{found.cosine:.2f}, ".removeprefix("0")
    return f"{near}{' and '.join(agents)}"


def _sides(dashboard: Dashboard, found: ReviewItem) -> list[JsonObject]:
    if found.group == "conflicts":
        (memory,) = found.memories
        before = dashboard.service.replaced([memory]).get(memory.id)
        return [
            _side(dashboard, memory, "now"),
            *([_side(dashboard, before, "before")] if before is not None else []),
        ]
    roles = ("newer", "older") if len(found.memories) > 1 else ("only",)
    return [_side(dashboard, memory, role) for memory, role in zip(found.memories, roles, strict=True)]


def _side(dashboard: Dashboard, memory: Memory, role: str) -> JsonObject:
    service = dashboard.service
    cited = service.cited(memory, _CODE_SECONDS)
    verdict = combined([freshness for _, freshness in cited])
    events = service.activity(_EVENTS, everywhere=True, wanted=LogFilter(memory=memory.id))
    return {
        "role": role,
        "memory": full(memory, card(memory, service.now(), verdict)),
        "citations": citations_of(cited),
        "verdict": verdict.verdict,
        "told": used(memory, events),
    }
