"""People and keys by the API, for administrators; the owner of a key may see, rotate and withdraw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from keepmum.core.errors import InvalidInput, NotFound
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call, Forbidden
from keepmum.server.people.administration import KEY_DAYS, OVERLAP_DAYS, Administration, NewKey
from keepmum.server.people.roles import EVERY_PROJECT, ROLES, Role
from keepmum.server.routes import Route, Schema
from keepmum.service.team import Key, Person

__all__ = ["ROUTES"]

_TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 255}
_TIME: Schema = {"type": ["integer", "null"]}
_ROLE: Schema = {"type": "string", "enum": list(ROLES)}
_HELD: Schema = {
    "type": "object",
    "properties": {"project": {"type": "string", "maxLength": 255}, "role": _ROLE},
    "required": ["project", "role"],
}
_PERSON: Schema = {
    "type": "object",
    "properties": {
        "id": _TEXT, "name": _TEXT, "kind": {"type": "string", "enum": ["person", "service"]},
        "roles": {"type": "array", "items": _HELD}, "created_at": {"type": "integer"}, "removed_at": _TIME,
    },
    "required": ["id", "name", "kind", "roles", "created_at", "removed_at"],
}  # fmt: skip
_KEY: Schema = {
    "type": "object",
    "properties": {
        "id": _TEXT, "person": _TEXT, "name": {"type": "string"}, "role": {"type": ["string", "null"]},
        "projects": {"type": ["array", "null"], "items": {"type": "string"}}, "agent": {"type": "string"},
        "created_at": {"type": "integer"}, "expires_at": _TIME, "used_at": _TIME, "withdrawn_at": _TIME,
        "key": {"type": "string"},
    },
    "required": ["id", "person", "name", "created_at", "expires_at", "withdrawn_at"],
}  # fmt: skip
_DAYS: Schema = {"type": ["number", "null"], "minimum": 0}
_ID: Mapping[str, Schema] = {"id": {"type": "string"}}


def _data(schema: Schema, *, many: bool = False) -> Schema:
    value = {"type": "array", "items": schema} if many else schema
    return {"type": "object", "properties": {"data": value}, "required": ["data"]}


def list_people(call: Call) -> Answer:
    """Everybody; for who administers single projects, the roles in these. With `removed`, who may be restored."""
    if call.query.get("removed"):
        _require_whole(call)
        return Answer(200, {"data": [_person(person) for person in _administration(call).removed()]})
    people = [_seen_by(call, person) for person in _administration(call).people()]
    if not call.principal.may("admin", EVERY_PROJECT):
        people = [person for person in people if person.roles]
    return Answer(200, {"data": [_person(person) for person in people]})


def add_person(call: Call) -> Answer:
    """Add a person or a service."""
    _require_whole(call)
    listed = cast("Sequence[Mapping[str, str]]", call.body.get("roles") or ())
    roles = {held["project"]: cast("Role", held["role"]) for held in listed}
    added = _administration(call).add(str(call.body["name"]), roles, str(call.body.get("kind", "person")))
    return Answer(201, {"data": _person(added)})


def remove_person(call: Call) -> Answer:
    """Remove a person; the keys are no longer valid, the memories stay."""
    _require_whole(call)
    _administration(call).remove(call.path["id"])
    return Answer(204)


def restore_person(call: Call) -> Answer:
    """Admit a removed person again with the same roles; the keys are withdrawn."""
    _require_whole(call)
    return Answer(200, {"data": _person(_administration(call).restore(call.path["id"]))})


def set_role(call: Call) -> Answer:
    """Give a person a role in a project, or take it away with null; for an administrator of that project."""
    project, role = str(call.body["project"]), cast("Role | None", call.body["role"])
    if not call.principal.may("admin", project):
        raise Forbidden("this key is not an admin of that project")
    changed = _administration(call).set_role(call.path["id"], project, role)
    return Answer(200, {"data": _person(_seen_by(call, changed))})


def list_keys(call: Call) -> Answer:
    """Keys, without the keys themselves: one's own, or all for an administrator of every project."""
    call.save_uses()
    admin, own = _administration(call), call.principal
    keys = [key for key in admin.keys_of() if own.may("admin", EVERY_PROJECT) or key.person == own.id]
    return Answer(200, {"data": [_key(key) for key in keys]})


def make_key(call: Call) -> Answer:
    """Make a key; it is in this answer only."""
    _require_whole(call)
    body = call.body
    projects = body.get("projects")
    made = _administration(call).make_key(
        str(body["person"]),
        str(body.get("name", "key")),
        role=cast("Role | None", body.get("role")),
        projects=None if projects is None else list(map(str, cast("Sequence[JsonValue]", projects))),
        days=_days(body),
        agent=str(body.get("agent", "")),
    )
    return Answer(201, {"data": _new_key(made)})


def withdraw_key(call: Call) -> Answer:
    """Withdraw a key: any as an administrator, else the one that is sent."""
    _require_own(call)
    _administration(call).withdraw_key(call.path["id"])
    return Answer(204)


