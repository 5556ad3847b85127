"""Import the knowledge graph of the reference memory server: entities with observations, and relations.

Source: https://github.com/modelcontextprotocol/servers/tree/main/src/memory, read 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core.memory import JsonValue
from keepmum.service.importers.field_values import changed_at
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, build_item
from keepmum.service.importers.json_lines import objects, open_lines
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_TYPES = frozenset({"entity", "relation"})
_Relations = dict[str, list[dict[str, str]]]


def _matches(sniff: Sniff) -> bool:
    return sniff.line.get("type") in _TYPES


def _read(path: str) -> Iterator[Found]:
    """Each entity as a memory: a line for each observation, the relations as data. The file is read twice.

    Raises: InvalidInput when the file cannot be opened.
    """
    names, relations, sources = _graph(path)
    at = changed_at(path)
    for place, value, problem in objects(open_lines(path)):
        if value is None:
            yield ImportItem(place, None, problem)
        elif _is_entity(value):
            yield _item(place, value, relations.get(value["name"], []), at)
        elif value.get("type") != "relation":
            yield ImportItem(place, None, "is neither an entity with a name nor a relation")
    for place, source in sources:
        if source not in names:
            yield ImportItem(place, None, "is a relation of an entity that is not in the file")


def _graph(path: str) -> tuple[set[str], _Relations, list[tuple[str, str]]]:
    """The names of all entities, the relations of each, and the place and the source of each relation."""
    names: set[str] = set()
    relations: _Relations = {}
    sources: list[tuple[str, str]] = []
    for place, value, _ in objects(open_lines(path)):
        if value is not None and _is_entity(value):
            names.add(value["name"])
        elif value is not None and value.get("type") == "relation":
            source, target, how = (str(value.get(name) or "") for name in ("from", "to", "relationType"))
            relations.setdefault(source, []).append({"to": target, "how": how})
            sources.append((place, source))
    return names, relations, sources


def _is_entity(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "entity" and isinstance(value.get("name"), str)


def _item(place: str, value: Mapping[str, Any], related: list[dict[str, str]], at: int) -> ImportItem:
    name, listed = value["name"], value.get("observations")
    observations = [str(one) for one in listed] if isinstance(listed, list) else []
    kind = str(value.get("entityType") or "")
    data: dict[str, JsonValue] = {"entity": kind}
    if related:
        data["related"] = related
    lines = [name, *(f"- {line}" for line in observations), *(f"- {one['how']} {one['to']}" for one in related)]
    return build_item(
        place, "server-memory", name, "\n".join(lines), at, title=name, tags=[kind] if kind else [], kind="fact",
        data=data, source="knowledge graph of server-memory",
    )  # fmt: skip


FORMAT = Format("the knowledge graph of the reference memory server", _matches, _read)
