"""Import the memories of mcp-memory-service (doobidoo): its SQLite-vec database, or its JSON export.

Vectors are computed again, so the database is read without the extension.
Source: https://github.com/doobidoo/mcp-memory-service (src/mcp_memory_service/storage/sqlite_vec.py and migrations/,
models/ontology.py, examples/memory_export_template.json), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepmum.core.memory import JsonValue, Kind
from keepmum.service.importers.field_values import changed_at, json_object, parse_time, positive, text_list
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item, stable_id
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff
from keepmum.service.importers.sqlite_source import SqliteSource, is_sqlite

__all__ = ["FORMAT"]

_TOOL = "mcp-memory-service"
_COLUMNS = ("id", "content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at",
            "created_at_iso", "updated_at_iso", "deleted_at", "parent_id", "version", "confidence", "last_accessed",
            "superseded_by", "store")  # fmt: skip
_GRAPH = ("source_hash", "target_hash", "relationship_type")
_GRAPH_USED = (*_GRAPH, "similarity", "connection_types", "metadata", "created_at")
_LINKS = 'SELECT * FROM "memory_graph" WHERE source_hash = ? LIMIT 50'
_KINDS: Mapping[str, Kind] = {
    "decision": "decision", "architecture": "decision", "tool_choice": "decision", "approach": "decision",
    "configuration": "fact", "learning": "fact", "insight": "fact", "gotcha": "fact", "best_practice": "instruction",
    "anti_pattern": "instruction", "error": "troubleshooting", "bug": "troubleshooting", "failure": "troubleshooting",
    "exception": "troubleshooting", "mistake": "troubleshooting", "pattern": "workflow", "workflow": "workflow",
    "planning": "task", "backlog_item": "task", "reference": "fact", "document": "fact",
}  # fmt: skip
_USE = frozenset({"access_count", "last_accessed_at", "superseded_by", "source"})  # metadata with a field of its own


def _item(place: str, row: Mapping[str, Any], default_time: int, links: Sequence[Mapping[str, Any]] = ()) -> Found:
    if row.get("deleted_at"):
        return NotKept("memories that were deleted", 1)
    metadata = json_object(row.get("metadata")) or {}
    newer = row.get("superseded_by") or metadata.get("superseded_by")
    data: dict[str, JsonValue] = {"type": row.get("memory_type")} if row.get("memory_type") else {}
    data |= {name: value for name, value in metadata.items() if name not in _USE}
    if row.get("store") not in {None, "", "default"}:
        data["store"] = str(row["store"])
    if links:
        data["related"] = [
            {"to": stable_id(_TOOL, str(link["target_hash"])), "how": str(link.get("relationship_type") or "related")}
            for link in links
        ]
    confidence, tags = row.get("confidence"), text_list(row.get("tags"))
    return build_item(
        place, _TOOL, row.get("content_hash"), row.get("content"),
        parse_time(row.get("created_at")) or parse_time(row.get("created_at_iso")) or default_time,
        updated=parse_time(row.get("updated_at")) or parse_time(row.get("updated_at_iso")),
        tags=[tag for tag in tags if tag.strip() != "untagged"], author=metadata.get("source"),
        project=next((tag.partition(":")[2] for tag in tags if tag.startswith("proj:")), None),
        kind=_KINDS.get(str(row.get("memory_type")), "note"), data=data or None,
        confidence=float(confidence) if isinstance(confidence, (int, float)) and 0 <= confidence < 1 else None,
        accessed_at=parse_time(row.get("last_accessed")) or parse_time(metadata.get("last_accessed_at")),
        access_count=positive(metadata.get("access_count")),
        superseded_by=stable_id(_TOOL, newer) if isinstance(newer, str) and newer else None,
        status="superseded" if newer else None,
        supersedes=stable_id(_TOOL, row["parent_id"]) if row.get("parent_id") else None,
    )  # fmt: skip


def _matches(sniff: Sniff) -> bool:
    return sniff.has_columns("memories", "content_hash", "content") or sniff.has_items("content", "content_hash")


def _read(path: str) -> Iterator[Found]:
    yield from _read_database(path) if is_sqlite(path) else _read_export(path)


def _read_export(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    for place, name, value in records(path):
        if isinstance(value, dict) and "content" in value:
            yield _item(place, value, default_time)
        elif name == "memories" or isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object with `content`")


def _read_database(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    with SqliteSource(path) as source:
        has_graph = set(_GRAPH[:2]) <= source.tables.get("memory_graph", frozenset())
        for place, row, problem in source.rows("memories", _COLUMNS):
            if row is None:
                yield ImportItem(place, None, problem)
            else:
                links = source.all(_LINKS, row["content_hash"]) if has_graph else []
                yield _item(place, row, default_time, links)
        yield from source.not_kept({
            "memories": (*_COLUMNS, "embedding_pending"), "memory_graph": _GRAPH_USED, "metadata": ("key", "value"),
        })  # fmt: skip
        yield from source.changed()


FORMAT = Format("the memories of mcp-memory-service", _matches, _read)
