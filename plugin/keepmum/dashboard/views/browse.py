"""The list of memories: all that pass the filters, in ranges, or those that a search finds."""

from __future__ import annotations

from keepmum.core.memory import KINDS, LIMITS, SCOPES, STATUSES, TRUST_LEVELS, Memory
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.cards import cards, hit
from keepmum.service import SORTS, Sort, Wanted

__all__ = ["memories", "wanted_of"]

_PAGE, _MOST = 60, 200  # rows
_TAGS = 30  # in the facets
_START = 400  # rows of the usual order
_MINUTE_MS = 60_000  # after which a memory may have expired, or faded below another


def wanted_of(given: Arguments) -> Wanted:
    """The filter of a list, from the arguments of a view.

    Raises: InvalidInput.
    """
    wanted: Wanted = {
        "kinds": given.texts("kinds", len(KINDS)),
        "tags": given.texts("tags", LIMITS.tags, LIMITS.tag),
        "all_tags": True,
        "statuses": (given.choice("status", STATUSES, "active"),),
        "trusts": tuple(level for level in TRUST_LEVELS if level in given.texts("trusts", len(TRUST_LEVELS))),
    }
    if scope := given.choice("scope", (*SCOPES, "all", ""), ""):
        wanted["scope"] = scope
    if agent := given.text("agent", LIMITS.name):
        wanted["agent"] = agent
    if (since := given.optional_number("since")) is not None:
        wanted["since"] = since
    if (until := given.optional_number("until")) is not None:
        wanted["until"] = until
    return wanted


def memories(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """The rows of a range of the list, or the hits of a search with the reason for each."""
    service = dashboard.service
    wanted = wanted_of(given)
    query = given.text("query", LIMITS.query)
    limit = given.number("limit", _PAGE, least=1, most=_MOST)
    shown: JsonObject = {"query": service.masked(query)}
    if query.strip():
        found = service.recall(query, limit=limit + 1, quiet=True, weak=given.flag("weak"), **wanted)
        rows = cards(dashboard, [match.memory for match in found[:limit]])
        shown |= {
            "total": len(rows),
            "offset": 0,
            "of": service.count(**wanted),
            "rows": [{**row, "hit": hit(match)} for row, match in zip(rows, found, strict=False)],
            "more": len(found) > limit,
            "lexical_only": service.lexical_only,
        }
    else:
        sort = given.choice("sort", SORTS, "updated")
        offset = given.number("offset")
        total, listed = _range(dashboard, sort, offset, limit, wanted)
        shown |= {"total": total, "offset": offset, "rows": cards(dashboard, listed)}
    if given.flag("facets"):
        state = (service.changes(), service.place, service.now() // _MINUTE_MS, repr(wanted))
        shown["facets"] = dashboard.remembered("facets", state, lambda: _facets(dashboard, wanted))
    return shown


def _range(dashboard: Dashboard, sort: Sort, offset: int, limit: int, wanted: Wanted) -> tuple[int, list[Memory]]:
    """How many memories the list has, and those of a range; its start is found without reading the order of all."""
    service = dashboard.service
    if sort == "updated" and offset + limit <= _START:
        found = service.recall(None, limit=limit, offset=offset, quiet=True, **wanted)
        return service.count(**wanted), [match.memory for match in found]
    order = _order(dashboard, sort, wanted)
    return len(order), service.peek(order[offset : offset + limit])


def _order(dashboard: Dashboard, sort: Sort, wanted: Wanted) -> list[str]:
    """The ids of the whole list, which is read again when memories have changed, and each minute."""
    service = dashboard.service
    state = (service.changes(), service.place, service.now() // _MINUTE_MS, sort, repr(wanted))
    order: list[str] = dashboard.remembered("order", state, lambda: service.order(sort, **wanted))
    return order


def _facets(dashboard: Dashboard, wanted: Wanted) -> JsonObject:
    found = dashboard.service.facets(**wanted)
    most_used = sorted(found.tags.items(), key=lambda item: (-item[1], item[0]))[:_TAGS]
    return {
        "kinds": dict(found.kinds),
        "agents": dict(found.agents),
        "tags": dict(most_used),
        "statuses": dict(found.statuses),
        "trusts": dict(found.trusts),
    }
