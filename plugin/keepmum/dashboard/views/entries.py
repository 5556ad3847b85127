"""Entries of the activity log as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from keepmum.core.memory import Action, Activity
from keepmum.dashboard.arguments import JsonObject
from keepmum.dashboard.base import Dashboard

__all__ = ["ACTIONS", "What", "entry"]

What = Literal["writes", "reads", "refused", "conflicts", "other"]
ACTIONS: Mapping[What, tuple[Action, ...]] = {
    "writes": (
        "created", "updated", "superseded", "archived", "trashed", "restored", "imported", "confirmed", "wrong",
        "pinned", "unpinned", "purged",
    ),
    "reads": ("recalled", "loaded"),
    "refused": ("refused",),
    "conflicts": ("conflict",),
    "other": ("tombstoned", "masked", "postponed"),
}  # fmt: skip
_WHAT: Mapping[Action, What] = {action: what for what, actions in ACTIONS.items() for action in actions}


def entry(dashboard: Dashboard, event: Activity) -> JsonObject:
    """One entry; its `detail` holds no text of a memory but the title, of a refusal the rules alone."""
    place = dashboard.service.place
    return {
        "at": event.at,
        "agent": event.agent,
        "action": event.action,
        "what": _WHAT.get(event.action, "other"),
        "memory": event.memory,
        "key": event.key,
        "title": event.detail if event.memory and event.action not in {"wrong", "masked"} else "",
        "detail": event.detail,
        "here": event.project in {None, place.project},
    }
