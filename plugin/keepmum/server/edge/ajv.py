"""Parameters and bodies of version 1, checked as Fastify with Ajv does: the same coercions and the same messages.

Source: https://ajv.js.org/coercion.html and https://fastify.dev/docs/latest/Reference/Validation-and-Serialization/,
read 2026-11-22.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue
from keepmum.mcp.arguments import check_text
from keepmum.server.call import HttpError
from keepmum.server.routes import Schema

__all__ = ["check"]

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_INTEGER = re.compile(r"-?[0-9]{1,15}")


def check(part: str, schema: Schema, value: object) -> dict[str, JsonValue]:
    """The validated object in `part` of a request: body, querystring or params.

    Raises: HttpError with the message that Fastify sends.
    """
    return cast("dict[str, JsonValue]", _object(part, schema, value))


def _value(path: str, schema: Schema, value: object) -> object:
    match schema.get("type"):
        case "string":
            return _text(path, schema, value)
        case "integer":
            return _integer(path, schema, value)
        case _:
            return _array(path, schema, value)


def _object(path: str, schema: Schema, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise _refused(path, "must be object")
    properties = cast("Mapping[str, Schema]", schema.get("properties") or {})
    for name in cast("list[str]", schema.get("required") or []):
        if name not in value:
            raise _refused(path, f"must have required property '{name}'")
    return {name: _value(f"{path}/{name}", properties[name], value[name]) for name in properties if name in value}


def _array(path: str, schema: Schema, value: object) -> list[object]:
    if isinstance(value, Mapping):
        raise _refused(path, "must be array")
    items = cast("Schema", schema["items"])
    listed = value if isinstance(value, list) else [value]
    return [_value(f"{path}/{index}", items, item) for index, item in enumerate(listed)]


def _text(path: str, schema: Schema, value: object) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (int, float)):
        value = f"{value:g}" if isinstance(value, float) else str(value)
    elif value is None:
        value = ""
    if not isinstance(value, str):
        raise _refused(path, "must be string")
    least = cast("int", schema.get("minLength", 0))
    if len(value) < least:
        raise _refused(path, f"must NOT have fewer than {least} characters")
    if schema.get("format") == "uuid" and not _UUID.fullmatch(value):
        raise _refused(path, 'must match format "uuid"')
    try:
        return check_text(path, value)
    except InvalidInput as error:
        raise _refused(path, error.problem) from None


def _integer(path: str, schema: Schema, value: object) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused(path, "must be integer")
    least, most = cast("int", schema["minimum"]), cast("int", schema["maximum"])
    if value < least:
        raise _refused(path, f"must be >= {least}")
    if value > most:
        raise _refused(path, f"must be <= {most}")
    return value


def _refused(path: str, problem: str) -> HttpError:
    return HttpError(400, f"{path} {problem}")
