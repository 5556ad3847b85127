"""What stands behind the `per-user` tools: each call reads and writes as its user, and sees no other."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Unpack

from keepmum.core import validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS, STATUSES, Action, JsonValue, Kind, Match, Memory, Tier
from keepmum.core.retention import DAY_MS
from keepmum.core.when import parse_when
from keepmum.mcp.dialects import per_user
from keepmum.mcp.dialects.handlers import Answer, JsonHandlers, browse, iso, open_service
from keepmum.mcp.dialects.per_user import profile, views
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, Wanted

__all__ = ["PerUserHandlers", "open_handlers"]

_RECALLED, _LISTED = 10, 20
_SEARCHED = 200  # matches of a query that filters and ranking choose from
_WEEK_MS = 7 * DAY_MS
_FADED = 0.1  # an importance below which a memory is archived
_SIMILAR = 3
_SUMMED_UP = 3  # memories of each category that a summary needs at most
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
_DONE: dict[str, Action] = {"delete": "trashed", "archive": "archived", "decay": "updated"}


def open_handlers(context: Context) -> PerUserHandlers:
    """Handlers over the memory of this machine or its server.

    Raises: KeepmumError when settings are wrong or the store cannot be opened.
    """
    return PerUserHandlers(open_service(context), context)


class PerUserHandlers(JsonHandlers):
    """Seven tools over one service. What is stored belongs to a user and to no project."""

    def __init__(self, service: MemoryService, context: Context) -> None:
        super().__init__(
            service,
            context,
            {
                "MemoryStore": self._as_user(self._store),
                "MemoryRecall": self._as_user(self._recall_of),
                "MemoryForget": self._as_user(self._forget_of),
                "MemoryReflect": self._as_user(self._reflect),
                "MemoryList": self._as_user(self._list),
                "MemoryExport": self._as_user(self._export),
                "MemoryErase": self._as_user(self._erase),
            },
        )

    def _as_user(self, answer: Callable[[str, dict[str, Any]], JsonValue]) -> Answer:
        """A tool that does its work in the space of the user that its call names, and in no other.

        The tool is given the name as its answer may repeat it.
        """

        @functools.wraps(answer)
        def carry_out(arguments: dict[str, Any]) -> JsonValue:
            user = arguments.pop("userId")
            # Cleaned, two names might become one: a name that is not clean is nobody's.
            if not user or validation.clean("userId", user, LIMITS.name, one_line=True) != user:
                raise InvalidInput("userId", "is empty, or holds blanks at its ends or characters that nobody sees")
            if self._service.place.user not in {None, user}:
                raise InvalidInput("userId", "is another user's; this server is set to one user by its settings")
            with self._service.at(replace(self._service.place, user=user)):
                return answer(self._service.masked(user), arguments)

        return carry_out

    # -- tools

    def _store(self, user: str, arguments: dict[str, Any]) -> JsonValue:
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
        memory = kept.memory
        answer: dict[str, JsonValue] = {
            # The very same text is a repeat: nothing new is stored for it.
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
                    "suggestion": f"Consider: {similar.advice}",
                }
                for similar in kept.similar[:_SIMILAR]
            ],
        }
        if memory.supersedes:
            answer["superseded"] = memory.supersedes
        return answer

    def _recall_of(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        self._let_fade()
        now, query = self._service.now(), arguments.get("query", "").strip()
        found = self._found(query, arguments)
        best = found[: arguments.get("limit", _RECALLED)]
        self._service.load([memory.id for memory, _ in best])  # what is given in full counts as used
        return {
            "userId": user,
            "query": self._service.masked(query) or None,
            "memories": [_recalled(memory, fit, now, arguments) for memory, fit in best],
            "totalMatches": len(found),
            "personalitySummary": self._summary(),
        }

    def _forget_of(self, user: str, arguments: dict[str, Any]) -> JsonValue:  # noqa: ARG002 - the form of a tool
        mode, reason = arguments.get("mode", "delete"), arguments.get("reason")
        victims = self._meant(arguments)
        if mode == "decay":
            for memory in victims:
                self._service.revise(memory.id, memory.text, importance=memory.importance / 2)
        elif victims:
            self._service.forget([memory.id for memory in victims], mode="trash" if mode == "delete" else "archive")
        if reason:
            for memory in victims:
                self._service.note(_DONE[mode], f"reason: {reason}", memory)
        return {
            "status": "success",
            "action": {"delete": "deleted", "decay": "decayed", "archive": "archived"}[mode],
            "affectedCount": len(victims),
            "affectedMemories": [{"id": memory.id, "content": memory.text} for memory in victims],
            "reason": reason and self._service.masked(reason),
        }

    def _reflect(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        self._let_fade()
        memories = list(self._memories())
        focus = arguments.get("focus", "").strip()
        if focus.casefold() in _FOCUS:
            memories = [memory for memory in memories if views.category_of(memory) in _FOCUS[focus.casefold()]]
        elif focus:
            memories = [match.memory for match in self._service.recall(focus, limit=_SEARCHED)]
        answer: dict[str, JsonValue] = {
            "userId": user,
            "profile": profile.profile(memories) if memories else None,
            "confidence": profile.confidence(memories),
            "basedOnMemories": len(memories),
            "lastReflection": iso(self._service.now()),
        }
        if not memories:
            answer["message"] = "Nothing is stored of this user yet" + (" about that" if focus else "")
        if arguments.get("includeMemories"):
            answer["memories"] = [views.entity(memory) for memory in memories]
        return answer

    def _list(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        self._let_fade()
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
            "memories": [views.entity(memory) for memory in memories],
        }

    def _erase(self, user: str, arguments: dict[str, Any]) -> JsonValue:
        if arguments["confirm"] != self._service.place.user:
            raise InvalidInput("confirm", "is not the userId; nothing was erased. Ask the user, then give it once more")
        memories = [memory.id for memory in self._memories(statuses=STATUSES)]
        erased = self._service.erase(memories) if memories else 0
        return {"userId": user, "status": "erased", "erasedCount": erased}

    # -- what is read

    def _summary(self) -> str | None:
        """The user in one line, made of no more memories than it needs."""
        weighty: list[Memory] = []
        for category in profile.SUMMED_UP:
            kinds = views.kinds_of(category)
            found = self._service.recall(None, scope="all", order="importance", limit=_SUMMED_UP, kinds=kinds)
            weighty += [match.memory for match in found]
        return profile.summary(weighty)

    def _memories(self, **wanted: Unpack[Wanted]) -> Iterator[Memory]:
        """Everything of the user that passes, latest first, whatever project it was written in."""
        everywhere: Wanted = {**_EVERYWHERE, **wanted}
        return browse(self._service, **everywhere)

    def _found(self, query: str, arguments: dict[str, Any]) -> list[tuple[Memory, float]]:
        """What passes the filters, with how well it fits, in this dialect's order.

        A query looks among what is archived as well; what is only browsed is not archived.
        """
        now = self._service.now()
        wanted = _wanted(arguments)
        matches: list[Match]
        if query:
            wanted["statuses"] = ("active", "archived")
            matches = self._service.recall(query, limit=_SEARCHED, **wanted)
        else:
            matches = [Match(memory, 1.0, "latest") for memory in self._memories(**wanted)]
        passed = [match for match in matches if _passes(match.memory, arguments)]
        fits = [(match.memory, min(1.0, max(0.0, match.score))) for match in passed]

        def worth(pair: tuple[Memory, float]) -> float:
            memory, fit = pair
            return fit * memory.importance * views.recency(memory, now)

        return sorted(fits, key=lambda pair: (-worth(pair), pair[0].id))

    def _meant(self, arguments: dict[str, Any]) -> list[Memory]:
        """The memories that a call wants forgotten.

        Raises: InvalidInput when it names none; NotFound when it is no memory of this user.
        """
        name, query = arguments.get("memoryId"), arguments.get("query", "").strip()
        if not name and not query:
            raise InvalidInput("memoryId", "is missing; give one, or a query")
        older = arguments.get("olderThan")
        before = None if older is None else parse_when("olderThan", older, self._service.now())
        found = (self._service.find(name),) if name else self._service.forget(query=query, dry_run=True).memories
        kept = [memory for memory in found if _passes(memory, arguments)]
        return [memory for memory in kept if before is None or memory.updated_at < before]

    def _let_fade(self) -> None:
        """Lower what was not used for a week or more, and archive what has faded."""
        now = self._service.now()
        faded = []
        for memory in list(self._memories(tier="mid", until=now - _WEEK_MS)):
            left = views.weekly_decay(memory, now)
            if left is None:
                continue
            if left < _FADED:
                faded.append(memory.id)
            else:
                self._service.revise(memory.id, memory.text, importance=left)
        if faded:
            self._service.forget(faded, mode="archive")


def _wanted(arguments: dict[str, Any]) -> Wanted:
    """The filters of a call that the store applies; the others are for what it gives."""
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


def _recalled(memory: Memory, fit: float, now: int, arguments: dict[str, Any]) -> JsonValue:
    told: dict[str, JsonValue] = {
        "id": memory.id,
        "category": views.category_of(memory),
        "tier": views.tier_of(memory),
        "content": memory.text,
        "importance": round(memory.importance, 3),
        "relevance": round(fit, 3),
        "lastAccessed": iso(now),
    }
    if arguments.get("includeContext"):
        told["context"] = memory.why
    return {**told, "archived": True} if memory.status == "archived" else told


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
    """The kind that a category stands for, and its path where it is one below it, such as `preference/tone`.

    Raises: InvalidInput.
    """
    path = _checked_path(named)
    kind = next(kind for kind in views.kinds_of(path.partition("/")[0]) if kind == path.partition("/")[0])
    return kind, path if "/" in path else ""


def _checked_path(named: str) -> str:
    path = named.strip().strip("/").lower()
    if path.partition("/")[0] not in per_user.CATEGORIES:
        raise InvalidInput(
            "category", f"is none of {', '.join(per_user.CATEGORIES)}, nor one below, as preference/tone"
        )
    return path


def _listed(told: str | list[str] | None) -> list[str]:
    """The words of a list, or of a text with commas between."""
    words = told.split(",") if isinstance(told, str) else told or []
    return [word.strip() for word in words if word.strip()]


def _clamped(value: float | None) -> float | None:
    return None if value is None else min(1.0, max(0.0, value))
