"""Data sets of questions and the memories that answer them, as JSON lines.

    DATA/<set>/<split>/memories.jsonl   {"id", "text", "ns", "title"?, "tags"?, "session"?, "parent"?}
    DATA/<set>/<split>/queries.jsonl    {"id", "query", "gold": [ids], "ns", "grade"?: {id: 1 or more}}

Only memories of the question's `ns` are searched. Where memories have a parent, the gold names parents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Question", "Space", "load"]


class Question(NamedTuple):
    """What is asked, and how good each answer is."""

    text: str
    grades: Mapping[str, int]  # by id, from 1; what is not here is no answer


class Space(NamedTuple):
    """Memories that are searched together, and the questions to them."""

    memories: Sequence[Mapping[str, Any]]
    questions: Sequence[Question]
    parents: Mapping[str, str]  # of memories that are a part of what the gold names


def load(folder: Path) -> Iterator[Space]:
    """The spaces of one split of one set that are asked anything."""
    memories, questions = (_lines(folder / f"{name}.jsonl") for name in ("memories", "queries"))
    for name in dict.fromkeys(question["ns"] for question in questions):
        own = [memory for memory in memories if memory["ns"] == name]
        yield Space(
            own,
            [_question(question) for question in questions if question["ns"] == name],
            {memory["id"]: memory["parent"] for memory in own if memory.get("parent")},
        )


def _question(line: Mapping[str, Any]) -> Question:
    return Question(line["query"], line.get("grade") or dict.fromkeys(line["gold"], 1))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
