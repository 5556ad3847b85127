"""Front matter read by PyYAML, event by event: no object is ever made, no alias followed, no tag obeyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keepmum.stores.markdown.nodes import Node, NotYaml, Plain

__all__ = ["parse"]

_DEEPEST = 32
_MOST = 20_000  # nodes


def parse(text: str) -> dict[str, Node]:
    """The entries by name.

    Raises: NotYaml saying in which line of the file, or what is not read here.
    """
    try:
        import yaml
    except ImportError:
        raise NotYaml("has front matter that takes PyYAML to read: pip install pyyaml") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = iter(list(_limited(yaml.parse(text, Loader=loader))))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", near line {mark.line + 2}" if mark is not None else ""  # the fence is the first line of the file
        raise NotYaml(f"has front matter that is not YAML{where}") from None
    document = _document(events)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise NotYaml("has front matter that is no list of named entries")
    return document


def _limited(events: Iterator[Any]) -> Iterator[Any]:
    for number, event in enumerate(events):
        if number > _MOST:
            raise NotYaml(f"has front matter of more than {_MOST:,} parts")
        yield event


def _document(events: Iterator[Any]) -> Node:
    for event in events:
        name = type(event).__name__
        if name == "DocumentStartEvent":
            return _node(next(events), events, 0)
    return None


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    if getattr(event, "anchor", None) is not None:
        raise NotYaml("uses an anchor or alias in its front matter; write the value out")
    if depth > _DEEPEST:
        raise NotYaml(f"has front matter nested more than {_DEEPEST} deep")
    kind = type(event).__name__
    if kind == "ScalarEvent":
        if event.tag is not None and event.tag != "!":
            raise NotYaml("uses a tag in its front matter; write the value without it")
        return str(event.value) if event.style or event.tag == "!" else Plain(event.value)
    if event.tag is not None:
        raise NotYaml("uses a tag in its front matter; write the value without it")
    if kind == "SequenceStartEvent":
        return list(_items(events, depth))
    return _mapping(events, depth)


def _items(events: Iterator[Any], depth: int) -> Iterator[Node]:
    while type(event := next(events)).__name__ != "SequenceEndEvent":
        yield _node(event, events, depth + 1)


def _mapping(events: Iterator[Any], depth: int) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    while type(event := next(events)).__name__ != "MappingEndEvent":
        name = _node(event, events, depth + 1)
        if not isinstance(name, str):
            raise NotYaml("has an entry in its front matter whose name is no text")
        if str(name) in nodes:
            raise NotYaml("names an entry twice in its front matter")
        nodes[str(name)] = _node(next(events), events, depth + 1)
    return nodes
