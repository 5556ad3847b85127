"""Export and import as JSON lines, streamed and scanned in both directions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import IO

from keepmum.core import ids
from keepmum.core.errors import InvalidInput, KeepmumError, StoreError
from keepmum.core.memory import JsonValue
from keepmum.server.call import Answer, Call, HttpError
from keepmum.server.routes import Route, Schema
from keepmum.server.v2 import forms
from keepmum.service.importers.json_lines import bounded, read_lines

__all__ = ["ROUTES"]

_PAGE = 100
_LAST_ID = f"{ids.PREFIX}z"
_ERRORS = 50  # lines with a problem that an answer lists
_LARGEST = 64 * 1024 * 1024
_MOST_LINES = 100_000
_PART = 64 * 1024  # bytes
_LATER = {"retry-after": "5"}
_PROJECT: Schema = {"type": "string", "maxLength": 200}
_LINES = "application/x-ndjson"


def export_memories(call: Call) -> Answer:
    """All memories that the key may read, or those of a project, one JSON object a line, as `keepmum export` writes.

    The last line is `{"exported": N}`; a stream without it was cut off.
    """
    project = call.query.get("project")
    if isinstance(project, str):
        call.require(project, "reader")
    lines = _exported(call, project if isinstance(project, str) else None)
    first = next(lines, b"")  # so that a key with too many exports is refused before the answer begins
    return Answer(200, itertools.chain([first], lines), {"content-type": _LINES})


def import_memories(call: Call) -> Answer:
    """Store the memories of an export, each with its own id; those that are here already stay.

    They are from outside until a curator confirms them. `project` is that of memories that name none.
    """
    _check_lines(call.raw)
    project = call.query.get("project")
    stored = known = refused = 0
    problems: list[JsonValue] = []
    with call.service(None, "writer") as service:
        for item in read_lines(bounded(call.raw)):
            if call.state.stopping:
                raise HttpError(503, "the server stops; send the import again, what is stored stays", _LATER)
            if not call.is_permitted:
                raise HttpError(401, "the key was withdrawn, or its rights were changed; what is stored stays")
            try:
                if item.values is None:
                    raise InvalidInput("line", item.problem)
                if set(item.values) == {"exported"}:
                    continue
                values = (
                    item.values if item.values.get("project") or not project else {**item.values, "project": project}
                )
                call.require(forms.project_of(values) or "", "writer")
                written = service.import_memory(values)
                stored, known = (stored + 1, known) if written.action else (stored, known + 1)
            except StoreError:
                raise
            except KeepmumError as error:
                refused += 1
                if len(problems) < _ERRORS:
                    problems.append({"place": item.place, "message": str(error)})
    return Answer(200, {"data": {"stored": stored, "known": known, "refused": refused, "problems": problems}})


def _check_lines(file: IO[bytes]) -> None:
    """Check the number of lines before the first one is stored.

    Raises: HttpError.
    """
    lines = sum(part.count(b"\n") for part in iter(lambda: file.read(_PART), b""))
    if lines > _MOST_LINES:
        raise HttpError(413, f"an import may have {_MOST_LINES:,} lines; send the rest in another one")
    file.seek(0)


def _exported(call: Call, project: str | None) -> Iterator[bytes]:
    """Every memory, in the order of ids, whatever its status and user."""
    count, last, known = 0, ids.PREFIX, set[tuple[str, str | None]]()
    with call.exports.holding(call.principal.key):
        while call.is_permitted:
            with call.service(None, "reader") as service:
                found = service.id_range(last, _LAST_ID, _PAGE + len(known))
            page = [memory for memory in found if (memory.id, memory.project) not in known]
            for memory in page:
                if project is None or (memory.project or "") == project:
                    count += 1
                    line = json.dumps(forms.memory_json(memory), ensure_ascii=False, separators=(",", ":"))
                    yield line.encode() + b"\n"
            if not page:
                yield json.dumps({"exported": count}).encode() + b"\n"
                return
            last = page[-1].id
            known = {(memory.id, memory.project) for memory in found if memory.id == last}


_COUNTS: Schema = {"type": "object", "properties": {"data": forms.OBJECT}, "required": ["data"]}

ROUTES = (
    Route("GET", "/api/v2/export", export_memories, "reader", "Export as JSON lines", "transfer", {200: {}},
          query={"project": _PROJECT}, produces=_LINES),
    Route("POST", "/api/v2/import", import_memories, "writer", "Import JSON lines", "transfer", {200: _COUNTS},
          query={"project": _PROJECT}, media_type=_LINES, largest=_LARGEST),
)  # fmt: skip
