"""Import the memories of Agent Memory (MCP Apps): its database, and what its `export-memories` gives.

Source: https://github.com/nihalnihalani/agent-memory (src/db/schema.ts, src/tools/utility-tools.ts), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepmum.service.importers.field_values import changed_at, parse_time, positive, text_list
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import Former, ImportItem, build_item
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff
from keepmum.service.importers.sqlite_source import SqliteSource, is_sqlite

__all__ = ["FORMAT", "item"]

_TOOL = "agent-memory"
_COLUMNS = (
    "id", "key", "value", "type", "context", "agent_id", "created_at", "updated_at", "access_count",
)  # fmt: skip
_PAST = ("memory_id", "old_value", "old_type", "old_context", "changed_by", "changed_at")
_KINDS = frozenset({"decision", "preference", "task", "snippet", "note"})


def item(place: str, row: Mapping[str, Any], default_time: int, past: Sequence[Former] = ()) -> ImportItem:
    """A memory of an export, or a row with its `tags`; `default_time` is its time if it names none."""
    created = parse_time(row.get("created_at")) or default_time
    return build_item(
        place, _TOOL, row.get("key"), row.get("value"), created,
        updated=parse_time(row.get("updated_at")), tags=text_list(row.get("tags")), title=row.get("key"),
        author=row.get("agent_id"), past=past, key=row.get("key"), why=row.get("context") or None,
        kind=row["type"] if row.get("type") in _KINDS else "note", scope="global",
        access_count=positive(row.get("access_count")),
    )  # fmt: skip


def _matches(sniff: Sniff) -> bool:
    return sniff.has_columns("memories", "key", "value", "agent_id") or sniff.has_items("key", "value", "agent_id")


def _read(path: str) -> Iterator[Found]:
    yield from _read_database(path) if is_sqlite(path) else _read_export(path)


def _read_export(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    for place, name, value in records(path):
        if isinstance(value, dict):
            yield item(place, value, default_time)
        elif name == "memories" or isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object")


def _read_database(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    with SqliteSource(path) as source:
        has_tags, has_past = "tags" in source.tables, "memory_history" in source.tables
        for place, row, problem in source.rows("memories", _COLUMNS):
            if row is None:
                yield ImportItem(place, None, problem)
                continue
            own = row["id"]
            tags = source.all('SELECT tag FROM "tags" WHERE memory_id = ? ORDER BY rowid', own) if has_tags else []
            past = (
                source.all('SELECT * FROM "memory_history" WHERE memory_id = ? ORDER BY id DESC', own)
                if has_past
                else []
            )
            formers = tuple(_former(each, default_time) for each in past)
            yield item(place, {**row, "tags": [each["tag"] for each in tags]}, default_time, formers)
        used = {"memories": _COLUMNS, "tags": ("memory_id", "tag"), "memory_history": ("id", *_PAST)}
        yield from source.not_kept(used)
        yield from source.changed()


def _former(row: Mapping[str, Any], default_time: int) -> Former:
    values = {"text": row["old_value"], "kind": row["old_type"] or "note", "why": row["old_context"]}
    return Former(parse_time(row["changed_at"]) or default_time, str(row["changed_by"] or _TOOL), values)


FORMAT = Format("the memories of Agent Memory", _matches, _read)
