"""Memories as the first API carries them, and back: pure functions.

That API holds text, title, agent, project and tags. The rest of a memory is known on the machine that wrote it, and
travels at the end of the text where the user wants that (`backend.v1_trailer`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keepmum.core import ids, keys, serialization
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Filter, JsonValue, Memory
from keepmum.stores.rest.api import Listed, Loaded

__all__ = [
    "LISTED",
    "dropped",
    "fits",
    "is_loaded",
    "listed_memory",
    "loaded_memory",
    "memory_id",
    "project_name",
    "project_of",
    "same_words",
    "wire_text",
]

LISTED = "server:listed"  # the `origin` of a memory whose text was not read yet; its title stands in for it
_SERVER = "server"
_CARRIED = ("kind", "key", "why", "importance", "confidence", "data", "source", "supersedes", "expires_at", "tier")
_OPENING = "\n\n```yaml keepmum\n"
_TRAILER = re.compile(r"\n\n```yaml keepmum\n((?:[a-z_]+: [^\n]*\n)*)```\s*\Z")
_BLANK = Memory(id="", text="", title="", created_at=0, updated_at=0)


def memory_id(server_id: str) -> str:
    """The spelling of a server's UUID that agents see."""
    bounds = ids.id_range(server_id)
    assert bounds is not None, "the answer was checked to hold a UUID"
    return bounds[0]


def project_name(project: str | None, names: Mapping[str, str]) -> str:
    """What the server calls a project: its display name, or the last part of its id."""
    if not project:
        return "default"
    return names.get(project) or project.rpartition("/")[2].rpartition(":")[2]


def project_of(name: str, near: str | None, names: Mapping[str, str]) -> str:
    """The id of the project that the server calls `name`: the near one, one seen on this machine, or the name."""
    candidates = (*([near] if near else ()), *names)
    return next((project for project in candidates if project_name(project, names) == name), name)


def wire_text(memory: Memory, *, trailer: bool) -> str:
    """The text as it is sent."""
    extras = _extras(memory) if trailer else {}
    if not extras:
        return memory.text
    lines = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in extras.items())
    return f"{memory.text}{_OPENING}{lines}```"


def dropped(memory: Memory) -> list[str]:
    """The fields of a memory that the first API cannot hold."""
    return [name for name in _extras(memory) if name not in {"tier", "confidence"}]


def listed_memory(item: Listed, known: Memory | None, project: str, now: int) -> Memory:
    """A memory as a search shows it, with what is known of it here."""
    whole = _carried(item.memory, item.id, known)
    if whole is not None:
        return whole
    if known is not None and known.status == "active":
        known = replace(known, project=project) if known.project == item.project else known  # a bare name so far
        return known if known.title == item.title else replace(known, title=item.title, origin=LISTED)
    at = item.created_at or now
    return replace(
        _BLANK, id=memory_id(item.id), text=item.title or "(untitled)", title=item.title, project=project,
        created_at=at, updated_at=item.updated_at or at, origin=LISTED, agent="unknown", revision=_after(known),
    )  # fmt: skip


def loaded_memory(item: Loaded, known: Memory | None, project: str, now: int) -> Memory:
    """A memory as a load shows it; what the server cannot hold is as it is known here, or as its trailer says."""
    whole = _carried(item.memory, item.id, known)
    if whole is not None:
        return whole
    text, extras = _split(item.text)
    base = known or replace(_BLANK, id=memory_id(item.id), project=project)
    created = item.created_at or base.created_at or now
    memory = replace(
        base, text=text, title=item.title, tags=item.tags, agent=item.agent, status="active", trashed_at=None,
        created_at=created, created_by=item.created_by, updated_by=item.updated_by,
        accessed_at=item.accessed_at if item.access_count else None, access_count=item.access_count,
        origin=base.origin if is_loaded(base) and known else _SERVER, superseded_by=None,
    )  # fmt: skip
    if known is not None and known.status == "active" and is_loaded(known) and _says(memory) == _says(known):
        return known
    memory = replace(memory, updated_at=max(created, item.updated_at or 0), revision=_after(known))
    return _with(memory, extras)


def is_loaded(memory: Memory) -> bool:
    """Whether the text of a memory is known here."""
    return memory.origin != LISTED


def fits(memory: Memory, wanted: Filter) -> bool:
    """Whether a memory of the right project passes the rest of a filter, as far as it is known here."""
    found = set(wanted.tags) & set(memory.tags)
    return (
        memory.is_visible(wanted.now)
        and (not wanted.kinds or memory.kind in wanted.kinds)
        and wanted.tier in {None, memory.tier}
        and (wanted.keys is None or keys.matches(memory.key, wanted.keys))
        and (wanted.since is None or memory.updated_at >= wanted.since)
        and (wanted.until is None or memory.updated_at < wanted.until)
        and (not wanted.tags or not is_loaded(memory) or len(found) >= (len(wanted.tags) if wanted.all_tags else 1))
    )


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in blanks and case alone."""
    return one.casefold().split() == other.casefold().split()


def _carried(values: Mapping[str, JsonValue] | None, server_id: str, known: Memory | None) -> Memory | None:
    """The memory that a server of the second API carries whole; None when it carries none, or one past our limits."""
    if values is None:
        return None
    try:
        memory = serialization.parse({**values, "id": memory_id(server_id)})
    except InvalidInput:
        return None
    memory = replace(memory, scope="shared" if memory.scope == "shared" else "project", session=None, user=None)
    if known is None:
        return memory
    ours = replace(memory, accessed_at=known.accessed_at, access_count=known.access_count, session=known.session)
    return known if replace(ours, revision=known.revision) == known and ours.revision <= known.revision else ours


def _extras(memory: Memory) -> dict[str, JsonValue]:
    """What of a memory differs from a plain note and the first API cannot hold."""
    values = {name: getattr(memory, name) for name in _CARRIED}
    return {name: value for name, value in values.items() if value not in (None, getattr(_BLANK, name))}


def _split(text: str) -> tuple[str, dict[str, Any]]:
    """The text without its trailer, and what the trailer says; a trailer that is none of ours is text."""
    found = _TRAILER.search(text)
    if found is None:
        return text, {}
    extras: dict[str, Any] = {}
    for line in found[1].splitlines():
        name, _, value = line.partition(": ")
        try:
            extras[name] = json.loads(value)
        except (ValueError, RecursionError):
            return text, {}
    if not set(extras) <= set(_CARRIED):
        return text, {}
    return text[: found.start()], extras


def _with(memory: Memory, extras: Mapping[str, Any]) -> Memory:
    """`memory` with what its trailer says, where that is a memory's fields within their limits."""
    if not extras:
        return memory
    values = {**serialization.to_json(memory), **extras}
    try:
        parsed = serialization.parse(values)
    except InvalidInput:
        return memory
    return replace(memory, **{name: getattr(parsed, name) for name in extras})


def _says(memory: Memory) -> tuple[object, ...]:
    return (memory.text, memory.title, tuple(memory.tags), memory.agent)


def _after(known: Memory | None) -> int:
    return 1 if known is None else known.revision + 1
