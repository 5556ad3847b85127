"""Front matter read by PyYAML, event by event: it creates no objects, resolves no aliases and applies no tags."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from keepmum.stores.markdown.yaml_subset import InvalidYaml, Node, PlainScalar

__all__ = ["parse"]

_MAX_DEPTH = 32
_MAX_EVENTS = 20_000

_Event = Any  # PyYAML has no types


def parse(text: str) -> dict[str, Node]:
    """The entries by name.

    Raises: InvalidYaml with the line in the file, or with what is not supported.
    """
    try:
        import yaml
    except ImportError:
        raise InvalidYaml(
            "has front matter that needs PyYAML: run installers/install.sh, or pip install pyyaml"
        ) from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = list(itertools.islice(yaml.parse(text, Loader=loader), _MAX_EVENTS + 1))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", near line {mark.line + 2}" if mark is not None else ""  # the first line of the file is `---`
        raise InvalidYaml(f"has front matter that is not YAML{where}") from None
    if len(events) > _MAX_EVENTS:
        raise InvalidYaml(f"has front matter of more than {_MAX_EVENTS:,} parts")
    rest = itertools.dropwhile(lambda event: type(event).__name__ != "DocumentStartEvent", events)
    if next(rest, None) is None:
        return {}
    document = _node(next(rest), rest, 0)
    if not isinstance(document, dict):
        raise InvalidYaml("has front matter that is not a list of named entries")
    return document


def _node(event: _Event, events: Iterator[_Event], depth: int) -> Node:
    if getattr(event, "anchor", None) is not None:
        raise InvalidYaml("uses an anchor or alias in its front matter; write the value out")
    if depth > _MAX_DEPTH:
        raise InvalidYaml(f"has front matter nested more than {_MAX_DEPTH} deep")
    kind = type(event).__name__
    if event.tag is not None and not (kind == "ScalarEvent" and event.tag == "!"):
        raise InvalidYaml("uses a tag in its front matter; write the value without it")
    if kind == "ScalarEvent":
        return str(event.value) if event.style or event.tag == "!" else PlainScalar(event.value)
    if kind == "SequenceStartEvent":
        return list(_items(events, depth))
    return _mapping(events, depth)


def _items(events: Iterator[_Event], depth: int) -> Iterator[Node]:
    while type(event := next(events)).__name__ != "SequenceEndEvent":
        yield _node(event, events, depth + 1)


def _mapping(events: Iterator[_Event], depth: int) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    while type(event := next(events)).__name__ != "MappingEndEvent":
        name = _node(event, events, depth + 1)
        if not isinstance(name, str):
            raise InvalidYaml("has an entry in its front matter whose name is not text")
        if str(name) in nodes:
            raise InvalidYaml("names an entry twice in its front matter")
        nodes[str(name)] = _node(next(events), events, depth + 1)
    return nodes
