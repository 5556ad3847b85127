"""Changes of the files by people, merges and other tools are seen by the store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from keepmum.core.memory import Change, Filter
from keepmum.stores import StaleWrite
from keepmum.stores.markdown import MarkdownStore
from unit.markdown.markdown_parts import NOW, SEED, a_memory, day, file_of, found, keep, put, texts


def test_an_added_file_is_found(store: MarkdownStore, folder: Path) -> None:
    assert found(store, "oauth2") == []
    put(folder, SEED)
    assert len(found(store, "oauth2")) == 1


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "by renaming"])
def test_an_edited_file_is_read_again(store: MarkdownStore, in_place: bool) -> None:  # noqa: FBT001
    memory = a_memory("The lion sleeps")
    keep(store, memory)
    assert found(store, "lion")
    path = file_of(store, memory)
    after = path.read_text().replace("lion", "wolf")
    if in_place:
        path.write_text(after)
    else:
        (path.parent / "new").write_text(after)
        (path.parent / "new").replace(path)
    assert found(store, "wolf") == ["The wolf sleeps"]
    assert found(store, "lion") == []


def test_an_edit_is_part_of_the_history(store: MarkdownStore) -> None:
    memory = a_memory("The lion sleeps")
    keep(store, memory)
    path = file_of(store, memory)
    path.write_text(path.read_text().replace("lion", "wolf"))
    assert [past.before["text"] for past in store.history(memory.id)] == ["The lion sleeps"]


def test_a_renamed_file_keeps_its_memory_and_access_count(store: MarkdownStore, folder: Path) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    store.reinforce([memory.id], 5)
    file_of(store, memory).rename(day(folder, "2027-01-01") / "named by hand.md")
    kept = store.get([memory.id])
    assert [(one.text, one.access_count) for one in kept] == [("A zebra", 1)]
    assert file_of(store, memory) == folder / ".memories" / "2027-01-01" / "named by hand.md"


def test_the_memory_of_a_deleted_file_is_removed(store: MarkdownStore) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    file_of(store, memory).unlink()
    assert found(store, "zebra") == []
    assert store.get([memory.id]) == []


def test_a_complete_day_can_be_deleted(store: MarkdownStore) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    shutil.rmtree(file_of(store, memory).parent)
    assert texts(store) == []


def test_changes_between_two_processes_are_seen_at_the_next_start(
    open_again: Callable[[], MarkdownStore], folder: Path
) -> None:
    first = open_again()
    stays, goes = a_memory("A zebra"), a_memory("A gnu")
    keep(first, stays, goes)
    paths = [file_of(first, memory) for memory in (stays, goes)]
    first.close()
    paths[0].write_text(paths[0].read_text().replace("zebra", "horse"))
    paths[1].unlink()
    put(folder, SEED)
    assert [text.splitlines()[0] for text in texts(open_again())] == [
        "## Chose OAuth2 over JWT for session management",
        "A horse",
    ]


def test_a_missing_index_is_rebuilt(open_again: Callable[[], MarkdownStore], tmp_path: Path) -> None:
    first = open_again()
    memory = a_memory("A zebra", key="animal", data={"legs": 4}, why="it is striped", kind="fact", importance=0.9)
    keep(first, memory)
    first.close()
    shutil.rmtree(tmp_path / "cache")
    assert open_again().get([memory.id]) == [memory]


@pytest.mark.parametrize("name", ["memory.db", "files.db"])
def test_a_partly_missing_index_is_rebuilt(open_again: Callable[[], MarkdownStore], tmp_path: Path, name: str) -> None:
    first = open_again()
    memory = a_memory("A zebra")
    keep(first, memory)
    first.close()
    for path in (tmp_path / "cache").rglob(f"{name}*"):
        path.unlink()
    again = open_again()
    keep(again, a_memory("A gnu"))
    assert texts(again) == ["A gnu", "A zebra"]


def test_a_damaged_table_of_files_is_rebuilt(open_again: Callable[[], MarkdownStore], tmp_path: Path) -> None:
    first = open_again()
    keep(first, a_memory("A zebra"))
    first.close()
    next((tmp_path / "cache").rglob("files.db")).write_bytes(b"no database" * 1000)
    assert texts(open_again()) == ["A zebra"]


def test_an_index_row_without_a_file_is_removed(
    open_again: Callable[[], MarkdownStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_again()
    keep(first, a_memory("A zebra"))
    monkeypatch.setattr(MarkdownStore, "_write_files", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # as if the process was killed between index and file
        keep(first, a_memory("A gnu"))
    monkeypatch.undo()
    assert texts(open_again()) == ["A zebra"]


def test_a_change_of_an_edited_file_is_refused(store: MarkdownStore) -> None:
    memory = a_memory("The lion sleeps")
    keep(store, memory)
    path = file_of(store, memory)
    path.write_text(path.read_text().replace("lion", "wolf"))
    with pytest.raises(StaleWrite):
        store.commit([Change(memory, replace(memory, text="ours", revision=2))])
    assert "wolf" in path.read_text()


def test_a_touched_file_is_not_a_new_revision(store: MarkdownStore) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    os.utime(file_of(store, memory), (1, 1))
    assert store.get([memory.id])[0].revision == 1


def test_a_full_disk_leaves_files_and_index_as_they_were(store: MarkdownStore, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    before = file_of(store, memory).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match=r"No space left on device.*nothing was stored"):
        store.commit([Change(memory, replace(memory, text="A gnu", revision=2)), Change(None, a_memory("A fox"))])
    monkeypatch.undo()
    assert texts(store) == ["A zebra"]
    assert file_of(store, memory).read_bytes() == before
    assert [path.name for path in file_of(store, memory).parent.iterdir()] == [file_of(store, memory).name]


def test_a_vector_search_finds_a_file_just_added(store: MarkdownStore, folder: Path) -> None:
    vectors = store.features.vector_search
    assert vectors is not None
    put(folder, SEED)
    seen = vectors.search(["oauth2"], lambda: None, Filter(now=NOW, project="alpha"), 5)
    assert [one.id for one in seen] == store.with_file_id("mem_a1b2c3d4e5f6")
