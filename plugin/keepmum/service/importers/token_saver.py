"""Import the memories of Token Saver: its database, and what its `export_memories` or our dialect writes.

Source: https://github.com/jerry426/token-saver-mcp (mcp-server/src/db/memory-db.ts,
mcp-server/src/tools/memory/export-memories.ts), read 2026-11-22.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core.token_saver import data_of, importance_of, kind_of, text_of
from keepmum.service.importers.field_values import changed_at, parse_time, positive, text_list
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff
from keepmum.service.importers.sqlite_source import SqliteSource, is_sqlite

__all__ = ["FORMAT", "item"]

_TOOL = "token-saver"
_COLUMNS = (
    "id", "key", "value", "scope", "project_path", "session_id", "created_at", "updated_at", "accessed_at",
    "created_by", "ttl", "tags", "access_count", "importance", "verbosity",
)  # fmt: skip
_SCOPES = frozenset({"global", "project", "session", "shared"})
_VERBOSITY, _IMPORTANCE = 2, 3  # the defaults


def item(place: str, row: Mapping[str, Any], default_time: int, project: str = "") -> Found:
    """A memory of an export, with its `value` parsed; `default_time` is its time if it names none."""
    meta = row.get("metadata")
    found = {**row, **meta} if isinstance(meta, dict) else row
    key, value = found.get("key"), found.get("value")
    if not isinstance(key, str) or not key or value is None:
        return ImportItem(place, None, "has no key or no value")
    created = parse_time(found.get("created_at")) or default_time
    updated = parse_time(found.get("updated_at")) or created
    lifetime = found.get("ttl")
    expires = updated + round(lifetime * 1000) if isinstance(lifetime, (int, float)) and lifetime > 0 else None
    if expires is not None and expires <= time.time() * 1000:
        return NotKept("memories whose time to live has passed", 1)
    session = found.get("session_id")
    scope = str(found.get("scope") or "project").lower()
    scope = scope if scope in _SCOPES and (scope != "session" or session) else "project"
    level = _number(found.get("importance"), _IMPORTANCE, 5)
    where = found.get("project_path") or project
    return build_item(
        place, _TOOL, found.get("id") or f"{scope}\0{where}\0{key}", text_of(value), created,
        updated=updated, tags=text_list(found.get("tags")), title=key, author=found.get("created_by"),
        project=where if scope in {"project", "shared"} else None, key=key, kind=kind_of(key), scope=scope,
        session=session if scope == "session" else None, importance=importance_of(level),
        data=data_of(value, int(_number(found.get("verbosity"), _VERBOSITY, 4))), expires_at=expires,
        accessed_at=parse_time(found.get("accessed_at")),
        access_count=positive(found.get("access_count")),
    )  # fmt: skip


def _number(value: object, default: int, most: int) -> float:
    is_level = isinstance(value, (int, float)) and not isinstance(value, bool) and 1 <= value <= most
    return float(value) if is_level and isinstance(value, (int, float)) else float(default)


def _matches(sniff: Sniff) -> bool:
    return sniff.has_columns("memories", "key", "value", "scope") or sniff.has_items("key", "value", "scope")


def _read(path: str) -> Iterator[Found]:
    yield from _read_database(path) if is_sqlite(path) else _read_export(path)


def _read_export(path: str) -> Iterator[Found]:
    default_time, project = changed_at(path), ""
    for place, name, value in records(path):
        if name == "source" and isinstance(value, dict):
            project = str(value.get("project_path") or "")
        elif isinstance(value, dict):
            yield item(place, value, default_time, project)
        elif name == "memories" or isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object")


def _read_database(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    with SqliteSource(path) as source:
        for place, row, problem in source.rows("memories", _COLUMNS):
            if row is None:
                yield ImportItem(place, None, problem)
            else:
                yield item(place, {**row, "value": _parsed(row["value"])}, default_time)
        yield from source.not_kept({"memories": _COLUMNS})
        yield from source.changed()


def _parsed(value: object) -> object:
    """The value of a row, which is JSON in a text; older versions stored plain texts as well."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


FORMAT = Format("the memories of Token Saver", _matches, _read)
