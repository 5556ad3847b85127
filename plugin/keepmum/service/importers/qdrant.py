"""Import points of Qdrant as JSON: those of a shared-agent-memory server, and those of mem0.

The file is the answer of `POST /collections/NAME/points/scroll`, a list of points, or one point per line.
Source: https://github.com/rbrcurtis/shared-agent-memory (src/types.ts, src/storage.ts), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepmum.service.importers import mem0
from keepmum.service.importers.field_values import changed_at, parse_time, positive, text_list, text_or_none
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, build_item
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT", "item_of_payload"]

_TOOL = "shared-agent-memory"
_VECTORS = "vectors; they are computed again"


def _item(place: str, point: Mapping[str, Any], default_time: int) -> ImportItem:
    payload = point["payload"]
    lost = [_VECTORS] if point.get("vector") or point.get("vectors") else []
    if "data" in payload and "text" not in payload:
        return mem0.item(
            place, {"id": point.get("id"), "memory": payload["data"], **payload}, default_time, not_kept=lost
        )
    return item_of_payload(place, {"id": point.get("id"), **payload}, default_time, not_kept=lost)


def item_of_payload(
    place: str, payload: Mapping[str, Any], default_time: int, *, not_kept: Sequence[str] = ()
) -> ImportItem:
    """A memory of a shared-agent-memory server, from the fields that its points and its API have."""
    created_by = text_or_none(payload.get("createdBy"))
    return build_item(
        place, _TOOL, payload.get("id"), payload.get("text"),
        parse_time(payload.get("created_at") or payload.get("createdAt")) or default_time,
        updated=parse_time(payload.get("updated_at") or payload.get("updatedAt")), title=payload.get("title"),
        tags=text_list(payload.get("tags")), author=payload.get("agent") or created_by, not_kept=not_kept,
        project=payload.get("project"), tier="mid", accessed_at=parse_time(payload.get("last_accessed")),
        access_count=positive(payload.get("access_count")),
        status="tombstoned" if payload.get("tombstoned_at") else None,
        # The server writes the name of the key that was used, which is not the agent's.
        created_by=created_by, updated_by=text_or_none(payload.get("updatedBy")),
    )  # fmt: skip


def _matches(sniff: Sniff) -> bool:
    return sniff.has_items("id", "payload", under=("", "points", "result")) or {"id", "payload"} <= sniff.line.keys()


def _read(path: str) -> Iterator[Found]:
    default_time = changed_at(path)
    for place, _, value in records(path):
        if isinstance(value, dict) and isinstance(value.get("payload"), dict):
            yield _item(place, value, default_time)
        elif isinstance(value, (dict, Exception)):
            yield ImportItem(place, None, "is not a point with a payload")


FORMAT = Format("points of Qdrant", _matches, _read)
