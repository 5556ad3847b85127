"""A large vector index is searched parallel to the lexical search, with the same results."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.store_parts import required
from contract.stores import a_memory, wanted
from keepmum.core.memory import Candidate, Change, Embedding
from keepmum.embedding.fake import FakeEmbedder
from keepmum.stores.sqlite import SqliteStore, vector_index
from keepmum.stores.sqlite.lexical import LexicalSearch
from keepmum.stores.sqlite.vector_index import VectorIndex
from keepmum.stores.vectors import pack

EMBEDDER, OTHER = FakeEmbedder(), FakeEmbedder(model="other")
LIMIT = 60.0  # seconds
TEXTS = [f"zebra {number} runs" for number in range(12)]


def embedded(text: str, embedder: FakeEmbedder = EMBEDDER) -> Embedding:
    return Embedding(embedder.model, pack(embedder.embed([text])[0]))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(str(tmp_path / "memory.db"))) as opened:
        opened.commit([Change(None, a_memory(text), embedded(text)) for text in TEXTS])
        yield opened


def found(store: SqliteStore, text: str, embedder: FakeEmbedder = EMBEDDER, **asked: Any) -> set[Candidate]:
    vectors = required(store.features.vector_search)
    return set(vectors.search(["zebra"], lambda: embedded(text, embedder), wanted(**asked), 5))


@pytest.fixture
def large_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "MAX_EXACT", 0)


@pytest.mark.parametrize("asked", [{}, {"kinds": ("decision",)}, {"everywhere": True}, {"project": "nowhere"}])
def test_parallel_and_sequential_search_find_the_same(
    store: SqliteStore, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    one_after_the_other = [found(store, text, **asked) for text in TEXTS]
    monkeypatch.setattr(vector_index, "MAX_EXACT", 0)
    assert [found(store, text, **asked) for text in TEXTS] == one_after_the_other


@pytest.mark.usefixtures("large_index")
def test_vector_search_runs_during_lexical_search(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    found(store, TEXTS[0])  # the first search determines the index
    searched, nearest, best = threading.Event(), VectorIndex.nearest, LexicalSearch.best

    def announced(*given: Any) -> Any:
        searched.set()
        return nearest(*given)

    def patient(*given: Any) -> Any:
        assert searched.wait(LIMIT)
        return best(*given)

    monkeypatch.setattr(VectorIndex, "nearest", announced)
    monkeypatch.setattr(LexicalSearch, "best", patient)
    assert max(found(store, TEXTS[3]), key=lambda one: one.cosine or 0.0).cosine == pytest.approx(1.0, abs=1e-3)


@pytest.mark.usefixtures("large_index")
def test_a_query_of_another_model_is_compared_with_no_vector(store: SqliteStore) -> None:
    assert all(one.cosine is not None for one in found(store, TEXTS[0]))
    assert all(one.cosine is None for one in found(store, TEXTS[0], OTHER))
    assert all(one.cosine is not None for one in found(store, TEXTS[0]))


@pytest.mark.usefixtures("large_index")
def test_a_memory_stored_since_the_last_search_is_found_by_its_vector(store: SqliteStore) -> None:
    found(store, TEXTS[0])
    store.commit([Change(None, a_memory("a gnu"), embedded("a gnu"))])
    assert any(one.cosine == pytest.approx(1.0, abs=1e-3) for one in found(store, "a gnu"))


@pytest.mark.usefixtures("large_index")
def test_a_failed_query_embedding_is_reported_to_the_caller(store: SqliteStore) -> None:
    found(store, TEXTS[0])

    def fails() -> Embedding:
        raise LookupError("no vector")

    with pytest.raises(LookupError, match="no vector"):
        required(store.features.vector_search).search(["zebra"], fails, wanted(), 5)


@pytest.mark.usefixtures("large_index")
def test_a_closed_store_leaves_no_thread(store: SqliteStore) -> None:
    found(store, TEXTS[0])
    found(store, TEXTS[0])
    (thread,) = [one for one in threading.enumerate() if one.name == "keepmum-nearest"]
    store.close()
    thread.join(LIMIT)
    assert not thread.is_alive()
