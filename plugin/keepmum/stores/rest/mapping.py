"""Memories as API version 1 represents them, and back: pure functions.

That API holds text, title, agent, project and tags. The other fields are known on the machine that wrote the memory,
and are sent at the end of the text where the user wants that (`backend.v1_trailer`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keepmum.core import ids, keys, serialization, trust
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LISTED, Filter, JsonValue, Memory, Scope, Trust
from keepmum.stores.rest.api import ListedMemory, LoadedMemory

__all__ = [
    "dropped_fields",
    "is_loaded",
    "is_same_text",
    "listed_memory",
    "loaded_memory",
    "matches",
    "memory_id",
    "project_name",
    "project_of",
    "whole_memory",
    "wire_text",
]

_SERVER = "server"
_TRAILER_FIELDS = (
    "kind",
    "key",
    "why",
    "importance",
    "confidence",
    "data",
    "source",
    "supersedes",
    "expires_at",
    "tier",
)
_OF_THIS_MACHINE = ("origin", "trust", "source_kind", "confirmed_at", "confirmed_by", "pinned", "citations")
_TRAILER_START = "\n\n```yaml keepmum\n"
_TRAILER = re.compile(r"\n\n```yaml keepmum\n((?:[a-z_]+: [^\n]*\n)*)```\s*\Z")
_EMPTY = Memory(id="", text="", title="", created_at=0, updated_at=0)


def memory_id(server_id: str) -> str:
    """The `mem_` spelling of a server's UUID."""
    return ids.from_uuid(server_id)


def project_name(project: str | None, names: Mapping[str, str]) -> str:
    """The name of a project at the server: its display name, or the last part of its id."""
    if not project:
        return "default"
    return names.get(project) or project.rpartition("/")[2].rpartition(":")[2]


def project_of(name: str, current: str | None, names: Mapping[str, str]) -> str:
    """The id of the project with this name at the server: the current one, one known here, or else the name itself."""
    candidates = (*([current] if current else ()), *names)
    return next((project for project in candidates if project_name(project, names) == name), name)


def wire_text(memory: Memory, *, trailer: bool) -> str:
    """The text that is sent to the server."""
    extras = _extras(memory) if trailer else {}
    if not extras:
        return memory.text
    lines = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in extras.items())
    return f"{memory.text}{_TRAILER_START}{lines}```"


def dropped_fields(memory: Memory) -> list[str]:
    """The fields of a memory that API version 1 does not store."""
    return [name for name in _extras(memory) if name not in {"tier", "confidence"}]


def listed_memory(item: ListedMemory, known: Memory | None, project: str, now: int, level: Trust) -> Memory:
    """A memory from a search result of a server of trust `level`, with the fields that this machine has of it."""
    complete = _complete_memory(item.memory_json, item.id, known, level)
    if complete is not None:
        return complete
    if known is not None and known.status == "active":
        known = replace(known, project=project) if known.project == item.project else known  # was a name
        if known.title == item.title:
            return known
        return trust.unconfirmed(replace(known, title=item.title, origin=LISTED), level)
    at = item.created_at or now
    return replace(
        _EMPTY, id=memory_id(item.id), text=item.title or "(untitled)", title=item.title, project=project,
        created_at=at, updated_at=item.updated_at or at, origin=LISTED, agent="unknown", trust=level,
        revision=known.revision + 1 if known else 0,  # below the server's, which a change of the memory has to name
    )  # fmt: skip


def loaded_memory(item: LoadedMemory, known: Memory | None, project: str, now: int, level: Trust) -> Memory:
    """A memory with its text. Fields that the server cannot hold come from its trailer or from this machine.

    What this machine has in the same form keeps its trust; everything else has the server's `level`.
    """
    complete = _complete_memory(item.memory_json, item.id, known, level)
    if complete is not None:
        return complete
    text, extras = _split_trailer(item.text)
    base = known or replace(_EMPTY, id=memory_id(item.id), project=project)
    created = item.created_at or base.created_at or now
    memory = replace(
        base, text=text, title=item.title, tags=item.tags, agent=item.agent, status="active", trashed_at=None,
        created_at=created, created_by=item.created_by, updated_by=item.updated_by,
        accessed_at=item.accessed_at if item.access_count else None, access_count=item.access_count,
        origin=base.origin if is_loaded(base) and known else _SERVER, superseded_by=None,
    )  # fmt: skip
    if known is not None and known.status == "active" and is_loaded(known) and _content(memory) == _content(known):
        return known
    memory = replace(memory, updated_at=max(created, item.updated_at or 0), revision=_next_revision(known))
    return _with_trailer(trust.unconfirmed(replace(memory, source_kind=None), level), extras)


