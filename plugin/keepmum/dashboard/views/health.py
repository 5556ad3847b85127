"""What the doctor finds, what was refused, how it is set, and secrets in what was stored before."""

from __future__ import annotations

from collections import Counter

from keepmum.core.memory import LogFilter
from keepmum.core.retention import DAY_MS
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard

__all__ = ["audit", "health"]

_DAYS = 30
_REFUSALS = 5_000  # of the log
_LEVELS = ("problem", "note", "ok", "absent")
_PLACES = 200


def health(dashboard: Dashboard, _: Arguments) -> JsonObject:
    """All checks, what is wrong first."""
    service, facts = dashboard.service, dashboard.facts
    since = service.now() - _DAYS * DAY_MS
    refused = service.activity(_REFUSALS, everywhere=True, wanted=LogFilter(actions=("refused",), since=since))
    rules = Counter(rule.strip() for event in refused for rule in event.detail.split(",") if rule.strip())
    checks = sorted(facts.checks(), key=lambda check: _LEVELS.index(check.level))
    return {
        "checks": [{name: service.masked(text) for name, text in check._asdict().items()} for check in checks],
        "settings": [
            {"name": name, "value": service.masked(value), "source": service.masked(source)}
            for name, value, source in facts.settings()
        ],
        "refused": {"days": _DAYS, "total": len(refused), "rules": [list(each) for each in rules.most_common()]},
        "allowed": {"count": facts.allowed(), "command": "keepmum allow --list"},
        "store": service.health(),
    }


def audit(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """How far the search for secrets in stored memories is, which `start` begins; then where they are."""
    auditor = dashboard.auditor
    if given.flag("start"):
        auditor.start()
    state = auditor.state
    places = state.report.places if state.report and state.name == "done" else []
    titles = {
        memory.id: memory.title for memory in dashboard.service.peek([each.memory for each in places if each.memory])
    }
    return {
        "state": state.name,
        "looked_at": state.looked_at,
        "of": dashboard.service.count(scope="all"),
        "places": [
            {
                "where": each.where, "memory": each.memory, "title": titles.get(each.memory or "", ""),
                "field": each.field, "line": each.line, "rule": each.rule,
            }
            for each in places[:_PLACES]
        ],
        "found": len(places),
        "confirmation": state.confirmation,
        "said": state.said,
    }  # fmt: skip
