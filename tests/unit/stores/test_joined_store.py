"""Several stores as one: where a new memory goes, where a change goes, and what happens when one store refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.errors import StoreError
from keepmum.memory import Change, Memory
from keepmum.stores import STORES, StaleWrite, Store
from keepmum.stores.joined import JoinedStore


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[JoinedStore]:
    everywhere = {
        "cache": str(tmp_path / "cache"),
        "user_home": str(tmp_path),
        "project_of": lambda _, name: name,
    }
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    store = STORES["joined"](
        str(tmp_path / "memory.db"),
        parts={},
        routes={"project": "markdown"},
        files={"root": str(tmp_path / "one"), "project": "alpha", "everywhere": everywhere},
    )
    assert isinstance(store, JoinedStore)
    with contextlib.closing(store):
        yield store


def part(store: JoinedStore, name: str) -> Store:
    found = store.part(name)
    assert found is not None
    return found


def put(store: Store, *memories: Memory) -> None:
    store.commit([Change(None, memory) for memory in memories])


@pytest.mark.parametrize(
    ("scope", "home"), [("project", "markdown"), ("global", "sqlite"), ("session", "sqlite"), ("shared", "sqlite")]
)
def test_a_new_memory_goes_where_its_scope_is_routed(joined: JoinedStore, scope: str, home: str) -> None:
    memory = a_memory(scope=scope, project=None if scope == "global" else "alpha")
    put(joined, memory)
    assert joined.home_of(memory) == home
    assert joined.get([memory.id]) == [memory]


def test_reads_join_what_lies_in_either(joined: JoinedStore) -> None:
    put(joined, a_memory("a zebra here", at=NOW - 1), a_memory("a zebra everywhere", scope="global", project=None))
    found = joined.search(["zebra"], wanted(), 9)
    assert sorted(memory.text for memory, _ in found) == ["a zebra everywhere", "a zebra here"]
    assert [memory.text for memory in joined.browse(wanted())] == ["a zebra everywhere", "a zebra here"]
    assert joined.count(wanted()) == 2


def test_what_lies_in_the_database_already_is_changed_there(joined: JoinedStore) -> None:
    memory = a_memory("old")
    put(part(joined, "sqlite"), memory)
    joined.commit([Change(memory, replace(memory, text="new", revision=2))])
    assert joined.home_of(memory) == "sqlite"


def test_a_change_of_scope_moves_a_memory(joined: JoinedStore) -> None:
    memory = a_memory("a zebra")
    put(joined, memory)
    joined.commit([Change(memory, replace(memory, scope="global", project=None, revision=2))])
    assert joined.home_of(memory) == "sqlite"
    assert part(joined, "markdown").get([memory.id]) == []
    assert [found.text for found, _ in joined.search(["zebra"], wanted(), 9)] == ["a zebra"]


def test_a_key_is_known_wherever_it_is_held(joined: JoinedStore) -> None:
    memory = a_memory(key="k")
    put(part(joined, "sqlite"), memory)
    assert joined.by_key(memory.space, "k") == memory


def test_when_the_second_store_refuses_the_first_takes_its_part_back(joined: JoinedStore) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(joined, row)
    stale = replace(row, revision=7)
    with pytest.raises(StaleWrite):
        joined.commit([Change(None, file), Change(stale, replace(stale, text="changed", revision=8))])
    assert joined.get([file.id, row.id]) == [row]


def test_a_failure_in_the_second_store_undoes_the_first(joined: JoinedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)

    def refuse(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(part(joined, "sqlite"), "commit", refuse)
    with pytest.raises(StoreError, match="full"):
        joined.commit([Change(None, file), Change(None, row)])
    assert joined.get([file.id, row.id]) == []


def test_activity_is_told_once_with_the_memory_it_is_about(joined: JoinedStore) -> None:
    memory = a_memory()
    joined.commit([Change(None, memory)], [an_event(memory)])
    joined.log([an_event(action="recalled", at=NOW + 1)])
    assert [event.action for event in joined.activity(9)] == ["recalled", "created"]


def test_a_session_that_moves_has_the_files_of_the_other_folder(joined: JoinedStore, tmp_path: Path) -> None:
    put(joined, a_memory("in one"))
    joined.go(str(tmp_path / "two"), "beta")
    put(joined, a_memory("in two", project="beta"))
    assert [memory.text for memory in joined.browse(wanted(project="beta"))] == ["in two"]
    assert len(list((tmp_path / "two").rglob("*.md"))) == 1
    joined.go(str(tmp_path / "one"), "alpha")
    assert [memory.text for memory in joined.browse(wanted())] == ["in one"]


def test_where_there_is_no_project_nothing_is_written_into_a_folder(joined: JoinedStore, tmp_path: Path) -> None:
    joined.go("", "path:unplaced")
    memory = a_memory(project="path:unplaced")
    put(joined, memory)
    assert joined.home_of(memory) == "sqlite"
    assert list(tmp_path.rglob("*.md")) == []


def test_every_project_can_be_asked_and_what_is_found_there_loaded(joined: JoinedStore, tmp_path: Path) -> None:
    memory = a_memory("a zebra in one")
    put(joined, memory)
    joined.go(str(tmp_path / "two"), "beta")
    assert joined.search(["zebra"], wanted(project="beta"), 9) == []
    found = joined.search(["zebra"], wanted(project="beta", everywhere=True), 9)
    assert [(each.text, each.project) for each, _ in found] == [("a zebra in one", "one")]
    assert [each.text for each in joined.get([memory.id])] == ["a zebra in one"]


def test_an_id_of_another_project_is_found_without_a_search_before(joined: JoinedStore, tmp_path: Path) -> None:
    memory = a_memory("a zebra in one")
    put(joined, memory)
    joined.go(str(tmp_path / "two"), "beta")
    assert [each.text for each in joined.between(memory.id, memory.id, 2)] == ["a zebra in one"]


def test_what_one_store_cannot_promise_is_said_with_its_name(joined: JoinedStore) -> None:
    assert joined.capabilities.cannot["fading"].startswith("markdown: ")
