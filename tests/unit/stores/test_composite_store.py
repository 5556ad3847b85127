"""Several stores as one: where a new memory goes, where a change goes, and what happens when one store refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Memory
from keepmum.stores import STORED, STORES, Receipt, StaleWrite, Store
from keepmum.stores.composite import CompositeStore
from keepmum.stores.composite.vector_search import CompositeVectorSearch


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[CompositeStore]:
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
    assert isinstance(store, CompositeStore)
    with contextlib.closing(store):
        yield store


def part(store: CompositeStore, name: str) -> Store:
    found = store.part(name)
    assert found is not None
    return found


def put(store: Store, *memories: Memory) -> None:
    store.commit([Change(None, memory) for memory in memories])


@pytest.mark.parametrize(
    ("scope", "home"), [("project", "markdown"), ("global", "sqlite"), ("session", "sqlite"), ("shared", "sqlite")]
)
def test_a_new_memory_goes_where_its_scope_is_routed(joined: CompositeStore, scope: str, home: str) -> None:
    memory = a_memory(scope=scope, project=None if scope == "global" else "alpha")
    put(joined, memory)
    assert joined.home_of(memory) == home
    assert joined.get([memory.id]) == [memory]


def test_reads_join_what_lies_in_either(joined: CompositeStore) -> None:
    put(joined, a_memory("a zebra here", at=NOW - 1), a_memory("a zebra everywhere", scope="global", project=None))
    found = joined.search(["zebra"], wanted(), 9)
    assert sorted(memory.text for memory, _ in found) == ["a zebra everywhere", "a zebra here"]
    assert [memory.text for memory in joined.browse(wanted())] == ["a zebra everywhere", "a zebra here"]
    assert joined.count(wanted()) == 2


def test_what_lies_in_the_database_already_is_changed_there(joined: CompositeStore) -> None:
    memory = a_memory("old")
    put(part(joined, "sqlite"), memory)
    joined.commit([Change(memory, replace(memory, text="new", revision=2))])
    assert joined.home_of(memory) == "sqlite"


def test_a_change_of_scope_moves_a_memory(joined: CompositeStore) -> None:
    memory = a_memory("a zebra")
    put(joined, memory)
    joined.commit([Change(memory, replace(memory, scope="global", project=None, revision=2))])
    assert joined.home_of(memory) == "sqlite"
    assert part(joined, "markdown").get([memory.id]) == []
    assert [found.text for found, _ in joined.search(["zebra"], wanted(), 9)] == ["a zebra"]


def test_a_key_is_known_wherever_it_is_held(joined: CompositeStore) -> None:
    memory = a_memory(key="k")
    put(part(joined, "sqlite"), memory)
    assert joined.by_key(memory.space, "k") == memory


def test_when_the_second_store_refuses_the_first_takes_its_part_back(joined: CompositeStore) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(joined, row)
    stale = replace(row, revision=7)
    with pytest.raises(StaleWrite):
        joined.commit([Change(None, file), Change(stale, replace(stale, text="changed", revision=8))])
    assert joined.get([file.id, row.id]) == [row]


def test_a_failure_in_the_second_store_undoes_the_first(joined: CompositeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)

    def refuse(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(part(joined, "sqlite"), "commit", refuse)
    with pytest.raises(StoreError, match="full"):
        joined.commit([Change(None, file), Change(None, row)])
    assert joined.get([file.id, row.id]) == []


def test_what_is_removed_stays_until_what_is_new_is_there(joined: CompositeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(joined, file)
    done: list[str] = []

    def noting(name: str) -> Callable[..., Receipt]:
        def commit(*_: object) -> Receipt:
            done.append(name)
            return STORED

        return commit

    for name in joined.names:
        monkeypatch.setattr(part(joined, name), "commit", noting(name))
    joined.commit([Change(file, None), Change(None, row)])
    assert done == ["sqlite", "markdown"]


def test_a_change_that_comes_too_late_touches_no_store(joined: CompositeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(joined, row)
    stale = replace(row, revision=7)
    monkeypatch.setattr(part(joined, "markdown"), "commit", lambda *_: pytest.fail("a file was written"))
    with pytest.raises(StaleWrite):
        joined.commit([Change(None, file), Change(stale, replace(stale, text="changed", revision=8))])


def test_activity_is_told_once_with_the_memory_it_is_about(joined: CompositeStore) -> None:
    memory = a_memory()
    joined.commit([Change(None, memory)], [an_event(memory)])
    joined.log([an_event(action="recalled", at=NOW + 1)])
    assert [event.action for event in joined.activity(9)] == ["recalled", "created"]


def test_a_session_that_moves_has_the_files_of_the_other_folder(joined: CompositeStore, tmp_path: Path) -> None:
    put(joined, a_memory("in one"))
    joined.go(str(tmp_path / "two"), "beta")
    put(joined, a_memory("in two", project="beta"))
    assert [memory.text for memory in joined.browse(wanted(project="beta"))] == ["in two"]
    assert len(list((tmp_path / "two").rglob("*.md"))) == 1
    joined.go(str(tmp_path / "one"), "alpha")
    assert [memory.text for memory in joined.browse(wanted())] == ["in one"]


def test_where_there_is_no_project_nothing_is_written_into_a_folder(joined: CompositeStore, tmp_path: Path) -> None:
    joined.go("", "path:unplaced")
    memory = a_memory(project="path:unplaced")
    put(joined, memory)
    assert joined.home_of(memory) == "sqlite"
    assert list(tmp_path.rglob("*.md")) == []


def test_every_project_can_be_asked_and_what_is_found_there_loaded(joined: CompositeStore, tmp_path: Path) -> None:
    memory = a_memory("a zebra in one")
    put(joined, memory)
    joined.go(str(tmp_path / "two"), "beta")
    assert joined.search(["zebra"], wanted(project="beta"), 9) == []
    found = joined.search(["zebra"], wanted(project="beta", everywhere=True), 9)
    assert [(each.text, each.project) for each, _ in found] == [("a zebra in one", "one")]
    assert [each.text for each in joined.get([memory.id])] == ["a zebra in one"]


def test_an_id_of_another_project_is_found_without_a_search_before(joined: CompositeStore, tmp_path: Path) -> None:
    memory = a_memory("a zebra in one")
    put(joined, memory)
    joined.go(str(tmp_path / "two"), "beta")
    assert [each.text for each in joined.between(memory.id, memory.id, 2)] == ["a zebra in one"]


def test_what_one_store_cannot_promise_is_said_with_its_name(joined: CompositeStore) -> None:
    assert joined.capabilities.cannot["fading"].startswith("markdown: ")


# -- two copies of a memory, as a migration leaves them


@pytest.fixture
def copied(joined: CompositeStore) -> Memory:
    """A memory that lies in the database and in a file."""
    memory = a_memory("a zebra", key="animal", tier="mid", at=NOW - 10)
    for name in ("sqlite", "markdown"):
        put(part(joined, name), memory)
    return memory


def changed(joined: CompositeStore, memory: Memory, **fields: Any) -> Memory:
    after = replace(memory, updated_at=NOW, revision=memory.revision + 1, **fields)
    joined.commit([Change(memory, after)])
    return after


def found_in(joined: CompositeStore, memory: Memory) -> dict[str, object]:
    """What each read gives for a memory."""
    by_meaning = CompositeVectorSearch(
        [(part(joined, name), None) for name in joined.names], lambda: (), joined._members.outdated
    )
    return {
        "search": [one.id for one, _ in joined.search(["zebra"], wanted(), 9)],
        "find": [one.id for one in by_meaning.find(["zebra"], lambda: None, wanted(), 9)],
        "browse": [one.id for one in joined.browse(wanted())],
        "by key": joined.by_key(memory.space, "animal"),
        "same text": joined.same_text(memory.space, "a zebra"),
    }


def test_of_two_copies_every_read_gives_one(joined: CompositeStore, copied: Memory) -> None:
    once = [copied.id]
    assert found_in(joined, copied) == {
        "search": once, "find": once, "browse": once, "by key": copied, "same text": copied,
    }  # fmt: skip


def test_what_is_in_the_trash_is_not_found_by_its_older_copy(joined: CompositeStore, copied: Memory) -> None:
    changed(joined, copied, status="trashed", trashed_at=NOW)
    assert part(joined, "sqlite").get([copied.id]) == [copied]
    assert found_in(joined, copied) == {"search": [], "find": [], "browse": [], "by key": None, "same text": None}


def test_what_a_memory_said_before_does_not_find_it(joined: CompositeStore, copied: Memory) -> None:
    changed(joined, copied, title="a gnu", text="a gnu", key=None)
    found = found_in(joined, copied)
    assert (found["search"], found["find"], found["by key"], found["same text"]) == ([], [], None, None)
    assert [one.text for one in joined.browse(wanted())] == ["a gnu"]


def test_a_page_is_full_though_the_first_places_were_those_of_old_copies(joined: CompositeStore) -> None:
    old = [a_memory(f"zebra {number}", at=NOW - 9 - number) for number in range(4)]
    put(part(joined, "sqlite"), *old, a_memory("a gnu", at=NOW - 99))
    put(part(joined, "markdown"), *old)
    for memory in old:
        changed(joined, memory, status="trashed", trashed_at=NOW)
    assert [one.text for one in joined.browse(wanted(), limit=2)] == ["a gnu"]


def test_a_memory_that_goes_for_good_leaves_no_copy(joined: CompositeStore, copied: Memory) -> None:
    joined.commit([Change(copied, None)])
    assert [part(joined, name).get([copied.id]) for name in joined.names] == [[], []]


def test_a_copy_that_changed_meanwhile_keeps_a_memory_from_going(joined: CompositeStore, copied: Memory) -> None:
    after = changed(joined, copied, text="a gnu")
    with pytest.raises(StaleWrite):
        joined.commit([Change(replace(copied, updated_at=NOW - 5), None)])
    assert joined.get([copied.id]) == [after]
    assert part(joined, "sqlite").get([copied.id]) == [copied]


def test_two_copies_are_changed_each_where_it_lies(joined: CompositeStore, copied: Memory) -> None:
    after = replace(copied, text="a gnu", updated_at=NOW, revision=2)
    joined.commit([Change(copied, after), Change(copied, after)])
    assert [part(joined, name).get([copied.id]) for name in joined.names] == [[after], [after]]


def test_two_copies_that_go_are_gone_once(joined: CompositeStore, copied: Memory) -> None:
    joined.commit([Change(copied, None), Change(copied, None)])
    assert [part(joined, name).get([copied.id]) for name in joined.names] == [[], []]


def test_a_change_of_scope_moves_a_memory_onto_its_copy(joined: CompositeStore, copied: Memory) -> None:
    after = changed(joined, copied, scope="global", project=None)
    assert [part(joined, name).get([copied.id]) for name in joined.names] == [[after], []]


def test_a_copy_of_what_lies_in_files_does_not_age(joined: CompositeStore, copied: Memory) -> None:
    assert [one.id for one in part(joined, "sqlite").fading(NOW, NOW, 9)] == [copied.id]
    assert joined.fading(NOW, NOW, 9) == []


def test_a_memory_is_at_home_where_it_changed_last(joined: CompositeStore, copied: Memory) -> None:
    there = replace(copied, text="a gnu", updated_at=NOW, revision=2)
    part(joined, "sqlite").commit([Change(copied, there)])
    assert joined.home_of(copied) == "sqlite"
