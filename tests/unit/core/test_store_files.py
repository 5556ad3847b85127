"""The SQLite store on disk: permissions, WAL, backups, migrations, file systems."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contract.store_parts import required
from contract.stores import NOW, a_memory, wanted
from keepmum.core import serialization
from keepmum.core.errors import InvalidInput, StoreBusy, StoreError, StoreReadOnly
from keepmum.core.memory import TRUST_LEVELS, Change, Citation, Embedding, JsonValue
from keepmum.embedding.fake import FakeEmbedder
from keepmum.stores.sqlite import SqliteStore, database, files, rows, schema
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.vectors import pack

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights and limits in other ways")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(str(path))) as opened:
        yield opened


def put(store: SqliteStore, text: str) -> None:
    store.commit([Change(None, a_memory(text))])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# -- permissions


@posix_only
def test_only_the_owner_can_read_anything(store: SqliteStore, path: Path) -> None:
    put(store, "private")
    store.upkeep(NOW)
    put(store, "in the WAL")
    for found in (path.parent, *path.parent.rglob("*")):
        assert mode(found) == (0o700 if found.is_dir() else 0o600), found.name
    assert {found.name for found in path.parent.iterdir()} >= {"memory.db", "memory.db-wal", "memory.db-shm", "backups"}


@posix_only
def test_a_permissive_umask_does_not_open_the_files(path: Path) -> None:
    before = os.umask(0)
    try:
        with contextlib.closing(SqliteStore(str(path))) as store:
            put(store, "private")
            assert {mode(found) for found in path.parent.iterdir()} == {0o600}
    finally:
        os.umask(before)


# -- settings of SQLite


def test_every_table_is_strict(store: SqliteStore) -> None:
    tables = {
        name: strict
        for _, name, kind, _, _, strict in store._database._connection.execute("PRAGMA table_list")
        if kind == "table"
    }
    ours = {name: strict for name, strict in tables.items() if not name.startswith("sqlite_")}
    assert set(ours.values()) == {1}
    assert "memories" in ours


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("wal_autocheckpoint", 0), ("secure_delete", 1), ("foreign_keys", 1)],
)
def test_a_connection_has(store: SqliteStore, pragma: str, value: object) -> None:
    assert store._database._connection.execute(f"PRAGMA {pragma}").fetchone()[0] == value


def test_a_long_wal_is_checkpointed(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wal = path.with_name("memory.db-wal")
    put(store, "some words")
    assert wal.stat().st_size > 0
    monkeypatch.setattr(database, "_CHECKPOINT_AT", 1)
    put(store, "more words")
    assert wal.stat().st_size == 0


def test_no_checkpoint_runs_while_another_process_has_the_lock(store: SqliteStore, path: Path) -> None:
    put(store, "some words")
    lock = WriterLock(str(path) + ".lock")
    with lock.hold():
        store._database.checkpoint()
        assert path.with_name("memory.db-wal").stat().st_size > 0
    lock.close()


# -- the lock


def test_the_lock_excludes_others_with_a_message(tmp_path: Path) -> None:
    one, other = WriterLock(str(tmp_path / "lock")), WriterLock(str(tmp_path / "lock"))
    with one.hold(), pytest.raises(StoreBusy, match="another process has held the memory store"), other.hold(0.01):
        pass
    with other.hold(0.01):
        pass
    one.close()
    other.close()


def test_the_lock_is_reentrant(tmp_path: Path) -> None:
    one, other = WriterLock(str(tmp_path / "lock")), WriterLock(str(tmp_path / "lock"))
    with one.hold():
        with one.hold():
            pass
        with pytest.raises(StoreBusy), other.hold(0.01):
            pass
    one.close()
    other.close()


def test_of_the_time_for_which_a_waiting_process_was_stopped_little_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    hours = itertools.count(0.0, 3600.0)
    monkeypatch.setattr(
        "keepmum.stores.sqlite.lock.time", SimpleNamespace(monotonic=lambda: next(hours), sleep=slept.append)
    )
    one, other = WriterLock(str(tmp_path / "lock")), WriterLock(str(tmp_path / "lock"))
    with one.hold(), pytest.raises(StoreBusy), other.hold(1.0):
        pass
    assert len(slept) >= 9
    one.close()
    other.close()


def test_closing_a_held_lock_releases_it(tmp_path: Path) -> None:
    one, other = WriterLock(str(tmp_path / "lock")), WriterLock(str(tmp_path / "lock"))
    with one.hold():
        one.close()
        with other.hold(0.01):
            pass
    other.close()


# -- backups


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


@posix_only
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


# -- versions


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


# -- removed folders and full disks


def test_a_removed_folder_is_reported(store: SqliteStore, path: Path) -> None:
    put(store, "words")
    shutil.rmtree(path.parent)
    with pytest.raises(StoreError, match="failed to open"):
        put(store, "more words")


def test_a_full_disk_gives_an_empty_read_only_store_with_a_reason(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(database, "connect_current", no_room)
    with contextlib.closing(SqliteStore(str(path))) as store:
        assert "disk is full" in store.capabilities.reason
        assert store.search(["words"], wanted(), 5) == []
        with pytest.raises(StoreReadOnly):
            put(store, "words")


@posix_only
@pytest.mark.parametrize("most", [0, 4096, 40_000, 150_000])
def test_a_disk_that_fills_up_at_the_first_start_is_reported(path: Path, most: int) -> None:
    with no_file_beyond(most), contextlib.closing(SqliteStore(str(path))) as store:
        assert "the disk is full or failing; make room" in store.capabilities.reason
        assert store.get(["mem_of_nobody"]) == []
    with contextlib.closing(SqliteStore(str(path))) as store:  # there is room again
        put(store, "words")


@contextlib.contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Limit files of this process to `size` bytes during the block."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# -- network file systems

MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
35 21 0:40 / /home rw - nfs4 server:/home rw
36 35 8:2 / /home/ada/local\\040disk rw - xfs /dev/sdb1 rw
37 21 0:41 / /mnt/team rw - cifs //server/team rw
38 21 0:42 / /mnt/ssh rw - fuse.sshfs host: rw
39 21 0:43 / /homeless rw - tmpfs none rw
a line of another kind
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib", None),
        ("/home/ada/.keepmum", "nfs4"),
        ("/home/ada/local disk/.keepmum", None),
        ("/mnt/team/x", "cifs"),
        ("/mnt/ssh", "fuse.sshfs"),
        ("/homeless/x", None),
    ],
)
def test_the_mount_of_the_folder_decides(tmp_path: Path, folder: str, kind: str | None) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    assert files.network_file_system(folder, str(table)) == kind


def test_without_a_mount_table_no_folder_is_refused(tmp_path: Path) -> None:
    assert files.network_file_system("/home", str(tmp_path / "missing")) is None


def test_a_store_on_a_network_file_system_is_refused_with_a_solution(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "network_file_system", lambda _: "nfs4")
    with pytest.raises(StoreError, match=r"network file system \(nfs4\).*KEEPMUM_HOME"):
        SqliteStore(str(path))
    assert not path.exists()


def test_a_path_with_any_characters_can_be_opened_read_only(tmp_path: Path) -> None:
    path = tmp_path / "50% of #1?" / "memory.db"
    with contextlib.closing(SqliteStore(str(path))) as store:
        put(store, "words")
        store._database._connection.execute("PRAGMA user_version = 999")
    with contextlib.closing(SqliteStore(str(path))) as store:
        assert store.search(["words"], wanted(), 5)


def test_cleansing_removes_every_copy_of_a_vector(store: SqliteStore, path: Path) -> None:
    memory = a_memory("words to be taken out")
    embedder = FakeEmbedder()
    embedding = Embedding(embedder.model, pack(embedder.embed([memory.text])[0]))
    store.commit([Change(None, memory, embedding)])
    required(store.features.vector_search).search([], lambda: embedding, wanted(), 5)
    assert list((path.parent / "cache").iterdir())
    store.cleanse([Change(memory, None)], (), lambda _, masked: masked)
    assert list((path.parent / "cache").iterdir()) == []
    put(store, "and it goes on")
    assert required(store.features.vector_search).search([], lambda: embedding, wanted(), 5) == []


CITED = (
    Citation(path="src/a.py", commit="a" * 40, blob="b" * 40, symbol="A.b", line=3, digest="c" * 32),
    Citation(path="README", commit="a" * 40, blob="d" * 40),
)


def test_origin_confirmation_and_citations_are_kept(store: SqliteStore) -> None:
    whole = a_memory(
        trust="outside", source_kind="web", confirmed_at=NOW, confirmed_by="ada", pinned=True, citations=CITED
    )
    store.commit([Change(None, whole)])
    assert store.get([whole.id]) == [whole]
    assert serialization.parse(json.loads(json.dumps(serialization.to_json(whole)))) == whole


def test_citations_are_stored_without_a_new_revision(store: SqliteStore) -> None:
    memory, other = a_memory(), a_memory("elsewhere", project="beta")
    store.commit([Change(None, memory), Change(None, other)])
    assert store.uncited("alpha", 5) == [memory]
    assert store.cite([(memory, CITED)]) == 1
    assert store.get([memory.id]) == [replace(memory, citations=CITED)]
    assert store.uncited("alpha", 5) == []


def test_citations_of_an_older_revision_are_not_stored(store: SqliteStore) -> None:
    old = a_memory()
    store.commit([Change(None, old)])
    store.commit([Change(old, replace(old, text="new", revision=2))])
    assert store.cite([(old, CITED)]) == 0


def test_the_history_has_citations_as_plain_values(store: SqliteStore) -> None:
    old = a_memory(citations=CITED)
    store.commit([Change(None, old)])
    store.commit([Change(old, replace(old, text="new", revision=2))])
    (past,) = store.history(old.id)
    assert serialization.parse(past.before) == old


@pytest.mark.parametrize(
    "citations",
    [
        pytest.param("src/a.py", id="a text"),
        pytest.param([{"path": "a"}], id="without commit and blob"),
        pytest.param([{"path": "a", "commit": "x" * 40, "blob": "b" * 40}], id="a commit that is not a hash"),
        pytest.param([{"path": "a", "commit": "a" * 40, "blob": "b" * 40, "line": True}], id="a line that is a flag"),
        pytest.param([{"path": "a", "commit": "a" * 40, "blob": "b" * 40, "more": 1}], id="an unknown entry"),
        pytest.param([{"path": "a", "commit": "a" * 40, "blob": "b" * 40}] * 101, id="too many"),
    ],
)
def test_citations_of_another_form_are_refused(citations: JsonValue) -> None:
    with pytest.raises(InvalidInput, match="citations"):
        serialization.parse({**serialization.to_json(a_memory()), "citations": citations})
