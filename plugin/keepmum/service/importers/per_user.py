"""Import memories of single users: what the tool `MemoryExport` gives, and Redis data as JSON.

Redis data is an object with the keys of Redis, or lines or a list of objects with `key` and `value`. Keys that begin
with `memory:` hold memories, as JSON or as fields; indexes and profiles are derived from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core import ids
from keepmum.core.memory import KINDS, STATUSES, JsonValue
from keepmum.service.importers.field_values import changed_at, json_object, parse_time, text_list
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item, stable_id
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_TOOL = "agent-memory-server"
_PREFIX = "memory:"
_TIERS = {"long-term": "long", "long": "long", "mid-term": "mid", "mid": "mid", "working": "session"}


def _item(place: str, entity: Mapping[str, Any], default_time: int, user: str) -> ImportItem:
    created = parse_time(entity.get("createdAt")) or default_time
    newer, status, count = entity.get("supersededById"), entity.get("status"), _number(entity.get("accessCount"))
    source = entity.get("source")
    category = str(entity.get("category") or "").partition("/")[0]
    lost = ["vectors; they are computed again"] if entity.get("embedding") else []
    if isinstance(source, dict) and source.get("messageId"):
        lost.append("ids of messages")
    return build_item(
        place, _TOOL, entity.get("id") or f"{user}\0{entity.get('content')}", entity.get("content"), created,
        updated=parse_time(entity.get("updatedAt")), tags=text_list(entity.get("tags")), author=entity.get("createdBy"),
        not_kept=lost, kind=category if category in KINDS else "fact", scope="global",
        user=str(entity.get("userId") or user) or None, tier=_TIERS.get(str(entity.get("tier")), "long"),
        why=entity.get("context") or None, importance=_share(entity.get("importance")),
        confidence=_share(entity.get("confidence")), accessed_at=parse_time(entity.get("lastAccessedAt")),
        access_count=int(count) if count else None, supersedes=_link(entity.get("supersedes")),
        superseded_by=_link(newer), session=source.get("conversationId") if isinstance(source, dict) else None,
        status=status if status in STATUSES else "superseded" if newer else None,
    )  # fmt: skip


def _link(value: object) -> str | None:
    return (ids.complete_id(value) or stable_id(_TOOL, value)) if isinstance(value, str) and value else None


def _number(value: object) -> float:
    """A number that may be given as text, as in a hash of Redis; 0 for anything else."""
    try:
        return float(value) if isinstance(value, (int, float, str)) else 0.0
    except ValueError:
        return 0.0


def _share(value: object) -> JsonValue:
    return min(1.0, max(0.0, _number(value))) if value not in (None, "") else None


def _matches(sniff: Sniff) -> bool:
    return (
        "userId" in sniff.keys
        or any(key.startswith(_PREFIX) for key in sniff.keys)
        or str(sniff.line.get("key", "")).startswith((_PREFIX, "memories:", "profile:"))
        or sniff.has_items("userId", "content")
        or str(sniff.firsts.get("", {}).get("key", "")).startswith((_PREFIX, "memories:", "profile:"))
    )


def _read(path: str) -> Iterator[Found]:
    default_time, user = changed_at(path), ""
    for place, name, value in records(path):
        if name == "userId":
            user = str(value)
            continue
        key = name
        if isinstance(value, dict) and "key" in value and "value" in value:
            key, value = str(value["key"]), value["value"]  # noqa: PLW2901 - what a dump of Redis wraps
        entity = json_object(value)
        if isinstance(value, Exception):
            yield ImportItem(place, None, "is not a JSON object")
        elif ":" in key and not key.startswith(_PREFIX):
            yield NotKept("indexes and profiles, which are computed again", 1)
        elif key.startswith(_PREFIX) and entity is not None:
            owner = key.removeprefix(_PREFIX).partition(":")
            yield _item(place, {"id": owner[2], **entity}, default_time, owner[0])
        elif entity is not None:
            yield _item(place, entity, default_time, user)


FORMAT = Format("an export of single users' memories", _matches, _read)
