"""The tools of the `per-user` dialect: each call reads and writes only its user's memories."""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Unpack

from keepmum.core import memory_text, validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import (
    LIMITS,
    SCOPES,
    STATUSES,
    TRUSTED,
    Action,
    Activity,
    JsonValue,
    Kind,
    LogFilter,
    Match,
    Memory,
    Tier,
)
from keepmum.core.ranking import OUTSIDE
from keepmum.core.retention import DAY_MS
from keepmum.core.similarity import Similar
from keepmum.core.when import parse_when
from keepmum.mcp.dialects import per_user
from keepmum.mcp.dialects.handlers import Answer, JsonHandlers, browse, iso, open_service, outside_mark
from keepmum.mcp.dialects.per_user import profile, views
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, Remembered, Wanted
from keepmum.workspace.resolve import backend_kind, resolve_folder
from keepmum.workspace.routing import store_by_scope

__all__ = ["PerUserHandlers", "handlers_over", "open_handlers"]

_RECALLED, _LISTED, _LOGGED = 10, 20, 50
_LOG_PAGE = 500
_SEARCHED = 200  # matches that are filtered and ranked
_WEEK_MS = 7 * DAY_MS
_ARCHIVE_BELOW = 0.1  # importance
_SIMILAR = 3
_PER_CATEGORY = 3  # memories read for a summary
_CLOSEST = 5  # memories listed when a query matches none completely
# Neither a repository nor a team server keeps the memories of users apart, so this machine's database has them all.
_ROUTES = tuple(f"{scope}:sqlite" for scope in SCOPES)
_LOCAL = "The memories of users are stored on this machine, since a team server does not keep users apart."
_EVERYWHERE: Wanted = {"scope": "all"}
_FOCUS = {
    "communication": ("preference", "relationship", "personality", "instruction"),
    "technical": ("skill", "fact", "project"),
}
_SORTS: dict[str, Callable[[Memory], tuple[float, int]]] = {
    "created": lambda memory: (memory.created_at, 0),
    "accessed": lambda memory: (memory.accessed_at or memory.created_at, memory.created_at),
    "importance": lambda memory: (memory.importance, memory.created_at),
}
_BECOMES = {"archive": "archived"}  # the status that a memory has already when there is nothing to do
_FORGETTABLE = ("active", "archived")
_DONE: dict[str, Action] = {"delete": "trashed", "archive": "archived", "decay": "updated"}


def open_handlers(context: Context) -> PerUserHandlers:
    """Handlers for the configured store.

    Raises: KeepmumError when the settings are invalid or the store cannot be opened.
    """
    return PerUserHandlers(open_service(context, routes=_ROUTES), context)


def handlers_over(service: MemoryService, context: Context) -> PerUserHandlers:
    """Handlers for a client of a team's server."""
    return PerUserHandlers(service, context, environ=None)


