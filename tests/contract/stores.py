"""The stores that the contract suite runs against, and the values it puts into them.

A new store is one line in `STORES`: a function that opens the store of one folder, as a process of its own would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from keepmum import ids
from keepmum.memory import Activity, Filter, Memory
from keepmum.stores import Store, markdown, sqlite

__all__ = ["NOW", "STORES", "OpenStore", "a_memory", "an_event", "wanted"]

OpenStore = Callable[[Path], Store]
NOW = 1_790_000_000_000  # some moment of 2026, in milliseconds

STORES: Mapping[str, OpenStore] = {
    "markdown": lambda folder: markdown.open_store(str(folder), str(folder / "cache"), "alpha"),
    "sqlite": lambda folder: sqlite.open_store(str(folder / "memory.db")),
}


def a_memory(text: str = "The build runs on Postgres 16", **fields: Any) -> Memory:
    """A new active memory of project `alpha`, made at NOW unless told otherwise."""
    at = fields.pop("at", NOW)
    defaults: dict[str, Any] = {
        "id": ids.new_id(at), "title": text.split("\n", 1)[0][:120] or "untitled", "created_at": at, "updated_at": at,
        "project": "alpha", "created_by": "tester", "updated_by": "tester", "agent": "tester",
    }  # fmt: skip
    return Memory(text=text, **{**defaults, **fields})


def an_event(memory: Memory | None = None, **fields: Any) -> Activity:
    """An activity entry about `memory`."""
    defaults: dict[str, Any] = {
        "at": NOW, "agent": "tester", "action": "created", "memory": memory.id if memory else None,
        "key": memory.key if memory else None, "project": memory.project if memory else "alpha",
        "detail": memory.title if memory else "",
    }  # fmt: skip
    return Activity(**{**defaults, **fields})


def wanted(**fields: Any) -> Filter:
    """A filter for project `alpha` at NOW."""
    return Filter(**{"now": NOW, "project": "alpha", **fields})
