"""Import points of Qdrant as JSON: those of a shared-agent-memory server, and those of mem0.

The file is the answer of `POST /collections/NAME/points/scroll`, a list of points, or one point per line.
Source: https://github.com/rbrcurtis/shared-agent-memory (src/types.ts, src/storage.ts), read 2026-11-22.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.service.importers import mem0
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, built, moment, text_list
from keepmum.service.importers.json_source import records
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_TOOL = "shared-agent-memory"
_VECTORS = "vectors; they are computed again"


def _item(place: str, point: Mapping[str, Any], otherwise: int) -> ImportItem:
    payload = point["payload"]
    lost = [_VECTORS] if point.get("vector") or point.get("vectors") else []
    if "data" in payload and "text" not in payload:
        return mem0.item(place, {"id": point.get("id"), "memory": payload["data"], **payload}, otherwise, lost)
    count, author = payload.get("access_count"), payload.get("agent")
    found = built(
        place, _TOOL, payload.get("id") or point.get("id"), payload.get("text"),
        moment(payload.get("created_at") or payload.get("createdAt")) or otherwise,
        updated=moment(payload.get("updated_at") or payload.get("updatedAt")), title=payload.get("title"),
        tags=text_list(payload.get("tags")), author=author or payload.get("createdBy"), not_kept=lost,
        project=payload.get("project"), tier="mid", accessed_at=moment(payload.get("last_accessed")),
        access_count=count if isinstance(count, int) and count > 0 else None,
        status="tombstoned" if payload.get("tombstoned_at") else None,
    )  # fmt: skip
    if found.values is None:
        return found
    # The server writes the name of the key that was used, which is not the agent's.
    changed_by = payload.get("updatedBy")
    extra = {"updated_by": changed_by} if isinstance(changed_by, str) and changed_by else {}
    created_by = payload.get("createdBy")
    extra |= {"created_by": created_by} if isinstance(created_by, str) and created_by else {}
    return ImportItem(place, {**found.values, **extra}, project=found.project, not_kept=found.not_kept)


def _matches(sniff: Sniff) -> bool:
    return sniff.has_items("id", "payload", under=("", "points", "result")) or {"id", "payload"} <= sniff.line.keys()


def _read(path: str) -> Iterator[Found]:
    otherwise = int(os.stat(path).st_mtime * 1000)
    for place, _, value in records(path):
        if isinstance(value, dict) and isinstance(value.get("payload"), dict):
            yield _item(place, value, otherwise)
        elif isinstance(value, (dict, Exception)):
            yield ImportItem(place, None, "is not a point with a payload")


FORMAT = Format("points of Qdrant", _matches, _read)
