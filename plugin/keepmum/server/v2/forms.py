"""The JSON forms of API version 2: schemas, filters from JSON, and memories as JSON."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

from keepmum.core import serialization
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import (
    KINDS,
    LIMITS,
    SCOPES,
    SOURCE_KINDS,
    STATUSES,
    TIERS,
    TRUST_LEVELS,
    Embedding,
    Filter,
    JsonValue,
    Match,
    Memory,
)
from keepmum.server.call import Call, HttpError
from keepmum.server.people.roles import EVERY_PROJECT
from keepmum.server.routes import Schema

__all__ = [
    "FIELDS",
    "FILTER",
    "FILTER_PARAMETERS",
    "ID",
    "LARGEST_PAGE",
    "LIST",
    "MEMORY",
    "OBJECT",
    "ONE",
    "ORDERS",
    "VECTOR",
    "embedding_of",
    "etag",
    "filter_of",
    "found_json",
    "memory_json",
    "one_project",
    "project_of",
    "revision_in",
    "texts",
]

LARGEST_PAGE = 100
_TOLERANCE = 0.05  # of the squared length of a vector in half precision
_TIME: Schema = {"type": "integer", "minimum": 0, "maximum": 253_402_300_799_999}
_NAME: Schema = {"type": "string", "maxLength": LIMITS.name}
OBJECT: Schema = {"type": "object"}
ID: Schema = {"type": "string", "minLength": 1, "maxLength": 64}
ORDERS: Schema = {"type": "string", "enum": ["updated", "created", "accessed", "importance"]}


def texts(*allowed: str, most: int = 50) -> Schema:
    """The schema of a list of texts, of the allowed ones if any are named."""
    items: Schema = {"type": "string", "enum": list(allowed)} if allowed else {"type": "string", "maxLength": 255}
    return {"type": "array", "items": items, "maxItems": most}


FIELDS: Mapping[str, Schema] = {  # what an author says; see `validation.Fields`
    "title": {"type": "string"},
    "key": {"type": "string"},
    "why": {"type": "string"},
    "kind": {"type": "string", "enum": list(KINDS)},
    "tags": texts(),
    "scope": {"type": "string", "enum": list(SCOPES)},
    "tier": {"type": "string", "enum": list(TIERS)},
    "importance": {"type": "number", "minimum": 0, "maximum": 1},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    "ttl_seconds": {"type": "number", "minimum": 1, "maximum": 10_000_000_000},
    "data": {},
    "source": {"type": "string"},
    "source_kind": {"type": "string", "enum": list(SOURCE_KINDS)},
}
MEMORY: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "text": {"type": "string"},
        "title": {"type": "string"},
        "project": {"type": ["string", "null"]},
        "revision": {"type": "integer"},
        "created_at": _TIME,
        "updated_at": _TIME,
    },
    "required": ["id", "text", "title"],
}
_FILTER: dict[str, Schema] = {
    "project": _NAME,
    "everywhere": {"type": "boolean"},
    "session": _NAME,
    "user": _NAME,
    "scopes": texts(*SCOPES),
    "kinds": texts(*KINDS),
    "tags": texts(most=LIMITS.tags),
    "all_tags": {"type": "boolean"},
    "agent": _NAME,
    "since": _TIME,
    "until": _TIME,
    "statuses": texts(*STATUSES),
    "keys": {"type": "string", "maxLength": LIMITS.key},
    "tier": {"type": "string", "enum": list(TIERS)},
    "trusts": texts(*TRUST_LEVELS),
    "at": _TIME,
}
FILTER: Schema = {"type": "object", "properties": _FILTER, "additionalProperties": False}
_LISTS = ("scopes", "kinds", "tags", "statuses", "trusts")
FILTER_PARAMETERS: Mapping[str, Schema] = {  # a list is separated by commas
    name: {"type": "string", "maxLength": 2_000} if name in _LISTS else schema for name, schema in _FILTER.items()
}
VECTOR: Schema = {
    "type": "object",
    "properties": {
        "model": {"type": "string", "minLength": 1, "maxLength": 200},
        "base64": {"type": "string", "minLength": 1, "maxLength": 32_768},
    },
    "required": ["model", "base64"],
    "additionalProperties": False,
}
ONE: Schema = {"type": "object", "properties": {"data": OBJECT}, "required": ["data"]}
LIST: Schema = {
    "type": "object",
    "properties": {"data": {"type": "array", "items": {}}, "next": {"type": ["string", "null"]}},
    "required": ["data"],
}


def filter_of(values: Mapping[str, JsonValue], now: int) -> Filter:
    """The filter in a body, or in the parameters of a query; without a project it is of all that may be read.

    Raises: InvalidInput.
    """
    given: dict[str, Any] = {name: values[name] for name in _FILTER if values.get(name) is not None}
    for name in _LISTS:
        if name in given:
            given[name] = _listed(name, given[name])
    given.setdefault("everywhere", "project" not in given)
    given.setdefault("statuses", ("active",))
    return Filter(now=given.pop("at", now), **given)


def project_of(values: Mapping[str, JsonValue]) -> str | None:
    """The project of a complete memory that was sent; None for none.

    Raises: InvalidInput.
    """
    project = None if values.get("scope") == "global" else values.get("project")
    if project is not None and not isinstance(project, str):
        raise InvalidInput("project", "must be text")
    return None if project is None else one_project(project)


def one_project(project: str) -> str:
    """The id of a project in which something is stored.

    Raises: InvalidInput for what means every project: nobody could be given a role in it alone.
    """
    if project == EVERY_PROJECT:
        raise InvalidInput("project", f"must be one project, not {EVERY_PROJECT}")
    return project


def memory_json(memory: Memory) -> dict[str, JsonValue]:
    """A memory with all of its fields, as `keepmum export` writes it."""
    return serialization.to_json(memory)


def found_json(match: Match, *, explain: bool) -> dict[str, JsonValue]:
    """A match with its scores; with `explain`, with what ranked it."""
    legs = match.legs
    found: dict[str, JsonValue] = {
        "memory": memory_json(match.memory),
        "score": match.score,
        "similarity": None if legs is None else legs.cosine,
        "band": match.band,
        "fit": match.fit,
        "why": match.why,
    }
    if match.previous is not None:
        found["previous"] = memory_json(match.previous)
    if explain and legs is not None:
        found["legs"] = cast(JsonValue, legs._asdict())
    return found


def embedding_of(call: Call, value: JsonValue) -> Embedding | None:
    """The vector of a question that the client has computed; None without one.

    Raises: HttpError 422 when it is of another model or length than the vectors here, or is none.
    """
    if not isinstance(value, Mapping):
        return None
    model = call.team.model
    if model is None:
        raise HttpError(422, "vector: this server has no model; leave it out", field="vector")
    name, dimensions = model
    if value["model"] != name:
        raise HttpError(422, f"vector.model: must be {name}", field="vector.model")
    try:
        raw = base64.b64decode(str(value["base64"]), validate=True)
    except (binascii.Error, ValueError):
        raise HttpError(422, "vector.base64: is not base64", field="vector.base64") from None
    if len(raw) != 2 * dimensions:
        problem = f"vector.base64: must hold {dimensions} numbers of 2 bytes, little-endian"
        raise HttpError(422, problem, field="vector.base64")
    if not abs(sum(number * number for (number,) in struct.iter_unpack("<e", raw)) - 1) < _TOLERANCE:  # also for NaN
        raise HttpError(422, "vector.base64: must hold a vector of length 1", field="vector.base64")
    return Embedding(name, raw)


def etag(revision: int) -> str:
    """The revision of a memory as an entity tag."""
    return f'"{revision}"'


def revision_in(call: Call) -> int | None:
    """The revision that `If-Match` names; None without the header.

    Raises: InvalidInput when it names anything else.
    """
    given = call.headers.get("if-match", "").strip()
    if given in {"", "*"}:
        return None
    digits = given.removeprefix("W/").strip('"')
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 16):
        raise InvalidInput("If-Match", 'must be the revision in quotes, such as "3"')
    return int(digits)


def _listed(name: str, value: JsonValue) -> tuple[str, ...]:
    """A list, or a text with commas; each value is one of those that are allowed."""
    items: Sequence[JsonValue] = value.split(",") if isinstance(value, str) else cast(Sequence[JsonValue], value)
    found = tuple(str(item).strip() for item in items if str(item).strip())
    allowed = cast(Mapping[str, Any], _FILTER[name]["items"]).get("enum")
    if allowed is not None and not set(found) <= set(allowed):
        raise InvalidInput(name, f"must be of {', '.join(allowed)}")
    if len(found) > cast(int, _FILTER[name]["maxItems"]):
        raise InvalidInput(name, "has too many items")
    return found
