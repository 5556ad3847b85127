"""Vector search of every store that has it (`keepmum.stores.base.VectorSearch`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contract.store_parts import FIELDS, PASSES, Opener, required
from contract.stores import STORES, a_memory, wanted
from keepmum.core import ranking
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Embedding, Memory
from keepmum.embedding.fake import FakeEmbedder
from keepmum.stores import Store
from keepmum.stores.base import VectorSearch
from keepmum.stores.vectors import pack

EMBEDDER = FakeEmbedder()
OTHER = FakeEmbedder(model="other")


@pytest.fixture(params=sorted(STORES))
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same store each time, as another process would."""
    with contextlib.ExitStack() as stack:

        def open_again() -> Store:
            store = STORES[request.param](tmp_path)
            stack.callback(store.close)
            if store.features.vector_search is None:
                pytest.skip(f"the {request.param} store has no vector search")
            return store

        yield open_again


@pytest.fixture
def store(opener: Opener) -> Store:
    return opener()


def vectors(store: Store) -> VectorSearch:
    return required(store.features.vector_search)


def embedded(text: str, embedder: FakeEmbedder = EMBEDDER) -> Embedding:
    return Embedding(embedder.model, pack(embedder.embed([text])[0]))


def put(store: Store, *memories: Memory) -> None:
    """Store memories with their vectors."""
    store.commit([Change(None, memory, embedded(ranking.embedding_text(memory))) for memory in memories])


def nearest_ids(store: Store, text: str, **asked: Any) -> list[str]:
    """The ids that vector search alone finds, nearest first."""
    found = vectors(store).search([], lambda: embedded(text), wanted(**asked), 50)
    return [one.id for one in sorted(found, key=lambda one: -(one.cosine or 0.0))]


# -- finding


def test_the_nearest_memories_are_found_without_common_words(store: Store) -> None:
    near, far = a_memory("the database is slow"), a_memory("a zebra runs")
    put(store, far, near)
    assert nearest_ids(store, "database slow") == [near.id, far.id]


def test_a_lexical_match_has_its_cosine_too(store: Store) -> None:
    both = a_memory("the database is slow")
    put(store, both)
    found = vectors(store).search(["database"], lambda: embedded("the database is slow"), wanted(), 5)
    assert [(one.id, one.lexical > 0) for one in found] == [(both.id, True)]
    assert found[0].cosine == pytest.approx(1.0, abs=0.002)


def test_without_a_query_vector_search_is_lexical(store: Store) -> None:
    put(store, a_memory("the database is slow"))
    assert [one.cosine for one in vectors(store).search(["database"], lambda: None, wanted(), 5)] == [None]


def test_a_memory_of_another_process_is_found_at_once(opener: Opener) -> None:
    here, there = opener(), opener()
    put(here, a_memory("a zebra runs"))
    assert len(nearest_ids(here, "zebra")) == 1
    memory = a_memory("the database is slow")
    put(there, memory)
    assert nearest_ids(here, "database slow")[0] == memory.id


@pytest.mark.parametrize("field", ["text", "title", "tags"])
def test_a_memory_is_not_found_by_its_former_text(store: Store, field: str) -> None:
    old = a_memory("the database is slow")
    put(store, old)
    changed: Any = {field: ("zebra",) if field == "tags" else "a zebra runs"}
    new = replace(old, **changed, revision=2)
    store.commit([Change(old, new)])
    assert nearest_ids(store, "database slow") == []
    assert [memory.id for memory in vectors(store).pending(EMBEDDER.model, 5)] == [old.id]


def test_a_purged_memory_leaves_no_vector_to_the_next_one(store: Store) -> None:
    old = a_memory("the database is slow")
    put(store, old)
    assert nearest_ids(store, "database slow") == [old.id]
    store.commit([Change(old, None)])
    store.commit([Change(None, a_memory("a zebra runs"))])
    assert nearest_ids(store, "database slow") == []


@pytest.mark.parametrize(("asked", "fields"), FIELDS)
def test_vector_search_applies_the_filters_of_lexical_search(
    store: Store, asked: dict[str, Any], fields: dict[str, Any]
) -> None:
    put(store, a_memory("a zebra", **fields))
    assert nearest_ids(store, "zebra", **asked) == []


@pytest.mark.parametrize(("asked", "fields"), PASSES)
def test_vector_search_finds_what_passes_the_filter(
    store: Store, asked: dict[str, Any], fields: dict[str, Any]
) -> None:
    memory = a_memory("a zebra", **fields)
    put(store, memory)
    assert nearest_ids(store, "zebra", **asked) == [memory.id]


def test_a_passing_memory_is_found_behind_many_nearer_ones(store: Store) -> None:
    rare = a_memory("a zebra and other words that lead away from it", kind="decision")
    put(store, rare, *(a_memory(f"a zebra {number}") for number in range(60)))
    found = vectors(store).search([], lambda: embedded("a zebra"), wanted(kinds=("decision",)), 5)
    assert [one.id for one in found] == [rare.id]


# -- sessions


def test_the_neighbours_of_a_memory_help_to_find_it(store: Store) -> None:
    ask, answer = a_memory("which database is slow?", session="s1"), a_memory("the second one", session="s1")
    put(store, ask, answer, a_memory("the third one", session="s2"))
    assert nearest_ids(store, "which database is slow?")[:2] == [ask.id, answer.id]
    assert {one.id for one in vectors(store).search(["database"], lambda: None, wanted(), 5)} == {ask.id, answer.id}


