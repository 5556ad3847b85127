"""Import the memories of engram: the observations and session summaries of its database, or of `engram export`.

The prompts that it stores are what a user typed, not memories; they are counted and left out.
Source: https://github.com/Gentleman-Programming/engram (internal/store/store.go), read 2026-11-22.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core.memory import JsonValue, Kind
from keepmum.service.importers.field_values import changed_at, parse_time
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff
from keepmum.service.importers.sqlite_source import SqliteSource, is_sqlite

__all__ = ["FORMAT"]

_TOOL = "engram"
_COLUMNS = ("id", "session_id", "type", "title", "content", "tool_name", "project", "scope", "topic_key",
            "revision_count", "last_seen_at", "created_at", "updated_at", "deleted_at")  # fmt: skip
_SESSION = ("id", "project", "directory", "started_at", "ended_at", "summary")
_DERIVED = ("normalized_hash",)
_KINDS: Mapping[str, Kind] = {
    "decision": "decision", "architecture": "decision", "bugfix": "troubleshooting", "preference": "preference",
    "pattern": "workflow", "config": "fact", "discovery": "fact", "learning": "fact",
}  # fmt: skip


def _observation(place: str, row: Mapping[str, Any], default_time: int) -> Found:
    if row.get("deleted_at"):
        return NotKept("memories that were deleted", 1)
    is_personal, kind = row.get("scope") == "personal", str(row.get("type") or "")
    data: dict[str, JsonValue] = {name: row[name] for name in ("type", "tool_name") if row.get(name)}
    revisions = row.get("revision_count")
    return build_item(
        place, _TOOL, f"{row.get('id')}\0{row.get('created_at')}", row.get("content"),
        parse_time(row.get("created_at")) or default_time, updated=parse_time(row.get("updated_at")),
        title=row.get("title"), project=None if is_personal else row.get("project"), key=row.get("topic_key") or None,
        scope="global" if is_personal else "project", kind=_KINDS.get(kind, "note"), data=data or None,
        session=row.get("session_id") or None, accessed_at=parse_time(row.get("last_seen_at")),
        not_kept=["numbers of former revisions; their texts are not stored there"]
        if isinstance(revisions, int) and revisions > 1
        else (),
    )  # fmt: skip


def _summary(place: str, row: Mapping[str, Any], default_time: int) -> Found | None:
    if not row.get("summary"):
        return None
    folder = row.get("directory")
    where = folder if isinstance(folder, str) and os.path.isdir(folder) else row.get("project")
    return build_item(
        place, _TOOL, f"session {row.get('id')}", row["summary"], parse_time(row.get("started_at")) or default_time,
        updated=parse_time(row.get("ended_at")), project=where, session=str(row.get("id")),
        data={"type": "session summary"},
    )  # fmt: skip


def _matches(sniff: Sniff) -> bool:
    return sniff.has_columns("observations", "session_id", "content", "title") or sniff.has_items(
        "session_id", "content", "title", under=("observations",)
    )


def _read(path: str) -> Iterator[Found]:
    yield from _read_database(path) if is_sqlite(path) else _read_export(path)


def _read_export(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    for place, name, value in records(path):
        if isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object")
        elif name == "observations" and isinstance(value, dict):
            yield _observation(place, value, default_time)
        elif name == "sessions" and isinstance(value, dict) and (found := _summary(place, value, default_time)):
            yield found
        elif name == "prompts":
            yield NotKept("prompts that a user typed", 1)


def _read_database(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    with SqliteSource(path) as source:
        for place, row, problem in source.rows("observations", _COLUMNS):
            yield ImportItem(place, None, problem) if row is None else _observation(place, row, default_time)
        for row in source.all("SELECT * FROM sessions WHERE summary IS NOT NULL ORDER BY started_at"):
            if found := _summary(f"session {row['id']}", row, default_time):
                yield found
        yield from source.not_kept({"observations": (*_COLUMNS, *_DERIVED, "duplicate_count"), "sessions": _SESSION})
        yield from source.changed()


FORMAT = Format("the memories of engram", _matches, _read)
