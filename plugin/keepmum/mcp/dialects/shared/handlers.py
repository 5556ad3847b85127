"""The tools of the `shared` dialect, in its text forms."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from keepmum.core import ids, memory_text
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound
from keepmum.core.framing import inline
from keepmum.core.memory import Match, Memory
from keepmum.core.retention import DAY_MS
from keepmum.mcp.dialects.handlers import DialectHandlers, iso, open_service
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService
from keepmum.workspace.resolve import resolve

__all__ = ["SharedHandlers", "handlers_over", "open_handlers"]

_LIMIT = 10
_DAYS = 30
_MOST = 100_000  # memories in one answer: the original server takes any number


def open_handlers(context: Context) -> SharedHandlers:
    """Handlers for the memory of the client's folder.

    Raises: KeepmumError when the settings are invalid or the store cannot be opened.
    """
    return SharedHandlers(open_service(context), context)


def handlers_over(service: MemoryService, context: Context) -> SharedHandlers:
    """Handlers for a client of a team's server."""
    return SharedHandlers(service, context, environ=None)


class SharedHandlers(DialectHandlers):
    """Seven tools over one service; notices follow a result, as in the default dialect."""

    def _parameters_of(self, tool: str) -> Mapping[str, str]:
        return {"id": "ids"} if tool == "load_memories" else self._names

    def __init__(
        self, service: MemoryService, context: Context, environ: Mapping[str, str] | None = os.environ
    ) -> None:
        tools = {
            "store_memory": self._store,
            "search_memory": self._search,
            "load_memories": self._load_all,
            "list_recent": self._recent,
            "update_memory": self._update,
            "delete_memory": self._delete,
            "get_config": self._config,
        }
        super().__init__(service, context, tools, environ=environ)

    def _store(self, arguments: dict[str, Any]) -> str:
        if not arguments["title"].strip():
            raise InvalidInput("title", "is empty; give a short one")
        project = arguments.get("project")
        if project == "*":
            raise InvalidInput("project", "must be one project, not *")
        answer = self._service.remember(
            arguments["text"],
            title=arguments["title"],
            tags=arguments.get("tags"),
            agent=arguments.get("agent"),
            project=self._service.project_id(project) if project else None,
            scope="project",
        )
        warning = "" if answer.wrong is None else f"\n{memory_text.wrong_line(*answer.wrong)}"
        if answer.queued:
            return (
                f"Memory queued, not stored yet, with ID: {_uuid(answer.memory)} "
                f"(the server is unreachable; {answer.queued} queued){warning}"
            )
        return f"Memory stored with ID: {_uuid(answer.memory)}{warning}"

    def _search(self, arguments: dict[str, Any]) -> str:
        project = arguments.get("project")
        found = self._service.recall(
            arguments["query"],
            limit=_count(arguments.get("limit"), _LIMIT),
            agent=arguments.get("agent"),
            tags=arguments.get("tags") or (),
            all_tags=True,
            weak=True,
            **_where(project),
        )
        marks = self._marks([match.memory for match in found])
        return "\n".join(self._hit(*each, marks) for each in enumerate(found, 1)) or "No memories found."

    def _load_all(self, arguments: dict[str, Any]) -> str:
        found = self._loaded(arguments["ids"])
        if not found:
            return "No memories found for the given IDs."
        marks = self._marks(found)
        return "\n\n".join(self._full(*each, marks) for each in enumerate(found, 1))

    def _recent(self, arguments: dict[str, Any]) -> str:
        oldest = self._service.now() - _count(arguments.get("days"), _DAYS, most=36_500) * DAY_MS
        limit = _count(arguments.get("limit"), _LIMIT)
        found = self._service.recall(None, order="created", limit=limit, **_where(arguments.get("project")))
        recent = [match.memory for match in found if match.memory.created_at >= oldest]
        marks = self._marks(recent)
        lines = [
            f"[{number}] [{self._name(memory)}] {_uuid(memory)} {iso(memory.created_at)}{marks[memory.id]}\n"
            f"{_title(memory)}"
            for number, memory in enumerate(recent, 1)
        ]
        return "\n".join(lines) or "No recent memories."

    def _update(self, arguments: dict[str, Any]) -> str:
        answer = self._service.revise(arguments["id"], arguments["text"], title=arguments.get("title"))
        if answer.kept is not None:
            return f"Memory stored with ID: {_uuid(answer.memory)}. {memory_text.kept_line(answer.kept)}"
        return _done(arguments["id"], "updated", answer.queued)

    def _delete(self, arguments: dict[str, Any]) -> str:
        forgotten = self._service.forget([arguments["id"]])
        if not forgotten.memories:
            raise NotFound("the memory was deleted before")
        return _done(arguments["id"], "deleted", forgotten.queued)

    def _config(self, _: dict[str, Any]) -> str:
        place = self._service.place
        api, collection, ready = self._store_facts()
        lines = (
            ("Memory API", api),
            ("Collection", collection),
            ("Default Agent", self._service.agent),
            ("Default Project", place.name or place.project or "default"),
            ("Model Ready", str(ready).lower()),
        )
        return "\n".join(f"{name}: {_one_line(value)}" for name, value in lines)

    # -- forms

    def _marks(self, memories: Sequence[Memory]) -> dict[str, str]:
        """What the first line of a memory ends with, by its id; nothing where it has the original's form."""
        remarks = self._service.remarks(memories)
        facts = {
            memory.id: [
                *(["from outside"] if memory.trust == "outside" else []),
                *filter(None, [inline(remarks.get(memory.id, ""))]),
            ]
            for memory in memories
        }
        return {memory: f" ({'; '.join(each)})" if each else "" for memory, each in facts.items()}

    def _hit(self, number: int, match: Match, marks: Mapping[str, str]) -> str:
        memory = match.memory
        first = f"[{number}] (score: {match.score:.3f}) [{self._name(memory)}] {_uuid(memory)}{marks[memory.id]}"
        return f"{first}\n{_title(memory)}"

    def _full(self, number: int, memory: Memory, marks: Mapping[str, str]) -> str:
        tags = _one_line(", ".join(memory.tags))
        return (
            f"[{number}] [{_one_line(memory.agent)}/{self._name(memory)}]{marks[memory.id]}\nID: {_uuid(memory)}\n"
            f"Title: {_title(memory)}\n{memory.text}\nTags: {tags} | Created: {iso(memory.created_at)}"
        )

    def _loaded(self, references: Sequence[str]) -> list[Memory]:
        """The memories that can be loaded; the dialect leaves out the others."""
        found: dict[str, Memory] = {}
        for reference in references:
            try:
                loaded = self._service.load([reference])
            except (NotFound, Ambiguous):
                continue
            found |= {memory.id: memory for memory in loaded if memory.status != "trashed"}  # trashed means deleted
        return list(found.values())

    def _name(self, memory: Memory) -> str:
        """The name of the memory's project."""
        return _one_line(self._service.project_name(memory.project)) if memory.project else "global"

    def _store_facts(self) -> tuple[str, str, bool]:
        """The store's location, its collection, and whether vector search is ready."""
        if self._service.store_kind == "rest":
            facts = self._service.health()
            return str(facts["server"]), str(facts.get("collection", "unknown")), bool(facts.get("model_ready"))
        if self._environ is None:
            return "this server", "team", self._service.store.features.vector_search is not None
        path = resolve(self._environ).settings.store.path or ""
        return "this machine", os.path.basename(path), self._service.store.features.vector_search is not None


def _where(project: str | None) -> dict[str, Any]:
    return {"scope": "all"} if project in {None, "", "*"} else {"project": project}


def _done(reference: str, action: str, queued: int) -> str:
    if queued:
        return f"Memory {_one_line(reference)} will be {action}: queued, the server is unreachable ({queued} queued)."
    return f"Memory {_one_line(reference)} {action}."


def _count(value: float | None, default: int, most: int = _MOST) -> int:
    return default if not value else min(int(value), most)


def _title(memory: Memory) -> str:
    return _one_line(memory.title) or "(untitled)"


def _one_line(text: str) -> str:
    """A field that a form has in one line; texts stay as they are."""
    return " ".join(text.split())


def _uuid(memory: Memory) -> str:
    return ids.to_uuid(memory.id)
