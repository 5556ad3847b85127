"""Conversion of memories to rows and back, and of filters to SQL."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from keepmum.core import keys, ranking
from keepmum.core.memory import Citation, Filter, JsonValue, Memory, Position

__all__ = ["COLUMNS", "digest", "encoded", "from_row", "from_values", "position", "snapshot", "to_row", "where"]

COLUMNS = tuple(field.name for field in dataclasses.fields(Memory))
_JSON = frozenset({"tags", "data", "git", "citations"})
_as_json = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True
).encode  # `json.dumps` would make an encoder on each call

SqlValue = str | bytes | int | float | None


def to_row(memory: Memory) -> dict[str, SqlValue]:
    """All columns of a memory, including the derived `space`, `identifiers` and `digest`."""
    row: dict[str, SqlValue] = {name: getattr(memory, name) for name in COLUMNS}
    row |= {name: encoded(value) for name, value in _json_values(memory).items()}
    searched = (memory.title, memory.text, memory.why or "", memory.key or "", " ".join(memory.tags))
    identifiers = ranking.subwords("\n".join(searched))
    return {**row, "space": memory.space, "identifiers": identifiers, "digest": digest(memory.text)}


def digest(text: str) -> str:
    """A hash that is equal for texts that differ only in whitespace and case."""
    return hashlib.blake2b(" ".join(text.casefold().split()).encode(), digest_size=16).hexdigest()


def from_row(row: sqlite3.Row) -> Memory:
    """The memory in a row that has exactly `COLUMNS` in their order, or more columns by name."""
    # Access by name would compare the names of all columns on each access.
    if len(row) == len(COLUMNS):
        return from_values(row)
    values = dict(zip(row.keys(), row, strict=True))
    return from_values([values[name] for name in COLUMNS])


def from_values(values: Iterable[Any]) -> Memory:  # as a database returns them
    """The memory whose columns have these values, in the order of `COLUMNS`."""
    known = dict(zip(COLUMNS, values, strict=True))
    for name in _JSON:
        known[name] = _decode(known[name])
    known["tags"] = tuple(known["tags"] or ())
    known["pinned"] = bool(known["pinned"])
    if known["citations"] is not None:
        known["citations"] = tuple(Citation(**each) for each in known["citations"])
    return Memory(**known)


def snapshot(memory: Memory) -> dict[str, JsonValue]:
    """A memory as JSON for the history."""
    return {**{name: getattr(memory, name) for name in COLUMNS}, **_json_values(memory)}


def _json_values(memory: Memory) -> dict[str, JsonValue]:
    cited = memory.citations
    return {
        "tags": memory.tags,
        "data": memory.data,
        "git": memory.git,
        "citations": None if cited is None else tuple(map(dataclasses.asdict, cited)),
    }


def where(wanted: Filter) -> tuple[str, list[SqlValue]]:
    """The filter as an SQL condition on `memories m`, with its parameters."""
    clauses = [
        _in("m.status", wanted.statuses),
        "(m.status != 'active' OR m.expires_at IS NULL OR m.expires_at > ?)",
        "m.user IS ?",
    ]
    parameters: list[SqlValue] = [*wanted.statuses, wanted.now, wanted.user]
    if wanted.everywhere:
        clauses.append("(m.scope != 'session' OR m.session IS ?)")
        parameters.append(wanted.session)
    else:
        clauses.append(
            "(m.scope = 'global' OR (m.scope IN ('project', 'shared') AND m.project IS ?)"
            " OR (m.scope = 'session' AND m.session IS ?))"
        )
        parameters += [wanted.project, wanted.session]
    if wanted.projects is not None:
        clauses.append(_in("coalesce(m.project, '')", wanted.projects))
        parameters += wanted.projects
    for column, values in (("m.scope", wanted.scopes), ("m.kind", wanted.kinds), ("m.trust", wanted.trusts)):
        if values:
            clauses.append(_in(column, values))
            parameters += values
    for column, comparison, value in (
        ("m.agent", "=", wanted.agent),
        ("m.tier", "=", wanted.tier),
        ("m.updated_at", ">=", wanted.since),
        ("m.updated_at", "<", wanted.until),
        ("m.key", "GLOB", None if wanted.keys is None else keys.to_glob(wanted.keys)),
    ):
        if value is not None:
            clauses.append(f"{column} {comparison} ?")
            parameters.append(value)
    if (after := wanted.after) is not None:
        place = position(after)
        clauses.append(f"({', '.join(place)}) < ({', '.join('?' * len(place))})")
        parameters += place.values()
    if wanted.tags:
        found = f"(SELECT count(*) FROM tags t WHERE t.memory = m.seq AND {_in('t.tag', wanted.tags)})"
        clauses.append(f"{found} >= ?")
        parameters += [*wanted.tags, len(wanted.tags) if wanted.all_tags else 1]
    return " AND ".join(clauses), parameters


def position(after: Position) -> dict[str, SqlValue]:
    """The SQL expressions that a list is ordered by, descending, with their values at one place of the list."""
    fields = {"updated": "m.updated_at", "created": "m.created_at", "accessed": "coalesce(m.accessed_at, 0)"}
    if after.order == "importance":
        return {"m.importance": after.value, "m.updated_at": after.updated_at, "m.id": after.id}
    return {fields[after.order]: after.value, "m.id": after.id}


def _in(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join('?' * len(values))})"


def encoded(value: JsonValue) -> str | None:
    """The JSON text of a value in its column."""
    return None if value is None else _as_json(value)


def _decode(text: str | None) -> JsonValue:
    value: JsonValue = None if text is None else json.loads(text)
    return value
