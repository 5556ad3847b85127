"""The memories of a list as the text of a file: JSON lines, which `keepmum import` reads, or Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from keepmum.core import memory_text, serialization
from keepmum.core.memory import LIMITS, Memory
from keepmum.dashboard.arguments import Arguments
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.views.browse import wanted_of

__all__ = ["texts"]

_FOUND = 200  # of a search
_TOGETHER = 100  # memories in one part of the file


def texts(dashboard: Dashboard, kind: str, given: Arguments) -> Iterator[str]:
    """The parts of a file of `kind` jsonl or markdown.

    Raises: InvalidInput; Incomplete after the last memory, when a server did not list all.
    """
    render = _line if kind == "jsonl" else _section
    parts: list[str] = []
    for memory in _memories(dashboard, given):
        parts.append(render(memory))
        if len(parts) == _TOGETHER:
            yield "".join(parts)
            parts.clear()
    yield "".join(parts)


def _memories(dashboard: Dashboard, given: Arguments) -> Iterable[Memory]:
    wanted = wanted_of(given)
    query = given.text("query", LIMITS.query)
    if not query.strip():
        return dashboard.service.every(**wanted)
    return [match.memory for match in dashboard.service.recall(query, limit=_FOUND, quiet=True, **wanted)]


def _line(memory: Memory) -> str:
    return json.dumps(serialization.to_json(memory), ensure_ascii=False) + "\n"


def _section(memory: Memory) -> str:
    facts = [memory.kind, *(f"#{tag}" for tag in memory.tags), memory_text.provenance(memory), memory.id]
    why = f"Why: {memory.why}\n\n" if memory.why else ""
    return f"## {memory.title}\n\n{' · '.join(facts)}\n\n{memory.text}\n\n{why}"
