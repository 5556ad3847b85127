"""The Qdrant store and a shared-agent-memory server on one collection: each reads what the other writes.

In names, `seed` is that server.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient, models

from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.core import ids
from keepmum.core.errors import InvalidInput, SecretFound, StoreError
from keepmum.core.memory import SCOPES, STATUSES, Change, Embedding, Filter, Memory
from keepmum.embedding.fake import FakeEmbedder
from keepmum.service import MemoryService, Place, ServiceOptions
from keepmum.stores import StaleWrite
from keepmum.stores.base import VectorSearch
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.guarded import Faults, GuardedStore
from keepmum.stores.qdrant import QdrantStore, words
from keepmum.stores.qdrant.payload import from_payload, to_payload
from keepmum.stores.vectors import pack
from keepmum_scanner import scan
from qdrant_server import _CLIENTS, NAME, open_at, seeds_point

ANY_PROJECT = Filter(now=NOW, everywhere=True)
SEEDS_MODEL = FakeEmbedder(64, model="all-MiniLM-L6-v2")
SEEDS_ID = "3b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e"
# Its fields, with their types. Source: src/types.ts of shared-agent-memory, read 2026-11-23.
SEEDS_TEXTS = (
    "id", "text", "title", "agent", "project", "created_at", "updated_at", "createdAt", "updatedAt", "createdBy",
    "updatedBy",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QdrantStore]:
    opened = open_at(tmp_path)
    yield opened
    opened.close()
    _CLIENTS.pop(tmp_path).close()


@pytest.fixture
def seed(store: QdrantStore, tmp_path: Path) -> QdrantClient:
    """The client of a shared-agent-memory server on the collection of `store`."""
    assert store is not None
    return _CLIENTS[tmp_path]


def vectors(store: QdrantStore) -> VectorSearch:
    found = store.features.vector_search
    assert found is not None
    return found


def embedded(text: str) -> Embedding:
    return Embedding(SEEDS_MODEL.model, pack(SEEDS_MODEL.embed([text])[0]))


def put_by_seed(seed: QdrantClient, text: str = "The database is slow", uuid: str = SEEDS_ID, **fields: Any) -> Memory:
    """Store a memory as that server does; returns it as we read it."""
    point = seeds_point(uuid, text, SEEDS_MODEL.embed([text])[0].tolist(), **fields)
    seed.upsert(NAME, [point])
    return from_payload(uuid, point.payload or {})


def found_by_seed(seed: QdrantClient, query: str, project: str = "alpha") -> list[dict[str, Any]]:
    """What that server's search finds: both vectors fused, without tombstones. Source: src/storage.ts, as above."""
    shown = models.Filter(
        must=[
            models.IsEmptyCondition(is_empty=models.PayloadField(key="tombstoned_at")),
            models.FieldCondition(key="project", match=models.MatchValue(value=project)),
        ]
    )
    indices = sorted(words.indices([query]))
    legs = [
        models.Prefetch(query=SEEDS_MODEL.embed([query])[0].tolist(), using="dense", limit=30, filter=shown),
        models.Prefetch(
            query=models.SparseVector(indices=indices, values=[1.0] * len(indices)),
            using="text-bm25", limit=30, filter=shown,
        ),
    ]  # fmt: skip
    answer = seed.query_points(NAME, prefetch=legs, query=models.FusionQuery(fusion=models.Fusion.RRF), limit=30)
    return [point.payload or {} for point in answer.points]


# -- what that server wrote


def test_its_memory_is_opened_as_it_is(store: QdrantStore, seed: QdrantClient) -> None:
    put_by_seed(seed, access_count=3)
    memory = store.browse(wanted())[0]
    assert (memory.id, memory.text, memory.title) == (ids.from_uuid(SEEDS_ID), "The database is slow", "A title")
    assert (memory.agent, memory.project, memory.tags) == ("claude-code", "alpha", ("db",))
    assert (memory.created_by, memory.trust, memory.kind, memory.status) == ("team-key", "team", "note", "active")
    assert (memory.created_at, memory.access_count, memory.accessed_at) == (1_772_359_200_000, 3, 1_772_359_200_000)


