"""Import the knowledge graph of the reference memory server: entities with observations, and relations.

Source: https://github.com/modelcontextprotocol/servers/tree/main/src/memory, read 2026-11-21.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS
from keepmum.service.importers.item import ImportItem, stable_id
from keepmum.service.importers.json_lines import objects, open_lines

__all__ = ["is_graph", "read"]

_TYPES = frozenset({"entity", "relation"})


def is_graph(path: str) -> bool:
    """Whether the first line of a file is an entity or a relation."""
    try:
        first = next(objects(open_lines(path)), None)
    except InvalidInput:
        return False
    return first is not None and first[1] is not None and first[1].get("type") in _TYPES


def read(path: str) -> Iterator[ImportItem]:
    """Each entity as a memory: a line for each observation, the relations as data.

    Raises: InvalidInput when the file cannot be opened.
    """
    entities: dict[str, tuple[str, dict[str, Any]]] = {}
    relations: list[tuple[str, dict[str, Any]]] = []
    for place, value, problem in objects(open_lines(path)):
        if value is None:
            yield ImportItem(place, None, problem)
        elif value.get("type") == "entity" and isinstance(value.get("name"), str):
            entities[value["name"]] = (place, value)
        elif value.get("type") == "relation":
            relations.append((place, value))
        else:
            yield ImportItem(place, None, "is neither an entity with a name nor a relation")
    related: dict[str, list[dict[str, str]]] = {}
    for place, value in relations:
        source, target, how = (str(value.get(name) or "") for name in ("from", "to", "relationType"))
        if source in entities:
            related.setdefault(source, []).append({"to": target, "how": how})
        else:
            yield ImportItem(place, None, "is a relation of an entity that is not in the file")
    at = int(os.stat(path).st_mtime * 1000)
    for name, (place, value) in entities.items():
        yield ImportItem(place, _values(name, value, related.get(name, []), at))


# Any: JSON of an entity, whose types are checked here and by the import.
def _values(name: str, value: dict[str, Any], related: list[dict[str, str]], at: int) -> dict[str, Any]:
    listed = value.get("observations")
    observations = [str(one) for one in listed] if isinstance(listed, list) else []
    kind = str(value.get("entityType") or "")
    data: dict[str, Any] = {"entity": kind}
    if related:
        data["related"] = related
    lines = [name, *(f"- {line}" for line in observations), *(f"- {one['how']} {one['to']}" for one in related)]
    return {
        "id": stable_id(0, "server-memory", name, json.dumps([kind, observations, related])),
        "text": "\n".join(lines), "title": name[: LIMITS.title], "kind": "fact", "tier": "long", "data": data,
        "tags": [kind[: LIMITS.tag]] if kind else [], "created_at": at, "updated_at": at, "agent": "server-memory",
        "created_by": "server-memory", "updated_by": "server-memory", "origin": "import",
        "source": "knowledge graph of server-memory",
    }  # fmt: skip
