"""A memory as this dialect sees it: a JSON value under a key, with importance 1 to 5 and verbosity 1 to 4."""

from __future__ import annotations

import json
from collections.abc import Mapping

from keepmum.core import ids
from keepmum.core.memory import JsonValue, Kind, Memory
from keepmum.mcp.dialects.handlers import iso

__all__ = ["SHORT", "data_of", "importance", "kind_of", "row", "share", "text_of", "value", "verbosity"]

SHORT = 100  # characters of a value in a list
_VERBOSITY = 2
# What a key tells of the kind of memory, for the other dialects and the briefing.
_KINDS: Mapping[str, Kind] = {
    "architecture.": "decision", "decision.": "decision", "shared.decisions": "decision",
    "project.conventions": "instruction", "project.": "fact",
    "current.": "task", "next.": "task", "todo.": "task", "discovered.todos": "task",
    "discovered.": "fact", "error.": "troubleshooting", "debug.": "troubleshooting", "ai.": "preference",
}  # fmt: skip


def kind_of(key: str) -> Kind:
    """The kind of memory that lies under a key: what its longest known beginning says."""
    known = [prefix for prefix in _KINDS if key.startswith(prefix)]
    return _KINDS[max(known, key=len)] if known else "note"


def share(level: int) -> float:
    """An importance of 1 to 5 as the core keeps it, 0 to 1."""
    return (level - 1) / 4


def importance(memory: Memory) -> int:
    """The importance of a memory, 1 to 5."""
    return round(1 + 4 * memory.importance)


def text_of(told: JsonValue) -> str:
    """The text by which a value is searched and shown."""
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


def data_of(told: JsonValue, level: int) -> dict[str, JsonValue]:
    """What is kept beside the text: the verbosity, and the value where the text is only its spelling."""
    kept: dict[str, JsonValue] = {"verbosity": level}
    return kept if isinstance(told, str) else {**kept, "value": told}


def value(memory: Memory) -> JsonValue:
    """The value of a memory; of one that another dialect wrote, its text."""
    data = memory.data
    return data["value"] if isinstance(data, Mapping) and "value" in data and "verbosity" in data else memory.text


def verbosity(memory: Memory) -> int:
    """The verbosity of a memory, 1 to 4; 2 where nobody said it."""
    level = memory.data.get("verbosity") if isinstance(memory.data, Mapping) else None
    return level if isinstance(level, int) else _VERBOSITY


def row(memory: Memory, *, root: str | None = None, cut: bool = False) -> dict[str, JsonValue]:
    """A memory as the tools answer it; `root` is the folder of its project, where that is known."""
    told = value(memory)
    if cut and len(text_of(told)) > SHORT:
        told = f"{text_of(told)[: SHORT - 1]}…"
    ttl = None if memory.expires_at is None else round((memory.expires_at - memory.updated_at) / 1000)
    return {
        "id": ids.to_uuid(memory.id),
        "key": memory.key,
        "value": told,
        "scope": memory.scope,
        "project_path": root,
        "session_id": memory.session if memory.scope == "session" else None,
        "metadata": {
            "created_at": iso(memory.created_at),
            "updated_at": iso(memory.updated_at),
            "accessed_at": iso(memory.accessed_at or memory.created_at),
            "created_by": memory.created_by,
            "updated_by": memory.updated_by,
            "ttl": ttl,
            "tags": list(memory.tags),
            "access_count": memory.access_count,
            "importance": importance(memory),
            "verbosity": verbosity(memory),
        },
    }
