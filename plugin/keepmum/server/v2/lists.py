"""Reads of many memories: search, lists with cursors, counts; and what a client needs that ranks by itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import cast

from keepmum.core import ids
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import SCOPES, Filter, JsonValue, Order, Position, Scope, space_of
from keepmum.server.call import Answer, Call
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import cursors, forms
from keepmum.service import MemoryService, Place, Wanted

__all__ = ["ROUTES", "in_place", "place_of"]

_PREFIX = "/api/v2/memories"
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": forms.LARGEST_PAGE}
_CURSOR: Schema = {"type": "string", "maxLength": 1_000}
_QUERY: Schema = {"type": "string", "maxLength": 1_000}
_SHARED: Mapping[str, Schema] = {
    "query": _QUERY,
    "limit": _LIMIT,
    "explain": {"type": "boolean"},
    "weak": {"type": "boolean"},
    "quiet": {"type": "boolean"},
}
_SEARCH: Schema = {
    "type": "object",
    "properties": {**_SHARED, "vector": forms.VECTOR, "filter": forms.FILTER},
    "required": ["query"],
    "additionalProperties": False,
}
_CANDIDATES: Schema = {
    "type": "object",
    "properties": {"query": _QUERY, "limit": _LIMIT, "vector": forms.VECTOR, "filter": forms.FILTER},
    "required": ["query"],
    "additionalProperties": False,
}
_PAGE: Mapping[str, Schema] = {"order": forms.ORDERS, "limit": _LIMIT, "cursor": _CURSOR}
_LISTING: Schema = {
    "type": "object",
    "properties": {**_PAGE, "filter": forms.FILTER},
    "additionalProperties": False,
}
_FILTERED: Schema = {"type": "object", "properties": {"filter": forms.FILTER}, "additionalProperties": False}
_LOOKUP: Schema = {
    "type": "object",
    "properties": {
        "scope": {"type": "string", "enum": list(SCOPES)},
        "project": {"type": "string", "maxLength": 200},
        "session": {"type": "string", "maxLength": 200},
        "user": {"type": "string", "maxLength": 200},
        "key": {"type": "string", "maxLength": 255},
        "text": {"type": "string", "maxLength": 65_536},
    },
    "required": ["scope"],
    "additionalProperties": False,
}
_IDS: Schema = {
    "type": "object",
    "properties": {
        "ids": forms.texts(most=forms.LARGEST_PAGE),
        "first": forms.ID,
        "last": forms.ID,
        "limit": _LIMIT,
    },
    "additionalProperties": False,
}
_USED: Schema = {
    "type": "object",
    "properties": {"ids": forms.texts(most=forms.LARGEST_PAGE)},
    "required": ["ids"],
    "additionalProperties": False,
}
_FIRST_ID, _LAST_ID = "mem_", "mem_zzzzzzzzzzzzzzzzzzzzzzzzzz"


def search_memories(call: Call) -> Answer:
    """The memories that match best, best first; a vector of the question may come with it."""
    given = call.body or call.query
    named = call.body.get("filter") if call.body else call.query
    wanted = forms.filter_of(cast(Mapping[str, JsonValue], named or {}), 0)
    explain = given.get("explain") is True
    with in_place(call, wanted) as service:
        matches = service.recall(
            str(given["query"]),
            limit=cast(int, given.get("limit", 10)),
            weak=given.get("weak") is True,
            quiet=given.get("quiet") is True,
            embedding=forms.embedding_of(call, call.body.get("vector")),
            **_wanted(wanted),
        )
        found: list[JsonValue] = [forms.found_json(match, explain=explain) for match in matches]
        degraded: list[JsonValue] = ["meaning"] if service.lexical_only else []
        return Answer(200, {"data": found, "degraded": degraded})


def list_candidates(call: Call) -> Answer:
    """What may match a question, unranked, with both scores: for a client that ranks by itself."""
    wanted = _filter(call)
    with in_place(call, wanted) as service:
        found = service.candidates(
            str(call.body["query"]),
            forms.embedding_of(call, call.body.get("vector")),
            _now(service, wanted),
            cast(int, call.body.get("limit", 60)),
        )
        data: list[JsonValue] = [
            {"memory": forms.memory_json(memory), "lexical": each.lexical, "cosine": each.cosine}
            for memory, each in found
        ]
        return Answer(200, {"data": data})


def list_memories(call: Call) -> Answer:
    """Memories that pass the filters, in pages; `next` is the cursor of the following page, null at the end."""
    posted = bool(call.body)
    given = call.body if posted else call.query
    values = cast(Mapping[str, JsonValue], (call.body.get("filter") or {}) if posted else call.query)
    wanted = forms.filter_of(values, 0)
    order = cast(Order, given.get("order", "updated"))
    bound: dict[str, JsonValue] = {
        "list": "memories", "order": order, "principal": call.principal.id or call.principal.key,
        "filter": {name: _plain(getattr(wanted, name)) for name in Filter.__slots__ if name != "now"},
    }  # fmt: skip
    limit = cast(int, given.get("limit", 50))
    if cursor := given.get("cursor"):
        wanted = replace(wanted, after=_position(cursors.read(call.secret, bound, str(cursor)), order))
    with in_place(call, wanted) as service:
        page = service.select(_now(service, wanted), order=order, limit=limit + 1)
    following = None
    if len(page) > limit:
        page = page[:limit]
        place = Position.of(page[-1], order)
        following = cursors.write(call.secret, bound, [place.value, place.updated_at, place.id])
    return Answer(200, {"data": list(map(forms.memory_json, page)), "next": following})


def load_memories(call: Call) -> Answer:
    """Memories by their ids, or those with ids in a range, in order; it does not count as use."""
    body = call.body
    with call.service(None, "reader") as service:
        if "ids" in body:
            wanted = [whole for one in cast(list[str], body["ids"]) if (whole := ids.complete_id(one)) is not None]
            found = service.load_complete(wanted)
        else:
            first, last = _bound(body, "first", _FIRST_ID), _bound(body, "last", _LAST_ID)
            found = service.id_range(first, last, cast(int, body.get("limit", 50)))
    return Answer(200, {"data": list(map(forms.memory_json, found))})


def look_up(call: Call) -> Answer:
    """The memories of a space that a new one may repeat: by its key and by its text."""
    body = call.body
    scope = cast(Scope, body["scope"])
    project, session, user = (cast("str | None", body.get(name)) for name in ("project", "session", "user"))
    with call.service(None, "reader") as service:
        space = space_of(scope, project, session, user)
        holders = service.holders(space, str(body.get("key") or ""), str(body.get("text") or ""))
    data: dict[str, JsonValue] = {
        name: None if memory is None else forms.memory_json(memory) for name, memory in holders._asdict().items()
    }
    return Answer(200, {"data": data})


def count_values(call: Call) -> Answer:
    """How many of the memories that pass the filters have each kind, agent, tag, status and trust."""
    values = call.body.get("filter") or {} if call.body else call.query
    wanted = forms.filter_of(cast(Mapping[str, JsonValue], values), 0)
    with in_place(call, wanted) as service:
        counted = service.count_facets(_now(service, wanted))
    data: dict[str, JsonValue] = {name: dict(counts) for name, counts in counted._asdict().items()}
    return Answer(200, {"data": data})


def list_outlines(call: Call) -> Answer:
    """All memories that pass the filter, without their texts."""
    wanted = _filter(call)
    with in_place(call, wanted) as service:
        found = service.list_outlines(_now(service, wanted))
    return Answer(200, {"data": [{**each._asdict(), "pinned": bool(each.pinned)} for each in found]})


def note_use(call: Call) -> Answer:
    """Note that these memories were shown to an agent, so that they fade later."""
    wanted = [whole for one in cast(list[str], call.body["ids"]) if (whole := ids.complete_id(one)) is not None]
    with call.service(None, "reader") as service:
        service.report_use(wanted)
    return Answer(200, {"data": {}})


# -- parts


def in_place(call: Call, wanted: Filter) -> AbstractContextManager[MemoryService]:
    """A service where the filter reads: in its project, or in all that the key may read.

    Raises: NotFound when the project may not be read.
    """
    if wanted.project is not None:
        call.require(wanted.project, "reader")
    return call.service(None if wanted.everywhere else wanted.project, "reader", place=place_of(wanted))


def place_of(wanted: Filter) -> Place:
    """The place of a filter."""
    return Place(project=wanted.project, name=wanted.project or "", session=wanted.session, user=wanted.user)


def _filter(call: Call) -> Filter:
    return forms.filter_of(cast(Mapping[str, JsonValue], call.body.get("filter") or {}), 0)


def _now(service: MemoryService, wanted: Filter) -> Filter:
    """The filter at its own time, or now."""
    return wanted if wanted.now else replace(wanted, now=service.now())


def _wanted(wanted: Filter) -> Wanted:
    """The filter as the service's own searches take it, in the place of the service."""
    if len(wanted.scopes) > 1:
        raise InvalidInput("scopes", "a search takes one scope")
    everywhere: str | None = "all" if wanted.everywhere else None
    return Wanted(
        kinds=wanted.kinds,
        tags=wanted.tags,
        all_tags=wanted.all_tags,
        agent=wanted.agent,
        since=wanted.since,
        until=wanted.until,
        statuses=wanted.statuses,
        keys=wanted.keys,
        tier=wanted.tier,
        trusts=wanted.trusts,
        scope=wanted.scopes[0] if wanted.scopes else everywhere,
    )


