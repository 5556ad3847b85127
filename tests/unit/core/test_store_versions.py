"""SQLite stores of older and newer versions: migrations, and what is read without one."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contract.store_parts import required
from contract.stores import NOW, a_memory, wanted
from keepmum.core.errors import StoreError, StoreReadOnly
from keepmum.core.memory import TRUST_LEVELS
from keepmum.stores.sqlite import SqliteStore, files, rows, schema
from keepmum.stores.sqlite.lock import WriterLock
from unit.core.store_parts import put


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A future version of Keepmum with one more migration."""

    def m999_moods(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE moods (mood TEXT) STRICT")

    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, m999_moods])


def test_an_older_store_is_backed_up_and_migrated(path: Path, request: pytest.FixtureRequest) -> None:
    with contextlib.closing(SqliteStore(str(path))) as old:
        put(old, "from before")
    request.getfixturevalue("next_version")
    with contextlib.closing(SqliteStore(str(path))) as new:
        steps = [
            name
            for (name,) in new._database._connection.execute("SELECT name FROM migrations ORDER BY rowid").fetchall()
        ]
        assert steps[-1] == "m999_moods"
        assert new._database._connection.execute("SELECT text FROM memories").fetchone()[0] == "from before"
    (backup,) = files.backups(str(path))
    with contextlib.closing(sqlite3.connect(backup)) as copy:
        assert schema.version_of(copy) == len(schema.MIGRATIONS) - 1


@pytest.fixture
def first_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store as the first version made it, without vectors."""
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        path.parent.mkdir()
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            schema.migrate(db)
            row = {
                **rows.to_row(a_memory("我们的数据库选择 is getUserName")),
                "identifiers": "get user name",
                "change": 1,
            }
            there = [column[1] for column in db.execute("PRAGMA table_info(memories)") if column[1] in row]
            values = [row[name] for name in there]
            db.execute(f"INSERT INTO memories({', '.join(there)}) VALUES ({', '.join('?' * len(there))})", values)
    return path


def test_memories_of_the_first_version_are_found(first_version: Path) -> None:
    with contextlib.closing(SqliteStore(str(first_version))) as store:
        assert required(store.features.vector_search).count_pending("any") == 1
        for words in (["user"], ["数据"], ["getusername"]):
            assert len(store.search(words, wanted(), 5)) == 1
        store.upkeep(NOW)
        assert store.health()["integrity"] == "ok"


def test_search_in_a_read_only_store_of_the_first_version_is_lexical(
    first_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with contextlib.closing(SqliteStore(str(first_version))) as store:
        assert store.features.vector_search is None
        assert len(store.search(["user"], wanted(), 5)) == 1


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("origin", "trust"),
    [
        ("cli", "person"),
        ("mcp", "agent"),
        ("library", "agent"),
        ("import", "outside"),
        ("server", "team"),
        ("server:listed", "team"),
    ],
)
def test_memories_without_a_trust_level_get_one_by_their_channel(
    first_version: Path, monkeypatch: pytest.MonkeyPatch, origin: str, trust: str, *, read_only: bool
) -> None:
    with contextlib.closing(sqlite3.connect(first_version)) as db, db:
        db.execute("UPDATE memories SET origin = ?", (origin,))
    if read_only:
        monkeypatch.setattr(os, "access", lambda *_: False)
    with contextlib.closing(SqliteStore(str(first_version))) as store:
        (memory,) = store.browse(wanted())
        assert (memory.trust, memory.citations, memory.pinned) == (trust, None, False)
        assert store.count(replace(wanted(), trusts=(memory.trust,))) == 1
        assert store.count(replace(wanted(), trusts=tuple({*TRUST_LEVELS} - {memory.trust}))) == 0


def test_a_failed_migration_leaves_the_store_unchanged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(SqliteStore(str(path))) as old:
        put(old, "from before")
        version = schema.version_of(old._database._connection)

    def m999_breaks(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (a TEXT) STRICT")
        db.execute("CREATE TABLE half (a TEXT) STRICT")

    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, m999_breaks])
    with pytest.raises(StoreError):
        SqliteStore(str(path))
    monkeypatch.undo()
    with contextlib.closing(SqliteStore(str(path))) as store:
        assert schema.version_of(store._database._connection) == version
        assert (
            store._database._connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").fetchone()[0]
            == 0
        )


@pytest.fixture
def newer(path: Path) -> Iterator[SqliteStore]:
    """A store of a newer version, opened by this one."""
    with contextlib.closing(SqliteStore(str(path))) as store:
        put(store, "from the future")
        store._database._connection.execute("PRAGMA user_version = 999")
    with contextlib.closing(SqliteStore(str(path))) as opened:
        yield opened


def test_a_newer_store_is_read_only_with_a_reason(newer: SqliteStore) -> None:
    assert newer.capabilities.writable is False
    assert "newer version of Keepmum" in newer.capabilities.reason
    assert newer.search(["future"], wanted(), 5)


def test_a_newer_store_is_not_written(newer: SqliteStore, path: Path) -> None:
    with pytest.raises(StoreReadOnly, match="newer version"):
        put(newer, "from the past")
    newer.upkeep(NOW)
    assert files.backups(str(path)) == []


def test_a_newer_store_stays_usable_for_its_own_version(newer: SqliteStore, path: Path) -> None:
    lock = WriterLock(str(path) + ".lock")
    with lock.hold(0.01):
        assert newer.search(["future"], wanted(), 5)
    lock.close()
