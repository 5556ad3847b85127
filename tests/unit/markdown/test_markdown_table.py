"""The table of files, shared by processes: each sees what the others wrote, and reads only new rows."""

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
    """The table, opened as by two processes."""
    with contextlib.ExitStack() as stack:
        first, second = (
            stack.enter_context(contextlib.closing(FileTable(str(tmp_path / "files.db")))) for _ in range(2)
        )
        yield first, second


def a_row(number: int, *, memory: str | None = None) -> Row:
    return Row(f"2026-01-01/{number:06}_aaaa.md", "mark", "digest", memory or f"m{number}")


def rows_read(table: FileTable) -> int:
    """Number of rows that a refresh reads from disk."""
    counts: list[int] = []
    original = table._update

    def update(written: list[Row], removed: list[str]) -> None:
        counts.append(len(written))
        original(written, removed)

    table._update = update  # type: ignore[method-assign, assignment]
    table.refresh()
    table._update = original  # type: ignore[method-assign]
    return sum(counts)


def test_rows_of_another_process_are_read(two: Two) -> None:
    first, second = two
    first.write([a_row(1), a_row(2)], (), {"2026-01-01": "seen"})
    first.set_fact("dirty", "0")
    second.refresh()
    assert second.files == first.files
    assert (second.days, second.path_of("m2")) == ({"2026-01-01": "seen"}, a_row(2).path)


def test_only_new_rows_are_read(two: Two) -> None:
    first, second = two
    first.write([a_row(number) for number in range(50)])
    assert rows_read(second) == 50
    first.write([a_row(50)])
    assert rows_read(second) == 1
    assert rows_read(second) == 0
    assert len(second.files) == 51


def test_a_removed_row_is_removed_for_others_and_can_return(two: Two) -> None:
    first, second = two
    first.write([a_row(1), a_row(2)])
    second.refresh()
    first.write([], [a_row(1).path])
    second.refresh()
    assert (list(second.files), second.path_of("m1")) == ([a_row(2).path], None)
    first.write([a_row(1, memory="again")])
    second.refresh()
    assert second.path_of("again") == a_row(1).path


def test_a_process_that_missed_many_removals_reads_all_rows(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = two
    monkeypatch.setattr(file_table, "_MAX_GONE", 3)
    first.write([a_row(number) for number in range(10)])
    second.refresh()
    for number in range(8):
        first.write([], [a_row(number).path])
    second.refresh()
    assert sorted(second.files) == [a_row(8).path, a_row(9).path]
    assert (second.path_of("m1"), second.path_of("m9")) == (None, a_row(9).path)


def test_both_can_write_in_turn(two: Two) -> None:
    first, second = two
    for number in range(6):
        writer = two[number % 2]
        writer.refresh()
        writer.write([a_row(number)])
    first.refresh()
    second.refresh()
    assert first.files == second.files == {a_row(number).path: a_row(number) for number in range(6)}


@pytest.mark.parametrize(
    ("code", "words"), [(sqlite3.SQLITE_FULL, "the disk is full"), (sqlite3.SQLITE_BUSY, "is busy")]
)
def test_a_table_that_cannot_be_opened_now_is_not_deleted(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    two[0].write([a_row(1)])
    monkeypatch.setattr(file_table, "_connect", lambda _: refuse(code))
    with pytest.raises(StoreError, match=words):
        FileTable(str(tmp_path / "files.db"))
    monkeypatch.undo()
    with contextlib.closing(FileTable(str(tmp_path / "files.db"))) as again:
        assert again.path_of("m1") == a_row(1).path


def test_a_full_disk_is_reported_and_not_as_an_index_to_delete(tmp_path: Path) -> None:
    with contextlib.closing(opened(tmp_path)) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store._table, "set_fact", lambda *_: refuse(sqlite3.SQLITE_FULL))
        with pytest.raises(StoreError, match=r"the disk is full or failing .* make room"):
            keep(store, a_memory())


def refuse(code: int) -> NoReturn:
    """Raise SQLite's error for a result code."""
    error = sqlite3.OperationalError("what it says")
    error.sqlite_errorcode = code
    raise error
