"""One memory at a time: create, read, replace, change, remove; and what a curator decides about one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from keepmum.core import ids
from keepmum.core.errors import InvalidInput, NotFound
from keepmum.core.memory import JsonValue, Memory
from keepmum.server.call import Answer, Call, Forbidden, HttpError
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import forms
from keepmum.server.v2.access import at_memory, find, named, overtaken, run_once
from keepmum.service import Decided, MemoryService, OtherRevision, Place, Reviewed, Step, Stored
from keepmum.service.exchange import SEVERAL

__all__ = ["ROUTES", "apply_step", "apply_steps", "stored_json"]

_PREFIX = "/api/v2/memories"
_PLACED: Mapping[str, Schema] = {
    "project": {"type": "string", "maxLength": 200},
    "session": {"type": "string", "maxLength": 200},
    "user": {"type": "string", "maxLength": 200},
    "agent": {"type": "string", "maxLength": 200},
}
_NEW: Schema = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        **forms.FIELDS,
        **_PLACED,
        "supersedes": forms.ID,
        "memory": forms.MEMORY,
    },
    "additionalProperties": False,
}
_CHANGE: Schema = {
    "type": "object",
    "properties": {"text": {"type": "string"}, **forms.FIELDS, "agent": _PLACED["agent"]},
    "additionalProperties": False,
}
_REPLACEMENT: Schema = {**_CHANGE, "properties": {**cast(Any, _CHANGE["properties"]), "memory": forms.MEMORY}}
_REASON: Schema = {"type": "object", "properties": {"reason": {"type": "string"}}, "additionalProperties": False}
_PIN: Schema = {"type": "object", "properties": {"pinned": {"type": "boolean"}}, "additionalProperties": False}
_NO_BODY: Schema = {"type": "object", "properties": {}, "additionalProperties": False}


def create_memory(call: Call) -> Answer:
    """Store a memory: what an author says, or under `memory` a complete one with an id of the client's choice."""
    body = call.body
    whole = body.get("memory")
    if isinstance(whole, Mapping):
        _check_alone(body)
        step = Step(_whole_id(whole), whole)
        return run_once(
            call,
            ["create", body],
            lambda: _answer(apply_step(call, step)),
            lambda kept: _repeated(call, kept),
        )
    if not isinstance(body.get("text"), str):
        raise InvalidInput("text", "is required")
    return run_once(call, ["create", body], lambda: _remember(call, body), lambda kept: _repeated(call, kept))


def read_memory(call: Call) -> Answer:
    """A memory with all of its fields. It counts as use unless `quiet` is true."""
    with call.service(None, "reader") as service:
        memory = find(service, named(call))
        tag = forms.etag(memory.revision)
        if call.headers.get("if-none-match", "").removeprefix("W/") == tag:
            return Answer(304, None, {"etag": tag})
        if not call.query.get("quiet") and call.principal.may("writer", memory.project):
            service.report_use([memory.id])
        return Answer(200, {"data": forms.memory_json(memory)}, {"etag": tag})


def replace_memory(call: Call) -> Answer:
    """Replace a memory by a complete one, or give it a new text and the fields that are given."""
    whole = call.body.get("memory")
    if not isinstance(whole, Mapping):
        if not isinstance(call.body.get("text"), str):
            raise InvalidInput("text", "is required")
        return _revise(call, call.body)
    _check_alone(call.body)
    base = forms.revision_in(call)
    with call.service(None, "reader") as service:
        present = find(service, named(call))
    step = Step(present.id, whole, present.revision if base is None else base)
    return run_once(
        call,
        ["replace", present.id, base, call.body],
        lambda: _answer(apply_step(call, step)),
        lambda kept: _repeated(call, kept),
    )


def change_memory(call: Call) -> Answer:
    """Change the fields that are given; the others stay."""
    if not call.body:
        raise InvalidInput("body", "names no field to change")
    return _revise(call, call.body)


def remove_memory(call: Call) -> Answer:
    """Move a memory to the trash, or with `purge` remove it for good."""
    base = forms.revision_in(call)
    if not call.query.get("purge"):
        with at_memory(call, "writer") as (service, memory):
            _check(base, memory)
            service.forget([memory.id])
            return Answer(200, {"data": {"id": _uuid(memory.id)}})
    with call.service(None, "reader") as service:
        present = find(service, named(call))
    apply_step(call, Step(present.id, None, base))
    return Answer(200, {"data": {"id": _uuid(present.id)}})


def read_history(call: Call) -> Answer:
    """The revisions of a memory before each change, latest first."""
    with at_memory(call, "reader") as (service, memory):
        revisions: list[JsonValue] = [
            {
                "memory": past.memory,
                "revision": past.revision,
                "at": past.at,
                "agent": past.agent,
                "action": past.action,
                "before": past.before,
            }
            for past in service.revisions(memory.id)
        ]
        return Answer(200, {"data": revisions})


