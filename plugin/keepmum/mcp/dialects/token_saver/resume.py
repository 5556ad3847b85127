"""`smart_resume`: what a session needs to continue, within a token budget. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from keepmum.core import briefing
from keepmum.core.memory import JsonValue, Memory
from keepmum.mcp.dialects.token_saver import entry

__all__ = ["SECTIONS", "resume", "tokens"]

SECTIONS = ("project", "current", "discovered", "next", "shared")
_PREFIXES = {
    "current": ("current.",),
    "discovered": ("discovered.", "error.", "debug."),
    "next": ("next.", "todo."),
    "shared": ("shared.",),
}
_EMPTY = "There are no memories here yet. Store what later sessions need with write_memory."


def resume(memories: Iterable[Memory], budget: int) -> dict[str, JsonValue]:
    """Briefing, context and token count; at most `budget` tokens unless the empty answer is larger.

    `memories` are sorted by importance; those that do not fit are counted in `left_out`.
    """
    context: dict[str, list[JsonValue]] = {section: [] for section in SECTIONS}
    lines: dict[str, list[str]] = {section: [] for section in SECTIONS}
    answer: dict[str, JsonValue] = {"briefing": _EMPTY, "context": context, "token_count": budget, "left_out": 0}
    used = len(json.dumps(answer, ensure_ascii=False)) + sum(len(section) + 4 for section in SECTIONS)
    left_out = 0
    for memory in memories:
        section = _section(memory)
        shown = _shown(memory)
        line = _line(memory)
        cost = len(json.dumps(shown, ensure_ascii=False)) + len(json.dumps(line, ensure_ascii=False)) + 4
        if used + cost > 4 * budget:
            left_out += 1
            continue
        used += cost
        context[section].append(shown)
        lines[section].append(line)
    blocks = [f"{section.capitalize()}:\n" + "\n".join(lines[section]) for section in SECTIONS if lines[section]]
    answer |= {"briefing": "\n".join(blocks) or _EMPTY, "left_out": left_out}
    answer["token_count"] = tokens(json.dumps(answer, ensure_ascii=False))
    return answer


def tokens(text: str) -> int:
    """Estimated tokens of a text: four characters each, rounded up."""
    return -(-len(text) // 4)


def _section(memory: Memory) -> str:
    key = memory.key or ""
    named = next((section for section, prefixes in _PREFIXES.items() if key.startswith(prefixes)), None)
    return named or ("shared" if memory.scope == "shared" else "project")


def _shown(memory: Memory) -> JsonValue:
    """A memory, reduced to what a session needs."""
    return {"key": memory.key, "value": entry.value(memory), "scope": memory.scope, "tags": list(memory.tags)}


def _line(memory: Memory) -> str:
    """A memory in one line, with author and date."""
    text = " ".join(entry.text_of(entry.value(memory)).split())
    cut = text if len(text) <= entry.SHORT else f"{text[: entry.SHORT - 1]}…"
    by = f"{memory.updated_by} {briefing.day(memory.updated_at)}"
    return briefing.as_data(f"- {memory.key or memory.title}: {cut} ({by})")
