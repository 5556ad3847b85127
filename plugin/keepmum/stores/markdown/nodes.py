"""What front matter is read into, before anybody says which type an entry has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from keepmum.core.memory import JsonValue

__all__ = ["Node", "NotYaml", "Plain", "Unusual", "is_nothing", "resolved"]

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,400})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_NUMERIC = frozenset("+-.0123456789")  # what a number begins with
_WORDS: Mapping[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class NotYaml(ValueError):
    """The front matter cannot be read; the words say why, and quote nothing."""


class Unusual(ValueError):
    """Nothing is wrong, but it takes a whole YAML parser to read."""


class Plain(str):
    """A scalar without quotes: a commit `0123456` stays one, while elsewhere it would be a number."""

    __slots__ = ()


Node: TypeAlias = "JsonValue | Plain | Sequence[Node] | Mapping[str, Node]"


def is_nothing(node: str) -> bool:
    """Whether a scalar without quotes stands for no value."""
    return node in _WORDS and _WORDS[node] is None


def resolved(node: Node) -> JsonValue:
    """A node as JSON, by the core schema of YAML 1.2: `yes` and dates are text.

    Source: https://yaml.org/spec/1.2.2/#103-core-schema, read 2026-11-21; a number that begins with a zero stays text,
    since it is a commit or a telephone number more often than octal.
    """
    if isinstance(node, Plain):
        return _WORDS[node] if node in _WORDS else _number_or_text(node)
    if isinstance(node, Mapping):
        return {name: resolved(item) for name, item in node.items()}
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [resolved(item) for item in node]
    return node


def _number_or_text(node: Plain) -> int | float | str:
    if node[0] not in _NUMERIC:
        return str(node)
    if _INTEGER.fullmatch(node):
        return int(node)
    return float(node) if _FLOAT.fullmatch(node) else str(node)
