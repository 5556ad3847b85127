"""Converts a memory to JSON values and back, for exports, imports and the history."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from keepmum.core import ids, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import KINDS, LIMITS, SCOPES, STATUSES, TIERS, JsonValue, Memory

__all__ = ["CHOICES", "TEXTS", "is_link", "parse", "texts", "to_json"]

_Value = TypeVar("_Value", str, int, float)
_FIELDS = {field.name: str(field.type) for field in dataclasses.fields(Memory)}
CHOICES: Mapping[str, tuple[str, ...]] = {"kind": KINDS, "scope": SCOPES, "tier": TIERS, "status": STATUSES}
TEXTS = (  # the fields that may contain text, and so a secret
    "title", "text", "why", "key", "tags", "data", "git", "source",
    "agent", "project", "session", "user", "created_by", "updated_by", "origin", "supersedes", "superseded_by",
)  # fmt: skip
_LINKS = frozenset({"id", "supersedes", "superseded_by"})
_REQUIRED = ("id", "text", "title", "created_at", "updated_at")
_LENGTHS = {"title": LIMITS.title, "key": LIMITS.key, "source": LIMITS.source}
_MAX_INTEGER = 253_402_300_799_999  # the last millisecond of the year 9999; also the limit of counts


def to_json(memory: Memory) -> dict[str, JsonValue]:
    """All fields of a memory; `parse` is the inverse."""
    return {name: getattr(memory, name) for name in _FIELDS}


def texts(memory: Memory) -> dict[str, JsonValue]:
    """The fields of a memory that may contain text, and so a secret."""
    values = {name: getattr(memory, name) for name in TEXTS}
    return {name: value for name, value in values.items() if not is_link(name, value)}


def is_link(name: str, value: JsonValue) -> bool:
    """Whether a field holds a valid memory id, which is no secret."""
    bounds = ids.id_range(value) if name in _LINKS and isinstance(value, str) else None
    return bounds is not None and bounds[0] == bounds[1]


def parse(values: Mapping[str, JsonValue]) -> Memory:
    """The memory from the values that `to_json` returns; missing fields have their defaults.

    Raises: InvalidInput for the first field that is missing, of a wrong type or over its limit.
    """
    unknown = [name for name in values if name not in _FIELDS]
    if unknown:
        raise InvalidInput("fields", f"{len(unknown)} are unknown; a memory has {', '.join(_FIELDS)}")
    for name in _REQUIRED:
        if values.get(name) is None:
            raise InvalidInput(name, "is missing")
    given: dict[str, Any] = {name: _CHECKS[name](value) for name, value in values.items() if value is not None}
    given = {name: value for name, value in given.items() if value != "" or name in _REQUIRED}
    bounds = ids.id_range(given["id"])
    if bounds is None or bounds[0] != bounds[1]:
        raise InvalidInput("id", "is not a memory id")
    return Memory(**{**given, "id": bounds[0], "title": given["title"] or validation.title_of(given["text"])})


def _of_type(name: str, value: JsonValue, *wanted: type[_Value]) -> _Value:
    """`value` if it has one of the types.

    Raises: InvalidInput.
    """
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InvalidInput(name, f"is not of type {_FIELDS[name]}")
    return value


def _line(name: str, value: JsonValue) -> str:
    return validation.clean(name, _of_type(name, value, str), _LENGTHS.get(name, LIMITS.name), one_line=True)


def _count(name: str, value: JsonValue) -> int:
    number = _of_type(name, value, int)
    if not 0 <= number <= _MAX_INTEGER:
        raise InvalidInput(name, f"must be between 0 and {_MAX_INTEGER}")
    return number


def _share(name: str, value: JsonValue) -> float:
    return validation.fraction(name, _of_type(name, value, int, float))


def _choice(name: str, value: JsonValue) -> str:
    return validation.one_of(name, str(value), CHOICES[name])


def _text(name: str, value: JsonValue) -> str:
    return validation.clean_text(_of_type(name, value, str))


def _why(name: str, value: JsonValue) -> str:
    return validation.clean(name, _of_type(name, value, str), LIMITS.why)


def _tags(name: str, value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(tag, str) for tag in value):
        raise InvalidInput(name, "is not a list of strings")
    return validation.clean_tags(value)


def _git(name: str, value: JsonValue) -> JsonValue:
    if not isinstance(value, Mapping):
        raise InvalidInput(name, "is not an object")
    return validation.clean_data(value)


def _data(_: str, value: JsonValue) -> JsonValue:
    return validation.clean_data(value)


# Checks and cleans the value of a field: by field name, or else by the field's type.
_BY_TYPE: Mapping[str, Callable[[str, JsonValue], object]] = {"str": _line, "int": _count, "float": _share}
_CHECKS: Mapping[str, Callable[[JsonValue], object]] = {
    name: functools.partial(check, name)
    for name, check in {
        **{name: _BY_TYPE[kind.split(" ")[0]] for name, kind in _FIELDS.items() if kind.split(" ")[0] in _BY_TYPE},
        **dict.fromkeys(CHOICES, _choice),
        "text": _text, "why": _why, "tags": _tags, "git": _git, "data": _data,
    }.items()
}  # fmt: skip
