"""The API of a server: the first, `/api/v1`, as servers of Shared Agent Memory have it, and the second beside it.

The second, `/api/v2`, is the first with the whole memory in a field `memory` of every request and answer that is about
one, ids that the client chooses, tokens that make repetition safe (`Idempotency-Key`), and revisions that a change is
meant for (`If-Match`, answered with 412 when there is another). A server that speaks it says `Keepmum-API: 2` in the
header of every answer, `/health` included, so that nothing has to be asked for that.

Source: https://github.com/rbrcurtis/shared-agent-memory (src/api), read 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from keepmum.core.errors import StoreError
from keepmum.core.memory import JsonValue
from keepmum.stores.rest.answers import Fields, records

if TYPE_CHECKING:
    from keepmum.stores.rest.wire import Wire

__all__ = ["Api", "Event", "Listed", "Loaded"]

_AT_ONCE = 50  # ids in one address


@dataclass(frozen=True, slots=True)
class Listed:
    """A memory as a search or a list shows it: no text."""

    id: str  # a UUID
    title: str
    project: str
    score: float
    created_at: int | None
    updated_at: int | None
    memory: Mapping[str, JsonValue] | None = None  # all of it, from a server of the second API


@dataclass(frozen=True, slots=True)
class Loaded:
    """A memory in full, as it was before this load counted."""

    id: str
    title: str
    text: str
    agent: str
    project: str
    tags: tuple[str, ...]
    created_at: int | None
    updated_at: int | None
    accessed_at: int | None
    access_count: int
    created_by: str
    updated_by: str
    memory: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a memory's audit."""

    action: str  # create, update or delete
    actor: str
    at: int | None


class Api:
    """The calls of the API, one method each, in the newest form that the server speaks.

    Raises: StoreUnavailable, KeyRefused, `wire.Refused`, StoreError from any method.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def close(self) -> None:
        """Let the connections go."""
        self._wire.close()

    @property
    def is_full(self) -> bool | None:
        """Whether the server speaks the second API; None when it has not answered yet."""
        return None if self._wire.newest is None else self._wire.newest > 1

    def ready(self) -> bool:
        """Whether the server is up and its model loaded; no key is needed for that."""
        return Fields(self._wire.ask("GET", "/health"), "the answer", self._wire.origin).flag("modelReady")

    def collection(self) -> tuple[str, bool]:
        """Name of the collection, and whether the model is loaded; only for a key that is taken."""
        answer = Fields(self._wire.ask("GET", "/api/v1/config"), "the answer", self._wire.origin).inner("data")
        return answer.text_or("collectionName", "unknown"), answer.flag("modelReady")

    def create(  # noqa: PLR0913 - the fields of one memory, all by keyword
        self,
        *,
        text: str,
        title: str,
        project: str,
        agent: str,
        tags: Sequence[str],
        token: str,
        whole: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """The UUID that the server gave a new memory, or took for it; `whole` is for a server of the second API."""
        body: dict[str, object] = {
            "text": text, "title": title, "agent": agent, "project": project, "tags": list(tags),
        }  # fmt: skip
        if whole is not None and self._introduced():
            body |= {"id": whole["id"], "memory": whole}
        answer = self._wire.ask("POST", self._memories, body=body, token=token)
        return _uuid(Fields(answer, "the answer", self._wire.origin).inner("data"), self._wire.origin)

    def search(
        self, query: str, *, limit: int, agent: str | None = None, project: str | None = None, tags: Sequence[str] = ()
    ) -> list[Listed]:
        """The memories that fit best, best first; without a project those of all that the key is for.

        A memory has to carry every one of `tags`.
        """
        asked = {"query": query, "limit": str(limit), "agent": agent, "project": project, "tags": ",".join(tags)}
        answer = self._wire.ask("GET", f"{self._memories}/search", query=_given(asked))
        return [self._listed(item) for item in records(answer, self._wire.origin)]

    def load(self, ids: Sequence[str]) -> list[Loaded]:
        """These memories in full; unknown ones and those of other projects are left out. Counts as use."""
        self._introduced()
        found: list[Loaded] = []
        for start in range(0, len(ids), _AT_ONCE):
            asked = {"ids": ",".join(ids[start : start + _AT_ONCE])}
            answer = self._wire.ask("GET", f"{self._memories}/load", query=asked)
            found += [self._loaded(item) for item in records(answer, self._wire.origin)]
        return found

    def recent(self, *, limit: int, days: int, project: str | None = None) -> list[Listed]:
        """The memories created in the last days, latest first."""
        asked = {"limit": str(limit), "days": str(days), "project": project}
        answer = self._wire.ask("GET", f"{self._memories}/recent", query=_given(asked))
        return [self._listed(item) for item in records(answer, self._wire.origin)]

    def audit(self, memory: str) -> list[Event]:
        """Who did what to a memory, oldest first; after its end, too."""
        answer = self._wire.ask("GET", f"{self._one(memory)}/audit")
        return [
            Event(item.text_or("action", ""), item.text_or("actor", "unknown"), item.time("timestamp"))
            for item in records(answer, self._wire.origin)
        ]

    def update(
        self,
        memory: str,
        *,
        text: str,
        title: str,
        whole: Mapping[str, JsonValue] | None = None,
        base: int | None = None,
    ) -> None:
        """Give a memory another text and title; whatever else a server of the first API keeps of it stays.

        A server of the second one replaces the `whole`, if it is at the revision `base`.
        """
        body: dict[str, object] = {"text": text, "title": title}
        full = whole is not None and self._introduced()
        if full:
            body["memory"] = whole
        self._wire.ask("PUT", self._one(memory), body=body, base=base if full else None)

    def delete(self, memory: str) -> None:
        """Remove a memory for good; only its audit is left."""
        self._wire.ask("DELETE", self._one(memory))

    @property
    def _memories(self) -> str:
        return f"/api/v{2 if self.is_full else 1}/memories"

    def _one(self, memory: str) -> str:
        return f"{self._memories}/{quote(memory, safe='')}"

    def _introduced(self) -> bool:
        """Whether the server speaks the second API; asked where it has not answered yet, so that no field is lost."""
        if self.is_full is None:
            self._wire.ask("GET", "/health")
        return bool(self.is_full)

    def _listed(self, item: Fields) -> Listed:
        return Listed(
            id=_uuid(item, self._wire.origin),
            title=item.text_or("title", ""),
            project=item.text_or("project", ""),
            score=item.number("score"),
            created_at=item.time("createdAt", "created_at"),
            updated_at=item.time("updatedAt", "updated_at"),
            memory=item.mapping("memory"),
        )

    def _loaded(self, item: Fields) -> Loaded:
        return Loaded(
            id=_uuid(item, self._wire.origin),
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
            memory=item.mapping("memory"),
        )


def _given(asked: dict[str, str | None]) -> dict[str, str]:
    """The parameters that say something: an empty one would be a filter."""
    return {name: value for name, value in asked.items() if value}


def _uuid(fields: Fields, origin: str) -> str:
    import uuid

    try:
        return str(uuid.UUID(fields.text("id")))
    except ValueError:
        raise StoreError(f"{origin} answered in a form that is not its API's: an id is no UUID") from None