def test_its_memory_is_found_by_words_and_by_meaning(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed)
    put_by_seed(seed, "a zebra runs", str(uuid.UUID(int=5)))
    assert store.search(["databases"], wanted(), 5)[0][0] == memory
    (found,) = vectors(store).search(["database"], lambda: embedded("The database is slow"), wanted(tags=("db",)), 1)
    assert found.id == memory.id
    assert found.lexical > 0
    assert found.cosine == pytest.approx(1.0, abs=0.002)


def test_its_vectors_are_not_computed_again(store: QdrantStore, seed: QdrantClient) -> None:
    put_by_seed(seed)
    assert vectors(store).is_ready(SEEDS_MODEL.model)
    assert vectors(store).other_model("another-model") == "all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"tags": "a, b,"}, {"tags": ("a", "b")}, id="tags in one text"),
        pytest.param({"tags": None}, {"tags": ()}, id="no tags"),
        pytest.param({"title": None}, {"title": ""}, id="no title"),
        pytest.param({"updated_at": None}, {"updated_at": 1_772_359_200_000}, id="never updated"),
        pytest.param({"tombstoned_at": "2026-05-01T00:00:00.000Z"}, {"status": "tombstoned"}, id="forgotten there"),
        pytest.param({"access_count": "many"}, {"access_count": 0}, id="a count that is none"),
        pytest.param({"created_at": "yesterday"}, {"created_at": 1_772_359_200_000}, id="a time that is none"),
        pytest.param({"createdBy": None}, {"created_by": "unknown"}, id="no author"),
    ],
)
def test_what_its_older_versions_wrote_is_read(
    store: QdrantStore, seed: QdrantClient, fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    put_by_seed(seed, **fields)
    (memory,) = store.get([ids.from_uuid(SEEDS_ID)])
    assert {name: getattr(memory, name) for name in expected} == expected


def test_its_forgotten_memory_is_in_no_list_and_can_be_restored(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed, tombstoned_at="2026-05-01T00:00:00.000Z")
    assert store.browse(wanted()) == []
    assert store.browse(wanted(statuses=("tombstoned",))) == [memory]
    store.commit([Change(memory, replace(memory, status="active", revision=2))])
    assert [one["text"] for one in found_by_seed(seed, "database")] == ["The database is slow"]


def test_its_text_is_a_duplicate(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed)
    assert store.same_text(memory.space, "The database is slow") == memory
    assert store.same_text(a_memory(project="beta").space, "The database is slow") is None


# -- what we write


def test_our_memory_is_found_by_its_search(store: QdrantStore, seed: QdrantClient) -> None:
    put_by_seed(seed)
    memory = a_memory("Deploys go through the blue pool")
    store.commit([Change(None, memory, embedded(memory.text))])
    assert found_by_seed(seed, "Deploys go through the blue pool")[0]["id"] == ids.to_uuid(memory.id)


def test_a_change_of_its_memory_keeps_what_it_reads(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed, access_count=2)
    changed = replace(memory, text="The database is fast", kind="fact", key="db.speed", revision=2, updated_by="ada")
    store.commit([Change(memory, changed)])
    payload = seed.retrieve(NAME, [SEEDS_ID])[0].payload or {}
    assert (payload["text"], payload["title"], payload["tags"]) == ("The database is fast", "A title", ["db"])
    assert (payload["createdBy"], payload["updatedBy"], payload["access_count"]) == ("team-key", "ada", 2)
    assert payload["stability"] == pytest.approx(2.0986, abs=1e-4)
    assert store.get([memory.id]) == [changed]


def test_a_pin_keeps_its_vector(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed)
    store.commit([Change(memory, replace(memory, pinned=True, revision=2))])
    assert vectors(store).is_ready(SEEDS_MODEL.model)
    assert [one["text"] for one in found_by_seed(seed, "database")] == ["The database is slow"]


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param({"status": "trashed"}, id="the trash"),
        pytest.param({"status": "archived"}, id="the archive"),
        pytest.param({"user": "ada"}, id="a user's"),
        pytest.param({"scope": "session", "session": "s1"}, id="a session's"),
        pytest.param({"scope": "global", "project": None}, id="of all projects"),
    ],
)
def test_its_search_does_not_show(store: QdrantStore, seed: QdrantClient, hidden: dict[str, Any]) -> None:
    memory = a_memory("a zebra", **hidden)
    store.commit([Change(None, memory, embedded("a zebra"))])
    assert found_by_seed(seed, "zebra", memory.project or "") == []
    assert store.get([memory.id]) == [memory]


