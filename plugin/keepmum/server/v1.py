"""Version 1 of the API: that of Shared Agent Memory, so that its clients work unchanged.

Source: https://github.com/rbrcurtis/shared-agent-memory (src/api), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import cast

from keepmum.core import ids
from keepmum.core.errors import SecretFound
from keepmum.core.memory import JsonValue, Memory
from keepmum.server.call import Answer, Call, HttpError
from keepmum.server.routes import Route, Schema

__all__ = ["ROUTES"]

_MEMORIES = "/api/v1/memories"
_EVERY = "*"  # every project of the key


def store(call: Call) -> Answer:
    """Store a memory."""
    body = call.body
    project = str(body["project"])
    if project == _EVERY:
        raise HttpError(400, "project must be a specific name, not *")
    with call.service(project, "writer", agent=str(body.get("agent") or "unknown")) as service, _secrets_named():
        tags = tuple(map(str, cast("Sequence[JsonValue]", body.get("tags") or ())))
        kept = service.remember(str(body["text"]), title=str(body["title"]), tags=tags)
    return Answer(201, {"data": {"id": ids.to_uuid(kept.memory.id)}})


def load(call: Call) -> Answer:
    """Load memories in full, which reinforces them; the values are those before that."""
    wanted = [known for one in str(call.query["ids"]).split(",") if (known := ids.complete_id(one)) is not None]
    with call.service(None, "reader") as service:
        found = service.context.store.get(wanted)
    return Answer(200, {"data": [_detail(memory) for memory in found]})


@contextmanager
def _secrets_named() -> Iterator[None]:
    """Answer a refused secret as version 1 does."""
    try:
        yield
    except SecretFound as refusal:
        field, rule, _ = refusal.places[0]
        raise HttpError(400, f"Secret detected in {field}: {rule}") from None


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _detail(memory: Memory) -> dict[str, JsonValue]:
    return {"id": ids.to_uuid(memory.id), "title": memory.title, "text": memory.text}


_DATA: Schema = {"type": "object"}
ROUTES = (
    Route(
        "POST",
        _MEMORIES,
        store,
        "writer",
        "Store a new memory",
        "memories",
        {201: _DATA},
        body={
            "type": "object",
            "required": ["text", "title", "project"],
            "properties": {
                "text": {"type": "string", "minLength": 1},
                "title": {"type": "string", "minLength": 1},
                "agent": {"type": "string"},
                "project": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        },
        hides=False,
    ),
    Route(
        "GET",
        f"{_MEMORIES}/load",
        load,
        "reader",
        "Load memories by id and reinforce them",
        "memories",
        {200: _DATA},
        query={"ids": {"type": "string"}},
        required=("ids",),
        hides=False,
    ),
)
