"""The REST API of Keepmum's own server, version 2: complete memories, filters, revisions, transactions."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from keepmum.core.errors import StoreError
from keepmum.core.memory import Embedding, Filter, JsonValue, Order
from keepmum.stores.rest.responses import Fields

if TYPE_CHECKING:
    from keepmum.stores.outbox import Item
    from keepmum.stores.rest.http_client import HttpClient

__all__ = ["Found", "FullApi", "Page", "ServerFacts"]

_PATH = "/api/v2/memories"
_PAGE = 100  # memories of one request
_NOT_FOUND = 404
_MAX_QUERY = 1_000  # characters
_MOST_CANDIDATES = 1_000
_Values = Mapping[str, JsonValue]


class ServerFacts(NamedTuple):
    """What a server can do, and what the key may do there."""

    promises: frozenset[str]  # the guarantees that other servers lack (`limitations`)
    model: str = ""  # whose vectors the server has; empty when it has none
    roles: Mapping[str, str] = MappingProxyType({})  # of the key, by project; "*" for every project

    @property
    def curates(self) -> bool:
        """Whether the key may purge, in some project."""
        return not {"curator", "admin"}.isdisjoint(self.roles.values())


class Found(NamedTuple):
    """A memory that may match, with its scores."""

    memory: _Values
    lexical: float
    cosine: float | None


class Page(NamedTuple):
    """A part of a list."""

    memories: list[_Values]
    cursor: str  # of the next page; empty at the end


class FullApi:
    """The calls of the API, one method each.

    Raises: StoreUnavailable, KeyRefused, `http_client.RequestRefused`, StoreError from any method.
    """

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    # -- reading

    def describe(self) -> ServerFacts:
        """What the server can do."""
        data = self._fields(self._http.request("GET", "/api/v2")).inner("data")
        meaning, roles = data.mapping("meaning") or {}, data.mapping("roles") or {}
        model = meaning.get("model")
        return ServerFacts(
            frozenset(data.texts("promises")),
            model if isinstance(model, str) else "",
            {project: role for project, role in roles.items() if isinstance(role, str)},
        )

    def candidates(self, query: str, vector: Embedding | None, wanted: Filter, limit: int) -> list[Found]:
        """What may match a query, unranked."""
        body: dict[str, object] = {
            "query": query[:_MAX_QUERY], "filter": _filter(wanted), "limit": max(1, min(limit, _MOST_CANDIDATES)),
        }  # fmt: skip
        if vector is not None:
            body["vector"] = {"model": vector.model, "base64": base64.b64encode(vector.vector).decode()}
        found = self._items(self._read("candidates", body))
        return [
            Found(item.mapping("memory") or {}, item.number("lexical"), item.number_or_none("cosine")) for item in found
        ]

    def page(self, wanted: Filter, order: Order, cursor: str, *, bulk: bool = False) -> Page:
        """A page of the memories that pass the filter."""
        body: dict[str, object] = {"filter": _filter(wanted), "order": order, "limit": _PAGE}
        if cursor:
            body["cursor"] = cursor
        response = self._read("list", body, bulk=bulk)
        return Page(_objects(response), self._fields(response).text_or("next", ""))

    def load(self, ids: Sequence[str]) -> list[_Values]:
        """These memories, without unknown ones."""
        found: list[_Values] = []
        for start in range(0, len(ids), _PAGE):
            found += _objects(self._read("load", {"ids": list(ids[start : start + _PAGE])}))
        return found

    def id_range(self, first: str, last: str, limit: int, *, bulk: bool = False) -> list[_Values]:
        """Up to `limit` memories with ids in [first, last], in order."""
        found: list[_Values] = []
        while len(found) < limit:
            size = min(_PAGE, limit - len(found) + 1)
            page = _objects(self._read("load", {"first": first, "last": last, "limit": size}, bulk=bulk))
            fresh = [one for one in page if not found or one.get("id") != found[-1].get("id")]
            found += fresh
            if len(page) < size or not fresh:
                break
            first = str(fresh[-1].get("id"))
        return found[:limit]

    def look_up(self, space: str, *, key: str = "", text: str = "") -> Mapping[str, _Values | None]:
        """The memories of a namespace with this key or text, by how they were found."""
        scope, owner, user = space.split("\x1f")
        of_session = scope == "session"
        given = {
            "scope": scope, "project": "" if of_session else owner, "session": owner if of_session else "",
            "user": user, "key": key, "text": text,
        }  # fmt: skip
        body = {name: value for name, value in given.items() if value}
        data = self._fields(self._read("lookup", body)).inner("data")
        return {name: data.mapping(name) for name in ("by_key", "last_by_key", "same_text")}

    def facets(self, wanted: Filter) -> Mapping[str, Mapping[str, int]]:
        """How many of the memories that pass the filter have each value, by field."""
        data = self._fields(self._read("facets", {"filter": _filter(wanted)})).inner("data")
        counted = {name: data.mapping(name) or {} for name in ("kinds", "agents", "tags", "statuses", "trusts")}
        return {
            name: {value: count for value, count in counts.items() if isinstance(count, int)}
            for name, counts in counted.items()
        }

    def outlines(self, wanted: Filter) -> list[Mapping[str, Any]]:  # JSON, which the caller checks
        """All memories that pass the filter, without their texts."""
        return _objects(self._read("outlines", {"filter": _filter(wanted)}, bulk=True))

    def history(self, memory: str) -> list[Mapping[str, Any]]:  # as above
        """The former revisions of a memory, latest first; none of an unknown one."""
        try:
            return _objects(self._http.request("GET", f"{_path(memory)}/history"))
        except StoreError as error:
            if getattr(error, "status", 0) == _NOT_FOUND:
                return []
            raise

    def used(self, ids: Sequence[str]) -> None:
        """Note that these memories were shown."""
        for start in range(0, len(ids), _PAGE):
            self._http.request("POST", f"{_PATH}:used", body={"ids": list(ids[start : start + _PAGE])})

    # -- writing

    def send(self, item: Item, memory: str) -> None:
        """Carry out a queued change of the memory that the server knows as `memory`."""
        path, values = _path(memory), item.memory_json and {**item.memory_json, "id": memory}
        match item.action:
            case "create":
                with self._about(item.memory_json):
                    self._http.request("POST", _PATH, body={"memory": values}, idempotency_key=item.id)
            case "replace":
                self._http.request(
                    "PUT", path, body={"memory": values}, idempotency_key=item.id, base_revision=item.base_revision
                )
            case "remove":
                purge = {"purge": "true"} if item.base_revision is not None else None
                self._http.request("DELETE", path, query=purge)

    def send_all(self, items: Sequence[Item]) -> None:
        """Carry out changes in one transaction."""
        changes: list[dict[str, object]] = []
        for item in items:
            change: dict[str, object] = {"id": item.memory}
            if item.memory_json is not None:
                change["memory"] = {**item.memory_json, "id": item.memory}
            if item.base_revision is not None:
                change["revision"] = item.base_revision
            changes.append(change)
        body = {"items": changes, "atomic": True}
        is_new = all(item.action == "create" for item in items)
        with self._about(items[0].memory_json if is_new else None):
            self._http.request("POST", f"{_PATH}:batch", body=body, idempotency_key=items[0].id)

    # -- parts

    def _read(self, name: str, body: Mapping[str, object], *, bulk: bool = False) -> object:
        with self._about(body.get("filter", body)):
            return self._http.request("POST", f"{_PATH}:{name}", body=body, bulk=bulk, repeatable=True)

    @contextlib.contextmanager
    def _about(self, where: object) -> Iterator[None]:
        """Name the project of `where`, a memory or a filter, in the refusal of a server that shows nothing of it.

        Such a server says only that nothing is there, so that nobody learns which projects it has.
        """
        from keepmum.stores.rest.http_client import RequestRefused

        try:
            yield
        except RequestRefused as error:
            project = where.get("project") if isinstance(where, Mapping) else None
            if error.status != _NOT_FOUND or not project:
                raise
            ask = "an administrator gives it one with `keepmum people role`, or ask for another key"
            reason = f"{self._http.origin}: your key has no role in the project {project}; {ask}"
            raise RequestRefused(reason, _NOT_FOUND) from None

    def _fields(self, response: object) -> Fields:
        return Fields(response, "the response", self._http.origin)

    def _items(self, response: object) -> list[Fields]:
        return [Fields(item, "an item", self._http.origin) for item in _objects(response)]


def _objects(response: object) -> list[Mapping[str, Any]]:  # JSON, which the caller checks
    """The objects in the list `data` of a response.

    Raises: StoreError when there is no such list.
    """
    data = response.get("data") if isinstance(response, Mapping) else None
    if not isinstance(data, list):
        raise StoreError("the server answered without the list `data`; is it a memory server?")
    return [item for item in data if isinstance(item, Mapping)]


def _path(memory: str) -> str:
    return f"{_PATH}/{quote(memory, safe='')}"


def _filter(wanted: Filter) -> dict[str, object]:
    """A filter as JSON, without what has its default. What is trusted is for this machine to decide."""
    given: dict[str, object] = {"everywhere": wanted.everywhere, "statuses": list(wanted.statuses), "at": wanted.now}
    for name in ("project", "session", "user", "agent", "since", "until", "keys", "tier"):
        if (value := getattr(wanted, name)) is not None:
            given[name] = value
    for name in ("scopes", "kinds", "tags"):
        if values := getattr(wanted, name):
            given[name] = list(values)
    if wanted.all_tags:
        given["all_tags"] = True
    return given
