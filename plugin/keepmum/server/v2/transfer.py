"""Export and import as JSON lines, streamed and scanned in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator

from keepmum.core import ids
from keepmum.core.errors import InvalidInput, KeepmumError, StoreError
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import forms
from keepmum.service.importers.json_lines import read_lines

__all__ = ["ROUTES"]

_PAGE = 100
_LAST_ID = f"{ids.PREFIX}z"
_ERRORS = 50  # lines with a problem that an answer lists
_LARGEST = 64 * 1024 * 1024
_PROJECT: Schema = {"type": "string", "maxLength": 200}
_LINES = "application/x-ndjson"


def export_memories(call: Call) -> Answer:
    """All memories that the key may read, or those of a project, one JSON object a line, as `keepmum export` writes.

    The last line is `{"exported": N}`; a stream without it was cut off.
    """
    project = call.query.get("project")
    if isinstance(project, str):
        call.require(project, "reader")
    return Answer(200, _exported(call, project if isinstance(project, str) else None), {"content-type": _LINES})


def import_memories(call: Call) -> Answer:
    """Store the memories of an export, each with its own id; those that are here already stay.

    They are from outside until a curator confirms them. `project` is that of memories that name none.
    """
    project = call.query.get("project")
    stored = known = refused = 0
    problems: list[JsonValue] = []
    with call.service(None, "writer") as service:
        for item in read_lines(call.raw.splitlines()):
            try:
                if item.values is None:
                    raise InvalidInput("line", item.problem)
                if set(item.values) == {"exported"}:
                    continue
                values = (
                    item.values if item.values.get("project") or not project else {**item.values, "project": project}
                )
                owner = values.get("project")
                if owner is not None and not isinstance(owner, str):
                    raise InvalidInput("project", "must be text")
                call.require(owner or "", "writer")
                written = service.import_memory(values)
                stored, known = (stored + 1, known) if written.action else (stored, known + 1)
            except StoreError:
                raise
            except KeepmumError as error:
                refused += 1
                if len(problems) < _ERRORS:
                    problems.append({"place": item.place, "message": str(error)})
    return Answer(200, {"data": {"stored": stored, "known": known, "refused": refused, "problems": problems}})


def _exported(call: Call, project: str | None) -> Iterator[bytes]:
    """Every memory, in the order of ids, whatever its status and user."""
    count, last = 0, ids.PREFIX
    while True:
        with call.service(None, "reader") as service:
            page = [memory for memory in service.id_range(last, _LAST_ID, _PAGE + 1) if memory.id != last]
        for memory in page:
            if project is None or (memory.project or "") == project:
                count += 1
                yield json.dumps(forms.memory_json(memory), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if not page:
            break
        last = page[-1].id
    yield json.dumps({"exported": count}).encode() + b"\n"


_COUNTS: Schema = {"type": "object", "properties": {"data": forms.OBJECT}, "required": ["data"]}

ROUTES = (
    Route("GET", "/api/v2/export", export_memories, "reader", "Export as JSON lines", "transfer", {200: {}},
          query={"project": _PROJECT}, produces=_LINES),
    Route("POST", "/api/v2/import", import_memories, "writer", "Import JSON lines", "transfer", {200: _COUNTS},
          query={"project": _PROJECT}, media_type=_LINES, largest=_LARGEST),
)  # fmt: skip
