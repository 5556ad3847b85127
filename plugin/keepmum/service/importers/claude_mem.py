"""Import the memories of claude-mem: the observations and session summaries of its database, or of its export.

The prompts that it stores are what a user typed, not memories; they are counted and left out.
Source: https://github.com/thedotmack/claude-mem (src/services/sqlite/SessionStore.ts, scripts/export-memories.ts),
read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core.memory import JsonValue, Kind
from keepmum.service.importers.field_values import changed_at, parse_time, text_list, text_or_none
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff
from keepmum.service.importers.sqlite_source import SqliteSource, is_sqlite

__all__ = ["FORMAT"]

_TOOL = "claude-mem"
_COMMON = ("id", "memory_session_id", "sdk_session_id", "project", "merged_into_project", "created_at",
           "created_at_epoch", "prompt_number", "discovery_tokens")  # fmt: skip
_OBSERVATION = (*_COMMON, "text", "type", "title", "subtitle", "facts", "narrative", "concepts", "files_read",
                "files_modified", "agent_type")  # fmt: skip
_DERIVED = ("content_hash", "sync_rev", "synced_at", "origin_device_id", "origin_local_id")  # of its synchronisation
_PARTS = ("investigated", "learned", "completed", "next_steps", "notes")
_SUMMARY = (*_COMMON, "request", *_PARTS, "files_read", "files_edited")
_SESSIONS = "SELECT memory_session_id, platform_source FROM sdk_sessions WHERE memory_session_id = ?"
_KINDS: Mapping[str, Kind] = {
    "decision": "decision", "bugfix": "troubleshooting", "discovery": "fact", "security_note": "fact",
    "security_alert": "fact",
}  # fmt: skip
_PLATFORMS = {"claude": "claude-code"}  # its name of a client, and ours
_FILES = 50  # of one memory, that are kept


def _observation(place: str, row: Mapping[str, Any], default_time: int, author: str) -> ImportItem:
    facts = text_list(row.get("facts"))
    lines = [row.get("subtitle"), row.get("narrative"), "\n".join(f"- {fact}" for fact in facts), row.get("text")]
    data: dict[str, JsonValue] = {"type": row.get("type")}
    for name in ("files_read", "files_modified"):
        if files := text_list(row.get(name)):
            data[name] = files[:_FILES]
    return build_item(
        place, _TOOL, f"observation {_identity(row)}", "\n\n".join(filter(None, lines)) or row.get("title"),
        _time(row, default_time), tags=text_list(row.get("concepts")), title=row.get("title"),
        author=row.get("agent_type") or author, project=row.get("merged_into_project") or row.get("project"),
        kind=_KINDS.get(str(row.get("type")), "note"), data=data, session=_session(row),
    )  # fmt: skip


def _summary(place: str, row: Mapping[str, Any], default_time: int, author: str) -> ImportItem:
    parts = [f"{name.replace('_', ' ').capitalize()}: {row[name]}" for name in _PARTS if row.get(name)]
    files = {name: text_list(row.get(name))[:_FILES] for name in ("files_read", "files_edited")}
    return build_item(
        place, _TOOL, f"summary {_identity(row)}", "\n\n".join(parts) or row.get("request"), _time(row, default_time),
        title=row.get("request"), author=author, project=row.get("merged_into_project") or row.get("project"),
        data={"type": "session summary", **{name: found for name, found in files.items() if found}},
        session=_session(row),
    )  # fmt: skip


def _session(row: Mapping[str, Any]) -> str | None:
    return text_or_none(row.get("memory_session_id") or row.get("sdk_session_id"))


def _identity(row: Mapping[str, Any]) -> str:
    """Its number in the database, and the time: another database has the same numbers."""
    return f"{row.get('id')}\0{row.get('created_at_epoch')}"


def _time(row: Mapping[str, Any], default_time: int) -> int:
    return parse_time(row.get("created_at_epoch")) or parse_time(row.get("created_at")) or default_time


def _matches(sniff: Sniff) -> bool:
    return (
        sniff.has_columns("observations", "memory_session_id", "type")
        or sniff.has_columns("observations", "sdk_session_id", "type")
        or sniff.has_items("memory_session_id", "project", under=("observations", "summaries"))
    )


def _read(path: str) -> Iterator[Found]:
    yield from _read_database(path) if is_sqlite(path) else _read_export(path)


def _read_export(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    for place, name, value in records(path):
        if isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object")
        elif name == "observations" and isinstance(value, dict):
            yield _observation(place, value, default_time, _TOOL)
        elif name == "summaries" and isinstance(value, dict):
            yield _summary(place, value, default_time, _TOOL)
        elif name == "prompts":
            yield NotKept("prompts that a user typed", 1)


def _read_database(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    with SqliteSource(path) as source:
        authors: dict[object, str] = {}
        for table, columns, read in (
            ("observations", _OBSERVATION, _observation),
            ("session_summaries", _SUMMARY, _summary),
        ):
            for place, row, problem in source.rows(table, columns) if table in source.tables else ():
                if row is None:
                    yield ImportItem(place, None, problem)
                    continue
                session = row["memory_session_id"]
                if session not in authors:
                    authors = {session: _author(source, session)}  # rows of one session follow each other
                yield read(place, row, default_time, authors[session])
        yield from source.not_kept({
            "observations": (*_OBSERVATION, *_DERIVED), "session_summaries": (*_SUMMARY, *_DERIVED),
            "sdk_sessions": tuple(source.tables.get("sdk_sessions", ())),
        })  # fmt: skip
        yield from source.changed()


def _author(source: SqliteSource, session: object) -> str:
    """The client of a session, as far as the database knows it."""
    for row in source.all(_SESSIONS, session):
        platform = str(row["platform_source"] or "")
        return _PLATFORMS.get(platform, platform) or _TOOL
    return _TOOL


FORMAT = Format("the memories of claude-mem", _matches, _read)