def test_each_change_is_an_audit_event_of_its_form(store: QdrantStore, seed: QdrantClient) -> None:
    memory = a_memory("one")
    changed = replace(memory, text="two", revision=2)
    store.commit([Change(None, memory)], [an_event(memory, agent="ada")])
    store.commit([Change(memory, changed)], [an_event(changed, agent="bob", action="updated", at=NOW + 1)])
    store.commit([Change(changed, None)], [an_event(changed, agent="eve", action="purged", at=NOW + 2)])
    events = sorted(
        (point.payload or {} for point in seed.scroll(f"{NAME}_audit")[0]), key=lambda event: event["timestamp"]
    )
    assert [(event["action"], event["actor"]) for event in events] == [
        ("create", "ada"), ("update", "bob"), ("delete", "eve"),
    ]  # fmt: skip
    assert {event["memoryId"] for event in events} == {ids.to_uuid(memory.id)}
    assert all("title" not in event for event in events)  # the memory was purged


TEXT = st.text('aÉ数 \n\x1f\U0001f993"{', max_size=8)
TIME = st.integers(0, 253_402_300_799_999)
MEMORIES = st.builds(
    Memory, id=st.uuids().map(lambda one: ids.from_uuid(str(one))), text=TEXT, title=TEXT, created_at=TIME,
    updated_at=TIME, key=st.none() | TEXT, tags=st.lists(TEXT.filter(str.strip), max_size=3, unique=True).map(tuple),
    scope=st.sampled_from(SCOPES), project=st.none() | TEXT, session=st.none() | TEXT, user=st.none() | TEXT,
    agent=TEXT.filter(bool), importance=st.floats(0, 1), data=st.none() | st.dictionaries(TEXT, st.integers() | TEXT),
    status=st.sampled_from(STATUSES), accessed_at=st.none() | TIME, access_count=st.integers(0, 9),
    expires_at=st.none() | TIME, created_by=TEXT.filter(bool), updated_by=TEXT.filter(bool), pinned=st.booleans(),
)  # fmt: skip


@given(memory=MEMORIES, seq=st.integers(0, 2**62))
@settings(max_examples=60, deadline=None)
def test_any_memory_survives_its_payload_and_has_its_fields(memory: Memory, seq: int) -> None:
    payload = json.loads(json.dumps(to_payload(memory, seq)))
    assert from_payload(ids.to_uuid(memory.id), payload) == memory
    assert all(isinstance(payload[name], str) for name in SEEDS_TEXTS)
    assert isinstance(payload["tags"], list)
    assert payload["stability"] >= 1.0
    is_shown = memory.status == "active" and memory.scope in {"project", "shared"} and memory.user is None
    assert ("tombstoned_at" not in payload) == is_shown


def test_a_time_that_cannot_be_written_is_refused(store: QdrantStore) -> None:
    with pytest.raises(InvalidInput, match="10000"):
        store.commit([Change(None, a_memory(at=NOW, updated_at=10**17))])
    assert store.count(ANY_PROJECT) == 0


# -- both at work


def test_its_change_makes_ours_stale(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed)
    put_by_seed(seed, "It was changed there", updated_at="2026-03-02T10:00:00.000Z")
    with pytest.raises(StaleWrite):
        store.commit([Change(memory, replace(memory, text="ours", revision=2))])
    assert store.get([memory.id])[0].text == "It was changed there"


def test_its_loads_count(store: QdrantStore, seed: QdrantClient) -> None:
    memory = a_memory()
    store.commit([Change(None, memory)])
    loaded = {"access_count": 1, "last_accessed": "2026-03-02T10:00:00.000Z", "stability": 1.69}
    seed.set_payload(NAME, loaded, points=[ids.to_uuid(memory.id)])
    assert store.get([memory.id])[0].access_count == 1
    assert store.get([memory.id])[0].accessed_at == 1_772_445_600_000


def test_its_removal_is_a_change(store: QdrantStore, seed: QdrantClient) -> None:
    memory = put_by_seed(seed)
    before = store.changes()
    seed.delete(NAME, [SEEDS_ID])
    assert store.changes() != before
    with pytest.raises(StaleWrite):
        store.commit([Change(memory, replace(memory, text="ours", revision=2))])


