"""Renders memories for this dialect: types, agent names, lines and JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from keepmum.core import agents, memory_text
from keepmum.core.framing import folded, inline, labelled, word
from keepmum.core.memory import KINDS, Activity, JsonValue, Kind, Memory
from keepmum.core.retention import DAY_MS
from keepmum.mcp.dialects.handlers import iso, outside_mark

__all__ = [
    "action_of",
    "ago",
    "cut",
    "entry",
    "event_row",
    "kinds_of",
    "minute",
    "name_of",
    "numbered",
    "row",
    "title_of",
    "type_of",
]

_SHOWN = 200  # characters of a value in a list
_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000
_TYPES: Mapping[Kind, str] = {
    "decision": "decision", "preference": "preference", "instruction": "preference",
    "task": "task", "project": "task", "snippet": "snippet",
}  # fmt: skip
_TITLES = frozenset(agent.title for agent in agents.AGENTS.values())
_ACTIONS = {
    "created": "remember", "updated": "remember", "conflict": "remember", "superseded": "remember",
    "restored": "restore", "recalled": "recall", "trashed": "forget", "archived": "forget", "purged": "forget",
    "imported": "import", "refused": "refused",
}  # fmt: skip


def type_of(memory: Memory) -> str:
    """The memory's type, one of this dialect's five."""
    return _TYPES.get(memory.kind, "note")


def kinds_of(name: str | None) -> tuple[Kind, ...]:
    """The kinds that are shown as a type; empty for all."""
    return () if name is None else tuple(kind for kind in KINDS if _TYPES.get(kind, "note") == name)


def title_of(agent: str) -> str:
    """The display name of an agent."""
    if agent == "unknown":
        return "Unknown Agent"
    title = agents.identify(agent).title
    return title if title in _TITLES else word(title)


def cut(text: str, max_length: int = _SHOWN) -> str:
    """A text in one line, truncated with three dots, escaped."""
    line = " ".join(text.split())
    return inline(line if len(line) <= max_length else f"{line[:max_length]}...")


def ago(then: int, now: int) -> str:
    """The age in words: `just now`, `2m ago`, `3h ago`, `5d ago`, `2mo ago`, `1y ago`."""
    passed = now - then
    if passed < _MINUTE_MS:
        return "just now"
    days = passed // DAY_MS
    for unit, count, limit in (("m", passed // _MINUTE_MS, 60), ("h", passed // _HOUR_MS, 24), ("d", days, 30)):
        if count < limit:
            return f"{count}{unit} ago"
    return f"{days // 30}mo ago" if days < 365 else f"{days // 365}y ago"


def minute(at: int) -> str:
    """A time as `2026-11-22 14:05 UTC`: the same text whenever it is read."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def numbered(matches: Sequence[tuple[Memory, float]], now: int, remarks: Mapping[str, str]) -> str:
    """A numbered list: type and key; value; tags, author, age, relevance from 0 to 1, and the remark on its code."""
    blocks = []
    for number, (memory, relevance) in enumerate(matches, 1):
        facts = [_tags(memory)] if memory.tags else []
        facts += [f"Stored by: {title_of(memory.updated_by)}", ago(memory.updated_at, now)]
        facts.append(f"Relevance: {relevance:.2f}")
        facts += ["From outside"] if memory.trust == "outside" else []
        facts += [inline(remarks[memory.id])] if memory.id in remarks else []
        heading = f"{number}. [{type_of(memory)}] {word(memory.key or memory.id)}"
        blocks.append(f"{heading}\n   {cut(memory.text)}\n   {' | '.join(facts)}")
    return "\n\n".join(blocks)


def entry(memory: Memory, remark: str = "") -> str:
    """A memory as a list item, in full, with reason, author and date; later lines of the text start with `> `."""
    by = f"{title_of(memory.updated_by)}, {memory_text.day(memory.updated_at)}{f'; {inline(remark)}' if remark else ''}"
    lines = [f"- **{name_of(memory)}**: {folded(memory.text)} ({by})"]
    if memory.why:
        lines.append(labelled("  Rationale", memory.why))
    if memory.tags:
        lines.append(f"  {_tags(memory)}")
    return "\n".join(lines)


def name_of(memory: Memory) -> str:
    """The key of a memory, or its title, in one line."""
    return word(memory.key) if memory.key else inline(memory.title)


def _tags(memory: Memory) -> str:
    return f"Tags: {', '.join(map(word, memory.tags))}"


def row(memory: Memory) -> dict[str, JsonValue]:
    """A memory as JSON, in the fields of an export."""
    return {
        "key": memory.key or memory.id,
        "value": memory.text,
        "type": type_of(memory),
        "context": memory.why,
        "agent_id": memory.updated_by,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "access_count": memory.access_count,
        "tags": list(memory.tags),
        **outside_mark(memory),
    }


def action_of(event: Activity) -> str | None:
    """The name of a log entry's action in this dialect; None if the dialect does not show it."""
    if (event.key or "").startswith("handoff-"):
        return {"Picked": "pickup", "Completed": "complete_handoff"}.get(event.detail.partition(" ")[0], "handoff")
    return _ACTIONS.get(event.action)


def event_row(event: Activity) -> dict[str, JsonValue]:
    """A log entry as JSON."""
    return {
        "agent_id": event.agent,
        "action": action_of(event),
        "target_key": event.key,
        "detail": event.detail,
        "created_at": iso(event.at),
    }
