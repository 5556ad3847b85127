"""One collection of memories in Qdrant, and that of its audit events: requests, pages, and errors as ours."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models
from qdrant_client.conversions import common_types as types
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from keepmum.core.errors import KeyRefused, SettingsError, StoreError, StoreUnavailable
from keepmum.stores.qdrant import layout
from keepmum.stores.qdrant.conditions import Condition, all_of
from keepmum.stores.qdrant.layout import DENSE
from keepmum.stores.qdrant.payload import READ_LIGHTLY, Record
from keepmum.workspace.credentials import is_loopback

__all__ = ["EVERYTHING", "LIGHT", "NOTHING", "PAGE", "Collection", "Fields", "connect", "create"]

PAGE = 500  # points of an answer
_BATCH = 100  # points of a write
_TIMEOUT = 10  # seconds
_REFUSED = frozenset({401, 403})
_MISSING = 404
_TRIED_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
LIGHT = models.PayloadSelectorExclude(exclude=list(READ_LIGHTLY))

Fields = bool | list[str] | models.PayloadSelectorExclude
_Offset = types.PointId | None  # of a page; None for the first one, and after the last one
_Page = tuple[list[models.Record], _Offset]
EVERYTHING: Fields = True
NOTHING: Fields = False
_AUDIT_VECTOR = {"audit": [1.0]}  # Qdrant wants one; it is never searched


def connect(url: str, key: str, name: str) -> Collection:
    """The collection `name` of the Qdrant at `url`, with the indexes that filters need.

    Raises: SettingsError when the key would travel unencrypted; StoreError when Qdrant cannot be reached, refuses the
    key, or has no such collection.
    """
    collection = Collection(_client(url, key), name, url)
    try:
        collection.check()
        collection.make_indexes()
    except BaseException:
        collection.close()
        raise
    return collection


def create(url: str, key: str, name: str) -> int | None:
    """Create the collection in the layout of a shared-agent-memory server; the number of its points if it was there.

    Raises: as `connect`.
    """
    collection = Collection(_client(url, key), name, url)
    with contextlib.closing(collection):
        if not collection.create():
            return None
        collection.check()
        return collection.count()


def _client(url: str, key: str) -> QdrantClient:
    parts = urlsplit(url)
    if key and parts.scheme != "https" and not is_loopback(f"{parts.scheme}://{parts.netloc}"):
        raise SettingsError(f"database.key must not travel unencrypted; give {parts.netloc} an https:// address")
    port = parts.port or (443 if parts.scheme == "https" else 6333)
    # No proxy of the environment gets the key or the texts, and the version is not asked for behind the user's back.
    return QdrantClient(
        host=parts.hostname, port=port, https=parts.scheme == "https", timeout=_TIMEOUT, check_compatibility=False,
        headers={"api-key": key} if key else None, trust_env=False,
    )  # fmt: skip


class Collection:
    """The points of one collection. A point is written whole or not at all, and a write is durable when it returns.

    Raises: StoreError (StoreUnavailable, KeyRefused) from any method.
    """

    def __init__(self, client: QdrantClient, name: str, url: str = "local") -> None:
        self.name = name
        self._client = client
        self._audit = layout.audit_of(name)
        self._url = url
        self._place = urlsplit(url).netloc
        self._dimensions = 0

    # -- layout

    def create(self, dimensions: int = layout.DIMENSIONS) -> bool:
        """Create both collections, unless they are there; whether that of the memories was there."""
        with self._errors():
            return layout.create(self._client, self.name, dimensions)

    def check(self) -> None:
        """Check that the collection is there, and of the layout of a shared-agent-memory server."""
        with self._errors():
            if not self._client.collection_exists(self.name):
                raise StoreError(
                    f"Qdrant at {self._place} has no collection {self.name}: set database.collection to its name, or "
                    f"make it with `keepmum serve init --database {self._url}`"
                )
            if missing := layout.missing_part(self._client, self.name):
                raise StoreError(
                    f"the collection {self.name} of Qdrant at {self._place} lacks {missing}; nothing was changed"
                )

    def make_indexes(self) -> None:
        """Create the payload indexes that filters use, and the audit collection, where they are missing."""
        with self._errors():
            layout.make_indexes(self._client, self.name)

    @property
    def dimensions(self) -> int:
        """The length of dense vectors."""
        if not self._dimensions:
            with self._errors():
                self._dimensions = layout.length_of(self._client, self.name)
        return self._dimensions

    # -- reading

    def points(self, uuids: Sequence[str], fields: Fields = EVERYTHING, *, vectors: bool = False) -> list[Record]:
        """The points with these ids, in no order."""
        found: list[Record] = []
        for start in range(0, len(uuids), PAGE):
            with self._errors():
                found += self._client.retrieve(
                    self.name, list(uuids[start : start + PAGE]), with_payload=fields,
                    with_vectors=[DENSE] if vectors else False,
                )  # fmt: skip
        return found

    def scroll(
        self,
        conditions: Sequence[Condition],
        fields: Fields = EVERYTHING,
        *,
        vectors: bool = False,
        start: str | None = None,
        page_size: int = PAGE,
    ) -> Iterator[Record]:
        """The points for which all conditions hold, by id from `start` on; `page_size` are read at once."""

        def page(offset: _Offset) -> _Page:
            return self._client.scroll(
                self.name, all_of(*conditions), limit=page_size, offset=offset, with_payload=fields,
                with_vectors=[DENSE] if vectors else False,
            )  # fmt: skip

        return self._paged(page, start)

    def first(self, conditions: Sequence[Condition], limit: int, fields: Fields = EVERYTHING) -> list[Record]:
        """Up to `limit` points for which all conditions hold."""
        with self._errors():
            return list(self._client.scroll(self.name, all_of(*conditions), limit=limit, with_payload=fields)[0])

    def count(self, conditions: Sequence[Condition] = ()) -> int:
        """The number of points for which all conditions hold."""
        with self._errors():
            return self._client.count(self.name, all_of(*conditions), exact=True).count

    def query(self, requests: Sequence[models.QueryRequest]) -> list[list[models.ScoredPoint]]:
        """The best points for each request, best first, in one round trip."""
        if not requests:
            return []
        with self._errors():
            return [answer.points for answer in self._client.query_batch_points(self.name, requests)]

    # -- writing

    def write(self, points: Sequence[models.PointStruct]) -> None:
        """Insert or replace points."""
        for start in range(0, len(points), _BATCH):
            with self._errors():
                self._client.upsert(self.name, points[start : start + _BATCH], wait=True)

    def delete(self, uuids: Sequence[str]) -> None:
        """Delete points."""
        if uuids:
            with self._errors():
                self._client.delete(self.name, models.PointIdsList(points=list(uuids)), wait=True)

    def set_fields(self, fields: Sequence[tuple[str, Mapping[str, Any]]], key: str | None = None) -> None:
        """Set fields of points by id, within the object `key` if one is given; the others stay."""
        operations = [
            models.SetPayloadOperation(set_payload=models.SetPayload(payload=dict(values), points=[point], key=key))
            for point, values in fields
        ]
        if operations:
            with self._errors():
                self._client.batch_update_points(self.name, operations, wait=True)

    # -- audit events

    def note(self, events: Sequence[Mapping[str, str]]) -> None:
        """Append audit events."""
        points = [
            models.PointStruct(id=event_id, vector=dict(_AUDIT_VECTOR), payload={"id": event_id, **event})
            for event in events
            for event_id in [str(uuid.uuid4())]
        ]
        if points:
            with self._errors():
                self._client.upsert(self._audit, points, wait=True)

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """All audit events, by id."""
        found = self._paged(lambda offset: self._client.scroll(self._audit, limit=PAGE, offset=offset))
        return ((str(point.id), point.payload or {}) for point in found)

    def change_event(self, event: str, fields: Mapping[str, Any]) -> None:
        """Set fields of an audit event."""
        with self._errors():
            self._client.set_payload(self._audit, dict(fields), points=[event], wait=True)

    def forget_titles(self, uuids: Sequence[str]) -> None:
        """Remove the titles from the audit events of these memories."""
        if uuids:
            about = models.FieldCondition(key="memoryId", match=models.MatchAny(any=list(uuids)))
            with self._errors():
                self._client.delete_payload(self._audit, ["title"], points=all_of(about), wait=True)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _paged(self, read: Callable[[_Offset], _Page], start: _Offset = None) -> Iterator[models.Record]:
        """The points of all pages from `start` on; a page is read when it is needed."""
        offset = start
        while True:
            with self._errors():
                page, offset = read(offset)
            yield from page
            if offset is None:
                return

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of the client into ours; none of them quotes an answer, which may hold a text."""
        try:
            yield
        except UnexpectedResponse as error:
            raise self._refusal(error.status_code or 0) from None
        except ApiException as error:
            cause = type(getattr(error, "source", error)).__name__
            raise StoreUnavailable(f"Qdrant at {self._place} does not answer ({cause})") from None
        except ValueError:  # of the parser of answers
            raise StoreError(f"{self._place} answers, and not as Qdrant does; check database.url") from None

    def _refusal(self, status: int) -> StoreError:
        if status in _REFUSED:
            return KeyRefused(
                f"Qdrant at {self._place} refuses the key, or wants one: set database.key to one that may write"
            )
        if status == _MISSING:
            return StoreError(f"Qdrant at {self._place} has no collection {self.name}, or no {self._audit}")
        if status in _TRIED_AGAIN:
            return StoreUnavailable(f"Qdrant at {self._place} cannot answer now (HTTP {status})")
        return StoreError(f"Qdrant at {self._place} refused a request (HTTP {status}); its log says why")