def test_of_two_threads_one_changes_a_memory(store: QdrantStore) -> None:
    memory = a_memory()
    store.commit([Change(None, memory)])
    outcomes: list[str] = []

    def change(text: str) -> None:
        try:
            store.commit([Change(memory, replace(memory, text=text, revision=2))])
            outcomes.append(text)
        except StaleWrite:
            outcomes.append("stale")

    threads = [threading.Thread(target=change, args=(text,)) for text in ("ours", "theirs")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(outcomes) == 2
    assert outcomes.count("stale") == 1
    assert store.get([memory.id])[0].text in outcomes


# -- vectors, erasure, isolation, secrets


def test_a_model_of_another_length_leaves_search_lexical(store: QdrantStore) -> None:
    memory = a_memory("the database is slow")
    longer = Embedding("long", pack(FakeEmbedder(128).embed([memory.text])[0]))
    store.commit([Change(None, memory, longer)])
    (found,) = vectors(store).search(["database"], lambda: longer, wanted(), 5)
    assert (found.id, found.cosine) == (memory.id, None)
    assert "128; search is by words until a model of 64 dimensions is chosen" in vectors(store).problem
    with pytest.raises(StoreError, match="128"):
        vectors(store).save([(memory, longer)])


def test_an_erased_name_leaves_the_audit_events(store: QdrantStore, seed: QdrantClient) -> None:
    memory = a_memory("one")
    store.commit([Change(None, memory)], [an_event(memory, agent="ada")])
    store.cleanse([], [], lambda _, fields: {**fields, "agent": "erased-1"} if "agent" in fields else fields)
    ((event,), _) = seed.scroll(f"{NAME}_audit")
    assert (event.payload or {})["actor"] == "erased-1"


def test_another_project_is_neither_found_nor_changed(store: QdrantStore) -> None:
    theirs = a_memory("a zebra", project="beta", key="k")
    store.commit([Change(None, theirs, embedded("a zebra"))])
    faults = Faults()
    guarded = GuardedStore(store, Grant(ORGANISATION, frozenset({"alpha"}), frozenset({"alpha"})), faults)
    search = guarded.features.vector_search
    assert search is not None
    assert guarded.get([theirs.id]) == []
    assert guarded.by_key(theirs.space, "k") is None
    assert guarded.browse(ANY_PROJECT) == []
    assert search.search(["zebra"], lambda: embedded("a zebra"), ANY_PROJECT, 5) == []
    assert faults.count == 0  # no filter let it through


def test_how_rare_a_word_is_elsewhere_does_not_show(store: QdrantStore) -> None:
    store.commit([Change(None, a_memory("a zebra runs")), Change(None, a_memory("a horse"))])
    alone = store.search(["zebra"], wanted(), 5)[0][1]
    store.commit([Change(None, a_memory(f"a zebra {number}", project="beta")) for number in range(9)])
    assert store.search(["zebra"], wanted(), 5)[0][1] == pytest.approx(alone)


def test_a_secret_reaches_neither_collection(store: QdrantStore, seed: QdrantClient) -> None:
    secret = "AKIA" + "QYLPMN5H" + "HHFPZAM2"
    service = MemoryService(store, scan, ServiceOptions(place=Place(project="alpha", name="alpha"), agent="tester"))
    for fields in ({"text": f"the key is {secret}"}, {"text": "fine", "tags": [secret]}, {"text": "x", "key": secret}):
        with pytest.raises(SecretFound):
            service.remember(**fields)
    service.remember(text="the key is in the vault")
    stored = [point.payload for name in (NAME, f"{NAME}_audit") for point in seed.scroll(name, limit=99)[0]]
    assert stored
    assert secret not in json.dumps(stored)
    service.close()


# -- words


@pytest.mark.parametrize(
    ("text", "indices"),
    json.loads(Path(__file__).with_name("qdrant_bm25.json").read_text(encoding="utf-8")).items(),
)
def test_words_are_those_of_qdrants_model(text: str, indices: list[int]) -> None:
    """The file is what `Bm25().embed_query` of qdrant-edge-py 0.9.0, which is Qdrant's own code, gives."""
    assert sorted(words.indices([text])) == indices
