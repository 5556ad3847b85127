"""One memory: its text, where it comes from, how it fades, what it was before, and what is near it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from keepmum.core import ids, lifecycle, retention, trust
from keepmum.core.citations.freshness import Freshness, combined
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS, Activity, Citation, JsonValue, LogFilter, Memory, Revision
from keepmum.core.memory_text import day
from keepmum.core.retention import DAY_MS
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.cards import brief, card, conflicting, full
from keepmum.dashboard.views.about import verbs_of
from keepmum.dashboard.views.entries import entry

__all__ = ["citations_of", "code", "detail", "used"]

_VERSIONS = 50
_EVENTS = 200  # of the log, about one memory
_SHOWN_EVENTS = 20
_POINTS = 48  # of a curve
_CODE_SECONDS = 0.3
_LINES = 400
_GONE_ONLY_BY = frozenset({"restore", "undo"})  # verbs for a memory that was removed
_ADVICE = {
    "outside": ("This comes from outside, and nobody has confirmed it.", "Confirm it, or forget it."),
    "conflict": ("One agent replaced what another had stored.", "Decide in Review which value is right."),
    "code-gone": ("The code that it cites is gone.", "Look whether it still holds, then edit it or mark it as wrong."),
    "code-changed": (
        "The code that it cites has changed since.",
        "Look at the change: it is still true, or edit it.",
    ),
    "unconfirmed": ("An agent noted this rule, and nobody has confirmed it.", "Confirm it if it is yours."),
    "expires": ("It expires soon.", "Say that it is still true, or pin it."),
    "fading": ("It has nearly faded: nobody has loaded it for long.", "Say that it is still true, or pin it."),
}


def detail(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """All that is known of one memory, of any status."""
    service = dashboard.service
    memory = service.find(given.text("id", LIMITS.key, required=True))
    now = service.now()
    cited = service.cited(memory, _CODE_SECONDS)
    freshness = combined([verdict for _, verdict in cited])
    project, in_conflict = service.elsewhere([memory]).get(memory.project or ""), memory.id in conflicting(dashboard)
    shown = full(memory, card(memory, now, freshness, project, in_conflict=in_conflict))
    past = service.history(memory.id)
    events = service.activity(_EVENTS, everywhere=True, wanted=LogFilter(memory=memory.id))
    return {
        "memory": shown,
        "can": _verbs(dashboard, memory),
        "warnings": [
            {"kind": flag, "says": _ADVICE[flag][0], "do": _ADVICE[flag][1]}
            for flag in shown["flags"]
            if flag in _ADVICE
        ],
        "citations": citations_of(cited),
        "versions": _versions(memory, past),
        "versions_total": len(past) + 1,
        "fading": _fading(memory, past, events, now, service.context.options.policy),
        "used": used(memory, events) | {"events": [entry(dashboard, each) for each in events[:_SHOWN_EVENTS]]},
        "near": _near(dashboard, memory),
        "wrong": _wrong(memory, events),
    }


def code(dashboard: Dashboard, given: Arguments) -> JsonObject:
    """What has changed in a piece of code that a memory cites, line by line.

    Raises: InvalidInput when the memory does not cite it, or nothing is known of it.
    """
    service = dashboard.service
    memory = service.find(given.text("id", LIMITS.key, required=True))
    path, symbol = given.text("path", LIMITS.source, required=True), given.optional_text("symbol", LIMITS.source)
    found = [
        each for each, _ in service.cited(memory, _CODE_SECONDS) if each.path == path and symbol in {None, each.symbol}
    ]
    lines = service.difference(found[0]) if found else None
    if lines is None:
        raise InvalidInput("path", "is not known: the memory does not cite it, or there is no repository here")
    return {
        "path": path,
        "symbol": found[0].symbol,
        "commit": found[0].commit,
        "lines": [list(line) for line in lines[:_LINES]],
        "cut": len(lines) > _LINES,
    }


def citations_of(cited: Sequence[tuple[Citation, Freshness]]) -> list[JsonObject]:
    """The code that a memory cites, with what became of each piece."""
    return [
        {
            "path": citation.path,
            "symbol": citation.symbol,
            "line": citation.line,
            "commit": citation.commit,
            "verdict": freshness.verdict,
            "now": freshness.location._asdict() if freshness.location else None,
        }
        for citation, freshness in cited
    ]


def used(memory: Memory, events: Sequence[Activity]) -> JsonObject:
    """How often a memory was used, and by which agents as far as the log says."""
    agents = list(dict.fromkeys(event.agent for event in events if event.action == "loaded"))
    return {"count": memory.access_count, "last": memory.accessed_at, "agents": agents}


def _verbs(dashboard: Dashboard, memory: Memory) -> list[str]:
    allowed = verbs_of(dashboard)
    if memory.is_visible(dashboard.service.now()):
        return [verb for verb in allowed if verb != "restore"]
    return [verb for verb in allowed if verb in _GONE_ONLY_BY]


def _versions(memory: Memory, past: Sequence[Revision]) -> list[JsonObject]:
    """The contents of a memory, the present one first, each with who wrote it."""
    authors = [(each.at, each.agent, each.action) for each in past]
    authors.append((memory.created_at, memory.created_by, "created"))
    present: dict[str, JsonValue] = {
        "title": memory.title, "text": memory.text, "why": memory.why, "kind": memory.kind, "tags": memory.tags,
        "key": memory.key, "trust": memory.trust, "status": memory.status,
    }  # fmt: skip
    contents = [present, *({"trust": trust.first(each.before), **each.before} for each in past)]
    revisions = [memory.revision, *(each.revision for each in past)]
    return [
        {
            "revision": revision,
            "at": at,
            "agent": agent,
            "action": action,
            **{name: content.get(name) for name in present},
            "tags": list(content.get("tags") or ()),  # type: ignore[arg-type]  # a list of texts
        }
        for revision, (at, agent, action), content in zip(
            revisions[:_VERSIONS], authors[:_VERSIONS], contents[:_VERSIONS], strict=True
        )
    ]


def _fading(memory: Memory, past: Sequence[Revision], events: Sequence[Activity], now: int, policy: str) -> JsonObject:
    """How much of a memory was left at each time, and will be if nobody loads it."""
    loads = sorted(event.at for event in events if event.action == "loaded")
    fades = memory.tier != "long" and not memory.pinned and memory.status == "active"
    left = retention.retention(memory, now)
    known: JsonObject = {"fades": fades, "left": round(left, 4), "loads": loads, "half_at": None, "gone_at": None}
    if not fades:
        return {**known, "past": [], "ahead": [], "says": _why_not(memory)}
    half_life = retention.HALF_LIFE_DAYS * retention.stability(memory.access_count) * DAY_MS
    last = max(memory.accessed_at or 0, memory.updated_at, memory.confirmed_at or 0)
    gone = int(last + half_life * math.log2(1 / retention.TOMBSTONE_BELOW)) if policy == "ebbinghaus" else None
    half = int(max(now, last) + half_life)
    end = min(gone or half * 2, now + 4 * int(half_life))
    return {
        **known,
        "half_at": half,
        "gone_at": memory.expires_at or gone,
        "past": _past(memory, past, loads, now, half_life),
        "ahead": _curve(max(now, last), end, last, half_life),
        "says": f"Half of what is left is gone on {day(half)}, if nobody loads it."
        if memory.expires_at is None or half < memory.expires_at
        else f"It expires on {day(memory.expires_at)}.",
    }


def _past(
    memory: Memory, past: Sequence[Revision], loads: Sequence[int], now: int, half_life: float
) -> list[list[float]]:
    """What was left until now: all after each load or change, then less; each load lengthens the half-life."""
    unknown = max(0, memory.access_count - len(loads))  # older than the log, or not in it
    changes = sorted({memory.created_at, *(each.at for each in past), memory.confirmed_at or memory.created_at})
    starts = sorted({*loads, *changes})
    points: list[list[float]] = []
    for start, end in zip(starts, [*starts[1:], now], strict=True):
        loaded = unknown + sum(at <= start for at in loads)
        span = half_life if end == now else retention.HALF_LIFE_DAYS * retention.stability(loaded) * DAY_MS
        points += _curve(start, end, start, span, max(2, _POINTS // len(starts)))
    return points[-4 * _POINTS :]


def _curve(start: int, end: int, last: int, half_life: float, count: int = _POINTS) -> list[list[float]]:
    """Times and what is left at each, in equal steps."""
    step = max(0, end - start) / (count - 1)
    times = [int(start + number * step) for number in range(count)]
    return [[at, round(math.exp2(-max(0, at - last) / half_life), 4)] for at in times]


def _why_not(memory: Memory) -> str:
    if memory.status != "active":
        ends = memory.trashed_at and memory.trashed_at + lifecycle.TRASH_DAYS * DAY_MS
        return f"It is {memory.status}{f', and is removed for good on {day(ends)}' if ends else ''}."
    if memory.expires_at is not None:
        return f"It does not fade, and expires on {day(memory.expires_at)}."
    return "It does not fade: it is pinned." if memory.pinned else "It does not fade."


def _near(dashboard: Dashboard, memory: Memory) -> list[JsonObject]:
    """The memories that this one replaces or was replaced by, then those with the most similar content."""
    service = dashboard.service
    linked: list[tuple[str | None, str]] = [(memory.superseded_by, "replaced-by"), (memory.supersedes, "replaces")]
    shown: dict[str, JsonObject] = {}
    for reference, relation in linked:
        for other in service.peek([reference]) if reference and ids.complete_id(reference) else ():
            claims = relation == "replaces" and other.superseded_by != memory.id
            shown[other.id] = {
                **brief(other), "cosine": None, "relation": "claims-to-replace" if claims else relation,
            }  # fmt: skip
    for other, cosine in service.near(memory) if memory.status == "active" else ():
        if other.id in shown:
            shown[other.id]["cosine"] = round(cosine, 2)
        else:
            shown[other.id] = {**brief(other), "cosine": round(cosine, 2), "relation": "near"}
    return list(shown.values())


def _wrong(memory: Memory, events: Sequence[Activity]) -> JsonObject | None:
    """Who marked a memory in the trash as wrong, when and why."""
    marked: Any = next((event for event in events if event.action in {"wrong", "restored"}), None)
    if memory.status != "trashed" or marked is None or marked.action != "wrong":
        return None
    return {"at": marked.at, "by": marked.agent, "reason": "" if marked.detail == memory.title else marked.detail}
