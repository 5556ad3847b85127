"""The YAML that memory files are written in, read at a fiftieth of the cost of a whole parser.

`name: value` lines, lists of scalars, one mapping inside another, and JSON. Whatever is beyond that is `Unusual`, not
an error: PyYAML decides then. What is read here means the same to PyYAML (a property test compares them).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence

from keepmum.stores.markdown.nodes import Node, NotYaml, Plain, Unusual

__all__ = ["Node", "parse_entry"]

_ENTRY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ ]+(.*))?")
_ITEM = re.compile(r"-(?:[ ]+(.*))?")
_PLAIN = re.compile(
    r"[A-Za-z0-9_./$~+(^=;\\<\u00a1-\u2027\u2030-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff-].*"
)
_HARD = re.compile(r"[\x00-\x08\t\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|: | #|:\Z")
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_FLOW = re.compile(r"\[\s*([\w./-]+(?:\s*,\s*[\w./-]+)*)?\s*\]")
_DEEPEST = 2


@functools.lru_cache(maxsize=4096)
def parse_entry(raw: str) -> Node:
    """The value of one top-level entry, given its lines; not to be changed, since files that say the same share it.

    Raises: Unusual when it takes a whole parser; NotYaml when it is wrong for certain.
    """
    lines = [line for line in raw.replace("\r\n", "\n").split("\n") if line.strip() and line.lstrip()[0] != "#"]
    found = _ENTRY.fullmatch(lines[0])
    if found is None:
        raise Unusual
    return _value(found[2] or "", lines[1:], 0)


def _value(text: str, below: Sequence[str], depth: int) -> Node:
    if text.strip():
        if below:
            raise Unusual
        return _scalar(text.strip(" "))
    if not below:
        return None
    indent = _indent(below[0])
    if below[0][indent] == "-" and (indent > 0 or depth == 0):
        return _items(below, indent)
    if indent == 0 or depth == _DEEPEST:
        raise Unusual
    return _mapping(below, indent, depth)


def _items(lines: Sequence[str], indent: int) -> list[Node]:
    items: list[Node] = []
    for line in lines:
        found = _ITEM.fullmatch(line, indent)
        if found is None or _indent(line) != indent:
            raise Unusual
        items.append(_scalar((found[1] or "").strip(" ")) if found[1] else None)
    return items


def _mapping(lines: Sequence[str], indent: int, depth: int) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    starts = [place for place, line in enumerate(lines) if _indent(line) == indent and line[indent] != "-"]
    if not starts or starts[0] != 0:
        raise Unusual
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        found = _ENTRY.fullmatch(lines[start], indent)
        below = lines[start + 1 : end]
        if found is None or any(_indent(line) < indent for line in below):
            raise Unusual
        if found[1] in nodes:
            raise NotYaml("names an entry twice in its front matter")
        nodes[found[1]] = _value(found[2] or "", below, depth + 1)
    return nodes


def _scalar(text: str) -> Node:
    if text[:1] == '"' or text[:1] in "[{":
        return _json(text)
    if single := _SINGLE.fullmatch(text):
        return single[1].replace("''", "'")
    if _HARD.search(text) or not _PLAIN.fullmatch(text) or text[:2] in {"- ", "--"} or text == "-":
        raise Unusual
    return Plain(text)


def _json(text: str) -> Node:
    try:
        value: Node = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        flow = _FLOW.fullmatch(text)
        if flow is None:
            raise Unusual from None
        return [Plain(word.strip()) for word in (flow[1] or "").split(",") if word.strip()]
    if "\\u" in text and any("\ud800" <= letter <= "\udfff" for letter in str(value)):
        raise Unusual
    return value


def _refused(name: str) -> Node:
    raise ValueError(name)  # NaN and infinity, which JSON has not


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
