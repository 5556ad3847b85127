"""The REST API of a memory server, in two versions.

Version 1, `/api/v1`, is the API of Shared Agent Memory. Version 2, `/api/v2`, is the same with three additions: a field
`memory` holds the complete memory in every request and response about one; the client chooses ids, and a POST can be
repeated with its `Idempotency-Key`; a PUT with `If-Match` is refused with 412 when the memory has another revision. A
server of version 2 sends `Keepmum-API: 2` in the headers of every response, including `/health`, so that a server of
version 1 is not asked for it.

Source: https://github.com/rbrcurtis/shared-agent-memory (src/api), read 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from keepmum.core.errors import StoreError
from keepmum.core.memory import JsonValue
from keepmum.stores.rest.full_api import FullApi
from keepmum.stores.rest.responses import Fields, records

if TYPE_CHECKING:
    from keepmum.stores.rest.http_client import HttpClient

__all__ = ["Api", "ListedMemory", "LoadedMemory"]

_IDS_PER_REQUEST = 50  # they travel in the URL


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """A memory in a search result or a list: without its text."""

    id: str  # a UUID
    title: str
    project: str
    score: float  # 0 except in search results
    created_at: int | None
    updated_at: int | None
    memory_json: Mapping[str, JsonValue] | None  # the complete memory, from a server of version 2


@dataclass(frozen=True, slots=True)
class LoadedMemory(ListedMemory):
    """A memory with its text; the access count is that before this load."""

    text: str
    agent: str
    tags: tuple[str, ...]
    accessed_at: int | None
    access_count: int
    created_by: str
    updated_by: str


class Api:
    """The calls of the API, one method each, in the newest version that the server supports.

    Raises: StoreUnavailable, KeyRefused, `http_client.RequestRefused`, StoreError from any method.
    """

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def is_v2(self) -> bool | None:
        """Whether the server supports version 2; None until it has answered once."""
        return None if self._http.api_version is None else self._http.api_version > 1

    @property
    def full(self) -> FullApi:
        """The calls that only Keepmum's own server has."""
        return FullApi(self._http)

    def collection(self) -> tuple[str, bool]:
        """The name of the collection, and whether the model is loaded. Needs a valid key."""
        config = self._fields(self._http.request("GET", "/api/v1/config")).inner("data")
        return config.text_or("collectionName", "unknown"), config.flag("modelReady")

    def create(  # noqa: PLR0913 - the fields of one memory, all by keyword
        self,
        *,
        text: str,
        title: str,
        project: str,
        agent: str,
        tags: Sequence[str],
        idempotency_key: str,
        memory_json: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """The UUID of a new memory. A server of version 2 takes the one in `memory_json`; others choose it."""
        body: dict[str, object] = {
            "text": text, "title": title, "agent": agent, "project": project, "tags": list(tags),
        }  # fmt: skip
        if memory_json is not None and self.ask_version():
            body |= {"id": memory_json["id"], "memory": memory_json}
        response = self._http.request("POST", self._memories_path, body=body, idempotency_key=idempotency_key)
        return self._uuid(self._fields(response).inner("data"))

    def search(  # noqa: PLR0913 - the parameters of the API, all by keyword
        self,
        query: str,
        *,
        limit: int,
        agent: str | None = None,
        project: str | None = None,
        tags: Sequence[str] = (),
        bulk: bool = False,
    ) -> list[ListedMemory]:
        """The best matches, best first, that carry all of `tags`; without a project, of all that the key is for."""
        parameters = {"query": query, "limit": str(limit), "agent": agent, "project": project, "tags": ",".join(tags)}
        return self._list("search", parameters, bulk=bulk)

    def load(self, ids: Sequence[str], *, bulk: bool = False) -> list[LoadedMemory]:
        """These memories with their texts, without unknown ones and those of other projects. Counts as use.

        What a server leaves out of a response is requested again: it may return fewer memories than were asked for.
        """
        self.ask_version()
        loaded: dict[str, LoadedMemory] = {}
        for start in range(0, len(ids), _IDS_PER_REQUEST):
            left = list(ids[start : start + _IDS_PER_REQUEST])
            while left:
                response = self._http.request(
                    "GET", f"{self._memories_path}/load", query={"ids": ",".join(left)}, bulk=bulk
                )
                found = {item.id: item for item in map(self._loaded, records(response, self._http.origin))}
                loaded |= found
                before, left = left, [one for one in left if one not in found]
                if len(left) == len(before):
                    break
        return list(loaded.values())

    def recent(self, *, limit: int, days: int, project: str | None = None, bulk: bool = False) -> list[ListedMemory]:
        """Memories created in the last days, latest first. A server may return fewer than `limit` of more."""
        parameters = {"limit": str(limit), "days": str(days), "project": project}
        return self._list("recent", parameters, bulk=bulk)

    def update(
        self,
        memory: str,
        *,
        text: str,
        title: str,
        memory_json: Mapping[str, JsonValue] | None = None,
        base_revision: int | None = None,
    ) -> None:
        """Change text and title of a memory; a server of version 1 keeps the other fields as they are.

        A server of version 2 replaces the complete memory, if it is at `base_revision`.
        """
        body: dict[str, object] = {"text": text, "title": title}
        if memory_json is None or not self.ask_version():
            self._http.request("PUT", self._memory_path(memory), body=body)
        else:
            body["memory"] = memory_json
            self._http.request("PUT", self._memory_path(memory), body=body, base_revision=base_revision)

    def delete(self, memory: str) -> None:
        """Delete a memory for good; only its audit log remains."""
        self._http.request("DELETE", self._memory_path(memory))

    @property
    def _memories_path(self) -> str:
        return f"/api/v{2 if self.is_v2 else 1}/memories"

    def _memory_path(self, memory: str) -> str:
        return f"{self._memories_path}/{quote(memory, safe='')}"

    def ask_version(self) -> bool:
        """Whether the server supports version 2; asks a server that has not answered yet, so that no field is lost."""
        if self.is_v2 is None:
            self._http.request("GET", "/health")
        return bool(self.is_v2)

    def _list(self, name: str, parameters: Mapping[str, str | None], *, bulk: bool) -> list[ListedMemory]:
        """The memories of a response. One that shows that the server supports version 2 is requested again in it."""
        query = {key: value for key, value in parameters.items() if value}  # an empty one would be a filter
        path = self._memories_path
        response = self._http.request("GET", f"{path}/{name}", query=query, bulk=bulk)
        if path != self._memories_path:
            response = self._http.request("GET", f"{self._memories_path}/{name}", query=query, bulk=bulk)
        return [self._listed(item) for item in records(response, self._http.origin)]

    def _fields(self, response: object) -> Fields:
        return Fields(response, "the response", self._http.origin)

    def _listed(self, item: Fields) -> ListedMemory:
        return ListedMemory(
            id=self._uuid(item),
            title=item.text_or("title", ""),
            project=item.text_or("project", ""),
            score=item.number("score"),
            created_at=item.time("createdAt", "created_at"),
            updated_at=item.time("updatedAt", "updated_at"),
            memory_json=item.mapping("memory"),
        )

    def _loaded(self, item: Fields) -> LoadedMemory:
        return LoadedMemory(
            id=self._uuid(item),
            score=0.0,
            title=item.text_or("title", ""),
            text=item.text("text"),
            agent=item.text_or("agent", "unknown"),
            project=item.text_or("project", ""),
            tags=item.texts("tags"),
            created_at=item.time("createdAt", "created_at"),
            updated_at=item.time("updatedAt", "updated_at"),
            accessed_at=item.time("last_accessed"),
            access_count=item.count("access_count"),
            created_by=item.text_or("createdBy", "unknown"),
            updated_by=item.text_or("updatedBy", "unknown"),
            memory_json=item.mapping("memory"),
        )

    def _uuid(self, item: Fields) -> str:
        import uuid

        try:
            return str(uuid.UUID(item.text("id")))
        except ValueError:
            raise StoreError(
                f"{self._http.origin} answered in a form that is not its API's: an id is no UUID"
            ) from None
