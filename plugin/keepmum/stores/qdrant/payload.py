"""Memories as payloads of points, and back.

A shared-agent-memory server reads and writes the fields at the top level. What it cannot hold is in the object
`keepmum`, which it ignores, and drops when it changes a memory: the point is then as one that it made.
Source: https://github.com/rbrcurtis/shared-agent-memory (src/types.ts, src/storage.ts), read 2026-11-23.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
from collections.abc import Mapping
from typing import Any

from qdrant_client import models

from keepmum.core import ids
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Citation, Memory
from keepmum.stores.sqlite.rows import digest, encoded

__all__ = [
    "DEFAULT_TRUST",
    "OURS",
    "READ_LIGHTLY",
    "Record",
    "from_payload",
    "memory_of",
    "moment",
    "own_fields",
    "to_payload",
    "use_of",
    "written_time",
]

OURS = "keepmum"
_TEXTS = frozenset({"data", "git", "citations"})  # as JSON in a text, which Qdrant does not change
_AT_THE_TOP = frozenset({
    "id", "text", "title", "agent", "tags", "created_at", "updated_at", "created_by", "updated_by", "access_count",
})  # fmt: skip
_NAMES = tuple(field.name for field in dataclasses.fields(Memory) if field.name not in _AT_THE_TOP)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
DEFAULT_TRUST = "team"  # that server accepts only people with a key
# Fields that no ranking needs.
READ_LIGHTLY = ["text", *(f"{OURS}.{name}" for name in ("own", "context", "why", *sorted(_TEXTS)))]

Payload = dict[str, Any]  # JSON
Record = models.Record | models.ScoredPoint


def to_payload(memory: Memory, seq: int) -> Payload:
    """The payload of a memory; `seq` is its place among the memories of its session.

    Raises: InvalidInput when a time is beyond the year 9999.
    """
    created, updated = written_time(memory.created_at), written_time(memory.updated_at)
    own = {name: value for name in _NAMES if (value := getattr(memory, name)) is not None}
    own |= {name: encoded(value) for name, value in _structured(memory).items() if value is not None}
    payload: Payload = {
        "id": ids.to_uuid(memory.id), "text": memory.text, "title": memory.title, "agent": memory.agent,
        "project": memory.project or "", "tags": list(memory.tags), "created_at": created, "updated_at": updated,
        "createdAt": created, "updatedAt": updated, "createdBy": memory.created_by, "updatedBy": memory.updated_by,
        OURS: {**own, "seq": seq, "space": memory.space, "digest": digest(memory.text)},
    }  # fmt: skip
    payload |= use_of(memory.access_count, memory.accessed_at if memory.access_count else memory.created_at)
    if memory.status != "active" or memory.scope not in {"project", "shared"} or memory.user is not None:
        # That server has no other way to keep what it must not show.
        payload["tombstoned_at"] = written_time(memory.trashed_at or memory.updated_at)
        payload[OURS]["hidden"] = True
    return payload


def use_of(count: int, at: int | None) -> Payload:
    """The fields that count loads, the last one `at`."""
    fields: Payload = {"access_count": count, "stability": 1.0 + math.log(1 + count)}
    return fields if at is None else {**fields, "last_accessed": written_time(at)}


def from_payload(uuid: str, payload: Mapping[str, Any]) -> Memory:
    """The memory of a point; fields that a shared-agent-memory server does not know have their defaults.

    Raises: ValueError when the point is of another shape.
    """
    own: Mapping[str, Any] = payload.get(OURS) or {}
    created = _first_time(payload, "created_at", "createdAt")
    count = payload.get("access_count")
    count = count if isinstance(count, int) else 0
    known = {name: own[name] for name in _NAMES if name in own}
    known |= {name: json.loads(own[name]) for name in _TEXTS & own.keys()}
    if "citations" in known:
        known["citations"] = tuple(Citation(**each) for each in known["citations"])
    if payload.get("tombstoned_at") and not own.get("hidden"):
        known["status"] = "tombstoned"  # by that server, which forgets in its own way
    if count:
        known["accessed_at"] = moment(payload.get("last_accessed"))
    if not own:
        known |= {"project": _text(payload, "project") or None, "trust": DEFAULT_TRUST, "origin": "server"}
    return Memory(
        id=ids.from_uuid(uuid), text=_text(payload, "text"), title=_text(payload, "title"),
        agent=_text(payload, "agent") or "unknown", tags=_tags(payload.get("tags")), created_at=created,
        updated_at=_first_time(payload, "updated_at", "created_at", "createdAt"),
        created_by=_text(payload, "createdBy") or "unknown",
        updated_by=_text(payload, "updatedBy") or "unknown", access_count=count, **known,
    )  # fmt: skip


def memory_of(record: Record) -> Memory:
    """The memory of a point that was read.

    Raises: ValueError when the point is of another shape.
    """
    return from_payload(str(record.id), record.payload or {})


def own_fields(record: Record) -> Mapping[str, Any]:
    """The fields of a point that a shared-agent-memory server does not know; empty for one that it wrote."""
    return (record.payload or {}).get(OURS) or {}


def written_time(at: int) -> str:
    """A time as that server writes it: UTC, with milliseconds.

    Raises: InvalidInput when it is beyond the year 9999.
    """
    try:
        written = (_EPOCH + dt.timedelta(milliseconds=at)).isoformat(timespec="milliseconds")
    except OverflowError:
        raise InvalidInput("time", "must be before the year 10000") from None
    return written.replace("+00:00", "Z")


def moment(text: object) -> int | None:
    """The milliseconds of a written time; None for anything else."""
    try:
        at = dt.datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if at is None:
        return None
    return (at.replace(tzinfo=at.tzinfo or dt.UTC) - _EPOCH) // dt.timedelta(milliseconds=1)


def _first_time(payload: Mapping[str, Any], *names: str) -> int:
    """The first of these fields that holds a time; 0 when none does."""
    return next((at for name in names if (at := moment(payload.get(name))) is not None), 0)


def _structured(memory: Memory) -> dict[str, Any]:  # JSON
    cited = memory.citations
    found = None if cited is None else [dataclasses.asdict(one) for one in cited]
    return {"data": memory.data, "git": memory.git, "citations": found}


def _text(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def _tags(value: object) -> tuple[str, ...]:
    """Tags, which older versions of that server wrote as one text with commas."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(
        tag.strip() if isinstance(value, str) else tag for tag in given if isinstance(tag, str) and tag.strip()
    )