def test_second_neighbours_help_until_they_are_removed(store: Store) -> None:
    ask, answer = a_memory("which database is slow?", session="s1"), a_memory("the second one", session="s1")
    alone = a_memory("the third one", session="s2")
    put(store, ask, a_memory("let me look", session="s1"), answer, alone)
    assert nearest_ids(store, "which database is slow?").index(answer.id) < nearest_ids(
        store, "which database is slow?"
    ).index(alone.id)
    store.commit([Change(ask, None)])
    near = {one.id: one.cosine for one in vectors(store).search([], lambda: embedded("database slow"), wanted(), 5)}
    assert near[answer.id] == pytest.approx(near[alone.id], abs=0.01)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"project": "beta"}, id="another project"),
        pytest.param({"user": "ada"}, id="another user"),
        pytest.param({"status": "trashed"}, id="the trash"),
    ],
)
def test_memories_of_another_session_or_space_are_not_neighbours(store: Store, other: dict[str, Any]) -> None:
    put(store, a_memory("which database is slow?", session="s1", **other), a_memory("the second one", session="s1"))
    assert vectors(store).search(["database"], lambda: None, wanted(), 5) == []


def test_a_purge_removes_the_text_from_the_context_of_neighbours(store: Store) -> None:
    old = a_memory("a zebra", session="s1")
    put(store, a_memory("before", session="s1"), old, a_memory("after", session="s1"))
    store.commit([Change(old, None)])
    assert vectors(store).search(["zebra"], lambda: None, wanted(), 5) == []


# -- vectors that are added later or are of another model


def test_a_memory_without_a_vector_is_pending(store: Store) -> None:
    memory = a_memory("the database is slow")
    store.commit([Change(None, memory)])
    assert vectors(store).count_pending(EMBEDDER.model) == 1
    assert vectors(store).save([(memory, embedded(memory.text))]) == 1
    assert vectors(store).count_pending(EMBEDDER.model) == 0
    assert nearest_ids(store, "database slow") == [memory.id]


def test_a_vector_of_a_former_text_is_not_stored(store: Store) -> None:
    old = a_memory("the database is slow")
    put(store, old)
    store.commit([Change(old, replace(old, text="a zebra runs", revision=2))])
    assert vectors(store).save([(old, embedded(old.text))]) == 0
    assert vectors(store).count_pending(EMBEDDER.model) == 1


def test_vectors_of_another_model_are_reported_and_never_compared(store: Store) -> None:
    put(store, a_memory("the database is slow"))
    assert vectors(store).other_model(EMBEDDER.model) is None
    assert vectors(store).other_model(OTHER.model) == EMBEDDER.model
    found = vectors(store).search(["database"], lambda: embedded("database", OTHER), wanted(), 5)
    assert [one.cosine for one in found] == [None]


def test_a_vector_with_other_dimensions_is_reported_and_not_compared(store: Store) -> None:
    put(store, a_memory("the database is slow"))
    longer = replace(embedded("database", FakeEmbedder(2 * EMBEDDER.dimensions)), model=EMBEDDER.model)
    with pytest.raises(StoreError, match=r"dimensions here, and \d+ were given"):
        vectors(store).search(["database"], lambda: longer, wanted(), 5)


def test_a_write_adds_no_vector_of_a_second_model(store: Store) -> None:
    put(store, a_memory("the database is slow"))
    late = a_memory("a zebra runs")
    store.commit([Change(None, late, embedded(late.text, OTHER))])
    assert vectors(store).other_model(EMBEDDER.model) is None
    assert [memory.id for memory in vectors(store).pending(EMBEDDER.model, 5)] == [late.id]


def test_all_memories_can_be_embedded_again_by_another_model(store: Store) -> None:
    memories = [a_memory("the database is slow"), a_memory("a zebra runs")]
    put(store, *memories)
    for done in range(len(memories)):
        assert vectors(store).count_pending(OTHER.model) == len(memories) - done
        memory = vectors(store).pending(OTHER.model, 1)[0]
        vectors(store).save([(memory, embedded(memory.text, OTHER))])
    assert vectors(store).other_model(OTHER.model) is None


# -- similarity


def test_similar_memories_come_with_their_cosine(store: Store) -> None:
    near, far = a_memory("the database is slow", session="s1"), a_memory("a zebra runs", session="s1")
    put(store, near, far)
    found = vectors(store).similar(embedded("the database is slow"), wanted(), 5)
    assert [memory.id for memory, _ in found] == [near.id, far.id]
    assert found[0][1] == pytest.approx(1.0, abs=0.002)


def test_memories_near_to_another_come_with_their_cosine(store: Store) -> None:
    first, other, again = a_memory("one two three"), a_memory("a zebra"), a_memory("three two one")
    put(store, first, other, again)
    nearest_ids(store, "one two three")  # vectors are compared by the model of the last search
    versions = store.features.versions
    if versions is None:
        pytest.skip("the store cannot look up versions")
    ((of, near, cosine),) = versions.near([first], wanted(), 0.95)
    assert (of, near.id) == (first.id, again.id)
    assert cosine == pytest.approx(1.0, abs=0.002)
    assert versions.near([first], wanted(kinds=("task",)), 0.95) == []
