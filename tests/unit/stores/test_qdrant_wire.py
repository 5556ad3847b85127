"""The Qdrant store over HTTP: what it sends, to whom, and what it says when Qdrant fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from qdrant_client import models

from contract.stores import a_memory
from keepmum.core.errors import KeyRefused, SettingsError, StoreError, StoreUnavailable
from keepmum.core.memory import Change
from keepmum.stores.qdrant import QdrantStore, connect, create
from keepmum.stores.sqlite import SqliteStore
from qdrant_server import NAME, QdrantHttp
from unit.stores.qdrant_conversation import RECORD, recorded

_COSINE, _DOT = models.Distance.COSINE, models.Distance.DOT


@pytest.fixture
def qdrant() -> Iterator[QdrantHttp]:
    with QdrantHttp() as server:
        create(server.url, "", NAME)
        yield server


@pytest.fixture
def store(qdrant: QdrantHttp, tmp_path: Path) -> Iterator[QdrantStore]:
    opened = QdrantStore(connect(qdrant.url, "", NAME), SqliteStore(str(tmp_path / "ledger.db")))
    yield opened
    opened.close()


def test_the_requests_are_those_that_were_compared_with_qdrants_description() -> None:
    assert recorded() == json.loads(RECORD.read_text(encoding="utf-8"))


# -- the key


def test_the_key_is_in_a_header_and_nowhere_else(tmp_path: Path) -> None:
    key = "a-key-for-tests"
    with QdrantHttp(key) as server:
        create(server.url, key, NAME)
        store = QdrantStore(connect(server.url, key, NAME), SqliteStore(str(tmp_path / "ledger.db")))
        store.commit([Change(None, a_memory())])
        store.close()
        assert {asked.key for asked in server.asked} == {key}
        assert key not in repr([(asked.path, asked.body) for asked in server.asked])


def test_a_redirect_is_not_followed(httpserver: HTTPServer) -> None:
    with QdrantHttp() as other:
        httpserver.expect_request(f"/collections/{NAME}/exists").respond_with_data(
            status=307, headers={"Location": f"{other.url}/collections/{NAME}/exists"}
        )
        with pytest.raises(StoreError):
            connect(httpserver.url_for(""), "a-key-for-tests", NAME)
        assert other.asked == []


def test_a_proxy_of_the_environment_gets_nothing(qdrant: QdrantHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    with QdrantHttp() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        connect(qdrant.url, "a-key-for-tests", NAME).close()
        assert proxy.asked == []


@pytest.mark.parametrize("host", ["qdrant", "192.0.2.7", "qdrant.example"])
def test_a_key_is_not_sent_unencrypted(host: str) -> None:
    with pytest.raises(SettingsError, match=r"database\.key must not travel unencrypted"):
        connect(f"http://{host}:6333", "a-key-for-tests", NAME)


@pytest.mark.parametrize("key", ["", "another-key"])
def test_a_wrong_key_is_said_and_not_shown(key: str) -> None:
    with QdrantHttp("a-key-for-tests") as server:
        with pytest.raises(KeyRefused) as refused:
            connect(server.url, key, NAME)
        assert "database.key" in str(refused.value)
        assert "another-key" not in str(refused.value)
        assert server.url.removeprefix("http://") in str(refused.value)


# -- a server that fails


def test_a_server_that_is_away_is_named() -> None:
    with QdrantHttp() as server:
        url = server.url
    with pytest.raises(StoreUnavailable, match=r"Qdrant at 127\.0\.0\.1:\d+ does not answer \(Connect"):
        connect(url, "", NAME)


@pytest.mark.parametrize(("status", "error"), [(400, StoreError), (403, KeyRefused), (429, StoreUnavailable),
                                               (500, StoreUnavailable), (503, StoreUnavailable)])  # fmt: skip
def test_a_failure_quotes_no_answer(
    qdrant: QdrantHttp, store: QdrantStore, status: int, error: type[StoreError]
) -> None:
    qdrant.status = status
    with pytest.raises(error) as failed:
        store.get([a_memory().id])
    assert "must not be quoted" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


def test_an_answer_that_is_no_json_is_a_clear_error(store: QdrantStore, qdrant: QdrantHttp) -> None:
    qdrant.garbage = True
    with pytest.raises(StoreError, match="not as Qdrant does; check database"):
        store.get([a_memory().id])


def test_a_change_that_qdrant_does_not_take_leaves_no_history(store: QdrantStore, qdrant: QdrantHttp) -> None:
    memory = a_memory()
    store.commit([Change(None, memory)])
    changes = len(store.history(memory.id))
    qdrant.failing = f"{NAME}/points?wait=true"
    with pytest.raises(StoreUnavailable):
        store.commit([Change(memory, a_memory("other", id=memory.id, revision=2))])
    qdrant.failing = ""
    assert len(store.history(memory.id)) == changes
    assert store.get([memory.id]) == [memory]


@pytest.mark.parametrize(
    "failing", [f"{NAME}_audit/points/payload/delete?wait=true", f"{NAME}/points/delete?wait=true"]
)
def test_a_purge_that_failed_can_be_repeated_and_leaves_no_title(
    store: QdrantStore, qdrant: QdrantHttp, failing: str
) -> None:
    memory = a_memory(title="A title to purge")
    store.commit([Change(None, memory)])
    qdrant.failing = failing
    with pytest.raises(StoreUnavailable):
        store.commit([Change(memory, None)])
    qdrant.failing = ""
    store.commit([Change(memory, None)])
    assert store.get([memory.id]) == []
    events = qdrant.client.scroll(f"{NAME}_audit")[0]
    assert events
    assert memory.title not in repr(events)


# -- collections of another shape


def test_a_missing_collection_is_not_made_silently() -> None:
    with QdrantHttp() as server:
        with pytest.raises(StoreError, match="has no collection shared_agent_memory: set"):
            connect(server.url, "", NAME)
        assert [asked.method for asked in server.asked] == ["GET"]


@pytest.mark.parametrize(
    ("dense", "modifier", "lacks"),
    [
        pytest.param(models.VectorParams(size=4, distance=_COSINE), None, "a vector `dense`", id="one unnamed vector"),
        pytest.param({"dense": models.VectorParams(size=4, distance=_DOT)}, "idf", "`dense` compared by cosine",
                     id="another distance"),
        pytest.param({"dense": models.VectorParams(size=4, distance=_COSINE)}, None, "the modifier idf",
                     id="words without weights"),
    ],
)  # fmt: skip
def test_a_collection_of_another_shape_is_refused(dense: object, modifier: str | None, lacks: str) -> None:
    sparse = models.SparseVectorParams(modifier=None if modifier is None else models.Modifier(modifier))
    with QdrantHttp() as server:
        server.client.create_collection(NAME, dense, sparse_vectors_config={"text-bm25": sparse})  # type: ignore[arg-type]
        with pytest.raises(StoreError, match=lacks):
            connect(server.url, "", NAME)
        assert all(
            asked.method == "GET" or asked.path.endswith("/scroll") for asked in server.asked
        )  # nothing was changed


def test_a_collection_of_other_points_is_refused(qdrant: QdrantHttp) -> None:
    qdrant.client.upsert(NAME, [models.PointStruct(id=1, vector={}, payload={"document": "a page"})])
    with pytest.raises(StoreError, match="lacks points with text, project and created_at"):
        connect(qdrant.url, "", NAME)
