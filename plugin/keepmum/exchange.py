"""A memory as JSON for exports, imports and the history, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from keepmum import ids, intake
from keepmum.errors import InvalidInput
from keepmum.memory import KINDS, LIMITS, SCOPES, STATUSES, TIERS, JsonValue, Memory

__all__ = ["parse", "texts", "to_json"]

_FIELDS = {field.name: str(field.type) for field in dataclasses.fields(Memory)}
_CHOICES: Mapping[str, tuple[str, ...]] = {"kind": KINDS, "scope": SCOPES, "tier": TIERS, "status": STATUSES}
_TEXTS = (
    "title", "text", "why", "key", "tags", "data", "git", "source",
    "agent", "project", "session", "user", "created_by", "updated_by",
)  # fmt: skip
_NEEDED = ("id", "text", "title", "created_at", "updated_at")
_LENGTHS = {"title": LIMITS.title, "key": LIMITS.key, "source": LIMITS.source}
_LATEST = 253_402_300_799_999  # the last millisecond of the year 9999; counts stay below it as well
_TYPES: Mapping[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}


def to_json(memory: Memory) -> dict[str, JsonValue]:
    """Every field of a memory; `parse` gives the same memory back."""
    return {name: getattr(memory, name) for name in _FIELDS}


def texts(memory: Memory) -> dict[str, JsonValue]:
    """The fields of a memory that may hold text, and so a secret."""
    return {name: getattr(memory, name) for name in _TEXTS}


def parse(values: Mapping[str, JsonValue]) -> Memory:
    """The memory that `to_json` made these values of; fields that are missing have their defaults.

    Raises: InvalidInput naming the first field that is missing, of a wrong type or past its limit.
    """
    unknown = [name for name in values if name not in _FIELDS]
    if unknown:
        raise InvalidInput("fields", f"{len(unknown)} of them are of no memory; known are {', '.join(_FIELDS)}")
    for name in _NEEDED:
        if values.get(name) is None:
            raise InvalidInput(name, "is missing")
    checked = {name: _checked(name, value) for name, value in values.items() if value is not None}
    given: dict[str, Any] = {name: value for name, value in checked.items() if value != "" or name in _NEEDED}
    bounds = ids.id_range(given["id"])
    if bounds is None or bounds[0] != bounds[1]:
        raise InvalidInput("id", "is not a memory id")
    draft = Memory(**{**given, "id": bounds[0], "tags": tuple(given.get("tags", ()))})
    fields: intake.Fields = {"title": draft.title, "why": draft.why, "tags": draft.tags}
    fields |= {"importance": draft.importance, "confidence": draft.confidence}
    return intake.revise(draft, draft.text, fields)


def _checked(name: str, value: JsonValue) -> JsonValue:
    if name == "tags":
        if not isinstance(value, (list, tuple)) or not all(isinstance(tag, str) for tag in value):
            raise InvalidInput(name, "is not a list of strings")
        return value
    if name == "git" and not isinstance(value, Mapping):
        raise InvalidInput(name, "is not an object")
    if name in {"data", "git"}:
        return intake.clean_data(value)
    if name in _CHOICES:
        return intake.one_of(name, str(value), _CHOICES[name])
    wanted = _TYPES[_FIELDS[name].split(" ")[0].split("|")[0]]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InvalidInput(name, f"is not of type {_FIELDS[name]}")
    if isinstance(value, int) and wanted == (int,) and not 0 <= value <= _LATEST:
        raise InvalidInput(name, f"lies between 0 and {_LATEST}")
    if isinstance(value, str) and name not in {"text", "why"}:
        return intake.clean(name, value, _LENGTHS.get(name, LIMITS.name), one_line=True)
    return value