class PerUserHandlers(JsonHandlers):
    """Eight tools over one service; memories belong to a user and to no project, and are stored on this machine."""

    _names = MappingProxyType(
        {"text": "content", "title": "content", "why": "context", "kind": "category", "user": "userId"}
    )

    def __init__(
        self, service: MemoryService, context: Context, environ: Mapping[str, str] | None = os.environ
    ) -> None:
        super().__init__(
            service,
            context,
            {
                "MemoryStore": self._as_user(self._store),
                "MemoryRecall": self._as_user(self._recall),
                "MemoryForget": self._as_user(self._forget),
                "MemoryReflect": self._as_user(self._reflect),
                "MemoryList": self._as_user(self._list),
                "MemoryExport": self._as_user(self._export),
                "MemoryErase": self._as_user(self._erase),
                "MemoryAudit": self._as_user(self._audit),
            },
            routes=_ROUTES,
            environ=environ,
        )
        self._is_model_open = False

    def _as_user(self, answer: Callable[[str, dict[str, Any]], JsonValue]) -> Answer:
        """Wrap a tool so that it runs in the space of the user named in the call.

        The tool receives the name with secrets masked, for its answer.
        """

        @functools.wraps(answer)
        def run(arguments: dict[str, Any]) -> JsonValue:
            user = arguments.pop("userId")
            # Cleaning could turn two names into one, so a name that needs cleaning is refused.
            if not user or validation.clean("userId", user, LIMITS.name, one_line=True) != user:
                raise InvalidInput("userId", "is empty, or has spaces at its ends or invisible characters")
            if self._service.place.user not in {None, user}:
                raise InvalidInput("userId", "is another user; the settings restrict this server to one user")
            with self._service.at(replace(self._service.place, user=user)):
                return answer(self._service.masked(user), arguments)

        return run

    def _parameters_of(self, tool: str) -> Mapping[str, str]:
        one_category = tool in {"MemoryStore", "MemoryList"}
        return {
            **self._names,
            "id": "supersedes" if tool == "MemoryStore" else "memoryId",
            "category": "category" if one_category else "categories",
        }

    # -- tools

    def _store(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        if not self._is_model_open:  # without it, the first answers of a process would report nothing similar
            self._service.open_model()
            self._is_model_open = True
        category, path = _category(arguments["category"])
        tags = [*_listed(arguments.get("tags")), *([path] if path else [])]
        tier = arguments.get("tier")
        kept = self._service.remember(
            arguments["content"],
            supersedes=arguments.get("supersedes"),
            kind=category,
            tier=None if tier is None else _tier(tier),
            importance=_clamped(arguments.get("importance")),
            confidence=_clamped(arguments.get("confidence")),
            tags=tags or None,
            why=arguments.get("context"),
            scope="global",
        )
        notices = [memory_text.kept_line(kept.kept)] if kept.kept is not None else []
        if _LOCAL not in self._shown_notices and self._has_team_server():
            self._shown_notices.add(_LOCAL)
            notices.append(_LOCAL)
        return {**_stored(kept, user), **({"notice": " ".join(notices)} if notices else {})}

    def _has_team_server(self) -> bool:
        """Whether the settings say that memories of all projects are stored at a server."""
        if self._environ is None:
            return False
        chosen = resolve_folder(self._environ, self._service.place.root or os.curdir).settings
        return store_by_scope(backend_kind(chosen), chosen.backend.routes)["global"] == "rest"

    def _recall(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        self._apply_decay()
        now, query = self._service.now(), arguments.get("query", "").strip()
        found = self._found(query, arguments)
        best = found[: arguments.get("limit", _RECALLED)]
        self._service.load([memory.id for memory, _ in best])  # counts as use
        return {
            "userId": user,
            "query": self._service.masked(query) or None,
            "memories": [_recalled(memory, fit, now, arguments) for memory, fit in best],
            "totalMatches": len(found),
            "personalitySummary": self._summary(),
        }

    def _forget(self, user: str, arguments: dict[str, Any]) -> JsonValue:  # noqa: ARG002 - same signature as the other tools
        mode, reason = arguments.get("mode", "delete"), arguments.get("reason")
        targets = [memory for memory in self._targets(arguments) if memory.status != _BECOMES.get(mode)]
        if not targets:
            return self._nothing_forgotten(arguments)
        if mode == "decay":
            for memory in targets:
                self._service.revise(memory.id, memory.text, importance=memory.importance / 2)
        else:
            self._service.forget([memory.id for memory in targets], mode="trash" if mode == "delete" else "archive")
        if reason:
            for memory in targets:
                self._service.note(_DONE[mode], f"reason: {reason}", memory)
        return {
            "status": "success",
            "action": {"delete": "deleted", "decay": "decayed", "archive": "archived"}[mode],
            "affectedCount": len(targets),
            "affectedMemories": [{"id": memory.id, "content": memory.text} for memory in targets],
            "reason": reason and self._service.masked(reason),
        }

    def _nothing_forgotten(self, arguments: dict[str, Any]) -> JsonValue:
        """The answer when no memory matches, with the closest ones, so that no agent reports them as removed."""
        query = arguments.get("query", "").strip()
        closest = [memory for memory, _ in self._found(query, {})[:_CLOSEST]] if query else []
        advice = "call again with the memoryId of those that the user means" if closest else "MemoryList shows all"
        return {
            "status": "not_found",
            "action": "none",
            "affectedCount": 0,
            "affectedMemories": [],
            "message": f"Nothing was forgotten: no memory {_matches(arguments)}; {advice}.",
            "closestMemories": [
                {"id": memory.id, "content": memory.text, **outside_mark(memory)} for memory in closest
            ],
            "reason": (reason := arguments.get("reason")) and self._service.masked(reason),
        }

    def _reflect(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        self._apply_decay()
        memories = list(self._memories(trusts=TRUSTED))
        focus = arguments.get("focus", "").strip()
        if focus.casefold() in _FOCUS:
            memories = [memory for memory in memories if views.category_of(memory) in _FOCUS[focus.casefold()]]
        elif focus:
            found = self._service.recall(focus, limit=_SEARCHED, weak=True, trusts=TRUSTED)
            memories = [match.memory for match in found]
        answer: dict[str, JsonValue] = {
            "userId": user,
            "profile": profile.profile(memories) if memories else None,
            "confidence": profile.confidence(memories),
            "basedOnMemories": len(memories),
            "lastReflection": iso(self._service.now()),
        }
        if not memories:
            answer["message"] = "There are no memories of this user yet" + (" about that" if focus else "")
        if arguments.get("includeMemories"):
            answer["memories"] = [views.entity(memory, self._service.now()) for memory in memories]
        return answer

    def _list(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        self._apply_decay()
        everything = list(self._memories())
        chosen = [memory for memory in everything if _passes(memory, arguments)]
        order = _SORTS[arguments.get("sortBy", "created")]
        chosen.sort(key=lambda memory: (*order(memory), memory.id), reverse=arguments.get("order") != "asc")
        page, size = arguments.get("page", 1), arguments.get("pageSize", _LISTED)
        return {
            "userId": user,
            "memories": [_entry(memory) for memory in chosen[(page - 1) * size : page * size]],
            "pagination": {
                "page": page,
                "pageSize": size,
                "totalItems": len(chosen),
                "totalPages": -(-len(chosen) // size),
            },
            "stats": {
                "byCategory": dict(Counter(map(views.category_of, everything)).most_common()),
                "byTier": dict(Counter(map(views.tier_of, everything)).most_common()),
            },
        }

    def _export(self, user: str, _: dict[str, Any]) -> JsonValue:
        memories = list(self._memories(statuses=STATUSES))
        return {
            "userId": user,
            "exportedAt": iso(self._service.now()),
            "count": len(memories),
            "memories": [views.entity(memory, self._service.now()) for memory in memories],
        }

    def _erase(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        one = arguments.get("memoryId")
        field, expected = ("userId", self._service.place.user) if one is None else ("memoryId", one)
        if arguments["confirm"] != expected:
            raise InvalidInput(
                "confirm", f"does not equal {field}; nothing was erased. Ask the user, then repeat the {field}"
            )
        memories = [memory.id for memory in self._memories(statuses=STATUSES)] if one is None else [one]
        erased = self._service.erase(memories, whole_user=one is None)
        return {"userId": user, "status": "erased", "erasedCount": erased}

    def _audit(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        one, limit = arguments.get("memoryId"), arguments.get("limit", _LOGGED)
        memories = [self._service.find(one)] if one else self._memories(statuses=STATUSES)
        titles = {memory.id: memory.title for memory in memories}
        found = list(itertools.islice((event for event in self._log(one) if event.memory in titles), limit + 1))
        return {
            "userId": user,
            "entries": [
                {
                    "at": iso(event.at),
                    "action": event.action,
                    "agent": event.agent,
                    "memoryId": event.memory,
                    "title": titles[event.memory or ""],
                    "detail": event.detail,
                }
                for event in found[:limit]
            ],
            "hasMore": len(found) > limit,
        }

    def _log(self, memory: str | None) -> Iterator[Activity]:
        """The activity log, latest first, of one memory or of all."""
        wanted, after = LogFilter(memory=memory and self._service.find(memory).id), ""
        while page := self._service.activity(_LOG_PAGE, everywhere=True, wanted=wanted, after=after):
            yield from page
            after = page[-1].cursor

    # -- what is read

    def _summary(self) -> str | None:
        """The user in one line, from the few memories it needs."""
        chosen: list[Memory] = []
        for category in profile.SUMMED_UP:
            kinds = views.kinds_of(category)
            found = self._service.recall(
                None, scope="all", order="importance", limit=_PER_CATEGORY, kinds=kinds, trusts=TRUSTED
            )
            chosen += [match.memory for match in found]
        return profile.summary(chosen)

    def _memories(self, **wanted: Unpack[Wanted]) -> Iterator[Memory]:
        """The user's memories of all projects that pass the filter, latest first."""
        everywhere: Wanted = {**_EVERYWHERE, **wanted}
        return browse(self._service, **everywhere)

    def _found(self, query: str, arguments: dict[str, Any]) -> list[tuple[Memory, float]]:
        """The memories that pass the filters, with relevance, in this dialect's order.

        A query includes archived memories; browsing does not.
        """
        now = self._service.now()
        wanted = _wanted(arguments)
        matches: list[Match]
        if query:
            wanted["statuses"] = ("active", "archived")
            matches = self._service.recall(query, limit=_SEARCHED, weak=True, **wanted)
        else:
            matches = [Match(memory, 1.0, "latest") for memory in self._memories(**wanted)]
        passed = [match for match in matches if _passes(match.memory, arguments)]
        scored = [(match.memory, min(1.0, max(0.0, match.score))) for match in passed]

        def score_of(pair: tuple[Memory, float]) -> float:
            memory, relevance = pair
            fit = relevance * memory.importance * views.recency(memory, now)
            return fit * (OUTSIDE if memory.trust == "outside" else 1.0)

        return sorted(scored, key=lambda pair: (-score_of(pair), pair[0].id))

    def _targets(self, arguments: dict[str, Any]) -> list[Memory]:
        """The memories that a call wants to forget.

        Raises: InvalidInput when it names none; NotFound when the memory is not this user's.
        """
        name, query = arguments.get("memoryId"), arguments.get("query", "").strip()
        if not name and not query:
            raise InvalidInput("memoryId", "is missing; give one, or a query")
        older = arguments.get("olderThan")
        before = None if older is None else parse_when("olderThan", older, self._service.now())
        found = (self._service.find(name),) if name else self._service.forget(query=query, dry_run=True).memories
        kept = [memory for memory in found if memory.status in _FORGETTABLE and _passes(memory, arguments)]
        return [memory for memory in kept if before is None or memory.updated_at < before]

    def _apply_decay(self) -> None:
        """Reduce the importance of unused memories; archive those below `_ARCHIVE_BELOW`."""
        now = self._service.now()
        faded = []
        for memory in list(self._memories(tier="mid", until=now - _WEEK_MS)):
            importance = views.weekly_decay(memory, now)
            if importance is None:
                continue
            if importance < _ARCHIVE_BELOW:
                faded.append(memory.id)
            else:
                self._service.revise(memory.id, memory.text, importance=importance)
        if faded:
            self._service.forget(faded, mode="archive")


def _matches(arguments: dict[str, Any]) -> str:
    """What a memory must be to be forgotten by this call, in words."""
    words = "with this memoryId is stored" if arguments.get("memoryId") else "contains every word of the query"
    filters = [name for name in ("categories", "olderThan") if name in arguments]
    return f"{words}{' and passes ' + ' and '.join(filters) if filters else ''}"


def _wanted(arguments: dict[str, Any]) -> Wanted:
    """The filters that the store applies; `_passes` applies the others."""
    paths = [_checked_path(path) for path in _listed(arguments.get("categories"))]
    wanted: Wanted = {
        **_EVERYWHERE,
        "kinds": [kind for path in paths for kind in views.kinds_of(path.partition("/")[0])],
        "tags": _listed(arguments.get("tags")),
    }
    if tier := arguments.get("tier"):
        wanted["tier"] = _tier(tier)
    return wanted


def _tier(named: str) -> Tier:
    return "long" if named == "long-term" else "mid"


def _stored(kept: Remembered, user: str) -> dict[str, JsonValue]:
    """The answer to a write, without notices."""
    memory = kept.memory
    answer: dict[str, JsonValue] = {
        # The same text is not stored twice.
        "status": "queued" if kept.queued else {"created": "created", None: "skipped"}.get(kept.action, "updated"),
        "memoryId": memory.id,
        "userId": user,
        "category": views.category_of(memory),
        "tier": views.tier_of(memory),
        "similarMemories": [
            {
                "id": similar.memory.id,
                "content": similar.memory.text,
                "similarity": round(similar.cosine, 2),
                "suggestion": _suggestion(similar),
            }
            for similar in kept.similar[:_SIMILAR]
        ],
    }
    if kept.kept is None and memory.supersedes:
        answer["superseded"] = memory.supersedes
    if kept.wrong is not None:
        answer["warning"] = memory_text.wrong_line(*kept.wrong)
    return answer


def _suggestion(similar: Similar) -> str:
    """What to do about a similar memory; a new version replaces it only when the agent says so."""
    if similar.advice == "supersede":
        return f"Consider: if this replaces it, store this again with supersedes {similar.memory.id}"
    return f"Consider: {similar.advice}"


def _recalled(memory: Memory, fit: float, now: int, arguments: dict[str, Any]) -> JsonValue:
    row: dict[str, JsonValue] = {
        "id": memory.id,
        "category": views.category_of(memory),
        "tier": views.tier_of(memory),
        "content": memory.text,
        "importance": round(memory.importance, 3),
        "relevance": round(fit, 3),
        "lastAccessed": iso(now),
    }
    if arguments.get("includeContext"):
        row["context"] = memory.why
    return {**row, **({"archived": True} if memory.status == "archived" else {}), **outside_mark(memory)}


def _entry(memory: Memory) -> JsonValue:
    return {
        "id": memory.id,
        "category": views.category_of(memory),
        "tier": views.tier_of(memory),
        "content": memory.text,
        "importance": round(memory.importance, 3),
        "createdAt": iso(memory.created_at),
        "lastAccessedAt": iso(memory.accessed_at),
        "accessCount": memory.access_count,
        **outside_mark(memory),
    }


def _passes(memory: Memory, arguments: dict[str, Any]) -> bool:
    """Whether a memory passes the filters of a call."""
    named = arguments.get("categories", arguments.get("category"))
    paths = [_checked_path(path) for path in _listed(named)]
    tags = {tag.lower() for tag in _listed(arguments.get("tags"))}
    least = arguments.get("minImportance")
    return (
        (not paths or any(views.falls_under(memory, path) for path in paths))
        and (not tags or bool(tags & set(memory.tags)))
        and arguments.get("tier") in {None, views.tier_of(memory)}
        and (least is None or memory.importance >= least)
    )


def _category(named: str) -> tuple[Kind, str]:
    """The kind of a category, and its path if it is a subcategory, such as `preference/tone`.

    Raises: InvalidInput.
    """
    path = _checked_path(named)
    kind = next(kind for kind in views.kinds_of(path.partition("/")[0]) if kind == path.partition("/")[0])
    return kind, path if "/" in path else ""


def _checked_path(named: str) -> str:
    path = named.strip().strip("/").lower()
    if path.partition("/")[0] not in per_user.CATEGORIES:
        raise InvalidInput(
            "category", f"must be one of {', '.join(per_user.CATEGORIES)}, or a subcategory such as preference/tone"
        )
    return path


def _listed(value: str | list[str] | None) -> list[str]:
    """The items of a list, or of a comma-separated string."""
    words = value.split(",") if isinstance(value, str) else value or []
    return [word.strip() for word in words if word.strip()]


def _clamped(value: float | None) -> float | None:
    return None if value is None else min(1.0, max(0.0, value))
