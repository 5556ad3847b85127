"""What stands behind Koi's two tools: arguments in, one call of the service, JSON out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from keepmum import application, ids
from keepmum.errors import NotFound
from keepmum.mcp.surface import Context
from keepmum.memory import JsonValue, Memory
from keepmum.service import MemoryService, Wanted
from keepmum.when import parse_when

__all__ = ["KoiHandlers", "open_handlers", "tag"]

_LIMIT = 10
_ROUTES = ("project:markdown",)  # the dialect is about files in the repository, whatever else is configured
_ID = re.compile(r"mem_[0-9a-z]{4,26}")
_NO_GIT: Mapping[str, JsonValue] = {"branch": "unknown", "commit": "unknown", "dirty": False, "files_changed": []}


def open_handlers(context: Context) -> KoiHandlers:
    """Handlers over the files of the place that this process was started in.

    Raises: KeepmumError when settings are wrong or a store cannot be opened.
    """
    service = application.open_memory(os.environ, context.agent, context.roots, session=context.session, routes=_ROUTES)
    return KoiHandlers(service)


def tag(text: str) -> str:
    """A tag as Koi spells tags: lower case, words joined by hyphens, letters and digits alone."""
    return re.sub(r"[^\w-]", "", re.sub(r"[\s_]+", "-", text.strip().lower())).strip("-")


class KoiHandlers:
    """Koi's tools over one service (see `keepmum.mcp.surface.Handlers`)."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._told: set[str] = set()  # notices that the client's log has had

    def call(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        """What a tool answers with: an object for `remember`, an array for `recall`, as JSON and nothing around it."""
        answer = self._remember(**arguments) if name == "remember" else self._recall(**arguments)
        for notice in filter(None, (*self._service.notices(), self._service.caveat())):
            if notice not in self._told:
                self._told.add(notice)
                context.log("warning", notice)
        return answer

    def read(self, uri: str, context: Context) -> tuple[str, str]:  # noqa: ARG002 - the protocol's
        """Nothing: the dialect has no resources."""
        raise NotFound("this server has no resources")

    def prompt(self, name: str, arguments: dict[str, str], context: Context) -> str:  # noqa: ARG002 - the protocol's
        """Nothing: the dialect has no prompts."""
        raise NotFound("this server has no prompts")

    def roots_changed(self, context: Context) -> None:
        """Move to the session, and to the project that the client's folders name when nothing stronger names one."""
        self._service = application.moved(
            self._service, os.environ, context.agent, context.roots, session=context.session, routes=_ROUTES
        )

    def close(self) -> None:
        """Leave everything on disk and let go."""
        self._service.close()

    def _remember(self, content: str, tags: list[str] | None = None) -> str:
        kept = self._service.remember(content, tags=_tags(tags), tier="long", scope="project").memory
        name, path = self._service.filed(kept) or (kept.id, "")
        return json.dumps({"id": name, "path": path}, ensure_ascii=False)

    def _recall(
        self,
        query: str = "",
        tags: list[str] | None = None,
        since: str | None = None,
        limit: int = _LIMIT,
        scope: str = "project",
    ) -> str:
        wanted: Wanted = {"scope": "project" if scope == "project" else "all", "tags": _tags(tags)}
        if since is not None:
            wanted["since"] = parse_when("since", since, self._service.now())
        found = self._named(query.strip()) if _ID.fullmatch(query.strip().lower()) else []
        if not found:
            found = [match.memory for match in self._service.recall(query, limit=limit, order="created", **wanted)]
        rows = [json.dumps(self._shown(memory, told=scope == "global"), ensure_ascii=False) for memory in found]
        return "[" + ",\n ".join(rows) + "]"

    def _named(self, name: str) -> list[Memory]:
        """The memories that an id means, as files give it or as it is."""
        found = self._service.called(name.lower())
        if not found and ids.id_range(name):
            try:
                return [self._service.find(name)]
            except NotFound:
                return []
        return found

    def _shown(self, memory: Memory, *, told: bool) -> dict[str, JsonValue]:
        name, _ = self._service.filed(memory) or (memory.id, "")
        shown: dict[str, JsonValue] = {
            "id": name,
            "timestamp": memory.created_at // 1000,
            "tags": list(memory.tags),
            "content": memory.text,
            "git": {part: (memory.git or {}).get(part, usual) for part, usual in _NO_GIT.items()},
        }
        return {**shown, "project": self._project(memory)} if told else shown

    def _project(self, memory: Memory) -> str:
        """The name of the project that a memory belongs to."""
        if memory.project == self._service.place.project:
            return self._service.place.name
        return (memory.project or "").rpartition("/")[2]


def _tags(tags: list[str] | None) -> list[str]:
    return [spelled for word in tags or [] if (spelled := tag(word))]
