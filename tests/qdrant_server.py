"""Qdrant for tests: the local mode of its client, in memory, and that behind the REST API on loopback.

No server of Qdrant can be had as a package. The stand-in answers what our store asks, and remembers each request.
In names, `seed` is a shared-agent-memory server, whose collections the store opens.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, TypeAdapter
from pytest_httpserver import HTTPServer
from qdrant_client import QdrantClient, models
from werkzeug import Request, Response

from keepmum.embedding.fake import FakeEmbedder
from keepmum.stores.qdrant import Collection, QdrantStore
from keepmum.stores.sqlite import SqliteStore

__all__ = ["NAME", "Asked", "QdrantHttp", "collection_of", "open_at", "seeds_point"]

NAME = "shared_agent_memory"
_CLIENTS: dict[Path, QdrantClient] = {}
_SELECTOR: TypeAdapter[Any] = TypeAdapter(models.PointsSelector)


class _Kept(Collection):
    """A collection whose client outlives a store, as a server does."""

    def close(self) -> None:
        pass


def collection_of(folder: Path, dimensions: int = FakeEmbedder().dimensions) -> Collection:
    """The collection of a folder, of its own Qdrant in memory."""
    if folder not in _CLIENTS:
        _CLIENTS[folder] = QdrantClient(":memory:")
    collection = _Kept(_CLIENTS[folder], NAME)
    collection.create(dimensions)
    return collection


def open_at(folder: Path, dimensions: int = FakeEmbedder().dimensions) -> QdrantStore:
    """The store of a folder."""
    return QdrantStore(collection_of(folder, dimensions), SqliteStore(str(folder / "ledger.db")))


def seeds_point(uuid: str, text: str, vector: Sequence[float], **fields: Any) -> models.PointStruct:
    """A point as a shared-agent-memory server writes it: its words are indexed by Qdrant, from the text alone.

    Source: https://github.com/rbrcurtis/shared-agent-memory (src/storage.ts), read 2026-11-23.
    """
    from keepmum.stores.qdrant import words

    now = "2026-03-01T10:00:00.000Z"
    payload = {
        "id": uuid, "text": text, "title": "A title", "agent": "claude-code", "project": "alpha", "tags": ["db"],
        "created_at": now, "updated_at": now, "createdAt": now, "updatedAt": now, "createdBy": "team-key",
        "updatedBy": "team-key", "last_accessed": now, "access_count": 0, "stability": 1.0, **fields,
    }  # fmt: skip
    indices = sorted(words.indices([text]))
    sparse = models.SparseVector(indices=indices, values=[1.0] * len(indices))
    return models.PointStruct(id=uuid, vector={"dense": list(vector), "text-bm25": sparse}, payload=payload)


class Asked(NamedTuple):
    """A request that arrived."""

    method: str
    path: str
    body: Any  # JSON
    key: str | None


class QdrantHttp:
    """The part of Qdrant's REST API that our store uses, over its local mode. Use it in a `with`.

    Source: docs/redoc/master/openapi.json of https://github.com/qdrant/qdrant, version 1.19.0, read 2026-11-23.
    """

    def __init__(self, key: str = "") -> None:
        self.client = QdrantClient(":memory:")
        self.asked: list[Asked] = []
        self.status = 0  # that every request is answered with, if it is not 0
        self.failing = ""  # end of the path of requests that are not carried out
        self.garbage = False  # whether answers are no JSON
        self._key = key
        self._indexes: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()  # the local mode is made for one thread
        self._server = HTTPServer(host="127.0.0.1", threaded=True)
        self._server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        self.client.close()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self._server.port}"

    def make_seeds(self, name: str) -> None:
        """Make the collections of a shared-agent-memory server."""
        Collection(self.client, name).create()

    def _answer(self, request: Request) -> Response:
        body = request.get_json(silent=True)
        given = request.headers.get("api-key")
        self.asked.append(Asked(request.method, request.full_path.rstrip("?"), body, given))
        if self.garbage:
            return Response("<html>")
        if self.failing and request.full_path.endswith(self.failing):
            return _failed(503)
        if self.status:
            return _failed(self.status)
        if self._key and given != self._key:
            return _failed(401)
        with self._lock:
            try:
                result = self._result(request.method, request.path.split("/")[2:], body)
            except ValueError:  # how the local mode says that there is no such collection
                return _failed(404)
        return Response(json.dumps({"result": result, "status": "ok", "time": 0.0}), content_type="application/json")

    def _result(self, method: str, path: list[str], body: Any) -> Any:  # JSON
        name, *rest = path
        match (method, "/".join(rest)):
            case ("GET", "exists"):
                return {"exists": self.client.collection_exists(name)}
            case ("GET", ""):
                info = _json(self.client.get_collection(name))
                return {**info, "payload_schema": self._indexes.get(name, {})}
            case ("PUT", ""):
                asked = models.CreateCollection.model_validate(body)
                return self.client.create_collection(
                    name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
                )
            case ("DELETE", ""):
                self._indexes.pop(name, None)
                return self.client.delete_collection(name)
            case ("PUT", "index"):
                known = self._indexes.setdefault(name, {})
                known[body["field_name"]] = {"data_type": body["field_schema"], "points": 0}
                return {"operation_id": 0, "status": "completed"}
        return _json(_OPERATIONS[method, "/".join(rest)](self.client, name, body))


def _failed(status: int) -> Response:
    said = json.dumps({"status": {"error": "text of a memory that must not be quoted"}, "time": 0.0})
    return Response(said, status=status, content_type="application/json")


def _json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_json(one) for one in value] if isinstance(value, list) else value


def _chosen(asked: models.PointRequest | models.ScrollRequest) -> Any:
    return True if asked.with_payload is None else asked.with_payload


def _about(asked: models.SetPayload | models.DeletePayload) -> Any:
    return asked.points or asked.filter


def _retrieve(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    asked = models.PointRequest.model_validate(body)
    return client.retrieve(name, asked.ids, with_payload=_chosen(asked), with_vectors=asked.with_vector or False)


def _scroll(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    asked = models.ScrollRequest.model_validate(body)
    points, offset = client.scroll(
        name, asked.filter, limit=asked.limit or 10, offset=asked.offset, with_payload=_chosen(asked),
        with_vectors=asked.with_vector or False,
    )  # fmt: skip
    return {"points": _json(points), "next_page_offset": offset}


def _count(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    return client.count(name, models.CountRequest.model_validate(body).filter)


def _query(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    return client.query_batch_points(name, models.QueryRequestBatch.model_validate(body).searches)


def _upsert(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    return client.upsert(name, models.PointsList.model_validate(body).points)


def _delete(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    return client.delete(name, _SELECTOR.validate_python(body))


def _batch(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    return client.batch_update_points(name, models.UpdateOperations.model_validate(body).operations)


def _set_payload(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    asked = models.SetPayload.model_validate(body)
    return client.set_payload(name, asked.payload, _about(asked), key=asked.key)


def _delete_payload(client: QdrantClient, name: str, body: Mapping[str, Any]) -> Any:
    asked = models.DeletePayload.model_validate(body)
    return client.delete_payload(name, asked.keys, _about(asked))


_OPERATIONS: Mapping[tuple[str, str], Callable[[QdrantClient, str, Any], Any]] = {
    ("POST", "points"): _retrieve,
    ("POST", "points/scroll"): _scroll,
    ("POST", "points/count"): _count,
    ("POST", "points/query/batch"): _query,
    ("PUT", "points"): _upsert,
    ("POST", "points/delete"): _delete,
    ("POST", "points/batch"): _batch,
    ("POST", "points/payload"): _set_payload,
    ("POST", "points/payload/delete"): _delete_payload,
}
