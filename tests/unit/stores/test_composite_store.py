"""Several stores in one: routing of new memories and changes, and what happens when one store refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contract.store_parts import required
from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Memory, Trust
from keepmum.stores import STORED, CompositeSpec, MarkdownSpec, Receipt, SqliteSpec, StaleWrite, Store, open_store
from keepmum.stores.composite import CompositeStore
from keepmum.stores.composite.vector_search import CompositeVectorSearch


@pytest.fixture
def composite(tmp_path: Path) -> Iterator[CompositeStore]:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    files = MarkdownSpec(str(tmp_path / "one"), str(tmp_path / "cache"), "alpha", user_home=str(tmp_path))
    database = SqliteSpec(str(tmp_path / "memory.db"))
    store = open_store(CompositeSpec({"sqlite": database}, {"project": "markdown"}, markdown=files))
    assert isinstance(store, CompositeStore)
    with contextlib.closing(store):
        yield store


def part(store: CompositeStore, name: str) -> Store:
    return required(store.features.composite).parts[name]


def home_of(store: CompositeStore, memory: Memory) -> str | None:
    return required(store.features.composite).home_of(memory)


def put(store: Store, *memories: Memory) -> None:
    store.commit([Change(None, memory) for memory in memories])


@pytest.mark.parametrize(
    ("scope", "home"), [("project", "markdown"), ("global", "sqlite"), ("session", "sqlite"), ("shared", "sqlite")]
)
def test_a_new_memory_goes_to_the_store_of_its_scope(composite: CompositeStore, scope: str, home: str) -> None:
    memory = a_memory(scope=scope, project=None if scope == "global" else "alpha")
    put(composite, memory)
    assert home_of(composite, memory) == home
    assert composite.get([memory.id]) == [memory]


def test_reads_combine_all_stores(composite: CompositeStore) -> None:
    put(composite, a_memory("a zebra here", at=NOW - 1), a_memory("a zebra everywhere", scope="global", project=None))
    found = composite.search(["zebra"], wanted(), 9)
    assert sorted(memory.text for memory, _ in found) == ["a zebra everywhere", "a zebra here"]
    assert [memory.text for memory in composite.browse(wanted())] == ["a zebra everywhere", "a zebra here"]
    assert composite.count(wanted()) == 2


def test_an_existing_memory_is_changed_in_its_store(composite: CompositeStore) -> None:
    memory = a_memory("old")
    put(part(composite, "sqlite"), memory)
    composite.commit([Change(memory, replace(memory, text="new", revision=2))])
    assert home_of(composite, memory) == "sqlite"


def test_a_change_of_scope_moves_a_memory(composite: CompositeStore) -> None:
    memory = a_memory("a zebra")
    put(composite, memory)
    composite.commit([Change(memory, replace(memory, scope="global", project=None, revision=2))])
    assert home_of(composite, memory) == "sqlite"
    assert part(composite, "markdown").get([memory.id]) == []
    assert [found.text for found, _ in composite.search(["zebra"], wanted(), 9)] == ["a zebra"]


def test_a_key_is_found_in_any_store(composite: CompositeStore) -> None:
    memory = a_memory(key="k")
    put(part(composite, "sqlite"), memory)
    assert composite.by_key(memory.space, "k") == memory


def test_a_copy_from_outside_hides_no_other_copy(composite: CompositeStore) -> None:
    own = a_memory("own", trust="person")
    put(part(composite, "sqlite"), own)
    put(part(composite, "markdown"), replace(own, text="forged", trust="outside", updated_at=NOW + 9, revision=9))
    assert composite.get([own.id]) == [own]
    assert [memory.text for memory in composite.browse(wanted())] == ["own"]
    assert [memory.text for memory, _ in composite.search(["own", "forged"], wanted(), 9)] == ["own"]


@pytest.mark.parametrize(("inside", "foreign"), [("person", "agent"), ("agent", "outside")])
def test_a_key_in_two_stores_belongs_to_the_memory_that_is_trusted_more(
    composite: CompositeStore, inside: Trust, foreign: Trust
) -> None:
    own, other = a_memory("own", key="k", trust=inside), a_memory("foreign", key="k", trust=foreign, at=NOW + 9)
    put(part(composite, "sqlite"), own)
    put(part(composite, "markdown"), other)
    assert composite.by_key(own.space, "k") == own


def test_a_refusal_of_the_second_store_undoes_the_first(composite: CompositeStore) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(composite, row)
    stale = replace(row, revision=7)
    with pytest.raises(StaleWrite):
        composite.commit([Change(None, file), Change(stale, replace(stale, text="changed", revision=8))])
    assert composite.get([file.id, row.id]) == [row]


def test_a_failure_in_the_second_store_undoes_the_first(
    composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)

    def refuse(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(part(composite, "sqlite"), "commit", refuse)
    with pytest.raises(StoreError, match="full"):
        composite.commit([Change(None, file), Change(None, row)])
    assert composite.get([file.id, row.id]) == []


def test_new_data_is_written_before_old_data_is_removed(
    composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(composite, file)
    done: list[str] = []

    def noting(name: str) -> Callable[..., Receipt]:
        def commit(*_: object) -> Receipt:
            done.append(name)
            return STORED

        return commit

    for name in composite._members.parts:
        monkeypatch.setattr(part(composite, name), "commit", noting(name))
    composite.commit([Change(file, None), Change(None, row)])
    assert done == ["sqlite", "markdown"]


def test_a_late_change_touches_no_store(composite: CompositeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = a_memory("in a file"), a_memory("in the database", scope="global", project=None)
    put(composite, row)
    stale = replace(row, revision=7)
    monkeypatch.setattr(part(composite, "markdown"), "commit", lambda *_: pytest.fail("a file was written"))
    with pytest.raises(StaleWrite):
        composite.commit([Change(None, file), Change(stale, replace(stale, text="changed", revision=8))])


def test_activity_is_logged_once_in_the_store_of_its_memory(composite: CompositeStore) -> None:
    memory = a_memory()
    composite.commit([Change(None, memory)], [an_event(memory)])
    composite.log([an_event(action="recalled", at=NOW + 1)])
    assert [event.action for event in composite.activity(9)] == ["recalled", "created"]


def test_a_session_that_moves_gets_the_files_of_the_new_folder(composite: CompositeStore, tmp_path: Path) -> None:
    put(composite, a_memory("in one"))
    composite.follow(str(tmp_path / "two"), "beta")
    put(composite, a_memory("in two", project="beta"))
    assert [memory.text for memory in composite.browse(wanted(project="beta"))] == ["in two"]
    assert len(list((tmp_path / "two").rglob("*.md"))) == 1
    composite.follow(str(tmp_path / "one"), "alpha")
    assert [memory.text for memory in composite.browse(wanted())] == ["in one"]


def test_without_a_project_no_file_is_written(composite: CompositeStore, tmp_path: Path) -> None:
    composite.follow("", "path:unplaced")
    memory = a_memory(project="path:unplaced")
    put(composite, memory)
    assert home_of(composite, memory) == "sqlite"
    assert list(tmp_path.rglob("*.md")) == []


def test_memories_of_other_projects_can_be_found_and_loaded(composite: CompositeStore, tmp_path: Path) -> None:
    memory = a_memory("a zebra in one")
    put(composite, memory)
    composite.follow(str(tmp_path / "two"), "beta")
    assert composite.search(["zebra"], wanted(project="beta"), 9) == []
    found = composite.search(["zebra"], wanted(project="beta", everywhere=True), 9)
    assert [(each.text, each.project) for each, _ in found] == [("a zebra in one", "one")]
    assert [each.text for each in composite.get([memory.id])] == ["a zebra in one"]


def test_an_id_of_another_project_is_found_directly(composite: CompositeStore, tmp_path: Path) -> None:
    memory = a_memory("a zebra in one")
    put(composite, memory)
    composite.follow(str(tmp_path / "two"), "beta")
    assert [each.text for each in composite.between(memory.id, memory.id, 2)] == ["a zebra in one"]


def test_a_missing_guarantee_names_its_store(composite: CompositeStore) -> None:
    assert composite.capabilities.cannot["fading"].startswith("markdown: ")


# -- two copies of a memory, as a migration leaves them


@pytest.fixture
def copied(composite: CompositeStore) -> Memory:
    """A memory in the database and in a file."""
    memory = a_memory("a zebra", key="animal", tier="mid", at=NOW - 10)
    for name in ("sqlite", "markdown"):
        put(part(composite, name), memory)
    return memory


def changed(composite: CompositeStore, memory: Memory, **fields: Any) -> Memory:
    after = replace(memory, updated_at=NOW, revision=memory.revision + 1, **fields)
    composite.commit([Change(memory, after)])
    return after


def found_in(composite: CompositeStore, memory: Memory) -> dict[str, object]:
    """The result of every kind of read for a memory."""
    vectors = CompositeVectorSearch(composite._members)
    return {
        "search": [one.id for one, _ in composite.search(["zebra"], wanted(), 9)],
        "find": [one.id for one in vectors.search(["zebra"], lambda: None, wanted(), 9)],
        "browse": [one.id for one in composite.browse(wanted())],
        "by key": composite.by_key(memory.space, "animal"),
        "same text": composite.same_text(memory.space, "a zebra"),
    }


def test_every_read_returns_one_of_two_copies(composite: CompositeStore, copied: Memory) -> None:
    once = [copied.id]
    assert found_in(composite, copied) == {
        "search": once, "find": once, "browse": once, "by key": copied, "same text": copied,
    }  # fmt: skip


def test_a_trashed_memory_is_not_found_by_its_older_copy(composite: CompositeStore, copied: Memory) -> None:
    changed(composite, copied, status="trashed", trashed_at=NOW)
    assert part(composite, "sqlite").get([copied.id]) == [copied]
    assert found_in(composite, copied) == {"search": [], "find": [], "browse": [], "by key": None, "same text": None}


def test_a_memory_is_not_found_by_the_text_of_its_older_copy(composite: CompositeStore, copied: Memory) -> None:
    changed(composite, copied, title="a gnu", text="a gnu", key=None)
    found = found_in(composite, copied)
    assert (found["search"], found["find"], found["by key"], found["same text"]) == ([], [], None, None)
    assert [one.text for one in composite.browse(wanted())] == ["a gnu"]


def test_a_page_is_full_despite_outdated_copies(composite: CompositeStore) -> None:
    old = [a_memory(f"zebra {number}", at=NOW - 9 - number) for number in range(4)]
    put(part(composite, "sqlite"), *old, a_memory("a gnu", at=NOW - 99))
    put(part(composite, "markdown"), *old)
    for memory in old:
        changed(composite, memory, status="trashed", trashed_at=NOW)
    assert [one.text for one in composite.browse(wanted(), limit=2)] == ["a gnu"]


def test_a_purge_removes_every_copy(composite: CompositeStore, copied: Memory) -> None:
    composite.commit([Change(copied, None)])
    assert [part(composite, name).get([copied.id]) for name in composite._members.parts] == [[], []]


def test_a_changed_copy_prevents_a_purge(composite: CompositeStore, copied: Memory) -> None:
    after = changed(composite, copied, text="a gnu")
    with pytest.raises(StaleWrite):
        composite.commit([Change(replace(copied, updated_at=NOW - 5), None)])
    assert composite.get([copied.id]) == [after]
    assert part(composite, "sqlite").get([copied.id]) == [copied]


def test_two_copies_are_changed_each_in_its_store(composite: CompositeStore, copied: Memory) -> None:
    after = replace(copied, text="a gnu", updated_at=NOW, revision=2)
    composite.commit([Change(copied, after), Change(copied, after)])
    assert [part(composite, name).get([copied.id]) for name in composite._members.parts] == [[after], [after]]


def test_two_copies_are_purged_once(composite: CompositeStore, copied: Memory) -> None:
    composite.commit([Change(copied, None), Change(copied, None)])
    assert [part(composite, name).get([copied.id]) for name in composite._members.parts] == [[], []]


def test_a_change_of_scope_moves_a_memory_onto_its_copy(composite: CompositeStore, copied: Memory) -> None:
    after = changed(composite, copied, scope="global", project=None)
    assert [part(composite, name).get([copied.id]) for name in composite._members.parts] == [[after], []]


def test_a_copy_of_a_file_does_not_age(composite: CompositeStore, copied: Memory) -> None:
    assert [one.id for one in required(part(composite, "sqlite").features.aging).fading(NOW, NOW, 9)] == [copied.id]
    assert composite.fading(NOW, NOW, 9) == []


def test_the_home_of_a_memory_is_the_store_with_its_newest_copy(composite: CompositeStore, copied: Memory) -> None:
    there = replace(copied, text="a gnu", updated_at=NOW, revision=2)
    part(composite, "sqlite").commit([Change(copied, there)])
    assert home_of(composite, copied) == "sqlite"
