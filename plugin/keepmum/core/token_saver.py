"""How Token Saver's memories map to ours: the kind that a key implies, levels of importance, and values in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from keepmum.core.memory import JsonValue, Kind

__all__ = ["data_of", "importance_of", "kind_of", "text_of"]

# The kind of memory that a key prefix implies, for other dialects and the briefing.
_KINDS: Mapping[str, Kind] = {
    "architecture.": "decision", "decision.": "decision", "shared.decisions": "decision",
    "project.conventions": "instruction", "project.": "fact",
    "current.": "task", "next.": "task", "todo.": "task", "discovered.todos": "task",
    "discovered.": "fact", "error.": "troubleshooting", "debug.": "troubleshooting", "ai.": "preference",
}  # fmt: skip


def kind_of(key: str) -> Kind:
    """The kind that the longest known prefix of the key implies."""
    known = [prefix for prefix in _KINDS if key.startswith(prefix)]
    return _KINDS[max(known, key=len)] if known else "note"


def importance_of(level: float) -> float:
    """A level of importance, 1 to 5, on our scale, 0 to 1."""
    return (level - 1) / 4


def text_of(value: JsonValue) -> str:
    """The text of a value, for search and display."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def data_of(value: JsonValue, level: int) -> dict[str, JsonValue]:
    """The data stored with the text: the verbosity, and the value unless it is the text itself."""
    kept: dict[str, JsonValue] = {"verbosity": level}
    return kept if isinstance(value, str) else {**kept, "value": value}
