"""What `keepmum export` writes: JSON lines with every field of a memory, and with `--history` its former states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from keepmum.core import serialization
from keepmum.core.memory import Action, JsonValue, Memory, Revision
from keepmum.service.importers import json_lines
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import Former, ImportItem
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT", "read_lines", "to_json"]

_HISTORY = "history"


def to_json(memory: Memory, history: Sequence[Revision] = ()) -> dict[str, JsonValue]:
    """All fields of a memory; of each former state, latest first, the fields that differ from the memory."""
    values = serialization.to_json(memory)
    if history:
        present = json.loads(json.dumps(values))  # the history has lists where a memory has tuples
        values[_HISTORY] = [_former_values(past, present) for past in history]
    return values


def _former_values(past: Revision, present: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    differing = {name: value for name, value in past.before.items() if value != present.get(name)}
    return {"at": past.at, "agent": past.agent, "action": past.action, "before": differing}


def read_lines(lines: Iterable[bytes]) -> Iterator[ImportItem]:
    """One memory for each line, with its former states."""
    for item in json_lines.read_lines(lines):
        if item.values is None or _HISTORY not in item.values:
            yield item
            continue
        listed = item.values[_HISTORY]
        past = [_former(each) for each in listed] if isinstance(listed, list) else [None]
        known = tuple(former for former in past if former is not None)
        if len(known) < len(past):
            yield ImportItem(item.place, None, "has a history that cannot be read")
        else:
            values = {name: value for name, value in item.values.items() if name != _HISTORY}
            yield replace(item, values=values, past=known)


def _former(value: JsonValue) -> Former | None:
    """A former state; None when the value is not one."""
    given = value if isinstance(value, Mapping) else {}
    at, agent, before = (given.get(name) for name in ("at", "agent", "before"))
    if not isinstance(at, int) or not isinstance(agent, str) or not isinstance(before, Mapping):
        return None
    if isinstance(at, bool) or not 0 <= at <= serialization.MAX_INTEGER:
        return None
    action: Action = next((one for one in get_args(Action) if one == given.get("action")), "updated")
    return Former(at, agent, before, action)


def _matches(sniff: Sniff) -> bool:
    return {"id", "text", "created_at"} <= sniff.line.keys()


def _read(path: str) -> Iterator[Found]:
    yield from read_lines(json_lines.open_lines(path))


FORMAT = Format("an export of Keepmum", _matches, _read)