def whole_memory(values: Mapping[str, JsonValue], known: Memory | None, level: Trust) -> Memory | None:
    """A memory from Keepmum's own server; None when it exceeds our limits.

    Pins and confirmations by curators of an approved server count here too; what waits for their review is from
    outside. A memory that this machine has in the same form keeps its trust.
    """
    try:
        memory = serialization.parse(values)
    except InvalidInput:
        return None
    received = replace(memory, trust="outside" if memory.trust == "outside" else level, origin=_SERVER)
    if received.trust == "outside":
        received = trust.unconfirmed(received, "outside")
    if known is None:
        return received
    received = replace(
        received,
        accessed_at=max(received.accessed_at or 0, known.accessed_at or 0) or None,
        access_count=max(received.access_count, known.access_count),
    )
    if not is_loaded(known) or not trust.says_the_same(received, _cleaned(known)):
        return received
    if received.revision == known.revision and received.status == known.status:  # this machine wrote it
        names = ("accessed_at", "access_count", "pinned", "confirmed_at", "confirmed_by")
        return replace(known, **{name: getattr(received, name) for name in names})
    return replace(received, **{name: getattr(known, name) for name in ("origin", "trust", "source_kind", "citations")})


def is_loaded(memory: Memory) -> bool:
    """Whether this machine knows the text of a memory."""
    return memory.origin != LISTED


def matches(memory: Memory, wanted: Filter) -> bool:
    """Whether a memory of the right project passes the rest of a filter, as far as this machine knows its fields."""
    common = set(wanted.tags) & set(memory.tags)
    return (
        memory.is_visible(wanted.now)
        and (not wanted.kinds or memory.kind in wanted.kinds)
        and wanted.tier in {None, memory.tier}
        and (not wanted.trusts or memory.trust in wanted.trusts)
        and (wanted.keys is None or keys.matches(memory.key, wanted.keys))
        and (wanted.since is None or memory.updated_at >= wanted.since)
        and (wanted.until is None or memory.updated_at < wanted.until)
        and (not wanted.tags or not is_loaded(memory) or len(common) >= (len(wanted.tags) if wanted.all_tags else 1))
    )


def is_same_text(one: str, other: str) -> bool:
    """Whether two texts are equal, ignoring case and white space."""
    return one.casefold().split() == other.casefold().split()


def _complete_memory(
    values: Mapping[str, JsonValue] | None, server_id: str, known: Memory | None, level: Trust
) -> Memory | None:
    """The memory in `values`, from a server of version 2; None without values, and when they exceed our limits."""
    if values is None:
        return None
    try:
        memory = serialization.parse({**values, "id": memory_id(server_id)})
    except InvalidInput:
        return None
    scope: Scope = "shared" if memory.scope == "shared" else "project"
    memory = trust.unconfirmed(replace(memory, scope=scope, session=None, user=None, origin=_SERVER), level)
    if known is None:
        return memory
    merged = replace(memory, accessed_at=known.accessed_at, access_count=known.access_count, session=known.session)
    if trust.says_the_same(merged, known):
        merged = replace(merged, **{name: getattr(known, name) for name in _OF_THIS_MACHINE})
    return merged


def _cleaned(memory: Memory) -> Memory:
    """A memory as a server has it, which cleans every field again."""
    try:
        return serialization.parse(serialization.to_json(memory))
    except InvalidInput:
        return memory


def _extras(memory: Memory) -> dict[str, JsonValue]:
    """The fields with other than default values that API version 1 cannot hold."""
    values = {name: getattr(memory, name) for name in _TRAILER_FIELDS}
    return {name: value for name, value in values.items() if value not in (None, getattr(_EMPTY, name))}


def _split_trailer(text: str) -> tuple[str, dict[str, Any]]:  # JSON, which `_with_trailer` checks
    """The text without its trailer, and the fields in the trailer; what only resembles a trailer stays text."""
    trailer = _TRAILER.search(text)
    if trailer is None:
        return text, {}
    extras: dict[str, Any] = {}
    for line in trailer[1].splitlines():
        name, _, value = line.partition(": ")
        try:
            extras[name] = json.loads(value)
        except (ValueError, RecursionError):
            return text, {}
    if not set(extras) <= set(_TRAILER_FIELDS):
        return text, {}
    return text[: trailer.start()], extras


def _with_trailer(memory: Memory, extras: Mapping[str, Any]) -> Memory:  # JSON, checked here
    """`memory` with the fields of its trailer, if all are valid."""
    if not extras:
        return memory
    values = {**serialization.to_json(memory), **extras}
    try:
        parsed = serialization.parse(values)
    except InvalidInput:
        return memory
    return replace(memory, **{name: getattr(parsed, name) for name in extras})


def _content(memory: Memory) -> tuple[object, ...]:
    return (memory.text, memory.title, tuple(memory.tags), memory.agent)


def _next_revision(known: Memory | None) -> int:
    return 1 if known is None else known.revision + 1
