"""The tools, resources and prompt of the `hackathon` dialect, over the service, as text or JSON."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from keepmum.core import ids, memory_text
from keepmum.core.errors import InvalidInput, KeepmumError, NotFound, SecretFound
from keepmum.core.framing import folded, inline, labelled, word
from keepmum.core.memory import TRUSTED, Activity, Kind, Memory, Scope
from keepmum.core.ranking import OUTSIDE
from keepmum.core.retention import DAY_MS
from keepmum.core.when import parse_when
from keepmum.mcp.dialects import hackathon
from keepmum.mcp.dialects.hackathon import rendering, views
from keepmum.mcp.dialects.hackathon.limits import RateLimit, check_key, check_value
from keepmum.mcp.dialects.handlers import DialectHandlers, browse, iso, open_service
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, Remembered, Wanted
from keepmum.service.handoffs import PATTERN, Handoffs, is_handoff
from keepmum.service.importers import hackathon as agent_memory

__all__ = ["HackathonHandlers", "handlers_over", "open_handlers"]

_FEED = 50
_RECENT = 30  # actions listed with memories
_LOG_ENTRIES = 400  # entries read, some of which this dialect does not show
_CHANGES = 20
_WEIGHTS: Mapping[str, float] = {"decision": 1.0, "preference": 0.9, "task": 0.8, "snippet": 0.7, "note": 0.5}
_IMPORTED = frozenset(
    {"key", "value", "type", "context", "tags", "id", "agent_id", "created_at", "updated_at", "access_count"}
)
_HANDOFF_NAMES: Mapping[str, Mapping[str, str]] = {
    "handoff": dict.fromkeys(("text", "title", "data"), "summary, next_steps or stuck_reason"),
    "complete-handoff": dict.fromkeys(("text", "title", "data"), "result"),
}
_OF_PROJECT = (
    "Tell the user: the team's server has no memories for every project, so this and later ones belong to the "
    "project {}."
)
_ERRORS = 10  # errors of an import that are listed


def open_handlers(context: Context) -> HackathonHandlers:
    """Handlers for the memory of the client's folder.

    Raises: KeepmumError when the settings are invalid or the store cannot be opened.
    """
    return HackathonHandlers(open_service(context), context)


def handlers_over(service: MemoryService, context: Context) -> HackathonHandlers:
    """Handlers for a client of a team's server."""
    return HackathonHandlers(service, context, environ=None)


