"""Import the memories of mem0: what `get_all` or an export gives, and its `history.db`.

`history.db` has the text and the former texts of each memory, but not whose it is; an export has that.
Source: https://github.com/mem0ai/mem0 (mem0/memory/main.py, mem0/memory/storage.py), read 2026-11-22.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepmum.core.memory import JsonValue
from keepmum.service.importers.field_values import changed_at, parse_time, text_list
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import Former, ImportItem, NotKept, build_item
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff
from keepmum.service.importers.sqlite_source import Row, SqliteSource, is_sqlite

__all__ = ["FORMAT", "item"]

_TOOL = "mem0"
_EVENTS = (
    "id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted", "actor_id",
)  # fmt: skip
_OWNERS = ("user_id", "app_id", "org_id", "project_id", "role")  # kept as data
_MAPPED = frozenset({
    "id", "memory", "data", "text", "hash", "metadata", "created_at", "updated_at", "agent_id", "actor_id", "run_id",
    "attributed_to", "categories", "expiration_date", "score", "text_lemmatized", *_OWNERS,
})  # fmt: skip


def item(
    place: str,
    row: Mapping[str, Any],
    default_time: int,
    past: Sequence[Former] = (),
    not_kept: Sequence[str] = (),
) -> ImportItem:
    """A memory as mem0 gives it; `default_time` is its time if it names none."""
    data: dict[str, JsonValue] = {name: row[name] for name in _OWNERS if row.get(name)}
    if isinstance(row.get("metadata"), dict) and row["metadata"]:
        data["metadata"] = row["metadata"]
    data |= {name: value for name, value in row.items() if name not in _MAPPED and value not in (None, "", [], {})}
    return build_item(
        place, _TOOL, row.get("id") or row.get("hash"), row.get("memory") or row.get("text"),
        parse_time(row.get("created_at")) or default_time, updated=parse_time(row.get("updated_at")),
        tags=text_list(row.get("categories")),
        author=row.get("agent_id") or row.get("actor_id") or row.get("attributed_to"), past=past,
        not_kept=not_kept, kind="fact", session=row.get("run_id") or None, data=data or None,
        expires_at=parse_time(row.get("expiration_date")),
    )  # fmt: skip


def _matches(sniff: Sniff) -> bool:
    return sniff.has_columns("history", "memory_id", "new_memory") or (
        sniff.has_items("memory", "id") or {"memory", "id"} <= sniff.line.keys()
    )


def _read(path: str) -> Iterator[Found]:
    yield from _read_history(path) if is_sqlite(path) else _read_export(path)


def _read_export(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    for place, name, value in records(path):
        if name == "relations":
            yield NotKept("relations of the graph", 1)
        elif isinstance(value, dict) and ("memory" in value or "text" in value):
            yield item(place, value, default_time)
        elif isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object")


def _read_history(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    with SqliteSource(path) as source:
        for name, events in itertools.groupby(source.grouped("history", "memory_id", _EVENTS), _memory):
            yield _from_events(str(name), list(events), default_time)
        yield from source.not_kept({"history": (*_EVENTS, "role")})
        yield from source.changed()


def _memory(event: Row) -> object:
    return event["memory_id"]


def _from_events(name: str, events: Sequence[Row], default_time: int) -> Found:
    """A memory from its events, the oldest first."""
    last = events[-1]
    if last["event"] == "DELETE" or last["is_deleted"]:
        return NotKept("memories that were deleted", 1)
    past = [
        Former(parse_time(each["updated_at"] or each["created_at"]) or default_time, str(each["actor_id"] or _TOOL),
               {"text": each["old_memory"]})
        for each in reversed(events)
        if each["old_memory"]
    ]  # fmt: skip
    row = {"id": name, "memory": last["new_memory"], "created_at": events[0]["created_at"] or events[0]["updated_at"],
           "updated_at": last["updated_at"] or last["created_at"], "actor_id": last["actor_id"]}  # fmt: skip
    return item(f"memory {name}", row, default_time, past)


FORMAT = Format("the memories of mem0", _matches, _read)