def restore_memory(call: Call) -> Answer:
    """Bring a removed memory back, or revert the last change of an active one."""
    with at_memory(call, "curator") as (service, memory):
        return _changed(service.undo(memory.id).memory)


def confirm_memory(call: Call) -> Answer:
    """State that a memory is true: it needs no review any more."""
    with at_memory(call, "curator", trust="person") as (service, memory):
        return _decided(service.confirm(memory.id, revision=_base(call, memory)))


def pin_memory(call: Call) -> Answer:
    """Pin a memory, so that it never fades and comes first, or unpin it."""
    with at_memory(call, "curator", trust="person") as (service, memory):
        pinned = call.body.get("pinned", True) is True
        return _decided(service.pin(memory.id, pinned=pinned, revision=_base(call, memory)))


def mark_wrong(call: Call) -> Answer:
    """State that a memory is wrong: it goes to the trash, and who writes the same again learns it."""
    with at_memory(call, "curator", trust="person") as (service, memory):
        reason = str(call.body.get("reason") or "")
        return _decided(service.mark_wrong(memory.id, reason, revision=_base(call, memory)))


# -- parts


def _may_curate(call: Call, project: str | None) -> bool:
    """Whether the key is a curator's in a project."""
    return call.principal.may("curator", project)


def apply_step(call: Call, step: Step) -> Stored:
    """Apply one change of a complete memory.

    Raises: HttpError 412 or 409, Forbidden, NotFound, InvalidInput, SecretFound, StoreError.
    """
    return apply_steps(call, [step])[0]


def apply_steps(call: Call, steps: Sequence[Step]) -> list[Stored]:
    """Apply changes of complete memories in one transaction.

    Raises: HttpError 412 or 409, Forbidden, NotFound, InvalidInput, SecretFound, StoreError; nothing is stored then.
    """
    try:
        with call.service(None, "reader") as service:
            checked = [_checked(call, service, step) for step in steps]
            return service.apply(checked, lambda memory: call.principal.may("writer", memory.project))
    except OtherRevision as error:
        raise overtaken(error) from None
    except Reviewed as error:
        raise Forbidden(str(error)) from None


def stored_json(stored: Stored) -> dict[str, JsonValue]:
    """What a write answers: no text, so that it can be kept."""
    return {"id": _uuid(stored.id), "revision": stored.revision}


def _checked(call: Call, service: MemoryService, step: Step) -> Step:
    """`step` as this key's: whether a curator sends it.

    Raises: NotFound when the project of the memory may not be read, Forbidden when the role does not suffice.
    """
    project = None if step.values is None else forms.project_of(step.values)
    present = service.present(step)
    if step.values is not None:
        call.require(project or "", "writer")
        status = step.values.get("status", "active")
        brings_back = present is not None and present.status != "active" and status == "active"
        own = present is not None and present.updated_by == call.principal.name
        if brings_back and not own and not _may_curate(call, project):
            raise Forbidden("only a curator of the project brings back what others removed")
    elif present is not None and not _may_curate(call, present.project):
        raise Forbidden("only a curator of the project purges; the trash is emptied after 30 days")
    touched = [project, *([present.project] if present is not None else [])]
    return step._replace(curated=all(_may_curate(call, one) for one in touched))


def _remember(call: Call, body: Mapping[str, JsonValue]) -> Answer:
    project = body.get("project")
    where = forms.one_project(str(project)) if project is not None else _only_project(call)
    place = Place(project=where or None, name=where, session=_text(body, "session"), user=_text(body, "user"))
    call.require(where, "writer")
    # What it supersedes may be in another project.
    with call.service(None, "writer", place=place, agent=_text(body, "agent") or "") as service:
        kept = service.remember(str(body["text"]), supersedes=_text(body, "supersedes"), **cast(Any, _fields(body)))
    return _answer(Stored(kept.memory.id, kept.memory.revision, kept.action))


def _revise(call: Call, body: Mapping[str, JsonValue]) -> Answer:
    """Change the memory that the path names."""
    base = forms.revision_in(call)

    def run() -> Answer:
        with at_memory(call, "writer", agent=_text(body, "agent") or "") as (service, memory):
            _check(base, memory)
            text = str(body.get("text", memory.text))
            try:
                kept = service.revise(memory.id, text, revision=base, **cast(Any, _fields(body)))
            except InvalidInput as error:
                present = find(service, memory.id)
                if base is not None and present.revision != base:
                    raise overtaken(OtherRevision("", present)) from None
                raise error from None
        return _answer(Stored(kept.memory.id, kept.memory.revision, kept.action or "updated"))

    return run_once(call, ["change", named(call), base, body], run, lambda kept: _repeated(call, kept))


