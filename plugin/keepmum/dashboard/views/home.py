"""The first screen: what agents know, and what they need from a person."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from keepmum.core import ranking
from keepmum.core.memory import DayCount, LogFilter
from keepmum.core.retention import DAY_MS
from keepmum.core.review import Group
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.cards import cards
from keepmum.dashboard.views.handoffs import waiting

__all__ = ["activity_days", "home", "lanes"]

_DAYS = 30
_NEEDS = 4
_LATEST = 5
_HANDOFFS = 3
_LEARNT = 500  # of the log
_MINUTE_MS = 60_000
_WEIGHT: tuple[Group, ...] = ("contradictions", "conflicts", "changed-code", "outside", "duplicates", "unconfirmed")
_LINE = re.compile(r"- (?P<title>.*) \((?P<id>mem_[0-9a-z]{12,26}), (?P<kind>[a-z]+)[,)]")
_COLUMNS = {"created": 1, "imported": 1, "recalled": 2, "loaded": 2, "refused": 3, "conflict": 4}  # after the day


def home(dashboard: Dashboard, _: Arguments) -> JsonObject:
    """All of the first screen."""
    service = dashboard.service
    now = service.now()
    days = service.activity_days(now - _DAYS * DAY_MS)
    state = (service.changes(), service.place, now // _MINUTE_MS)
    needs: JsonObject = dashboard.remembered("needs", state, lambda: _needs(dashboard), patient=True)
    briefing: JsonObject = dashboard.remembered("briefing", state, lambda: _briefing(dashboard), patient=True)
    latest = [match.memory for match in service.recall(None, limit=_LATEST, quiet=True)]
    refused = [each for each in days if each.action == "refused"]
    counts: dict[str, int] = needs["counts"]
    return {
        "first_run": not latest,
        "needs": needs["needs"],
        "lanes": lanes(days, now),
        "briefing": briefing,
        "latest": cards(dashboard, latest),
        "learnt": _learnt(dashboard, now - DAY_MS),
        "health": {
            "refused_30": sum(each.times for each in refused),
            "refused_agents": len({each.agent for each in refused}),
            "code_changed": counts.get("changed-code", 0),
            "expiring": counts.get("expiring", 0),
            "unused": counts.get("unused", 0),
            "unconfirmed": counts.get("unconfirmed", 0),
        },
        "handoffs": dashboard.remembered("handoffs", state, lambda: waiting(dashboard)[:_HANDOFFS], patient=True),
    }


def activity_days(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """What each agent did on each of the last days."""
    now = dashboard.service.now()
    since = now - given.number("days", _DAYS, least=1, most=90) * DAY_MS
    return lanes(dashboard.service.activity_days(since), now, since)


def lanes(days: list[DayCount], now: int, since: int | None = None) -> JsonObject:
    """By agent, the days with something: how often it learnt, used, was refused, and disagreed."""
    rows: dict[str, dict[int, list[int]]] = {}
    for each in days:
        column = _COLUMNS.get(each.action)
        if column is not None:
            row = rows.setdefault(each.agent, {}).setdefault(each.day, [each.day, 0, 0, 0, 0])
            row[column] += each.times
    ordered = sorted(rows.items(), key=lambda item: -sum(sum(row[1:]) for row in item[1].values()))
    first = now - _DAYS * DAY_MS if since is None else since
    return {
        "from": first // DAY_MS,
        "to": now // DAY_MS,
        "agents": [{"agent": agent, "days": [found[day] for day in sorted(found)]} for agent, found in ordered],
    }


def _needs(dashboard: Dashboard) -> JsonObject:
    """The groups of the review queue that matter most, each with its first item."""
    page = dashboard.service.overview()
    by_group = {item.group: item for item in page.items}
    shown = [by_group[group] for group in _WEIGHT if group in by_group][:_NEEDS]
    lines = [
        {
            "group": item.group,
            "count": page.counts[item.group],
            "item": item.id,
            "title": item.memories[0].title,
            "key": item.memories[0].key,
            "agent": item.memories[0].updated_by,
            "cosine": item.cosine,
            "reason": item.reason,
        }
        for item in shown
    ]
    return {"needs": lines, "counts": dict(page.counts)}


def _briefing(dashboard: Dashboard) -> JsonObject:
    """The briefing of a new session, line by line."""
    budget = dashboard.service.context.options.briefing_tokens
    text = dashboard.service.brief(budget) if budget else ""
    lines = []
    for line in text.splitlines()[1:-1]:
        found = _LINE.match(line)
        facts = found.groupdict() if found else {"title": line, "id": "", "kind": ""}
        lines.append({"text": line, **facts})
    tokens = ranking.estimate_tokens(text)
    return {"text": text, "tokens": tokens, "budget": budget, "enabled": bool(budget), "lines": lines}


def _learnt(dashboard: Dashboard, since: int) -> JsonObject:
    wanted = LogFilter(actions=("created",), since=since)
    by: Any = Counter(event.agent for event in dashboard.service.activity(_LEARNT, wanted=wanted))
    found = by.most_common()
    return {"since": since, "count": sum(by.values()), "by": [list(each) for each in found], "agents": list(by)}
