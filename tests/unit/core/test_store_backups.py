"""The backups of the SQLite store: when they are made, and which are kept."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from contract.stores import NOW
from keepmum.stores.sqlite import SqliteStore, files
from unit.core.store_parts import put


def age(path: str, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def test_a_backup_is_made_once_a_day(store: SqliteStore, path: Path) -> None:
    put(store, "some words")
    store.upkeep(NOW)
    store.upkeep(NOW)
    first = files.backups(str(path))
    assert len(first) == 1
    yesterday = str(path.parent / "backups" / "memory-19991231T000000Z.db")
    os.rename(first[0], yesterday)
    age(yesterday, 25 * 3600)
    store.upkeep(NOW)
    assert len(files.backups(str(path))) == 2


def test_a_backup_is_a_single_file(store: SqliteStore, path: Path) -> None:
    put(store, "some words")
    store.upkeep(NOW)
    (backup,) = files.backups(str(path))
    with contextlib.closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("SELECT text FROM memories").fetchall() == [("some words",)]
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_two_threads_can_back_up_at_once(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, now = sqlite3.connect, time.time()

    def interrupted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        monkeypatch.setattr(sqlite3, "connect", connect)
        copy: sqlite3.Connection = connect(*arguments, **options)
        other = threading.Thread(target=back_up_in_thread, args=(str(path),))
        other.start()
        other.join(60)
        return copy

    def back_up_in_thread(path: str) -> None:
        with contextlib.closing(connect(path)) as db:
            files.back_up(db, path, now)

    monkeypatch.setattr(sqlite3, "connect", interrupted)
    made = files.back_up(store._database._connection, str(path), now)
    with contextlib.closing(connect(made)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_last_seven_backups_are_kept(store: SqliteStore, path: Path) -> None:
    for second in range(9):
        files.back_up(store._database._connection, str(path), time.time() + second)
    kept = [Path(backup).name for backup in files.backups(str(path))]
    assert len(kept) == 7
    assert kept == sorted(kept)


def test_the_unfinished_backup_of_a_killed_process_is_removed(store: SqliteStore, path: Path) -> None:
    (path.parent / "backups").mkdir()
    abandoned, fresh = (path.parent / "backups" / f"memory-x.db.{number}.part" for number in (1, 2))
    abandoned.touch()
    fresh.touch()
    age(str(abandoned), 25 * 3600)
    files.back_up(store._database._connection, str(path), time.time())
    assert not abandoned.exists()
    assert fresh.exists()


def test_a_failed_backup_leaves_no_part(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError):  # noqa: PT011 - the one just made
        files.back_up(store._database._connection, str(path), time.time())
    assert list((path.parent / "backups").iterdir()) == []


def counts(path: Path) -> list[int]:
    """The number of memories in each backup, oldest first."""
    found = []
    for backup in files.backups(str(path)):
        with contextlib.closing(sqlite3.connect(backup)) as copy:
            found.append(copy.execute("SELECT count(*) FROM memories").fetchone()[0])
    return found


def test_an_empty_store_is_not_backed_up(store: SqliteStore, path: Path) -> None:
    store.upkeep(NOW)
    assert counts(path) == []
    put(store, "some words")
    store.upkeep(NOW)
    assert counts(path) == [1]


def test_a_backup_without_memories_does_not_count_for_the_day(store: SqliteStore, path: Path) -> None:
    files.back_up(store._database._connection, str(path), time.time() - 60)
    put(store, "some words")
    store.upkeep(NOW)
    assert counts(path) == [0, 1]


def test_a_day_gets_a_second_backup_after_its_first_writes(path: Path) -> None:
    with contextlib.closing(SqliteStore(str(path), backed_up=True)) as store:
        put(store, "the first")
        files.back_up(store._database._connection, str(path), time.time() - 3600)
        for number in range(20):
            put(store, f"number {number}")
        assert counts(path) == [1, 10]
        put(store, "the last")


def test_closing_after_writes_renews_the_second_backup_of_a_day(path: Path) -> None:
    with contextlib.closing(SqliteStore(str(path))) as store:
        put(store, "the first")
        for ago in (3600, 1800):
            made = files.back_up(store._database._connection, str(path), time.time() - ago)
            age(made, ago)
    assert counts(path) == [1, 1]
    with contextlib.closing(SqliteStore(str(path), backed_up=True)) as store:
        put(store, "the second")
    assert counts(path) == [1, 2]
    SqliteStore(str(path), backed_up=True).close()
    assert counts(path) == [1, 2]


def test_the_last_backup_with_memories_is_never_removed(store: SqliteStore, path: Path) -> None:
    put(store, "some words")
    files.back_up(store._database._connection, str(path), time.time() - 100)
    store._database._connection.execute("DELETE FROM memories")
    for second in range(9):
        files.back_up(store._database._connection, str(path), time.time() + second)
    assert counts(path) == [1, *[0] * 7]


def test_the_last_backup_of_each_of_seven_days_is_kept(store: SqliteStore, path: Path) -> None:
    put(store, "some words")
    for day in range(9):
        for hour in range(3):
            files.back_up(store._database._connection, str(path), (day * 24 + hour) * 3600.0)
    days = [Path(backup).name[7:15] for backup in files.backups(str(path))]
    assert sorted(set(days)) == [f"197001{day:02}" for day in range(3, 10)]
    assert len(days) <= 14


def test_stores_in_one_folder_have_their_own_backups(path: Path) -> None:
    for name in ("one.db", "two.db"):
        with contextlib.closing(SqliteStore(str(path.with_name(name)))) as store:
            put(store, name)
            store.upkeep(NOW)
    assert [Path(backup).name[:4] for backup in files.backups(str(path.with_name("two.db")))] == ["two-"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows is not asked whether a process runs")
def test_unfinished_copies_of_a_dead_process_are_removed(store: SqliteStore, path: Path) -> None:
    put(store, "some words")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(60)
    (path.parent / "backups").mkdir()
    dead = [path.parent / "backups" / f"memory-x.db.{ended.pid}-7.part", path.parent / f"memory.db.{ended.pid}-3.part"]
    mine = path.parent / "backups" / f"memory-x.db.{os.getpid()}-7.part"
    for part in (*dead, mine):
        part.touch()
    store.upkeep(NOW)
    assert [part.exists() for part in (*dead, mine)] == [False, False, True]