def _fields(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: body[name] for name in forms.FIELDS if name in body}


def _only_project(call: Call) -> str:
    """The one project that the key is for.

    Raises: InvalidInput when it is for several.
    """
    roles = [name for name in call.principal.roles if name != "*"]
    if len(roles) == 1 and "*" not in call.principal.roles:
        return roles[0]
    raise InvalidInput("project", "is required: the key is for more than one")


def _repeated(call: Call, kept: tuple[str, ...]) -> Answer:
    """The answer to a request that was carried out before."""
    with call.service(None, "reader") as service:
        found = service.load_complete(kept[:1])
    if not found:
        raise NotFound("the memory that this request wrote was removed since")
    if len(found) > 1:
        raise InvalidInput("id", SEVERAL)
    return _answer(Stored(found[0].id, found[0].revision, None))


def _answer(stored: Stored) -> Answer:
    status = 201 if stored.action == "created" else 200
    headers = {"etag": forms.etag(stored.revision), "location": f"{_PREFIX}/{_uuid(stored.id)}"}
    return Answer(status, {"data": stored_json(stored)}, headers)


def _changed(memory: Memory) -> Answer:
    return _answer(Stored(memory.id, memory.revision, "updated"))


def _decided(decided: Decided) -> Answer:
    memory = decided.memories[0]
    data: JsonValue = {"id": _uuid(memory.id), "revision": memory.revision, "undo": decided.undo}
    return Answer(200, {"data": data}, {"etag": forms.etag(memory.revision)})


def _check_alone(body: Mapping[str, JsonValue]) -> None:
    if len(body) > 1:
        raise InvalidInput("memory", "comes alone; the other fields are part of it")


def _check(base: int | None, memory: Memory) -> None:
    if base not in {None, memory.revision}:
        raise overtaken(OtherRevision("", memory))


def _base(call: Call, memory: Memory) -> int | None:
    base = forms.revision_in(call)
    _check(base, memory)
    return base


def _whole_id(values: Mapping[str, JsonValue]) -> str:
    """The id of a complete memory that is created.

    Raises: HttpError 400 when it is none.
    """
    whole = ids.complete_id(str(values.get("id", "")))
    if whole is None:
        raise HttpError(400, "memory.id: is not a memory id", field="memory.id")
    return whole


def _uuid(memory: str) -> str:
    return ids.to_uuid(memory)


def _text(body: Mapping[str, JsonValue], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) and value else None


_IDENTIFIED: Mapping[str, Schema] = {"id": forms.ID}
_WRITTEN: Mapping[int, Schema] = {200: forms.ONE}
_MAYBE_NEW: Mapping[int, Schema] = {201: forms.ONE, **_WRITTEN}  # what is trusted less is kept next to the other
_ONE = f"{_PREFIX}/{{id}}"

ROUTES = (
    Route("POST", _PREFIX, create_memory, "writer", "Store a memory", "memories", _MAYBE_NEW,
          body=_NEW),
    Route("GET", _ONE, read_memory, "reader", "Read a memory", "memories", {200: forms.ONE, 304: {}},
          path_parameters=_IDENTIFIED, query={"quiet": {"type": "boolean"}}),
    Route("PUT", _ONE, replace_memory, "writer", "Replace a memory", "memories", _MAYBE_NEW,
          path_parameters=_IDENTIFIED, body=_REPLACEMENT),
    Route("PATCH", _ONE, change_memory, "writer", "Change fields of a memory", "memories", _MAYBE_NEW,
          path_parameters=_IDENTIFIED, body=_CHANGE),
    Route("DELETE", _ONE, remove_memory, "writer", "Remove a memory", "memories", _WRITTEN,
          path_parameters=_IDENTIFIED, query={"purge": {"type": "boolean"}}),
    Route("GET", f"{_ONE}/history", read_history, "reader", "Former revisions", "memories", {200: forms.LIST},
          path_parameters=_IDENTIFIED),
    Route("POST", f"{_ONE}/restore", restore_memory, "curator", "Undo the last change or the removal", "memories",
          _WRITTEN, path_parameters=_IDENTIFIED, body=_NO_BODY),
    Route("POST", f"{_ONE}/confirm", confirm_memory, "curator", "Confirm a memory", "review", _WRITTEN,
          path_parameters=_IDENTIFIED, body=_NO_BODY),
    Route("POST", f"{_ONE}/pin", pin_memory, "curator", "Pin or unpin a memory", "review", _WRITTEN,
          path_parameters=_IDENTIFIED, body=_PIN),
    Route("POST", f"{_ONE}/wrong", mark_wrong, "curator", "Mark a memory as wrong", "review", _WRITTEN,
          path_parameters=_IDENTIFIED, body=_REASON),
)  # fmt: skip
