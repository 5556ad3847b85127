"""The SQLite store on disk: permissions, WAL, the lock, full disks, file systems."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from contract.store_parts import required
from contract.stores import NOW, a_memory, wanted
from keepmum.core.errors import StoreBusy, StoreError, StoreReadOnly
from keepmum.core.memory import Change, Embedding
from keepmum.embedding.fake import FakeEmbedder
from keepmum.stores.sqlite import SqliteStore, database, files
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.vectors import pack
from unit.core.store_parts import put

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights and limits in other ways")


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
