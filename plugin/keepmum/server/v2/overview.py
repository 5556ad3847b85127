"""What the server can do, what happened, and what a session should know."""

from __future__ import annotations

from typing import cast

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS, TRUSTED, Action, JsonValue, LogFilter
from keepmum.core.version import VERSION
from keepmum.mcp.dialects.per_user.profile import profile
from keepmum.server.call import Answer, Call
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import cursors, forms
from keepmum.service import Place
from keepmum.service.handoffs import Handoff, Handoffs

__all__ = ["PROMISES", "ROUTES"]

# The guarantees that some servers lack (`keepmum.stores.rest.limitations`); this one gives all of them.
PROMISES = (
    "archive", "conflicts", "fading", "fields", "history", "ids", "kinds", "order", "reinforcing", "scopes", "search",
    "users",
)  # fmt: skip
_NAME: Schema = {"type": "string", "maxLength": 200}
_TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 20_000}
_TIME: Schema = {"type": "integer", "minimum": 0, "maximum": 253_402_300_799_999}
_MOST_TOKENS = 10_000
_DEFAULT_TOKENS = 1_000
_HANDOFF: Schema = {
    "type": "object",
    "properties": {
        "project": _NAME,
        "agent": _NAME,
        "summary": _TEXT,
        "next_steps": _TEXT,
        "stuck_reason": _TEXT,
        "to_agent": _NAME,
        "context_keys": forms.texts(),
    },
    "required": ["project", "summary", "next_steps"],
    "additionalProperties": False,
}
_TAKEN: Schema = {
    "type": "object",
    "properties": {"project": _NAME, "agent": _NAME, "result": _TEXT},
    "required": ["project"],
    "additionalProperties": False,
}


def describe_server(call: Call) -> Answer:
    """What this server can do, and what the key may do."""
    model = call.team.model
    meaning: JsonValue = None if model is None else {"model": model[0], "dimensions": model[1]}
    data: dict[str, JsonValue] = {
        "server": "keepmum",
        "version": VERSION,
        "api": 2,
        "promises": list(PROMISES),
        "meaning": meaning,
        "limits": {
            "page": forms.LARGEST_PAGE, "batch": 100, "text": LIMITS.text, "data": LIMITS.data, "title": LIMITS.title,
            "tags": LIMITS.tags,
        },
        "name": call.principal.name,
        "roles": dict(call.principal.roles),
    }  # fmt: skip
    return Answer(200, {"data": data})


def list_activity(call: Call) -> Answer:
    """What happened, latest first: in a project, or in all that the key may read. It has no text of a memory."""
    query = call.query
    actions = tuple(action for action in str(query.get("actions", "")).split(",") if action)
    bound: dict[str, JsonValue] = {
        "list": "activity", "principal": call.principal.id or call.principal.key, "actions": list(actions),
        **{name: query.get(name) for name in ("project", "agent", "memory", "since")},
    }  # fmt: skip
    wanted = LogFilter(
        agent=cast("str | None", query.get("agent")),
        actions=cast("tuple[Action, ...]", actions),
        memory=cast("str | None", query.get("memory")),
        since=cast("int | None", query.get("since")),
    )
    after = str(cursors.read(call.secret, bound, str(query["cursor"]))[0]) if query.get("cursor") else ""
    limit = cast(int, query.get("limit", 50))
    project = cast("str | None", query.get("project"))
    with call.service(project, "reader") as service:
        found = service.activity(limit, everywhere=project is None, wanted=wanted, after=after)
    following = cursors.write(call.secret, bound, [found[-1].cursor]) if len(found) == limit else None
    data: list[JsonValue] = [
        {
            "at": event.at, "actor": event.agent, "action": event.action, "memory": event.memory, "key": event.key,
            "project": event.project, "detail": event.detail,
        }
        for event in found
    ]  # fmt: skip
    return Answer(200, {"data": data, "next": following})


def count_activity(call: Call) -> Answer:
    """How often each actor did what on each day since a time."""
    project = cast("str | None", call.query.get("project"))
    with call.service(project, "reader") as service:
        found = service.activity_days(cast(int, call.query.get("since", 0)), everywhere=project is None)
    return Answer(200, {"data": [each._asdict() for each in found]})


def resume_project(call: Call) -> Answer:
    """What is needed to go on with a project, as text."""
    with call.service(str(call.query["project"]), "reader") as service:
        return Answer(200, {"data": {"text": service.resume(cast(int, call.query.get("tokens", _DEFAULT_TOKENS)))}})


