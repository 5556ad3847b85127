"""Koi's two tools: each is one call of the service, rendered as JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType

from keepmum.core import ids, memory_text
from keepmum.core.errors import NotFound
from keepmum.core.memory import JsonValue, Memory
from keepmum.core.when import parse_when
from keepmum.mcp.dialects.handlers import Answer, JsonHandlers, open_service, outside_mark
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService, Wanted

__all__ = ["KoiHandlers", "handlers_over", "open_handlers", "tag"]

_LIMIT = 10
_ROUTES = ("project:markdown",)  # the dialect stores files in the repository, whatever is configured
_ID = re.compile(r"mem_[0-9a-z]{4,26}")
_NO_GIT: Mapping[str, JsonValue] = {"branch": "unknown", "commit": "unknown", "dirty": False, "files_changed": []}


def open_handlers(context: Context) -> KoiHandlers:
    """Handlers for the files of the client's folder.

    Raises: KeepmumError when the settings are invalid or a store cannot be opened.
    """
    return KoiHandlers(open_service(context, routes=_ROUTES), context)


def handlers_over(service: MemoryService, context: Context) -> KoiHandlers:
    """Handlers for a client of a team's server."""
    return KoiHandlers(service, context, environ=None)


def tag(text: str) -> str:
    """A tag in Koi's form: lower-case letters and digits, words joined by hyphens."""
    return re.sub(r"[^\w-]", "", re.sub(r"[\s_]+", "-", text.strip().lower())).strip("-")


class KoiHandlers(JsonHandlers):
    """Koi's tools over one service: an object for `remember`, an array for `recall`."""

    _names = MappingProxyType({"text": "content", "title": "content"})

    def __init__(
        self, service: MemoryService, context: Context, environ: Mapping[str, str] | None = os.environ
    ) -> None:
        answers: Mapping[str, Answer] = {
            "remember": lambda arguments: self._remember(**arguments),
            "recall": lambda arguments: self._recall(**arguments),
        }
        super().__init__(service, context, answers, routes=_ROUTES, environ=environ)

    def _serialised(self, answer: JsonValue) -> str:
        """JSON; an array has one line per memory."""
        if not isinstance(answer, list):
            return super()._serialised(answer)
        return "[" + ",\n ".join(map(super()._serialised, answer)) + "]"

    def _remember(self, content: str, tags: list[str] | None = None) -> JsonValue:
        kept = self._service.remember(content, tags=_tags(tags), tier="long", scope="project")
        name, path = self._service.file_of(kept.memory) or (kept.memory.id, "")
        stored = {"id": name, "path": path}
        return stored if kept.wrong is None else {**stored, "warning": memory_text.wrong_line(*kept.wrong)}

    def _recall(
        self,
        query: str = "",
        tags: list[str] | None = None,
        since: str | None = None,
        limit: int = _LIMIT,
        scope: str = "project",
    ) -> JsonValue:
        wanted: Wanted = {"scope": "project" if scope == "project" else "all", "tags": _tags(tags)}
        if since is not None:
            wanted["since"] = parse_when("since", since, self._service.now())
        found = self._by_name(query.strip()) if _ID.fullmatch(query.strip().lower()) else []
        if not found:
            found = [
                match.memory for match in self._service.recall(query, limit=limit, weak=True, order="created", **wanted)
            ]
        return [self._shown(memory, with_project=scope == "global") for memory in found]

    def _by_name(self, name: str) -> list[Memory]:
        """The memories with this id, as a file or the store spells it."""
        found = self._service.with_file_id(name.lower())
        if not found and ids.id_range(name):
            try:
                return [self._service.find(name)]
            except NotFound:
                return []
        return found

    def _shown(self, memory: Memory, *, with_project: bool) -> dict[str, JsonValue]:
        name, _ = self._service.file_of(memory) or (memory.id, "")
        shown: dict[str, JsonValue] = {
            "id": name,
            "timestamp": memory.created_at // 1000,
            "tags": list(memory.tags),
            "content": memory.text,
            "git": {part: (memory.git or {}).get(part, usual) for part, usual in _NO_GIT.items()},
            **outside_mark(memory),
        }
        return {**shown, "project": self._project(memory)} if with_project else shown

    def _project(self, memory: Memory) -> str:
        """The name of the memory's project."""
        if memory.project == self._service.place.project:
            return self._service.place.name
        return (memory.project or "").rpartition("/")[2]


def _tags(tags: list[str] | None) -> list[str]:
    return [spelled for word in tags or [] if (spelled := tag(word))]
