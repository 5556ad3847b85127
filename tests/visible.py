"""Everything that a team's server shows, by every route that reads, as one value that can be compared."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from asgi_client import AsgiClient
from keepmum.core import ids
from keepmum.server.app import ROUTES, build
from keepmum.server.people.keys import KeyRing
from keepmum.server.settings import ServerSettings
from keepmum.service import lookup
from keepmum.service.team import ORGANISATION, Grant, Team

__all__ = ["NOT_COMPARED", "visible"]

_SETTINGS = ServerSettings(home="", reads_per_minute=0, writes_per_minute=0)
_WORDS = ("deploy", "pool")
_SHOWN = 12  # memories that are read one by one
_NEVER_SAME = frozenset({"score", "similarity", "cursor", "next", "total_ms"})  # differ between engines or processes
NOT_COMPARED = {
    "/metrics": "figures of the process",
    "/health": "state of the process",
    "/health/live": "state of the process",
    "/health/ready": "state of the process",
    "/openapi.json": "the program",
    "/docs": "the program",
    "/docs/json": "the program",
    "/docs/{name}": "the program",
    "/api/v1/config": "the program",
    "/api/v2": "what the engine can do",
    "/api/v2/events": "the audit log again, without end",
}


def visible(team: Team, secret: bytes, key: str, projects: Sequence[str]) -> dict[str, Any]:
    """The answers of all routes with GET, and of lists that are asked for with POST, by their requests."""
    client = AsgiClient(build(team, KeyRing(team.records, secret), _SETTINGS))
    memories = [memory.id for page in lookup.pages(team.shared.acting(Grant(ORGANISATION))) for memory in page]
    headers = {"authorization": f"Bearer {key}"}
    shown = {}
    with client:
        for path, query in _requests(memories, projects):
            shown[f"{path} {json.dumps(query, sort_keys=True)}"] = list(_pages(client, path, query, headers))
    return shown


def _pages(client: AsgiClient, path: str, query: dict[str, str], headers: dict[str, str]) -> Iterator[Any]:
    """The answer, and those of the pages after it."""
    cursor: dict[str, str] = {}
    while True:
        answer = client.ask("GET", path, {**query, **cursor}, headers)
        body = _parsed(answer.raw)
        yield answer.status, _comparable(body)
        following = body.get("next") or body.get("cursor") if isinstance(body, dict) else None
        if not following:
            return
        cursor = {"cursor": str(following)}


def _requests(memories: Sequence[str], projects: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The path and query of each request; what counts as use comes last."""
    readers = [route for route in ROUTES if route.method == "GET" and route.path not in NOT_COMPARED]
    readers.sort(key=lambda route: route.path == "/api/v1/memories/load")
    for route in readers:
        if "{id}" in route.path:
            for memory in memories[:: len(memories) // _SHOWN or 1]:
                name = ids.to_uuid(memory)
                yield route.path.replace("{id}", name), {"quiet": "true"} if "quiet" in route.query else {}
            continue
        choices: dict[str, Sequence[str]] = {}
        if "project" in route.query:
            choices["project"] = projects
        if "query" in route.query:
            choices["query"] = _WORDS
        more = {
            "ids": ",".join(map(ids.to_uuid, memories[:20])),
            "days": "365",
            "everywhere": "true",
            "statuses": "active,trashed,superseded,archived",
            "since": "0",
            "groups": "",
            "quiet": "true",
            "limit": "100",
        }
        fixed = {name: value for name, value in more.items() if name in route.query and value}
        for chosen in itertools.product(*choices.values()):
            yield route.path, {**fixed, **dict(zip(choices, chosen, strict=True))}


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode().splitlines()


def _comparable(value: Any) -> Any:
    """A value without what differs between engines or processes."""
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items() if name not in _NEVER_SAME}
    return [_comparable(one) for one in value] if isinstance(value, list) else value