def _position(place: list[JsonValue], order: Order) -> Position:
    value, updated_at, memory = cast("tuple[float, int, str]", tuple(place))
    return Position(order, value, updated_at, memory)


def _plain(value: object) -> JsonValue:
    return list(value) if isinstance(value, tuple) else cast(JsonValue, value)


def _bound(body: Mapping[str, JsonValue], name: str, default: str) -> str:
    """The first or last id of a range; a beginning of an id stands for the first or last one with it."""
    if name not in body:
        return default
    bounds = ids.id_range(str(body[name]))
    if bounds is None:
        raise InvalidInput(name, "is not the id of a memory, or the beginning of one")
    return bounds[0] if name == "first" else bounds[1]


_GET_FILTERS = dict(forms.FILTER_PARAMETERS)
_READ: Mapping[int, Schema] = {200: forms.LIST}

ROUTES = (
    Route("POST", f"{_PREFIX}:search", search_memories, "reader", "Search", "search", _READ, body=_SEARCH),
    Route("GET", f"{_PREFIX}:search", search_memories, "reader", "Search", "search", _READ,
          query={**_GET_FILTERS, **_SHARED}, required=("query",), name="search_memories_by_url"),
    Route("GET", _PREFIX, list_memories, "reader", "List memories", "search", _READ, query={**_GET_FILTERS, **_PAGE}),
    Route("POST", f"{_PREFIX}:list", list_memories, "reader", "List memories", "search", _READ, body=_LISTING,
          name="list_memories_by_filter"),
    Route("GET", "/api/v2/facets", count_values, "reader", "Count values", "search", {200: forms.ONE},
          query=_GET_FILTERS),
    Route("POST", f"{_PREFIX}:facets", count_values, "reader", "Count values", "search", {200: forms.ONE},
          body=_FILTERED, name="count_values_by_filter"),
    Route("POST", f"{_PREFIX}:candidates", list_candidates, "reader", "Candidates for a client's own ranking",
          "clients", _READ, body=_CANDIDATES),
    Route("POST", f"{_PREFIX}:load", load_memories, "reader", "Read memories by id", "clients", _READ, body=_IDS),
    Route("POST", f"{_PREFIX}:lookup", look_up, "reader", "What a new memory may repeat", "clients",
          {200: forms.ONE}, body=_LOOKUP),
    Route("POST", f"{_PREFIX}:outlines", list_outlines, "reader", "Memories without their texts", "clients", _READ,
          body=_FILTERED),
    Route("POST", f"{_PREFIX}:used", note_use, "reader", "Note that memories were shown", "clients",
          {200: forms.ONE}, body=_USED),
)  # fmt: skip
