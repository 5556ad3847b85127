"""Values as YAML: plain where every parser agrees on it, else as JSON, which is YAML too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from keepmum.core.memory import JsonValue

__all__ = ["rendered"]

# What no parser, of YAML 1.1 or 1.2, takes for anything but text.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+(-][A-Za-z0-9_./@+()',-]*)*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def rendered(name: str, value: JsonValue, newline: str) -> str:
    """The lines of one entry."""
    return "".join(line + newline for line in _lines(name, value, ""))


def _lines(name: str, value: JsonValue, indent: str) -> list[str]:
    if isinstance(value, Mapping) and not indent and name != "data" and value and all(map(_is_flat, value.values())):
        return [f"{name}:", *(line for key, item in value.items() for line in _lines(_key(key), item, indent + "  "))]
    if isinstance(value, Sequence) and not isinstance(value, str) and value and all(map(_is_text, value)):
        return [f"{indent}{name}:", *(f"{indent}  - {_scalar(item)}" for item in value)]
    return [f"{indent}{name}: {_scalar(value)}"]


def _is_flat(value: JsonValue) -> bool:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return all(map(_is_text, value))
    return not isinstance(value, Mapping)


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name) and name.lower() not in _WORDS else _json(name)


def _scalar(value: JsonValue) -> str:
    if isinstance(value, str) and (
        (_PLAIN.fullmatch(value) and value.lower() not in _WORDS) or _MOMENT.fullmatch(value)
    ):
        return value
    if isinstance(value, float):
        return _decimal(value)
    return _json(value)


def _decimal(value: float) -> str:
    """A number with a point, without which YAML 1.1 takes an exponent for text."""
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return text if "." in mantissa or not exponent else f"{mantissa}.0e{power}"


def _json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
