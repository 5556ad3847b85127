"""Memories as JSON for a page: as a row of a list, in full, and as a hit of a search with the reason it was found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from keepmum.core import ranking, retention, serialization
from keepmum.core.citations.freshness import Freshness
from keepmum.core.ids import PREFIX
from keepmum.core.memory import Match, Memory
from keepmum.core.review import RULE_KINDS
from keepmum.dashboard.arguments import JsonObject
from keepmum.dashboard.base import Dashboard

__all__ = ["VERDICT_FLAGS", "brief", "card", "cards", "conflicting", "full", "hit", "passage"]

_EXCERPT = 240  # characters
_SHORT = len(PREFIX) + 12
_SOON_MS = 14 * retention.DAY_MS
_FADING = 0.25
_ROW = (
    "id", "key", "title", "kind", "tags", "scope", "agent", "created_by", "updated_by", "created_at", "updated_at",
    "accessed_at", "revision", "trust", "confirmed_at", "confirmed_by", "pinned", "status", "expires_at", "trashed_at",
)  # fmt: skip
_REST = ("text", "why", "source", "source_kind", "tier", "importance", "confidence", "session", "data")
VERDICT_FLAGS = {"gone": "code-gone", "changed": "code-changed"}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*\s*")  # noqa: RUF001 - full stops of other scripts
_WORD = re.compile(r"\w+|\W+")


def cards(dashboard: Dashboard, memories: Sequence[Memory], *, seconds: float = 0.02) -> list[JsonObject]:
    """The rows of memories; what cannot be compared of the code that they cite within `seconds` is left out."""
    service = dashboard.service
    freshness = service.freshness(memories, seconds) if memories else {}
    projects = service.elsewhere(memories)
    now, conflicts = service.now(), conflicting(dashboard)
    return [
        card(
            memory,
            now,
            freshness.get(memory.id),
            projects.get(memory.project or ""),
            in_conflict=memory.id in conflicts,
        )
        for memory in memories
    ]


def conflicting(dashboard: Dashboard) -> frozenset[str]:
    """The ids of the memories whose value one agent replaced by another, until a person decides."""
    service = dashboard.service
    found: frozenset[str] = dashboard.remembered(
        "conflicts", (service.changes(), service.place), lambda: frozenset(service.conflicting())
    )
    return found


def card(
    memory: Memory,
    now: int,
    freshness: Freshness | None = None,
    project: str | None = None,
    *,
    in_conflict: bool = False,
) -> JsonObject:
    """The row of one memory."""
    left = retention.retention(memory, now)
    return {
        **_values(memory, _ROW),
        "short": memory.id[:_SHORT],
        "excerpt": " ".join(memory.text[: 4 * _EXCERPT].split())[:_EXCERPT],
        "length": len(memory.text),
        "project": project,
        "uses": memory.access_count,
        "left": round(left, 4),
        "has_why": bool(memory.why),
        "flags": _flags(memory, now, left, freshness, in_conflict=in_conflict),
    }


def full(memory: Memory, row: JsonObject) -> JsonObject:
    """The row of a memory, with its whole text and what else a row leaves out."""
    git = memory.git or {}  # of an import, any JSON
    branch, commit = (value if isinstance(value := git.get(name), str) else None for name in ("branch", "commit"))
    return {**row, **_values(memory, _REST), "git": {"branch": branch, "commit": commit} if commit else None}


def brief(memory: Memory) -> JsonObject:
    """What a link to a memory shows."""
    return _values(memory, ("id", "title", "kind", "status", "agent", "updated_at"))


def hit(match: Match) -> JsonObject:
    """Why a memory was found, and the passage of its text that fits best."""
    legs, memory = match.legs, match.memory
    terms = legs.terms if legs else ()
    return {
        "score": round(match.score, 4),
        "fit": round(match.fit, 3),
        "band": match.band,
        "meaning": None if legs is None or legs.cosine is None else round(legs.cosine, 2),
        "words": round(legs.lexical, 2) if legs else 0.0,
        "meaning_rank": legs.vector_rank if legs else 0,
        "words_rank": legs.lexical_rank if legs else 0,
        "prior": round(legs.prior, 3) if legs else 1.0,
        "terms": list(terms),
        "passage": passage(memory.text, terms),
        "title_marks": _marked(memory.title, frozenset(map(ranking.stem, terms))),
        "why": match.why,
        "previous": {"id": match.previous.id, "title": match.previous.title, "text": match.previous.text}
        if match.previous
        else None,
    }


def passage(text: str, terms: Sequence[str]) -> list[list[Any]]:  # Any: pairs of a text and 0 or 1
    """The sentence of a text that holds most of the terms, in pieces, each with 1 when it is one of them."""
    sought = frozenset(map(ranking.stem, terms))
    best, most = "", -1
    for found in _SENTENCE.finditer(text[:20_000]):
        count = len(sought & _stems(found[0]))
        if count > most:
            best, most = found[0].strip(), count
        if most == len(sought):
            break
    return _marked(_around(best or text[:_EXCERPT], sought), sought)


def _around(sentence: str, sought: frozenset[str]) -> str:
    """A sentence cut to the length of an excerpt, around the first term in it."""
    if len(sentence) <= _EXCERPT:
        return sentence
    first = next((found.start() for found in _WORD.finditer(sentence) if sought & _stems(found[0])), 0)
    start = max(0, min(first - _EXCERPT // 3, len(sentence) - _EXCERPT))
    return (
        f"{'…' if start else ''}{sentence[start : start + _EXCERPT]}{'…' if start + _EXCERPT < len(sentence) else ''}"
    )


def _marked(text: str, sought: frozenset[str]) -> list[list[Any]]:  # Any: as in `passage`
    pieces: list[list[Any]] = []
    for piece in _WORD.findall(text):
        mark = int(bool(sought & _stems(piece))) if piece[:1].isalnum() else 0
        if pieces and pieces[-1][1] == mark:
            pieces[-1][0] += piece
        else:
            pieces.append([piece, mark])
    return pieces


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(ranking.stem, ranking.index_terms(text)))


def _flags(memory: Memory, now: int, left: float, freshness: Freshness | None, *, in_conflict: bool) -> list[str]:
    """What a person should notice, the most important first."""
    is_rule = memory.kind in RULE_KINDS and memory.trust == "agent" and memory.confirmed_at is None
    known = {
        "outside": memory.trust == "outside",
        "conflict": in_conflict and memory.status == "active",
        VERDICT_FLAGS.get(freshness.verdict if freshness else "", ""): True,
        "unconfirmed": is_rule,
        "expires": memory.expires_at is not None and now < memory.expires_at <= now + _SOON_MS,
        "fading": memory.status == "active" and left < _FADING,
        "pinned": memory.pinned,
        "confirmed": memory.confirmed_at is not None,
    }
    return [flag for flag, is_set in known.items() if flag and is_set]


def _values(memory: Memory, names: Sequence[str]) -> JsonObject:
    values: Mapping[str, Any] = serialization.to_json(memory)  # Any: of each field's own type
    return {name: list(value) if isinstance(value := values[name], tuple) else value for name in names}