def rotate_key(call: Call) -> Answer:
    """Make a key like another one, which stays valid for some days; only this answer has the new key."""
    _require_own(call)
    overlap = cast("float", call.body.get("overlap", OVERLAP_DAYS))
    administration, ident = _administration(call), call.path["id"]
    if call.principal.may("admin", EVERY_PROJECT):
        made = administration.rotate_key(ident, days=_days(call.body), overlap=overlap)
    elif "days" in call.body:
        raise InvalidInput(
            "days", "is for administrators; leave it out for a key that is valid as long as this one was"
        )
    else:
        made = administration.renew_key(ident, overlap=overlap)
    return Answer(201, {"data": _new_key(made)})


def _administration(call: Call) -> Administration:
    return Administration(call.team.records, call.secret, call.team.scan, call.principal.name, call.forget_keys)


def _require_whole(call: Call) -> None:
    if not call.principal.may("admin", EVERY_PROJECT):
        raise Forbidden("this key is not an admin of every project")


def _require_own(call: Call) -> None:
    """Check that the key is the one that is sent, or that the caller is an administrator."""
    if call.principal.may("admin", EVERY_PROJECT):
        return
    if call.path["id"] != call.principal.key or not call.team.records.find_key(call.principal.key):
        raise NotFound("there is no key with that id that this key may change")


def _days(body: Mapping[str, JsonValue]) -> float | None:
    return cast("float | None", body.get("days", KEY_DAYS))


def _seen_by(call: Call, person: Person) -> Person:
    """A person with those roles that the sender may know: in the projects that it administers."""
    if call.principal.may("admin", EVERY_PROJECT):
        return person
    own = [name for name, role in call.principal.roles.items() if role == "admin"]
    return person._replace(roles={name: role for name, role in person.roles.items() if name in own})


def _person(person: Person) -> dict[str, JsonValue]:
    return {
        "id": person.id,
        "name": person.name,
        "kind": person.kind,
        "roles": [{"project": project, "role": role} for project, role in sorted(person.roles.items())],
        "created_at": person.created_at,
        "removed_at": person.removed_at,
    }


def _key(key: Key) -> dict[str, JsonValue]:
    return {
        "id": key.id, "person": key.person, "name": key.name, "role": key.role or None,
        "projects": None if key.projects is None else list(key.projects), "agent": key.agent,
        "created_at": key.created_at, "expires_at": key.expires_at, "used_at": key.used_at,
        "withdrawn_at": key.withdrawn_at,
    }  # fmt: skip


def _new_key(made: NewKey) -> dict[str, JsonValue]:
    return {**_key(made.key), "key": made.text}


_NEW_PERSON: Schema = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "kind": {"type": "string", "enum": ["person", "service"]},
        "roles": {"type": "array", "items": _HELD, "maxItems": 1_000},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_NEW_ROLE: Schema = {
    "type": "object",
    "properties": {
        "project": {"type": "string", "maxLength": 255},
        "role": {"type": ["string", "null"], "enum": [*ROLES, None]},
    },
    "required": ["project", "role"],
    "additionalProperties": False,
}
_NEW_KEY: Schema = {
    "type": "object",
    "properties": {
        "person": _TEXT, "name": _TEXT, "role": _ROLE, "days": _DAYS, "agent": {"type": "string", "maxLength": 64},
        "projects": {"type": "array", "items": {"type": "string", "maxLength": 255}, "maxItems": 1_000},
    },
    "required": ["person"],
    "additionalProperties": False,
}  # fmt: skip
_ROTATION: Schema = {
    "type": "object",
    "properties": {"days": _DAYS, "overlap": {"type": "number", "minimum": 0, "maximum": 3650}},
    "additionalProperties": False,
}
_PEOPLE, _KEYS = "/api/v2/people", "/api/v2/keys"

ROUTES = (
    Route("GET", _PEOPLE, list_people, "admin", "List people with their roles", "people",
          {200: _data(_PERSON, many=True)}, query={"removed": {"type": "boolean"}}),
    Route("POST", _PEOPLE, add_person, "admin", "Add a person or a service", "people", {201: _data(_PERSON)},
          body=_NEW_PERSON),
    Route("DELETE", _PEOPLE + "/{id}", remove_person, "admin", "Remove a person", "people", {204: {}},
          path_parameters=_ID),
    Route("POST", _PEOPLE + "/{id}/restore", restore_person, "admin", "Admit a removed person again", "people",
          {200: _data(_PERSON)}, path_parameters=_ID),
    Route("PUT", _PEOPLE + "/{id}/role", set_role, "admin", "Change a role in a project", "people",
          {200: _data(_PERSON)}, path_parameters=_ID, body=_NEW_ROLE),
    Route("GET", _KEYS, list_keys, "reader", "List keys", "people", {200: _data(_KEY, many=True)}),
    Route("POST", _KEYS, make_key, "admin", "Make a key", "people", {201: _data(_KEY)}, body=_NEW_KEY),
    Route("DELETE", _KEYS + "/{id}", withdraw_key, "reader", "Withdraw a key", "people", {204: {}},
          path_parameters=_ID),
    Route("POST", _KEYS + "/{id}/rotate", rotate_key, "reader", "Rotate a key", "people", {201: _data(_KEY)},
          path_parameters=_ID, body=_ROTATION),
)  # fmt: skip
