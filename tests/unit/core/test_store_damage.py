"""A damaged store is noticed, set aside unchanged, and replaced by all that can be read of it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contract.stores import NOW, a_memory, wanted
from keepmum.core.errors import StoreBusy, StoreError
from keepmum.core.memory import Change, Filter, WrongMark
from keepmum.stores.sqlite import SqliteStore, database, edits, files

PAGE = 4096
MANY = 300
EVERYTHING = Filter(now=NOW, everywhere=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(str(path))) as store:
        yield store


@pytest.fixture
def filled(path: Path) -> Path:
    """A closed store with many memories over many pages, all in the file and none in the WAL."""
    with opened(path) as store:
        store.commit([Change(None, a_memory(f"memory number {n} " + "word " * 60, key=f"k{n}")) for n in range(MANY)])
    assert not path.with_name("memory.db-wal").exists()
    return path


def overwrite(path: Path, offset: int, size: int, seed: int = 1) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(random.Random(seed).randbytes(size))


def pages_of(path: Path, table: str) -> list[int]:
    """Offsets of the leaf pages of a table, found by their content."""
    data = path.read_bytes()
    return [
        start
        for start in range(PAGE, len(data), PAGE)
        if data[start] == 13 and table.encode() in data[start : start + PAGE]
    ]


def aside(path: Path) -> list[Path]:
    return [found for found in path.parent.glob("memory.db.corrupt-*") if not found.name.endswith(("-wal", "-shm"))]


def test_a_damaged_file_is_set_aside_byte_for_byte(filled: Path) -> None:
    overwrite(filled, 0, 100)
    before = filled.read_bytes()
    with opened(filled):
        (kept,) = aside(filled)
    assert kept.read_bytes() == before


def test_a_store_that_lost_its_header_loses_no_memory(filled: Path) -> None:
    overwrite(filled, 0, 100)
    with opened(filled) as store:
        assert store.count(EVERYTHING) == MANY
        assert f"{MANY} memories were saved (0 of them from a backup)" in store.notice


def test_a_store_that_lost_its_header_keeps_its_wal(filled: Path, tmp_path: Path) -> None:
    store = SqliteStore(str(filled))
    store.commit([Change(None, a_memory("only in the WAL"))])
    broken = tmp_path / "copy" / "memory.db"
    broken.parent.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(str(filled) + suffix, str(broken) + suffix)
    store.close()
    overwrite(broken, 0, 100)
    with opened(broken) as repaired:
        assert repaired.count(EVERYTHING) == MANY + 1


def test_memories_on_both_sides_of_broken_pages_are_saved(filled: Path) -> None:
    leaves = pages_of(filled, "memory number")
    for offset in (leaves[3], leaves[len(leaves) // 2], leaves[-3]):
        overwrite(filled, offset, PAGE)
    with opened(filled) as store, contextlib.suppress(StoreError):
        store.browse(EVERYTHING, limit=MANY)
    with opened(filled) as store:
        kept = store.browse(EVERYTHING, limit=MANY)
    assert MANY - 60 < len(kept) < MANY
    assert len(aside(filled)) == 1


def test_unreadable_memories_come_from_the_latest_backup(filled: Path) -> None:
    with opened(filled) as store:
        store.upkeep(NOW)
    overwrite(filled, pages_of(filled, "memory number")[5], PAGE)
    with opened(filled) as store:
        assert len(store.browse(EVERYTHING, limit=MANY * 2)) == MANY
        assert "from a backup" in store.notice


def test_a_purged_memory_does_not_return_from_a_backup_when_nothing_is_missing(path: Path) -> None:
    memory = a_memory("forget me")
    with opened(path) as store:
        store.commit([Change(None, memory), Change(None, a_memory("keep me"))])
        store.upkeep(NOW)
        store.commit([Change(memory, None)])
    overwrite(path, 0, 100)
    with opened(path) as store:
        assert [memory.text for memory in store.browse(EVERYTHING)] == ["keep me"]


def test_the_current_holder_of_a_key_wins_over_one_from_a_backup(path: Path) -> None:
    old = a_memory("old", key="k")
    new = a_memory("new", key="k")
    with opened(path) as store:
        store.commit([Change(None, old)])
        store.upkeep(NOW)
        store.commit([Change(replace(old), None), Change(None, new)])
        store._database._connection.execute("DELETE FROM words_docsize")  # so that memories seem to be missing
    overwrite(path, 0, 100)
    with opened(path) as store:
        assert store.by_key(new.space, "k") == new


def test_a_file_that_is_not_a_database_is_set_aside(path: Path) -> None:
    path.write_bytes(b"this was never a database\n" * 1000)
    with opened(path) as store:
        store.commit([Change(None, a_memory("life goes on"))])
        assert store.count(EVERYTHING) == 1
    assert len(aside(path)) == 1


def test_a_repaired_store_finds_the_saved_memories(filled: Path) -> None:
    overwrite(filled, 0, 100)
    with opened(filled) as store:
        assert len(store.search(["number"], EVERYTHING, MANY)) == MANY
        assert store.health()["integrity"] == "ok"


@pytest.mark.parametrize("seed", range(40))
def test_a_store_survives_flipped_bytes_anywhere(filled: Path, seed: int) -> None:
    with opened(filled) as store:
        store.upkeep(NOW)
    chance = random.Random(seed)
    for _ in range(3):
        page = chance.randrange(filled.stat().st_size // PAGE)
        overwrite(filled, page * PAGE + chance.randrange(PAGE - 64), 64, seed)
    with opened(filled) as store:
        for _ in range(3):
            with contextlib.suppress(StoreError):
                store.search(["number"], EVERYTHING, MANY)
                store.browse(EVERYTHING, limit=MANY)
                store.commit([Change(None, a_memory(f"new after {seed}"))])
                break
    for backup in files.backups(str(filled)):
        os.utime(backup, (1, 1))
    with opened(filled) as store:
        store.upkeep(NOW)  # checks every page before the backup
        store.commit([Change(None, a_memory("and another"))])
        assert store.health()["integrity"] == "ok"
        assert store.count(EVERYTHING) > MANY * 2 // 3
        assert len(store.search(["another"], EVERYTHING, 5)) == 1


@pytest.mark.parametrize("kept", [0, 1, 31, 32, 100, PAGE, PAGE + 60, 20_000])
def test_a_truncated_wal_keeps_its_complete_transactions(path: Path, tmp_path: Path, kept: int) -> None:
    store = SqliteStore(str(path))
    for number in range(10):
        store.commit([Change(None, a_memory(f"memory {number}"))])
    copy = tmp_path / "copy" / "memory.db"
    copy.parent.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(str(path) + suffix, str(copy) + suffix)
    store.close()
    os.truncate(str(copy) + "-wal", kept)
    with opened(copy) as repaired:
        texts = [memory.text for memory in repaired.browse(EVERYTHING, order="created")]
        assert sorted(texts) == [f"memory {number}" for number in range(len(texts))]
        repaired.commit([Change(None, a_memory("and on"))])
        assert repaired.health()["integrity"] == "ok"


def test_another_process_switches_to_the_repaired_file(filled: Path) -> None:
    there = SqliteStore(str(filled))
    there.count(EVERYTHING)
    overwrite(filled, 0, 100)
    with opened(filled) as here:
        here.commit([Change(None, a_memory("after the repair"))])
        assert there.count(EVERYTHING) == MANY + 1
        there.commit([Change(None, a_memory("from the other process"))])
        assert here.count(EVERYTHING) == MANY + 2
    there.close()
    with opened(filled) as again:
        assert again.count(EVERYTHING) == MANY + 2
        assert again.health()["integrity"] == "ok"


def test_health_reports_damage_without_repairing_it(filled: Path) -> None:
    with opened(filled) as store:
        for offset in pages_of(filled, "memory number")[2:5]:
            overwrite(filled, offset, PAGE)
        assert store.health()["integrity"] == "damaged"
    assert aside(filled) == []


def test_damage_is_repaired_once_when_several_processes_notice(filled: Path) -> None:
    stores = [SqliteStore(str(filled)) for _ in range(3)]
    for offset in pages_of(filled, "memory number")[2:5]:
        overwrite(filled, offset, PAGE)
    for store in stores:
        store.browse(EVERYTHING, limit=MANY)
    for store in stores:
        store.close()
    assert len(aside(filled)) == 1


def test_a_broken_index_is_rebuilt_and_the_search_answered(filled: Path) -> None:
    with opened(filled) as store:
        store._database._connection.execute("UPDATE words_data SET block = x'00' WHERE id > 10")
        assert len(store.search(["number"], EVERYTHING, MANY)) == MANY
        assert "search index" in store.notice
    assert aside(filled) == []


def test_an_index_that_lost_rows_is_rebuilt_at_the_next_upkeep(filled: Path) -> None:
    with opened(filled) as store:
        store._database._connection.execute("INSERT INTO words(words) VALUES ('delete-all')")
        assert store.search(["number"], EVERYTHING, MANY) == []
        store.upkeep(NOW)
        assert len(store.search(["number"], EVERYTHING, MANY)) == MANY


def test_a_busy_store_is_not_repaired(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 50)
    with opened(filled) as store, contextlib.closing(sqlite3.connect(filled, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            store.commit([Change(None, a_memory())])
        assert store.count(EVERYTHING) == MANY
    assert aside(filled) == []


def test_a_damaged_store_does_not_displace_sound_backups(filled: Path) -> None:
    with opened(filled) as store:
        store.upkeep(NOW)
        (backup,) = files.backups(str(filled))
        before = Path(backup).read_bytes()
        os.utime(backup, (1, 1))
        for offset in pages_of(filled, "memory number")[2:5]:
            overwrite(filled, offset, PAGE)
        store.upkeep(NOW)
        assert store.count(EVERYTHING) == MANY
    assert Path(backup).read_bytes() == before


def test_an_interrupted_repair_is_finished(filled: Path) -> None:
    filled.rename(str(filled) + ".mended")
    with opened(filled) as store:
        assert store.count(EVERYTHING) == MANY


def test_a_repair_that_fails_leaves_the_damaged_file_in_place(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overwrite(filled, 0, 100)
    before = filled.read_bytes()

    def full(*_: object) -> None:
        raise sqlite3.OperationalError

    monkeypatch.setattr(edits, "fill", full)
    with pytest.raises(StoreError):
        SqliteStore(str(filled))
    monkeypatch.undo()
    assert filled.read_bytes() == before
    with opened(filled) as store:
        assert store.count(EVERYTHING) == MANY


def test_a_store_is_restored_from_its_wal_alone(path: Path, tmp_path: Path) -> None:
    store = SqliteStore(str(path))
    store.commit([Change(None, a_memory("the old world"))])
    shutil.copyfile(f"{path}-wal", tmp_path / "wal")
    store.close()
    path.unlink()
    shutil.copyfile(tmp_path / "wal", f"{path}-wal")
    with opened(path) as restored:
        assert [memory.text for memory in restored.browse(wanted())] == ["the old world"]
        assert "it was missing" in restored.notice
        restored.commit([Change(None, a_memory("the new world"))])
        assert restored.health()["integrity"] == "ok"
    assert [found.name[-4:] for found in path.parent.glob("memory.db.corrupt-*")] == ["-wal"]


def test_a_store_that_is_deleted_while_it_is_open_is_written_back(path: Path) -> None:
    with opened(path) as store:
        store.commit([Change(None, a_memory("before"))])
        path.unlink()
        store.commit([Change(None, a_memory("after"))])
        assert store.count(EVERYTHING) == 2
        assert "deleted while it was in use" in store.notice
    with opened(path) as again:
        assert again.count(EVERYTHING) == 2


def test_an_edit_by_another_program_is_kept_and_reported(filled: Path) -> None:
    with contextlib.closing(sqlite3.connect(filled, isolation_level=None)) as other:
        other.execute("UPDATE memories SET title = 'edited' WHERE key = 'k7'")
    with opened(filled) as store:
        assert [memory.title for memory in store.browse(EVERYTHING, limit=MANY) if memory.key == "k7"] == ["edited"]
        assert "changed by another program" in store.notice
    assert aside(filled) == []


@pytest.mark.parametrize("field", ["text", "title", "case", "date"])
def test_a_changed_byte_in_a_memory_is_reported(filled: Path, field: str) -> None:
    before, after = {
        "text": (b"memory number 77 word word", b"memory number 77 wore word"),
        "title": (b"memory number 77", b"nemory number 77"),
        "case": (b"memory number 77 word word", b"memory number 77 Word word"),
        "date": (b"active", b"actIve"),
    }[field]
    data = filled.read_bytes()
    assert before in data
    filled.write_bytes(data.replace(before, after, 1))
    with opened(filled) as store:
        assert store.notice


def test_a_folder_under_the_name_of_the_store_is_reported(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreError, match="failed to open"):
        SqliteStore(str(path))


@pytest.mark.parametrize("lost", ["the file", "writes"])
def test_a_loss_in_a_read_only_store_is_reported(filled: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    older = filled.read_bytes()
    with opened(filled) as store:
        store.commit([Change(None, a_memory("one more"))])
    if lost == "writes":
        filled.write_bytes(older)
    else:
        filled.unlink()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(database, "WriterLock", refuse)
    with opened(filled) as store:
        assert "memories are missing" in store.notice
        assert "read-only" in store.capabilities.reason


def test_a_full_disk_during_a_repair_changes_nothing(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(filled) as store:
        store.upkeep(NOW)
    filled.unlink()

    def full(*_: object) -> None:
        raise OSError(28, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(edits, "fill", full)
        with pytest.raises(StoreError, match="too full to restore"):
            SqliteStore(str(filled))
    assert not list(filled.parent.glob("*.part"))
    with opened(filled) as store:
        assert store.count(EVERYTHING) == MANY


def test_history_and_activity_survive_a_repair(path: Path) -> None:
    memory = a_memory("first words")
    with opened(path) as store:
        store.commit([Change(None, memory)])
        store.commit([Change(memory, replace(memory, text="later words", revision=memory.revision + 1))])
    overwrite(path, 0, 100)
    with opened(path) as store:
        assert [past.before["text"] for past in store.history(memory.id)] == ["first words"]


def test_a_lost_index_of_files_is_created_again_without_a_report(path: Path) -> None:
    with contextlib.closing(SqliteStore(str(path), cache=True)) as store:
        store.commit([Change(None, a_memory("from a file"))])
    path.unlink()
    with contextlib.closing(SqliteStore(str(path), cache=True)) as store:
        assert (store.count(EVERYTHING), store.notice) == (0, "")


def test_no_wal_or_shared_memory_file_is_deleted(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deleted: list[str] = []
    unlink = os.unlink

    def watched(path: str, *args: object, **options: object) -> None:
        deleted.append(str(path))
        unlink(path, *args, **options)  # type: ignore[arg-type] # passed on unchanged

    monkeypatch.setattr(os, "unlink", watched)
    monkeypatch.setattr(os, "remove", watched)
    with opened(filled) as store:
        store.upkeep(NOW)
        store.commit([Change(None, a_memory("in the WAL"))])
        overwrite(filled, 0, 100)
        store._database._heal()
    overwrite(filled, 0, 100)
    with opened(filled) as store:
        assert store.count(EVERYTHING) > 0
    assert deleted  # a repair removes its own leftovers
    assert not {str(filled) + suffix for suffix in ("", "-wal", "-shm")} & set(deleted)


def test_the_decisions_of_reviews_are_recovered(filled: Path) -> None:
    with opened(filled) as store:
        state, memory = store.features.review_state, store.browse(wanted())[0]
        assert state is not None
        state.mark_wrong(memory, WrongMark(memory.id, NOW, "ada", "it moved"), None)
        state.postpone("item", NOW, None)
    overwrite(filled, 0, 100)
    with opened(filled) as store:
        state = store.features.review_state
        assert state is not None
        assert [mark.reason for mark, _ in state.wrong_like([memory.space], memory.text, None, 0.9)] == ["it moved"]
        assert state.postponed(NOW) == {"item"}
