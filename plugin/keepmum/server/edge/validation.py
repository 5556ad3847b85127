"""The parameters and the body of a request, checked against the table of routes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import cast

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue
from keepmum.mcp import arguments
from keepmum.server.routes import Route, Schema

__all__ = ["DEEPEST", "body", "parameters", "parsed", "path_parameters"]

DEEPEST = 64  # levels of a JSON body
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


def parameters(route: Route, pairs: Iterable[tuple[str, str]]) -> dict[str, JsonValue]:
    """The query of a request as the route declares it; undeclared parameters are left out.

    Raises: InvalidInput when one is missing, given twice, or not what it must be.
    """
    given: dict[str, JsonValue] = {}
    for name, text in pairs:
        if name not in route.query:
            continue
        if name in given:
            raise InvalidInput(name, "is given twice")
        given[name] = _converted(name, text, route.query[name])
    schema = {"type": "object", "properties": route.query, "required": list(route.required)}
    return cast("dict[str, JsonValue]", arguments.check(schema, given))


def path_parameters(route: Route, given: Mapping[str, str]) -> dict[str, str]:
    """The parameters in the path.

    Raises: InvalidInput.
    """
    schema = {"type": "object", "properties": route.path_parameters}
    return {name: str(value) for name, value in arguments.check(schema, given).items()}


def body(value: object, schema: Schema) -> dict[str, JsonValue]:
    """The JSON object of a body, checked against the schema.

    Raises: InvalidInput.
    """
    if not isinstance(value, dict):
        raise InvalidInput("body", "must be an object")
    return cast("dict[str, JsonValue]", arguments.check(schema, value))


def parsed(raw: bytes) -> object:
    """The JSON value of a body.

    Raises: InvalidInput when it is not JSON, is nested too deeply or names a field twice.
    """
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _depth(raw) > DEEPEST:
        raise InvalidInput("body", f"is nested deeper than {DEEPEST} levels")
    try:
        value: object = json.loads(raw.decode(), object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError:
        raise InvalidInput("body", "is not UTF-8") from None
    except (ValueError, RecursionError):
        raise InvalidInput("body", "is not valid JSON") from None
    return value


def _depth(raw: bytes) -> int:
    """The deepest nesting of a JSON text, without parsing it: a parser may recurse."""
    deepest = depth = 0
    is_text = is_escaped = False
    for byte in raw:
        if is_text:
            if is_escaped:
                is_escaped = False
            elif byte == 0x5C:
                is_escaped = True
            elif byte == 0x22:
                is_text = False
        elif byte == 0x22:
            is_text = True
        elif byte in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif byte in _CLOSING:
            depth -= 1
    return deepest


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput("body", "names a field twice")
    return found


def _refuse(_: str) -> object:
    raise InvalidInput("body", "has a number that is not finite")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidInput("body", "has a number that is not finite")
    return number


def _converted(name: str, text: str, schema: Schema) -> JsonValue:
    """A parameter as its declared type."""
    kind = schema.get("type")
    if kind == "boolean" and text in {"true", "false"}:
        return text == "true"
    if kind in {"integer", "number"}:
        try:
            number = int(text) if kind == "integer" else float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or len(text) > 30 or "_" in text:
            raise InvalidInput(name, f"must be {'a whole number' if kind == 'integer' else 'a number'}")
        return number
    if kind == "boolean":
        raise InvalidInput(name, "must be true or false")
    return text