class HackathonHandlers(DialectHandlers):
    """Eleven tools over one service; new memories are global, because the design has one memory per user.

    A team server has memories of projects only; there they belong to the project.
    """

    _names = MappingProxyType({"text": "value", "title": "value", "why": "context", "kinds": "type", "kind": "type"})

    def __init__(
        self, service: MemoryService, context: Context, environ: Mapping[str, str] | None = os.environ
    ) -> None:
        self._rate = RateLimit()
        self._logged: set[str] = set()
        tools = {
            "remember": self._store,
            "recall": self._search,
            "forget": self._delete,
            "list_memories": self._list,
            "handoff": self._hand_off,
            "pickup": self._pick_up,
            "complete-handoff": self._complete,
            "export-memories": self._export,
            "import-memories": self._import,
            "memory-stats": self._stats,
            "cleanup": self._clean_up,
        }
        super().__init__(service, context, tools, environ=environ)

    def _answer(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        """The result of a tool. Notices follow a text; after JSON they wait for the next one, but are logged.

        Raises: KeepmumError above the rate limit.
        """
        self._rate.count()
        answer = self._tools[name](arguments)
        if answer[:1] != "{":
            return self._with_notices(answer, context)
        self._remark_damage(context)
        for notice in filter(None, (*self._service.notices(), self._service.caveat())):
            if notice not in self._shown_notices | self._logged:
                self._logged.add(notice)
                context.log("warning", notice)
        return answer

    def _parameters_of(self, tool: str) -> Mapping[str, str]:
        return _HANDOFF_NAMES.get(tool, self._names)

    def _prompted(self, name: str, arguments: dict[str, str]) -> str:  # noqa: ARG002 - there is only one prompt
        """The briefing of a session."""
        return rendering.session(self._snapshot(), arguments.get("focus"))

    def _content(self, uri: str, context: Context) -> tuple[str, str]:
        """A resource as Markdown, or one memory as JSON."""
        if uri in {hackathon.CONTEXT, hackathon.ACTIVITY, hackathon.QUEUE, hackathon.CHANGELOG}:
            return "text/markdown", self._with_notices(self._resource(uri), context)
        if not uri.startswith(hackathon.SCHEME):
            raise NotFound("the resources of this server start with memory://")
        memory = self._service.load([unquote(uri.removeprefix(hackathon.SCHEME))])[0]
        return "application/json", json.dumps(views.row(memory), ensure_ascii=False, indent=2)

    # -- tools

    def _store(self, arguments: dict[str, Any]) -> str:
        kept = self._service.remember(
            check_value(arguments["value"]),
            key=check_key(arguments["key"]),
            kind=arguments.get("type"),
            tags=arguments.get("tags"),
            why=arguments.get("context"),
            scope=self._scope,
            tier="long",
        )
        memory, previous, key = kept.memory, kept.previous, inline(kept.memory.key or kept.memory.id)
        lines = [f"Value: {folded(memory.text)}", *([memory_text.kept_line(kept.kept)] if kept.kept else [])]
        if memory.tags:
            lines.append(f"Tags: {', '.join(map(word, memory.tags))}")
        if memory.why:
            lines.append(labelled("Context", memory.why))
        if kept.queued:
            first = f"Queued, not stored yet (the server is unreachable; {kept.queued} queued): '{key}'"
        elif previous is None and kept.action == "created":
            first = f"Stored new [{views.type_of(memory)}] memory '{key}'"
        else:
            first = f"Updated memory '{key}' (originally stored by {views.title_of(memory.created_by)})"
            lines.insert(0, f"Type: {views.type_of(memory)}")
        if kept.wrong is not None:
            lines.append(memory_text.wrong_line(*kept.wrong))
        if kept.action == "conflict" and previous is not None:
            lines.append(f"Conflict: {views.title_of(previous.updated_by)} had stored: {views.cut(previous.text)}")
            if previous.why and not memory.why:
                lines.append(
                    f"Its reason was removed with it: {views.cut(previous.why)}. Give `context` for the new value."
                )
        return "\n".join([first, *lines, *self._scope_notice()])

    def _search(self, arguments: dict[str, Any]) -> str:
        query, limit = arguments["query"], _clamped(arguments.get("limit"), 5, 20)
        matches = self._service.recall(query, limit=3 * limit, weak=True, **_wanted(arguments))
        found = [(match.memory, match.score) for match in matches if not is_handoff(match.memory)]
        if not found:
            return f'No memories found matching "{self._quoted(query)}". Try a broader search.'
        best = ranked(found, self._service.now())[:limit]
        # Loading counts as use and loses the order of the search.
        loaded = {memory.id: memory for memory in self._service.load([memory.id for memory, _ in best])}
        shown = [(loaded[memory.id], score) for memory, score in best]
        count = f"{len(shown)} memor{'y' if len(shown) == 1 else 'ies'}"
        listed = views.numbered(shown, self._service.now(), self._service.remarks(list(loaded.values())))
        return f'Found {count} matching "{self._quoted(query)}":\n\n{listed}'

    def _delete(self, arguments: dict[str, Any]) -> str:
        key = arguments["key"]
        try:
            memory = self._service.find(key)
        except KeepmumError:
            self._service.note("refused", f"forget: no memory has the key {views.cut(key)}")
            raise NotFound(f"No memory found with key '{self._quoted(key)}'") from None
        forgotten = self._service.forget([memory.id])
        author = views.title_of(memory.updated_by)
        if forgotten.queued:
            return f"Queued: '{inline(memory.key or memory.id)}' will be forgotten when the server is reachable."
        return f"Forgotten: '{inline(memory.key or memory.id)}' (was a [{views.type_of(memory)}] stored by {author})"

    def _list(self, arguments: dict[str, Any]) -> str:
        limit, offset = _clamped(arguments.get("limit"), 10, 50), arguments.get("offset", 0)
        wanted = _wanted(arguments)
        page = list(itertools.islice(self._memories(wanted), offset, offset + limit))
        total = self._service.count(**wanted) - self._count_handoffs(wanted)
        if arguments.get("tags") or arguments.get("type"):  # unfiltered lists are polled and would flood the feed
            self._service.note("recalled", f"listed {len(page)} of {total} memories")
        return _json(
            {
                "memories": [views.row(memory) for memory in page],
                "activities": [views.event_row(event) for event in self._events(_RECENT)],
                "total": total,
            }
        )

    def _hand_off(self, arguments: dict[str, Any]) -> str:
        keys = tuple(arguments.pop("context_keys", ()))
        handoffs = self._handoffs()
        new = handoffs.create(**arguments, context_keys=keys)
        lines = [
            f"Handoff #{new.number} created by {views.title_of(new.from_agent)}",
            labelled("Summary", new.summary),
            labelled("Next steps", new.next_steps),
            f"Preferred agent: {views.title_of(new.to_agent)}" if new.to_agent else "Open to any agent",
        ]
        if new.stuck_reason:
            lines.insert(2, labelled("Stuck because", new.stuck_reason))
        lines += _waiting(handoffs.queued)
        missing = [key for key in keys if self._by_key(key) is None]
        if missing:
            lines.append(f"No memory has the key: {', '.join(map(word, missing))}")
        return "\n".join([*lines, *self._scope_notice()])

    def _pick_up(self, arguments: dict[str, Any]) -> str:
        handoffs = self._handoffs()
        if (number := arguments.get("handoff_id")) is not None:
            taken = handoffs.pick_up(number)
        else:
            for next_one in handoffs.pending():
                try:
                    taken = handoffs.pick_up(next_one.number)
                except InvalidInput:  # another agent was faster: try the next one
                    continue
                break
            else:
                return "No pending handoffs. All caught up!"
        named = [memory for key in taken.context_keys if (memory := self._by_key(key)) is not None]
        needed = [memory for memory in named if memory.trust in TRUSTED]
        if needed:
            needed = self._service.load([memory.id for memory in needed])
        briefed = rendering.takeover(taken, needed, self._snapshot())
        return "\n".join([briefed, *_waiting(handoffs.queued)])

    def _complete(self, arguments: dict[str, Any]) -> str:
        handoffs = self._handoffs()
        done = handoffs.complete(arguments["handoff_id"], arguments.get("result"))
        first = f"Handoff #{done.number} completed by {views.title_of(self._service.agent)}."
        lines = [f"{first} Originally from {views.title_of(done.from_agent)}."]
        lines += [labelled("Result", done.result)] if done.result else []
        return "\n".join([*lines, *_waiting(handoffs.queued)])

    def _export(self, arguments: dict[str, Any]) -> str:
        now = self._service.now()
        wanted = _wanted(arguments)
        first = _moment("date_from", arguments, now) or 0
        last = _moment("date_to", arguments, now) or now
        agent = arguments.get("agent_id")
        rows = [
            views.row(memory)
            for memory in self._memories(wanted)
            if first <= memory.created_at <= last and agent in {None, memory.updated_by, memory.created_by}
        ]
        return _json({"version": 1, "exported_at": iso(now), "count": len(rows), "memories": rows})

    def _import(self, arguments: dict[str, Any]) -> str:
        imported, skipped, queued = 0, 0, 0
        errors: list[str] = []
        not_kept: Counter[str] = Counter()
        for number, row in enumerate(_rows(arguments["data"]), 1):
            try:
                kept = self._import_one(row)
                if kept is not None:
                    imported += 1
                    queued = kept.queued
                    not_kept.update(_not_kept(row))
                else:
                    skipped += 1
            except (InvalidInput, SecretFound) as error:  # the other memories are still imported
                errors.append(f"memory {number}: {error.renamed(self._names)}")
        lines = ["Import complete.", f"  Imported: {imported}", f"  Skipped (duplicates): {skipped}"]
        lines += _waiting(queued)
        if not_kept:
            fields = ", ".join(f"{name} ({count})" for name, count in not_kept.most_common())
            lines.append(f"  Not kept: {fields}")
        if errors:
            lines += [f"  Errors: {len(errors)}", *(f"    - {error}" for error in errors[:_ERRORS])]
        if len(errors) > _ERRORS:
            lines.append(f"    ... and {len(errors) - _ERRORS} more")
        return "\n".join(lines)

    def _stats(self, _: dict[str, Any]) -> str:
        memories = list(self._memories({}))
        used = sorted((memory for memory in memories if memory.access_count), key=lambda one: -one.access_count)
        open_handoffs = [one for one in self._handoffs().all() if one.status != "completed"]
        types = Counter(views.type_of(memory) for memory in memories)
        authors = Counter(views.title_of(memory.updated_by) for memory in memories)
        lines = [
            f"Total memories: {len(memories)}",
            f"Total tags: {len({tag for memory in memories for tag in memory.tags})}",
            f"Active handoffs: {len(open_handoffs)}",
            f"Text: {sum(len(memory.text.encode()) for memory in memories) / 1024:.1f} KB",
        ]
        for heading, counts in (("Memories by type", types), ("Memories per agent", authors)):
            if counts:
                lines += ["", f"## {heading}", *(f"  {name}: {count}" for name, count in counts.most_common())]
        if used:
            lines += ["", "## Most accessed"]
            lines += [
                f"  {views.name_of(one)} [{views.type_of(one)}]: {one.access_count} accesses" for one in used[:10]
            ]
        return "\n".join(lines)

    def _clean_up(self, _: dict[str, Any]) -> str:
        before = self._service.count(statuses=("active", "trashed"))
        self._service.upkeep()
        gone = before - self._service.count(statuses=("active", "trashed"))
        return (
            f"Cleanup complete: removed {gone} expired memories and memories older than 30 days in the trash, "
            "and activity older than 90 days. The history of values is kept, so that changes can be undone."
        )

    # -- what is read

    def _resource(self, uri: str) -> str:
        if uri == hackathon.CONTEXT:
            return rendering.context(self._snapshot())
        if uri == hackathon.QUEUE:
            return rendering.queue(self._handoffs().all())
        if uri == hackathon.CHANGELOG:
            return rendering.changelog(self._changes())
        events = self._service.trusted(self._events(_FEED))
        found = {event.memory: self._by_key(event.memory) for event in events if event.memory}
        reasons = {name: memory.why for name, memory in found.items() if memory is not None and memory.why}
        return rendering.activity(events, reasons)

    def _snapshot(self) -> rendering.Snapshot:
        memories = [memory for memory in self._memories({}) if memory.trust in TRUSTED]
        return rendering.Snapshot(
            memories=memories,
            remarks=self._service.remarks(memories),
            pending=self._handoffs().pending(),
            events=self._service.trusted(self._events(10)),
        )

    def _memories(self, wanted: Wanted) -> Iterator[Memory]:
        """Memories that pass the filter, without handoffs, latest first."""
        return (memory for memory in browse(self._service, **wanted) if not is_handoff(memory))

    def _count_handoffs(self, wanted: Wanted) -> int:
        among: Wanted = {**wanted, "keys": PATTERN}
        return sum(map(is_handoff, browse(self._service, **among)))

    def _quoted(self, words: str) -> str:
        """Text of a call as an answer may quote it, with secrets masked."""
        return views.cut(self._service.masked(words))

    def _handoffs(self) -> Handoffs:
        return Handoffs(self._service, self._scope)

    @property
    def _scope(self) -> Scope:
        """The scope of new memories: global, unless the store is a server that has memories of projects only."""
        return "global" if self._service.holds("global") else "project"

    def _scope_notice(self) -> list[str]:
        """Once, what becomes of memories on a server that has no global ones."""
        if self._scope == "global" or _OF_PROJECT in self._shown_notices:
            return []
        self._shown_notices.add(_OF_PROJECT)
        return [_OF_PROJECT.format(word(self._service.masked(self._service.place.name)))]

    def _by_key(self, name: str) -> Memory | None:
        try:
            return self._service.find(name)
        except KeepmumError:
            return None

    def _events(self, limit: int) -> list[Activity]:
        """The latest log entries that this dialect shows, of this project and global ones."""
        here = self._service.place.project
        events = self._service.activity(_LOG_ENTRIES, everywhere=True)
        shown = (event for event in events if event.project in {None, "", here} and views.action_of(event) is not None)
        return list(itertools.islice(shown, limit))

    def _changes(self) -> list[rendering.Change]:
        """The latest changes of values."""
        events = self._service.trusted(self._events(_LOG_ENTRIES))
        changed = [event.memory for event in events if event.action in {"updated", "conflict"}]
        changes = []
        for memory in filter(None, map(self._by_key, filter(None, dict.fromkeys(changed)))):
            if is_handoff(memory):
                continue
            new = memory.text
            for past in self._service.history(memory.id):  # latest first
                old = str(past.before.get("text", ""))
                if old != new:
                    changes.append(rendering.Change(memory.key or memory.title, past.agent, past.at, old, new))
                new = old
        return sorted(changes, key=lambda change: -change.at)[:_CHANGES]

    def _import_one(self, row: object) -> Remembered | None:
        """Import one memory; None if its key exists.

        Raises: InvalidInput, SecretFound.
        """
        if not isinstance(row, Mapping) or not isinstance(row.get("key"), str) or not isinstance(row.get("value"), str):
            raise InvalidInput("key", "and value must be strings")
        name = row.get("type", "note")
        if name not in hackathon.TYPES:
            raise InvalidInput("type", f"must be one of {', '.join(hackathon.TYPES)}")
        tags, context = row.get("tags") or [], row.get("context")
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise InvalidInput("tags", "must be a list of strings")
        if context is not None and not isinstance(context, str):
            raise InvalidInput("context", "must be a string")
        if self._by_key(row["key"]) is not None:
            return None
        checked = {**row, "key": check_key(row["key"]), "value": check_value(row["value"])}
        now = self._service.now()
        found = agent_memory.item("", checked, now)
        if found.values is None:
            raise InvalidInput("value", found.problem)
        project = self._service.place.project if self._scope == "project" else None
        own = {"id": ids.new_id(now), "scope": self._scope, "project": project}  # keys say what is stored already
        return self._service.import_memory({**found.values, **own})


def ranked(found: list[tuple[Memory, float]], now: int) -> list[tuple[Memory, float]]:
    """Search results in this dialect's order, with their score: match .6, recency .2, use .1, type .1, each 0 to 1."""
    scores = [score for _, score in found]
    least, span = min(scores), max(scores) - min(scores)
    most_used = math.log1p(max(1, *(memory.access_count for memory, _ in found), 1))

    def score_of(pair: tuple[Memory, float]) -> float:
        memory, score = pair
        fit = (score - least) / span if span else 1.0
        recency = 1 / (1 + 0.1 * max(0, now - memory.created_at) / DAY_MS)
        use = math.log1p(memory.access_count) / most_used
        rank = 0.6 * fit + 0.2 * recency + 0.1 * use + 0.1 * _WEIGHTS[views.type_of(memory)]
        return rank * (OUTSIDE if memory.trust == "outside" else 1.0)

    scored = [(memory, score_of((memory, score))) for memory, score in found]
    return sorted(scored, key=lambda pair: -pair[1])


def _wanted(arguments: Mapping[str, Any]) -> Wanted:
    kinds: tuple[Kind, ...] = views.kinds_of(arguments.get("type"))
    return {"kinds": kinds, "tags": arguments.get("tags") or ()}


def _clamped(value: int | None, default: int, most: int) -> int:
    return default if value is None else min(max(value, 1), most)


def _moment(name: str, arguments: Mapping[str, Any], now: int) -> int | None:
    """The time in an argument; a date at the end of a range includes the whole day."""
    if (text := arguments.get(name)) is None:
        return None
    moment = parse_when(name, text, now)
    return moment + DAY_MS - 1 if name == "date_to" and len(text.strip()) == len("2026-01-31") else moment


def _rows(data: object) -> list[object]:
    """The memories of an export, given as JSON or parsed.

    Raises: InvalidInput.
    """
    if isinstance(data, str):
        start = min((at for mark in "[{" if (at := data.find(mark)) >= 0), default=0)  # the original puts text first
        try:
            data = json.loads(data[start:])
        except (ValueError, RecursionError):
            raise InvalidInput("data", "is not JSON; give the output of export-memories") from None
    rows = data.get("memories") if isinstance(data, Mapping) else data
    if not isinstance(rows, list):
        raise InvalidInput("data", "has no list of memories; give an array, or an object with `memories`")
    return rows


def _waiting(queued: int) -> list[str]:
    """The note for a write that waits for the server; another machine may do the same meanwhile."""
    return [f"Queued, not stored yet: the server is unreachable ({queued} queued)."] if queued else []


def _not_kept(row: object) -> list[str]:
    """The fields of an imported memory that are not stored; names that may be a secret are not repeated."""
    values = row if isinstance(row, Mapping) else {}
    given = [name for name, value in values.items() if name not in _IMPORTED and value not in (None, "", [], 0)]
    return ["other fields"] * len(given)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
