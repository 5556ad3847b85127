"""Who wrote, used and was refused what."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum.core.memory import LIMITS, Action, DayCount, LogFilter
from keepmum.core.retention import DAY_MS
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.views.entries import ACTIONS, What, entry

__all__ = ["activity", "undo_agent"]

_PAGE, _MOST = 60, 200
_DAYS = 30
_ACTIONS: Mapping[str, tuple[Action, ...]] = {"everything": (), **{str(what): each for what, each in ACTIONS.items()}}


def activity(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """A page of the log, and with `cards` what each agent did in the last 30 days."""
    service = dashboard.service
    what = given.choice("what", tuple(_ACTIONS), "everything")
    wanted = LogFilter(
        agent=given.optional_text("agent", LIMITS.name),
        actions=_ACTIONS[what],
        memory=given.optional_text("memory", LIMITS.key),
        since=given.optional_number("since"),
    )
    limit = given.number("limit", _PAGE, least=1, most=_MOST)
    found = service.activity(limit + 1, wanted=wanted, after=given.text("cursor"))
    shown: JsonObject = {
        "entries": [entry(dashboard, event) for event in found[:limit]],
        "cursor": found[limit - 1].cursor if len(found) > limit else "",
    }
    if given.flag("cards"):
        shown["cards"] = _cards(service.activity_days(service.now() - _DAYS * DAY_MS), service.now() // DAY_MS)
    return shown


def undo_agent(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """What would be undone of all that an agent wrote since a time; nothing is changed."""
    agent = given.text("agent", LIMITS.name, required=True)
    plan = dashboard.service.plan_undo(agent, given.number("since"))
    return {
        "agent": agent,
        "rows": [
            {"id": each.before.id, "title": each.before.title, "does": each.does, "from": each.before.title,
             "to": each.after.title}
            for each in plan.steps
        ],
        "skipped": [{"id": memory.id, "title": memory.title, "why": why} for memory, why in plan.skipped],
        "count": len(plan.steps),
        "confirmation": plan.confirmation,
    }  # fmt: skip


def _cards(days: list[DayCount], today: int) -> list[JsonObject]:
    """By agent, what it did and on which days, the busiest first."""
    shown: dict[str, JsonObject] = {}
    for each in days:
        card = shown.setdefault(
            each.agent,
            {"agent": each.agent, "wrote": 0, "used": 0, "refused": 0, "conflicts": 0, "days": [0] * _DAYS},
        )
        name = next((name for name, what in _COUNTED.items() if each.action in ACTIONS[what]), None)
        if name is not None:
            card[name] += each.times
            if 0 <= (place := _DAYS - 1 - (today - each.day)) < _DAYS:
                card["days"][place] += each.times
    return sorted(shown.values(), key=lambda card: -sum(card["days"]))


_COUNTED: Mapping[str, What] = {"wrote": "writes", "used": "reads", "refused": "refused", "conflicts": "conflicts"}
