"""The review queue of a project, and what a curator undoes in bulk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from keepmum.core.errors import ConfirmationNeeded, InvalidInput
from keepmum.core.memory import Filter, JsonValue, Memory, Position
from keepmum.core.review import DECISIONS, GROUPS, Decision, Group
from keepmum.server.call import Answer, Call
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import forms
from keepmum.service import Choice, MemoryService, ReviewItem, Step
from keepmum.service.team import AuditFilter, AuditRow, TeamRecords

__all__ = ["ROUTES"]

_PROJECT: Schema = {"type": "string", "maxLength": 200}
_TIME: Schema = {"type": "integer", "minimum": 0, "maximum": 253_402_300_799_999}
_CHOICE: Schema = {
    "type": "object",
    "properties": {
        "project": _PROJECT,
        "decision": {"type": "string", "enum": list(DECISIONS)},
        "memory": forms.ID,
        "reason": {"type": "string"},
        "text": {"type": "string"},
        "until": _TIME,
    },
    "required": ["project", "decision"],
    "additionalProperties": False,
}
_SESSION: Schema = {
    "type": "object",
    "properties": {
        "project": _PROJECT,
        "session": {"type": "string", "minLength": 1, "maxLength": 200},
        "confirm": {"type": "string", "maxLength": 100},
    },
    "required": ["project", "session"],
    "additionalProperties": False,
}
_AGENT: Schema = {
    "type": "object",
    "properties": {
        "project": _PROJECT,
        "agent": {"type": "string", "minLength": 1, "maxLength": 200},
        "actor": {"type": "string", "minLength": 1, "maxLength": 200},
        "since": _TIME,
        "confirm": {"type": "string", "maxLength": 100},
    },
    "required": ["project", "since"],
    "additionalProperties": False,
}
_PAGE = 100
_NO_ROW = 2**62  # more than the number of any row of the audit log
_MADE = frozenset({"created", "imported"})


def list_review(call: Call) -> Answer:
    """What a curator should look at in a project; what matters most comes first."""
    project = str(call.query["project"])
    groups = [group for group in str(call.query.get("groups", "")).split(",") if group]
    if not set(groups) <= set(GROUPS):
        raise InvalidInput("groups", f"must be of {', '.join(GROUPS)}")
    with call.service(project, "curator") as service:
        page = service.review(
            groups=cast("Sequence[Group]", groups),
            limit=cast(int, call.query.get("limit", 50)),
            cursor=str(call.query.get("cursor", "")),
        )
    return Answer(
        200,
        {
            "data": [_item_json(item) for item in page.items],
            "next": page.cursor or None,
            "counts": dict(page.counts.items()),
            "unchecked": page.unchecked,
        },
    )


def decide(call: Call) -> Answer:
    """Decide about an item of the review queue."""
    body = call.body
    choice = Choice(
        cast(Decision, body["decision"]),
        memory=cast("str | None", body.get("memory")),
        reason=str(body.get("reason") or ""),
        text=cast("str | None", body.get("text")),
        until=cast("int | None", body.get("until")),
    )
    with call.service(str(body["project"]), "curator", trust="person") as service:
        decided = service.decide(call.path["item"], choice)
    data: JsonValue = {
        "decision": decided.decision,
        "memories": list(map(forms.memory_json, decided.memories)),
        "undo": decided.undo,
    }
    return Answer(200, {"data": data})


def quarantine_session(call: Call) -> Answer:
    """Move what a session wrote to the trash. Without `confirm` it lists that, and says what to confirm with."""
    project, session = str(call.body["project"]), str(call.body["session"])
    with call.service(project, "curator") as service:
        found = [memory for memory in _of_project(service, project, session) if memory.session == session]
        return _confirmed(call, found, lambda: [[_trashed(service, memory) for memory in found]], service)


def undo_writes(call: Call) -> Answer:
    """Undo what an agent, or an actor, has written since a time: new memories go to the trash, others are reverted.

    Without `confirm` it lists what it would undo, and says what to confirm with.
    """
    body = call.body
    project, since = str(body["project"]), cast(int, body["since"])
    agent, actor = body.get("agent"), body.get("actor")
    if (agent is None) == (actor is None):
        raise InvalidInput("agent", "or `actor` is required, and not both")
    with call.service(project, "curator") as service:
        rows = list(_rows(call.team.records, project, since, cast("str | None", actor)))
        made = {row.subject for row in rows if row.action in _MADE}
        found = [
            memory
            for memory in service.load_complete(sorted({row.subject for row in rows if row.subject is not None}))
            if (memory.project or "") == project
            and (memory.agent == agent if actor is None else memory.updated_by == actor)
            and not (memory.id in made and memory.status == "trashed")
        ]
        return _confirmed(call, found, lambda: _undone(service, found, since, made), service)


# -- parts


def _rows(records: TeamRecords, project: str, since: int, actor: str | None) -> Iterator[AuditRow]:
    """What the audit log has of a project since a time: that of the server, since clients choose those in memories."""
    records.seal()
    wanted, before = AuditFilter(actor=actor), _NO_ROW
    while page := records.audit(0, _PAGE, projects=[project], wanted=wanted, before=before):
        recent = [row for row in page if row.at >= since]
        yield from recent
        before = page[-1].number if recent else 0


def _undone(service: MemoryService, found: Sequence[Memory], since: int, made: set[str | None]) -> list[list[Step]]:
    """The steps that bring memories back to their state at a time, in the order of two transactions.

    What was `made` since goes to the trash. What has another key now goes there first, so that every key is free.
    """
    first: list[Step] = []
    second: list[Step] = []
    for memory in found:
        later = [past for past in service.revisions(memory.id) if past.at >= since]
        if memory.id in made or not later:
            first.append(_trashed(service, memory))
            continue
        before = later[-1].before
        moves = memory.status != "trashed" and before.get("key") != memory.key
        if moves:
            first.append(_trashed(service, memory))
        revision = memory.revision + moves
        values = {**before, "id": memory.id, "updated_at": service.now(), "revision": revision + 1}
        (second if moves else first).append(Step(memory.id, values, revision, curated=True))
    return [first, second]


def _trashed(service: MemoryService, memory: Memory) -> Step:
    now = service.now()
    moved = replace(memory, status="trashed", trashed_at=now, updated_at=now, revision=memory.revision + 1)
    return Step(memory.id, forms.memory_json(moved), memory.revision, curated=True)


def _of_project(service: MemoryService, project: str, session: str | None) -> Iterator[Memory]:
    """All active memories of a project that belong to no user, with those of one session."""
    wanted = Filter(now=service.now(), project=project or None, session=session)
    while page := service.select(wanted, limit=_PAGE):
        yield from (memory for memory in page if (memory.project or "") == project)
        wanted = replace(wanted, after=Position.of(page[-1], "updated"))


def _confirmed(
    call: Call, found: Sequence[Memory], steps: Callable[[], Sequence[Sequence[Step]]], service: MemoryService
) -> Answer:
    """Apply the steps when the list of memories is confirmed; otherwise list it.

    Raises: ConfirmationNeeded when the list has changed since it was shown.
    """
    state = "".join(sorted(f"{memory.id}{memory.revision} " for memory in found))
    token = hashlib.blake2b(state.encode(), digest_size=8).hexdigest()
    confirmed = call.body.get("confirm")
    listed: list[JsonValue] = [{"id": memory.id, "title": memory.title} for memory in found]
    if confirmed is None or not found:
        return Answer(200, {"data": {"memories": listed, "done": False, "confirm": token if found else ""}})
    if confirmed != token:
        raise ConfirmationNeeded("confirm: the list of memories has changed; nothing was changed. List it again")
    for together in steps():
        service.apply(together)
    return Answer(200, {"data": {"memories": listed, "done": True, "confirm": ""}})


def _item_json(item: ReviewItem) -> JsonValue:
    return {
        "id": item.id,
        "group": item.group,
        "memories": list(map(forms.memory_json, item.memories)),
        "reason": item.reason,
        "actions": list(item.actions),
    }


ROUTES = (
    Route("GET", "/api/v2/review", list_review, "curator", "The review queue", "review", {200: forms.LIST},
          query={"project": _PROJECT, "groups": {"type": "string", "maxLength": 200},
                 "limit": {"type": "integer", "minimum": 1, "maximum": 100},
                 "cursor": {"type": "string", "maxLength": 1_000}}, required=("project",)),
    Route("POST", "/api/v2/review/{item}", decide, "curator", "Decide about an item", "review",
          {200: forms.ONE}, path_parameters={"item": forms.ID}, body=_CHOICE),
    Route("POST", "/api/v2/sessions:quarantine", quarantine_session, "curator", "Remove what a session wrote",
          "review", {200: forms.ONE}, body=_SESSION),
    Route("POST", "/api/v2/writes:undo", undo_writes, "curator", "Undo an agent's writes", "review",
          {200: forms.ONE}, body=_AGENT),
)  # fmt: skip
