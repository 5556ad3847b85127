"""A subset of YAML, read and written with the standard library.

Read: `name: value` lines, lists of scalars, mappings inside mappings, and JSON. Everything else raises `BeyondSubset`,
and PyYAML reads it instead. What is read here means the same to PyYAML; a property test compares the two.

There are two reasons to have it in addition to PyYAML. A plugin that runs on a bare interpreter can read and write its
own files and those of Koi. And a file takes 17 µs of CPU time, against 47 µs with PyYAML and libyaml.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from keepmum.core.memory import JsonValue

__all__ = ["BeyondSubset", "InvalidYaml", "Node", "PlainScalar", "is_null", "parse_entry", "render_entry", "to_json"]

_ENTRY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ ]+(.*))?")
_ITEM = re.compile(r"-(?:[ ]+(.*))?")
_PLAIN = re.compile(
    r"[A-Za-z0-9_./$~+(^=;\\<\u00a1-\u2027\u2030-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff-].*"
)
_NOT_PLAIN = re.compile(r"[\x00-\x08\t\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|: | #|:\Z")
_SINGLE_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_FLOW_LIST = re.compile(r"\[\s*([\w./-]+(?:\s*,\s*[\w./-]+)*)?\s*\]")
_MAX_DEPTH = 2

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,400})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_NUMBER_START = frozenset("+-.0123456789")
_CONSTANTS: Mapping[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip

# Every parser, of YAML 1.1 and of 1.2, reads these as text.
_ALWAYS_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+(-][A-Za-z0-9_./@+()',-]*)*")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_NEEDS_ESCAPE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class InvalidYaml(ValueError):
    """The front matter cannot be read. The message says why, and quotes nothing of it."""


class BeyondSubset(ValueError):
    """The text may be valid, but only a complete YAML parser can tell."""


class PlainScalar(str):
    """A scalar without quotes, before its type is known: a commit `0123456` is text, elsewhere it is a number."""

    __slots__ = ()


Node: TypeAlias = "JsonValue | PlainScalar | Sequence[Node] | Mapping[str, Node]"


# -- types


def is_null(node: str) -> bool:
    """Whether a scalar without quotes means no value."""
    return node in _CONSTANTS and _CONSTANTS[node] is None


def to_json(node: Node) -> JsonValue:
    """A node as JSON, by the core schema of YAML 1.2: `yes` and dates are text.

    A number with a leading zero stays text, since it is a commit or a telephone number more often than octal.
    Source: https://yaml.org/spec/1.2.2/#103-core-schema, read 2026-11-21.
    """
    if isinstance(node, PlainScalar):
        return _CONSTANTS[node] if node in _CONSTANTS else _number_or_text(node)
    if isinstance(node, Mapping):
        return {name: to_json(item) for name, item in node.items()}
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [to_json(item) for item in node]
    return node


def _number_or_text(node: PlainScalar) -> int | float | str:
    if node[0] not in _NUMBER_START:
        return str(node)
    if _INTEGER.fullmatch(node):
        return int(node)
    return float(node) if _FLOAT.fullmatch(node) else str(node)


# -- reading


@functools.lru_cache(maxsize=4096)
def parse_entry(raw: str) -> Node:
    """The value of one top-level entry, given its lines. It is shared between files: never change it.

    Raises: BeyondSubset; InvalidYaml for a repeated name.
    """
    lines = [line for line in raw.replace("\r\n", "\n").split("\n") if line.strip() and line.lstrip()[0] != "#"]
    entry = _ENTRY.fullmatch(lines[0])
    if entry is None:
        raise BeyondSubset
    return _parse_value(entry[2] or "", lines[1:], 0)


def _parse_value(text: str, below: Sequence[str], depth: int) -> Node:
    if text.strip():
        if below:
            raise BeyondSubset
        return _parse_scalar(text.strip(" "))
    if not below:
        return None
    indent = _indent(below[0])
    if below[0][indent] == "-" and (indent > 0 or depth == 0):
        return _parse_list(below, indent)
    if indent == 0 or depth == _MAX_DEPTH:
        raise BeyondSubset
    return _parse_mapping(below, indent, depth)


def _parse_list(lines: Sequence[str], indent: int) -> list[Node]:
    items: list[Node] = []
    for line in lines:
        item = _ITEM.fullmatch(line, indent)
        if item is None or _indent(line) != indent:
            raise BeyondSubset
        items.append(_parse_scalar((item[1] or "").strip(" ")) if item[1] else None)
    return items


def _parse_mapping(lines: Sequence[str], indent: int, depth: int) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    starts = [place for place, line in enumerate(lines) if _indent(line) == indent and line[indent] != "-"]
    if not starts or starts[0] != 0:
        raise BeyondSubset
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        entry = _ENTRY.fullmatch(lines[start], indent)
        below = lines[start + 1 : end]
        if entry is None or any(_indent(line) < indent for line in below):
            raise BeyondSubset
        if entry[1] in nodes:
            raise InvalidYaml("names an entry twice in its front matter")
        nodes[entry[1]] = _parse_value(entry[2] or "", below, depth + 1)
    return nodes


def _parse_scalar(text: str) -> Node:
    if text[:1] == '"' or text[:1] in "[{":
        return _parse_json(text)
    if quoted := _SINGLE_QUOTED.fullmatch(text):
        return quoted[1].replace("''", "'")
    if _NOT_PLAIN.search(text) or not _PLAIN.fullmatch(text) or text[:2] in {"- ", "--"} or text == "-":
        raise BeyondSubset
    return PlainScalar(text)


def _parse_json(text: str) -> Node:
    try:
        value: Node = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        flow = _FLOW_LIST.fullmatch(text)
        if flow is None:
            raise BeyondSubset from None
        return [PlainScalar(word.strip()) for word in (flow[1] or "").split(",") if word.strip()]
    if "\\u" in text and any("\ud800" <= letter <= "\udfff" for letter in str(value)):
        raise BeyondSubset
    return value


def _refuse_constant(name: str) -> Node:
    raise ValueError(name)  # NaN and infinity are not JSON


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# -- writing


def render_entry(name: str, value: JsonValue, newline: str) -> str:
    """The lines of one entry: plain scalars where every parser reads them as text, otherwise JSON."""
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
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name) and name.lower() not in _RESERVED else _json(name)


def _scalar(value: JsonValue) -> str:
    if isinstance(value, str) and (
        (_ALWAYS_TEXT.fullmatch(value) and value.lower() not in _RESERVED) or _TIMESTAMP.fullmatch(value)
    ):
        return value
    return _float(value) if isinstance(value, float) else _json(value)


def _float(value: float) -> str:
    """A number with a decimal point: without one, YAML 1.1 reads an exponent as text."""
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return text if "." in mantissa or not exponent else f"{mantissa}.0e{power}"


def _json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _NEEDS_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
