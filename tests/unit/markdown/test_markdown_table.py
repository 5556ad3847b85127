"""The table of files that several processes share: each sees what the others wrote, and reads no row twice."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from keepmum.core.errors import StoreError
from keepmum.stores.markdown import file_table
from keepmum.stores.markdown.file_table import FileTable, Row
from unit.markdown.markdown_parts import a_memory, keep, opened

Two = tuple[FileTable, FileTable]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    """The table as two processes have it open."""
    with contextlib.ExitStack() as stack:
        first, second = (
            stack.enter_context(contextlib.closing(FileTable(str(tmp_path / "files.db")))) for _ in range(2)
        )
        yield first, second


def a_row(number: int, *, memory: str | None = None) -> Row:
    return Row(f"2026-01-01/{number:06}_aaaa.md", "mark", "digest", memory or f"m{number}")


def rows_read(table: FileTable) -> int:
    """How many rows of files a look at the table takes over from disk."""
    taken: list[int] = []
    original = table._take

    def take(written: list[Row], removed: list[str]) -> None:
        taken.append(len(written))
        original(written, removed)

    table._take = take  # type: ignore[method-assign, assignment]
    table.follow()
    table._take = original  # type: ignore[method-assign]
    return sum(taken)


def test_what_another_process_wrote_is_seen(two: Two) -> None:
    first, second = two
    first.write([a_row(1), a_row(2)], (), {"2026-01-01": "seen"})
    first.note("dirty", "0")
    second.follow()
    assert second.files == first.files
    assert (second.days, second.path_of("m2")) == ({"2026-01-01": "seen"}, a_row(2).path)


def test_only_what_is_new_is_read(two: Two) -> None:
    first, second = two
    first.write([a_row(number) for number in range(50)])
    assert rows_read(second) == 50
    first.write([a_row(50)])
    assert rows_read(second) == 1
    assert rows_read(second) == 0
    assert len(second.files) == 51


def test_what_has_gone_is_gone_for_others_and_may_come_back(two: Two) -> None:
    first, second = two
    first.write([a_row(1), a_row(2)])
    second.follow()
    first.write([], [a_row(1).path])
    second.follow()
    assert (list(second.files), second.path_of("m1")) == ([a_row(2).path], None)
    first.write([a_row(1, memory="again")])
    second.follow()
    assert second.path_of("again") == a_row(1).path


def test_who_missed_many_removals_reads_all_anew(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = two
    monkeypatch.setattr(file_table, "_MOST_GONE", 3)
    first.write([a_row(number) for number in range(10)])
    second.follow()
    for number in range(8):
        first.write([], [a_row(number).path])
    second.follow()
    assert sorted(second.files) == [a_row(8).path, a_row(9).path]
    assert (second.path_of("m1"), second.path_of("m9")) == (None, a_row(9).path)


def test_both_may_write_in_turn(two: Two) -> None:
    first, second = two
    for number in range(6):
        writer = two[number % 2]
        writer.follow()
        writer.write([a_row(number)])
    first.follow()
    second.follow()
    assert first.files == second.files == {a_row(number).path: a_row(number) for number in range(6)}


@pytest.mark.parametrize(
    ("code", "words"), [(sqlite3.SQLITE_FULL, "the disk is full"), (sqlite3.SQLITE_BUSY, "is busy")]
)
def test_a_table_that_cannot_be_opened_just_now_is_not_deleted(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    two[0].write([a_row(1)])
    monkeypatch.setattr(file_table, "_connected", lambda _: refuse(code))
    with pytest.raises(StoreError, match=words):
        FileTable(str(tmp_path / "files.db"))
    monkeypatch.undo()
    with contextlib.closing(FileTable(str(tmp_path / "files.db"))) as again:
        assert again.path_of("m1") == a_row(1).path


def test_a_full_disk_is_told_as_that_and_not_as_an_index_to_delete(tmp_path: Path) -> None:
    with contextlib.closing(opened(tmp_path)) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store._table, "note", lambda *_: refuse(sqlite3.SQLITE_FULL))
        with pytest.raises(StoreError, match=r"the disk is full or failing .* make room"):
            keep(store, a_memory())


def refuse(code: int) -> NoReturn:
    """What SQLite says by a result code."""
    error = sqlite3.OperationalError("what it says")
    error.sqlite_errorcode = code
    raise error
