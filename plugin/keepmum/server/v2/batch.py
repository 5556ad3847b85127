"""Many changes in one request: each with its own status, or all in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from keepmum.core import ids
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call
from keepmum.server.edge.errors import answer_to
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import forms
from keepmum.server.v2.access import run_once
from keepmum.server.v2.memories import apply_step, apply_steps, stored_json
from keepmum.service import Step, Stored

__all__ = ["ROUTES"]

_MOST = 100  # changes of one request
_ITEM: Schema = {
    "type": "object",
    "properties": {
        "id": forms.ID,
        "memory": forms.MEMORY,
        "revision": {"type": "integer", "minimum": 0, "maximum": 1_000_000_000_000},
        "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 200},
    },
    "required": ["id"],
    "additionalProperties": False,
}
_BATCH: Schema = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": _ITEM, "maxItems": _MOST},
        "atomic": {"type": "boolean"},
    },
    "required": ["items"],
    "additionalProperties": False,
}


def change_many(call: Call) -> Answer:
    """Apply up to 100 changes of complete memories.

    Each item names an `id`, the `memory` as it is to be (without one it is purged), and the `revision` that it
    replaces (none for a new memory). Without `atomic` each has a status of its own, and a bad one spoils no other.
    """
    items = cast("list[Mapping[str, JsonValue]]", call.body["items"])
    if call.body.get("atomic") is True:
        steps = [_step(item) for item in items]
        return run_once(
            call,
            ["batch", call.body],
            lambda: Answer(200, {"data": [_done(stored) for stored in apply_steps(call, steps)]}),
            lambda _: Answer(200, {"data": _repeated(call, steps)}),
        )
    data: list[JsonValue] = [_one(call, item) for item in items]
    return Answer(200, {"data": data})


def _one(call: Call, item: Mapping[str, JsonValue]) -> JsonValue:
    """The result of one change."""
    try:
        step = _step(item)
        key = item.get("idempotency_key")
        single = call.with_header("idempotency-key", str(key)) if key else call.with_header("idempotency-key", "")
        return run_once(
            single,
            ["item", item],
            lambda: _done(apply_step(call, step)),
            lambda _: _repeated(call, [step])[0],
        )
    except Exception as error:
        answer = answer_to(error)
        if answer.status >= 500:
            raise
        return {"status": answer.status, **cast(Mapping[str, JsonValue], answer.body)}


def _step(item: Mapping[str, JsonValue]) -> Step:
    whole = ids.complete_id(str(item["id"]))
    if whole is None:
        raise InvalidInput("id", "is not a memory id")
    values = item.get("memory")
    return Step(whole, values if isinstance(values, Mapping) else None, cast("int | None", item.get("revision")))


def _done(stored: Stored) -> dict[str, JsonValue]:
    return {"status": 201 if stored.action == "created" else 200, **stored_json(stored)}


def _repeated(call: Call, steps: list[Step]) -> list[JsonValue]:
    """The results of changes that were applied before."""
    with call.service(None, "reader") as service:
        found = map(service.present, steps)
        return [
            _done(Stored(step.id, 0 if memory is None else memory.revision, None))
            for step, memory in zip(steps, found, strict=True)
        ]


ROUTES = (
    Route("POST", "/api/v2/memories:batch", change_many, "writer", "Many changes in one request", "clients",
          {200: forms.LIST}, body=_BATCH,
          largest=8 * 1024 * 1024),
)  # fmt: skip
