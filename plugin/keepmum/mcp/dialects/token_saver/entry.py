"""A memory in this dialect: a JSON value under a key, with importance 1 to 5 and verbosity 1 to 4."""

from __future__ import annotations

import json
from collections.abc import Mapping

from keepmum.core import ids
from keepmum.core.memory import JsonValue, Memory
from keepmum.core.token_saver import text_of
from keepmum.mcp.dialects.handlers import iso, outside_mark

__all__ = [
    "SHORT",
    "importance",
    "row",
    "shortened",
    "value",
    "verbosity",
]

SHORT = 100  # characters of a value in a list
_SHORTEST_PART = 12  # characters of a member of a list or object that is cut
_VERBOSITY = 2


def importance(memory: Memory) -> int:
    """The importance of a memory, 1 to 5."""
    return round(1 + 4 * memory.importance)


def value(memory: Memory) -> JsonValue:
    """The value of a memory; the text if another dialect wrote it."""
    data = memory.data
    return data["value"] if isinstance(data, Mapping) and "value" in data and "verbosity" in data else memory.text


def verbosity(memory: Memory) -> int:
    """The verbosity of a memory, 1 to 4; default 2."""
    level = memory.data.get("verbosity") if isinstance(memory.data, Mapping) else None
    return level if isinstance(level, int) else _VERBOSITY


def shortened(value: JsonValue, length: int) -> JsonValue:
    """A value of the same type in about `length` characters: the start of a text, the first items of a list or object.

    An object or list stays one, so that it differs from the text that describes it.
    """
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[: max(0, length - 1)]}…"
    if not isinstance(value, (Mapping, list)) or len(text_of(value)) <= length:
        return value
    left = length - 2
    members: list[tuple[str, JsonValue]] = []
    for name, item in value.items() if isinstance(value, Mapping) else (("", item) for item in value):
        left -= len(json.dumps(name, ensure_ascii=False)) + 4 if name else 2
        needed = len(json.dumps(item, ensure_ascii=False))
        if needed > left:
            if left >= _SHORTEST_PART and isinstance(item, (str, Mapping, list)):
                members.append((name, shortened(item, left - 2)))
            break
        left -= needed
        members.append((name, item))
    return dict(members) if isinstance(value, Mapping) else [item for _, item in members]


def row(memory: Memory, *, root: str | None = None, cut: bool = False) -> dict[str, JsonValue]:
    """A memory as JSON; `root` is its project's folder, if known. With `cut`, its value is shortened."""
    whole = value(memory)
    shown = shortened(whole, SHORT) if cut else whole
    ttl = None if memory.expires_at is None else round((memory.expires_at - memory.updated_at) / 1000)
    return {
        "id": ids.to_uuid(memory.id),
        "key": memory.key,
        "value": shown,
        **({} if shown == whole else {"truncated": True}),
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
            **outside_mark(memory),
        },
    }
