"""Version 1 of the API: that of Shared Agent Memory, so that its clients work unchanged.

Fields are in the order in which that server writes them. Where it fails (ids that are no UUIDs, lists that are not the
latest, scores of several searches in one list, secrets in tags), this one does what its documentation says.

Source: https://github.com/rbrcurtis/shared-agent-memory (src/api), read 2026-11-22.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import cast

from keepmum.core import ids, validation
from keepmum.core.errors import SecretFound
from keepmum.core.memory import JsonValue, LogFilter, Memory
from keepmum.server.call import Answer, Call, Forbidden, HttpError
from keepmum.server.routes import Route, Schema
from keepmum.service import MemoryService, Wanted
from keepmum.service.exchange import SEVERAL
from keepmum.service.team import AuditFilter, AuditRow, TeamRecords

__all__ = ["ROUTES"]

_MEMORIES = "/api/v1/memories"
_EVERY = "*"  # every project of the key
_DAY_MS = 86_400_000
_DENIED = "Access denied for project"
_AUDITED: dict[str, str] = {
    "created": "create", "imported": "create", "updated": "update", "conflict": "update", "restored": "update",
    "trashed": "delete", "purged": "delete",
}  # fmt: skip
_PAGE = 1_000  # events
_AUDIT_IDS = uuid.UUID("6f4c9a52-1a0b-4a53-9d6c-3f1b6f0f7c1e")  # the namespace of the ids of audit events


def store(call: Call) -> Answer:
    """Store a memory."""
    body, project = call.body, str(call.body["project"])
    if project == _EVERY:
        raise HttpError(400, "project must be a specific name, not *")
    with _secrets_named(), call.service(project, "writer", agent=str(body.get("agent") or "unknown")) as service:
        tags = tuple(map(str, cast("Sequence[JsonValue]", body.get("tags") or ())))
        kept = service.remember(str(body["text"]), title=str(body["title"]), tags=tags)
    return Answer(201, {"data": {"id": ids.to_uuid(kept.memory.id)}})


def search(call: Call) -> Answer:
    """Search by meaning and words, in one project or in all of the key."""
    wanted = _in_projects(call)
    if call.query.get("agent"):
        wanted["agent"] = str(call.query["agent"])
    wanted["tags"], wanted["all_tags"] = _listed(call.query.get("tags")), True
    with call.service(wanted.get("project"), "reader") as service:
        found = service.recall(str(call.query["query"]), limit=_number(call, "limit", 10), weak=True, **wanted)
    return _data([{**_listing(match.memory), "score": match.score} for match in found])


def load(call: Call) -> Answer:
    """Load memories in full, which reinforces them; the values are those before that."""
    wanted = _listed(call.query["ids"])
    if not all(map(_is_uuid, wanted)):
        raise HttpError(400, 'querystring/ids must match format "uuid"')
    with call.service(None, "reader") as service:
        found = service.load_known([ids.from_uuid(each) for each in dict.fromkeys(wanted)])
    return _data([_detail(memory) for memory in found])


def recent(call: Call) -> Answer:
    """The memories of the last days, latest first."""
    wanted = _in_projects(call)
    with call.service(wanted.get("project"), "reader") as service:
        since = max(0, service.now() - _number(call, "days", 30) * _DAY_MS)
        wanted["since"] = since
        found = service.recall(limit=_number(call, "limit", 10), order="created", **wanted)
    latest = [match.memory for match in found if match.memory.created_at >= since]  # `since` includes updates
    return _data([{**_listing(memory), **_times(memory)} for memory in latest])


def update(call: Call) -> Answer:
    """Give a memory a new text, and a new title if there is one."""
    text, title = str(call.body["text"]), call.body.get("title")
    with _secrets_named(), _one(call) as (service, memory):
        if memory.status != "active":
            service.restore(memory.id)
        given: validation.Fields = {} if title is None else {"title": str(title)}
        kept = service.revise(memory.id, text, **given)
    if kept.kept is not None:
        raise HttpError(409, "a person confirmed this memory, so it stays; your text was stored for review")
    return _data({"success": True})


def delete(call: Call) -> Answer:
    """Delete a memory; a curator can restore it for 30 days."""
    with _one(call) as (service, memory):
        service.forget([memory.id])
    return _data({"success": True})


def audit(call: Call) -> Answer:
    """Who created, updated and deleted a memory, and when; also after its deletion. It is read from the audit log.

    That has no titles; an event has one as long as the activity log, which is pruned, has it.
    """
    memory = ids.from_uuid(call.path["id"])
    events = [row for row in _audit_rows(call.team.records, memory) if row.action in _AUDITED]
    allowed = [row for row in events if call.principal.may("reader", row.project)]
    with call.service(None, "reader") as service:
        if events and not allowed:
            raise Forbidden(_DENIED)
        if not events and not service.load_known([memory], quiet=True):
            raise _missing(call, memory)
        logged = service.activity(_PAGE, everywhere=True, wanted=LogFilter(memory=memory))
    titles: dict[tuple[int, str], str] = {(event.at, event.action): event.detail for event in logged}
    return _data([_event(row, titles.get((row.at, row.action), "")) for row in allowed])


def config(call: Call) -> Answer:
    """The name of the collection, and whether the model is loaded."""
    return _data({"collectionName": "keepmum", "modelReady": call.team.model_ready})


@contextmanager
def _one(call: Call) -> Iterator[tuple[MemoryService, Memory]]:
    """The memory that the path names, and a service that may change it.

    Raises: Forbidden; HttpError when it does not exist.
    """
    memory = ids.from_uuid(call.path["id"])
    with call.service(None, "reader") as service:
        found = service.load_known([memory], quiet=True)
    if not found:
        raise _missing(call, memory)
    if len(found) > 1:
        raise HttpError(400, f"params/id {SEVERAL}")
    with call.service(found[0].project or "", "writer", agent=found[0].agent) as service:
        yield service, found[0]


def _audit_rows(records: TeamRecords, memory: str) -> Iterator[AuditRow]:
    """All rows of the audit log about a memory, in order."""
    records.seal()
    after = 0
    while page := records.audit(after, _PAGE, wanted=AuditFilter(memory)):
        yield from page
        after = page[-1].number


def _missing(call: Call, memory: str) -> Exception:
    """What version 1 answers about a memory that the key may not see: whether it exists is not a secret there."""
    projects = call.team.projects_of(memory)
    is_foreign = any(not call.principal.may("reader", project) for project in projects)
    return Forbidden(_DENIED) if is_foreign else HttpError(404, "Memory not found")


def _in_projects(call: Call) -> Wanted:
    """The projects of a search or list: the one that is named, or all of the key."""
    project = str(call.query.get("project") or _EVERY)
    return {"scope": "all"} if project == _EVERY else {"project": project}


@contextmanager
def _secrets_named() -> Iterator[None]:
    """Answer a refused secret as version 1 does."""
    try:
        yield
    except SecretFound as refusal:
        field, rule, _ = refusal.places[0]
        raise HttpError(400, f"Secret detected in {field}: {rule}") from None


def _number(call: Call, name: str, default: int) -> int:
    return cast("int", call.query.get(name, default))


def _listed(text: JsonValue) -> list[str]:
    return [part for each in str(text or "").split(",") if (part := each.strip())]


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4 and ids.complete_id(text) is not None


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _listing(memory: Memory) -> dict[str, JsonValue]:
    return {"id": ids.to_uuid(memory.id), "title": memory.title, "project": memory.project or ""}


def _times(memory: Memory) -> dict[str, JsonValue]:
    created, updated = _iso(memory.created_at), _iso(memory.updated_at)
    return {
        "created_at": created, "updated_at": updated, "createdAt": created, "updatedAt": updated,
        "createdBy": memory.created_by, "updatedBy": memory.updated_by,
    }  # fmt: skip


def _detail(memory: Memory) -> dict[str, JsonValue]:
    return {
        "id": ids.to_uuid(memory.id), "title": memory.title, "text": memory.text, "agent": memory.agent,
        "project": memory.project or "", "tags": list(memory.tags), **_times(memory),
        # An update counts as an access there.
        "last_accessed": _iso(max(memory.accessed_at or 0, memory.updated_at)), "access_count": memory.access_count,
    }  # fmt: skip


def _event(row: AuditRow, title: str) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {
        "id": str(uuid.uuid5(_AUDIT_IDS, f"{row.subject}/{row.number}")),
        "memoryId": ids.to_uuid(row.subject or ""),
        "action": _AUDITED[row.action],
        "actor": row.actor,
        "project": row.project or "",
        "timestamp": _iso(row.at),
    }
    return {**shown, "title": title} if title else shown


def _data(value: JsonValue) -> Answer:
    return Answer(200, {"data": value})


_TEXT: Schema = {"type": "string"}
_FILLED: Schema = {"type": "string", "minLength": 1}
_UUID: Schema = {"type": "string", "format": "uuid"}
_TIME: Schema = {"type": "string", "format": "date-time"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_DAYS: Schema = {"type": "integer", "minimum": 0, "maximum": 100_000}
_STAMPS: dict[str, Schema] = {
    "created_at": _TIME, "updated_at": _TIME, "createdAt": _TIME, "updatedAt": _TIME, "createdBy": _TEXT,
    "updatedBy": _TEXT,
}  # fmt: skip


def _fields(properties: dict[str, Schema], *optional: str) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


def _list_of(properties: dict[str, Schema], *optional: str) -> Schema:
    return _fields({"data": {"type": "array", "items": _fields(properties, *optional)}})


_SUCCESS = _fields({"data": _fields({"success": {"type": "boolean"}})})
_SEARCHED = _list_of({"id": _UUID, "title": _TEXT, "project": _TEXT, "score": {"type": "number"}})
_RECENT = _list_of({"id": _UUID, "title": _TEXT, "project": _TEXT, **_STAMPS})
_LOADED = _list_of(
    {
        "id": _UUID, "title": _TEXT, "text": _TEXT, "agent": _TEXT, "project": _TEXT, "tags": _TEXTS, **_STAMPS,
        "last_accessed": _TIME, "access_count": {"type": "integer"},
    }
)  # fmt: skip
_EVENTS = _list_of(
    {
        "id": _UUID, "memoryId": _UUID, "action": {"type": "string", "enum": ["create", "update", "delete"]},
        "actor": _TEXT, "project": _TEXT, "timestamp": _TIME, "title": _TEXT,
    },
    "title",
)  # fmt: skip
_CONFIG = _fields({"data": _fields({"collectionName": _TEXT, "modelReady": {"type": "boolean"}})})
_STORE = _fields({"text": _FILLED, "title": _FILLED, "project": _TEXT, "agent": _TEXT, "tags": _TEXTS}, "agent", "tags")
_UPDATE = _fields({"text": _FILLED, "title": _TEXT}, "title")
_ONE = {"id": _UUID}
_TAG = "memories (version 1)"

ROUTES = (
    Route(
        "POST", _MEMORIES, store, "writer", "Store a new memory", _TAG,
        {201: _fields({"data": _fields({"id": _UUID})})}, errors=(403,), body=_STORE, version=1,
    ),
    Route(
        "GET", f"{_MEMORIES}/search", search, "reader", "Search memories", _TAG, {200: _SEARCHED}, errors=(403,),
        query={"query": _TEXT, "limit": _LIMIT, "agent": _TEXT, "project": _TEXT, "tags": _TEXT},
        required=("query",), version=1,
    ),
    Route(
        "GET", f"{_MEMORIES}/load", load, "reader", "Load memories by id and reinforce them", _TAG, {200: _LOADED},
        query={"ids": _TEXT, "project": _TEXT}, required=("ids",), version=1,
    ),
    Route(
        "GET", f"{_MEMORIES}/recent", recent, "reader", "List the latest memories", _TAG, {200: _RECENT},
        errors=(403,), query={"limit": _LIMIT, "days": _DAYS, "project": _TEXT}, version=1,
    ),
    Route(
        "GET", f"{_MEMORIES}/{{id}}/audit", audit, "reader", "List the audit events of a memory", _TAG,
        {200: _EVENTS}, errors=(403, 404), path_parameters=_ONE, version=1,
    ),
    Route(
        "PUT", f"{_MEMORIES}/{{id}}", update, "writer", "Update a memory", _TAG, {200: _SUCCESS},
        errors=(403, 404, 409), path_parameters=_ONE, body=_UPDATE, version=1,
    ),
    Route(
        "DELETE", f"{_MEMORIES}/{{id}}", delete, "writer", "Delete a memory", _TAG, {200: _SUCCESS},
        errors=(403, 404), path_parameters=_ONE, version=1,
    ),
    Route(
        "GET", "/api/v1/config", config, "reader", "Name of the collection, and whether the model is loaded",
        "config", {200: _CONFIG}, version=1,
    ),
)  # fmt: skip