def describe_user(call: Call) -> Answer:
    """A profile of a user, made of what is stored of them."""
    project, user = str(call.query.get("project", "")), str(call.query["user"])
    place = Place(project=project or None, name=project, user=user)
    with call.service(project, "reader", place=place) as service:
        memories = list(service.every(trusts=TRUSTED, statuses=("active",)))
        return Answer(200, {"data": {"user": user, "memories": len(memories), "profile": profile(memories)}})


def list_handoffs(call: Call) -> Answer:
    """The handoffs of a project, newest first."""
    with call.service(str(call.query["project"]), "reader") as service:
        found = Handoffs(service, "project").all()
        pending = call.query.get("pending") is True
        return Answer(200, {"data": [_handoff_json(one) for one in found if not pending or one.status == "pending"]})


def create_handoff(call: Call) -> Answer:
    """Hand work over to another agent."""
    body = call.body
    more = {name: body[name] for name in ("stuck_reason", "to_agent") if name in body}
    project = forms.one_project(str(body["project"]))
    with call.service(project, "writer", agent=str(body.get("agent") or "")) as service:
        made = Handoffs(service, "project").create(
            str(body["summary"]), str(body["next_steps"]), **more,
            context_keys=tuple(map(str, cast("list[JsonValue]", body.get("context_keys") or []))),
        )  # fmt: skip
    return Answer(201, {"data": _handoff_json(made)})


def pick_up_handoff(call: Call) -> Answer:
    """Take over a handoff; of two who try at once one succeeds."""
    body = call.body
    with call.service(str(body["project"]), "writer", agent=str(body.get("agent") or "")) as service:
        return Answer(200, {"data": _handoff_json(Handoffs(service, "project").pick_up(_number(call)))})


def complete_handoff(call: Call) -> Answer:
    """Complete a handoff that the same agent has picked up."""
    body = call.body
    with call.service(str(body["project"]), "writer", agent=str(body.get("agent") or "")) as service:
        done = Handoffs(service, "project").complete(_number(call), cast("str | None", body.get("result")))
        return Answer(200, {"data": _handoff_json(done)})


def _number(call: Call) -> int:
    digits = call.path["number"]
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 10):
        raise InvalidInput("number", "must be the number of a handoff")
    return int(digits)


def _handoff_json(handoff: Handoff) -> JsonValue:
    return {
        "number": handoff.number, "summary": handoff.summary, "next_steps": handoff.next_steps,
        "from_agent": handoff.from_agent, "to_agent": handoff.to_agent, "status": handoff.status,
        "stuck_reason": handoff.stuck_reason, "context_keys": list(handoff.context_keys),
        "picked_up_by": handoff.picked_up_by, "result": handoff.result, "created_at": handoff.created_at,
    }  # fmt: skip


_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": forms.LARGEST_PAGE}
_TOKENS: Schema = {"type": "integer", "minimum": 50, "maximum": _MOST_TOKENS}
_OF_ONE = {"number": _NAME}

ROUTES = (
    Route("GET", "/api/v2", describe_server, "reader", "What this server can do", "server", {200: forms.ONE}),
    Route("GET", "/api/v2/activity", list_activity, "reader", "What happened", "activity", {200: forms.LIST},
          query={"project": _NAME, "agent": _NAME, "actions": {"type": "string", "maxLength": 500}, "memory": forms.ID,
                 "since": _TIME, "limit": _LIMIT, "cursor": {"type": "string", "maxLength": 1_000}}),
    Route("GET", "/api/v2/activity/days", count_activity, "reader", "Activity by day", "activity", {200: forms.LIST},
          query={"project": _NAME, "since": _TIME}),
    Route("GET", "/api/v2/resume", resume_project, "reader", "What a session should know", "activity",
          {200: forms.ONE}, query={"project": _NAME, "tokens": _TOKENS}, required=("project",)),
    Route("GET", "/api/v2/profile", describe_user, "reader", "The profile of a user", "activity", {200: forms.ONE},
          query={"project": _NAME, "user": {**_NAME, "minLength": 1}}, required=("user",)),
    Route("GET", "/api/v2/handoffs", list_handoffs, "reader", "Handoffs", "handoffs", {200: forms.LIST},
          query={"project": _NAME, "pending": {"type": "boolean"}}, required=("project",)),
    Route("POST", "/api/v2/handoffs", create_handoff, "writer", "Hand work over", "handoffs",
          {201: forms.ONE}, body=_HANDOFF),
    Route("POST", "/api/v2/handoffs/{number}/pickup", pick_up_handoff, "writer", "Take a handoff over", "handoffs",
          {200: forms.ONE}, path_parameters=_OF_ONE, body=_TAKEN),
    Route("POST", "/api/v2/handoffs/{number}/complete", complete_handoff, "writer", "Complete a handoff", "handoffs",
          {200: forms.ONE}, path_parameters=_OF_ONE, body=_TAKEN),
)  # fmt: skip
