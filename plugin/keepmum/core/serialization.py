"""Converts a memory to JSON values and back, for exports, imports and the history."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from keepmum.core import ids, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import (
    KINDS,
    LIMITS,
    SCOPES,
    SOURCE_KINDS,
    STATUSES,
    TIERS,
    TRUST_LEVELS,
    Citation,
    JsonValue,
    Memory,
)

__all__ = ["CHOICES", "MAX_INTEGER", "TEXTS", "citations", "is_link", "parse", "texts", "to_json"]

_Value = TypeVar("_Value", str, int, float)
_FIELDS = {field.name: str(field.type) for field in dataclasses.fields(Memory)}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS, "scope": SCOPES, "tier": TIERS, "status": STATUSES, "source_kind": SOURCE_KINDS,
    "trust": TRUST_LEVELS,
}  # fmt: skip
TEXTS = (  # the fields that may contain text, and so a secret
    "title", "text", "why", "key", "tags", "data", "git", "source",
    "agent", "project", "session", "user", "created_by", "updated_by", "confirmed_by", "origin",
    "supersedes", "superseded_by",
)  # fmt: skip
_CITED = tuple(field.name for field in dataclasses.fields(Citation))
_LINKS = frozenset({"id", "supersedes", "superseded_by"})
_REQUIRED = ("id", "text", "title", "created_at", "updated_at")
_LENGTHS = {"title": LIMITS.title, "key": LIMITS.key, "source": LIMITS.source, "why": LIMITS.why}
_HASH = re.compile("[0-9a-f]{7,64}")
_MAX_CITATIONS = 100
MAX_INTEGER = 253_402_300_799_999  # the last millisecond of the year 9999; also the limit of counts


def to_json(memory: Memory) -> dict[str, JsonValue]:
    """All fields of a memory; `parse` is the inverse."""
    values = {name: getattr(memory, name) for name in _FIELDS}
    if memory.citations is not None:
        values["citations"] = tuple(map(dataclasses.asdict, memory.citations))
    return values


def texts(memory: Memory) -> dict[str, JsonValue]:
    """The fields of a memory that may contain text, and so a secret."""
    values = {name: getattr(memory, name) for name in TEXTS}
    cited = [text for each in memory.citations or () for text in (each.path, each.symbol) if text]
    return {name: value for name, value in values.items() if not is_link(name, value)} | (
        {"citations": cited} if cited else {}
    )


def is_link(name: str, value: JsonValue) -> bool:
    """Whether a field holds a valid memory id, which is not a secret."""
    return name in _LINKS and isinstance(value, str) and ids.complete_id(value) is not None


def parse(values: Mapping[str, JsonValue]) -> Memory:
    """The memory from the values that `to_json` returns; missing fields have their defaults.

    One of scope "global" has no project, whatever the values say.

    Raises: InvalidInput for the first field that is missing, of a wrong type or over its limit.
    """
    unknown = [name for name in values if name not in _FIELDS]
    if unknown:
        raise InvalidInput("fields", f"{len(unknown)} are unknown; a memory has {', '.join(_FIELDS)}")
    for name in _REQUIRED:
        if values.get(name) is None:
            raise InvalidInput(name, "is missing")
    given: dict[str, Any] = {name: _checked(name, value) for name, value in values.items() if value is not None}
    given = {name: value for name, value in given.items() if value != "" or name in _REQUIRED}
    if given.get("scope") == "global":
        given["project"] = None
    memory_id = ids.complete_id(given["id"])
    if memory_id is None:
        raise InvalidInput("id", "is not a memory id")
    return Memory(**{**given, "id": memory_id, "title": given["title"] or validation.title_of(given["text"])})


def _checked(name: str, value: JsonValue) -> object:
    """The value of a field as stored.

    Raises: InvalidInput when it is of a wrong type or over its limit.
    """
    annotation = _FIELDS[name]
    if name in CHOICES:
        return validation.one_of(name, str(value), CHOICES[name])
    if annotation.startswith("str"):
        return _text(name, _of_type(name, value, str))
    if annotation.startswith("int"):
        number = _of_type(name, value, int)
        if not 0 <= number <= MAX_INTEGER:
            raise InvalidInput(name, f"must be between 0 and {MAX_INTEGER}")
        return number
    if annotation == "float":
        return validation.fraction(name, _of_type(name, value, int, float))
    return _STRUCTURED[name](value)


def _tags(value: JsonValue) -> tuple[str, ...]:
    tags = [tag for tag in value if isinstance(tag, str)] if isinstance(value, (list, tuple)) else []
    if not isinstance(value, (list, tuple)) or len(tags) < len(value):
        raise InvalidInput("tags", "is not a list of strings")
    return validation.clean_tags(tags)


def _git(value: JsonValue) -> JsonValue:
    if not isinstance(value, Mapping):
        raise InvalidInput("git", "is not an object")
    return validation.clean_data(value)


def _pinned(value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("pinned", "is not true or false")
    return value


def citations(value: JsonValue) -> tuple[Citation, ...]:
    """Citations from their JSON form.

    Raises: InvalidInput.
    """
    if not isinstance(value, (list, tuple)) or len(value) > _MAX_CITATIONS:
        raise InvalidInput("citations", f"is not a list of at most {_MAX_CITATIONS} objects")
    return tuple(map(_citation, value))


def _citation(value: JsonValue) -> Citation:
    if not isinstance(value, Mapping) or not set(value) <= set(_CITED):
        raise InvalidInput("citations", f"holds something other than objects with {', '.join(_CITED)}")
    given = {name: item for name, item in value.items() if item is not None}
    line = given.pop("line", None)
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or not 0 < line <= MAX_INTEGER):
        raise InvalidInput("citations", "has a line that is not a number from 1")
    fields = {name: str(item) for name, item in given.items()}
    names = {name: validation.clean("citations", fields.pop(name, ""), LIMITS.source) for name in ("path", "symbol")}
    if not names["path"] or not fields.keys() >= {"commit", "blob"}:
        raise InvalidInput("citations", "lacks path, commit or blob")
    if not all(map(_HASH.fullmatch, fields.values())):
        raise InvalidInput("citations", "has a hash that is not 7 to 64 hexadecimal digits")
    return Citation(**fields, path=names["path"], symbol=names["symbol"] or None, line=line)


def _text(name: str, value: str) -> str:
    if name == "text":
        return validation.clean_text(value)
    return validation.clean(name, value, _LENGTHS.get(name, LIMITS.name), one_line=name != "why")


def _of_type(name: str, value: JsonValue, *wanted: type[_Value]) -> _Value:
    """`value` if it has one of the types.

    Raises: InvalidInput.
    """
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InvalidInput(name, f"is not of type {_FIELDS[name]}")
    return value


# Fields that are neither a choice, a text nor a number.
_STRUCTURED: Mapping[str, Callable[[JsonValue], object]] = {
    "tags": _tags,
    "git": _git,
    "data": validation.clean_data,
    "pinned": _pinned,
    "citations": citations,
}
