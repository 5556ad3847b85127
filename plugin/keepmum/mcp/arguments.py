"""Validates tool arguments against the schema that the client was sent.

Supports the part of JSON Schema that our tools use (KEYWORDS). An error message gives the field, the limit and the
allowed names, so that a model can correct its call; it never gives the value.
"""

from __future__ import annotations

import json

from keepmum.core.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Schema = Mapping[str, object]

__all__ = ["KEYWORDS", "check", "check_text"]

KEYWORDS = frozenset(
    {
        "additionalProperties",
        "enum",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minLength",
        "minimum",
        "properties",
        "required",
        "type",
    }
)
"""The supported keywords; a test checks that no schema uses another."""

MAX_DEPTH = 64  # levels of a free-form value; protects recursive code
_INTEGER_LIMIT = 1 << 63  # the range of SQLite and most clients
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def check(schema: Schema, arguments: Mapping[str, object]) -> dict[str, object]:
    """The validated arguments.

    Some clients send lists and objects as JSON strings, which are parsed, and null for optional arguments, which are
    dropped.

    Raises: InvalidInput with the first invalid field and what it must be.
    """
    return _object("", schema, arguments, 0)


def check_text(field: str, text: str) -> str:
    """`text` itself, if every store can store it.

    Raises: InvalidInput when it contains a NUL or an unpaired surrogate.
    """
    if "\0" in text:
        raise InvalidInput(field, "contains a NUL character; remove it")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidInput(field, "contains an unpaired surrogate; remove it") from None
    return text


def _object(path: str, schema: Schema, value: Mapping[str, object], depth: int) -> dict[str, object]:
    properties = _mapping(schema.get("properties"))
    required = _names(schema.get("required"))
    if schema.get("additionalProperties") is False:
        _refuse_unknown(path, value, properties)
    checked: dict[str, object] = {}
    for name, item in value.items():
        if name not in properties:
            checked[check_text(path or "arguments", name)] = _value(path or "arguments", {}, item, depth + 1)
            continue
        known = _mapping(properties[name])
        if item is not None or name in required or "null" in _types(known):
            checked[name] = _value(_join(path, name), known, item, depth + 1)
    for name in required:
        if name not in checked:
            raise InvalidInput(_join(path, name), "is required")
    return checked


def _value(path: str, schema: Schema, value: object, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise InvalidInput(path, f"is nested deeper than {MAX_DEPTH} levels")
    value = _of_type(path, _types(schema), value)
    if "enum" in schema:
        _check_enum(path, _list(schema["enum"]), value)
    if isinstance(value, str):
        _check_size(path, len(value), "characters", schema.get("minLength"), schema.get("maxLength"))
        return check_text(path, value)
    if isinstance(value, list):
        _check_size(path, len(value), "items", None, schema.get("maxItems"))
        items = _mapping(schema.get("items"))
        return [_value(f"{path}[{index}]", items, item, depth + 1) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return _object(path, schema, value, depth)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_range(path, value, schema.get("minimum"), schema.get("maximum"))
    return value


def _of_type(path: str, types: tuple[str, ...], value: object) -> object:
    """The value as one of `types`, parsed or converted if nothing is lost; empty `types` allow everything."""
    if not types or _type_of(value) in types or ("number" in types and _type_of(value) == "integer"):
        return value
    if isinstance(value, float) and "integer" in types and value.is_integer():
        return int(value)
    if isinstance(value, str) and ("array" in types or "object" in types):
        parsed = _parsed(value)
        if parsed is not None and _type_of(parsed) in types:
            return parsed
    raise InvalidInput(path, f"must be {' or '.join(_WORDS[name] for name in types)}, not {_WORDS[_type_of(value)]}")


def _parsed(text: str) -> object:
    """The list or object in a JSON string, or None."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed


def _type_of(value: object) -> str:
    """The JSON type of a value; unlike in Python, a boolean is not an integer."""
    if value is None:
        return "null"
    return _TYPES[type(value)]


def _check_enum(path: str, allowed: list[object], value: object) -> None:
    if value not in allowed:
        hint = _nearest(value, allowed)
        names = ", ".join("null" if one is None else str(one) for one in allowed)
        raise InvalidInput(path, f"must be one of {names}{hint}")


def _check_size(path: str, size: int, unit: str, least: object, most: object) -> None:
    if isinstance(most, int) and size > most:
        raise InvalidInput(path, f"has {size} {unit}; at most {most} are allowed")
    if isinstance(least, int) and size < least:
        raise InvalidInput(path, "is empty" if size == 0 else f"has {size} {unit}; at least {least} are needed")


def _check_range(path: str, number: float, least: object, most: object) -> None:
    if number - number != 0:  # JSON allows 1e999, which becomes infinity
        raise InvalidInput(path, "must be a finite number")
    if isinstance(least, (int, float)) and number < least:
        raise InvalidInput(path, f"must be at least {least}")
    if isinstance(most, (int, float)) and number > most:
        raise InvalidInput(path, f"must be at most {most}")
    if abs(number) >= _INTEGER_LIMIT and isinstance(number, int):
        raise InvalidInput(path, "is too large")


def _refuse_unknown(path: str, value: Mapping[str, object], properties: Schema) -> None:
    for name in value:
        if name not in properties:
            allowed = ", ".join(properties) or "none"
            hint = _nearest(name, properties)
            raise InvalidInput(_join(path, _showable(name)), f"is not a known field{hint}; allowed: {allowed}")


def _nearest(word: object, allowed: Iterable[object]) -> str:
    """A hint with the closest allowed value, or ""."""
    import difflib

    near = difflib.get_close_matches(str(word)[:100], [str(name) for name in allowed], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _showable(name: str) -> str:
    """The field name if it cannot be a secret: short, without digits."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalpha()
    return name if plain and len(name) <= 24 else "(unnamed)"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _types(schema: Schema) -> tuple[str, ...]:
    named = schema.get("type", ())
    return (named,) if isinstance(named, str) else tuple(_names(named))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _names(value: object) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []
