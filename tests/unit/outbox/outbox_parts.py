"""Helpers for the tests of the outbox."""

from __future__ import annotations

from typing import Any

from keepmum.core import ids
from keepmum.stores.outbox import Item

__all__ = ["ORIGIN", "an_item"]

ORIGIN = "https://memory.example"


def an_item(**fields: Any) -> Item:
    """A queued write that creates a memory."""
    memory = ids.new_id()
    defaults: dict[str, Any] = {
        "id": ids.to_uuid(ids.new_id()), "origin": ORIGIN, "project": "alpha", "action": "create", "memory": memory,
        "queued_at": 1, "title": "a title", "text": "a text", "agent": "tester", "tags": ("a", "b"),
    }  # fmt: skip
    return Item(**{**defaults, **fields})
