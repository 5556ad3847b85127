"""The files around the database: allowed file systems, backups, damaged files."""

from __future__ import annotations

import _thread
import contextlib
import os
import sqlite3
import time

from keepmum.core.errors import StoreError
from keepmum.system import private_files

__all__ = [
    "VECTORS_PREFIX",
    "back_up",
    "backup_is_due",
    "backups",
    "network_file_system",
    "read_only_uri",
    "refuse_network",
    "remove_copies",
    "set_aside",
]

VECTORS_PREFIX = "vectors-"  # starts the name of every folder of a vector index
_KEPT_BACKUPS = 7
_BACKUP_EVERY = 24 * 3600  # seconds
_SIDE_FILES = ("", "-wal", "-shm")
# File systems without memory that the processes of a machine share, which WAL needs.
# Source: https://sqlite.org/wal.html, read 2026-11-21.
_NETWORK_TYPES = (
    "nfs", "cifs", "smb", "9p", "afs", "fuse.sshfs", "fuse.rclone", "glusterfs", "ceph", "lustre", "ncpfs",
)  # fmt: skip


def network_file_system(path: str, mounts: str = "/proc/self/mountinfo") -> str | None:
    """The type of the network file system that holds `path`; None for a local one or when mounts cannot be read."""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as lines:
            table = [line.split(" - ") for line in lines]
    except OSError:
        return None
    real = os.path.realpath(path)
    best, kind = "", ""
    for left, right in (entry for entry in table if len(entry) == 2):
        point = left.split()[4].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, right.split()[0]
    return kind if kind.startswith(_NETWORK_TYPES) else None


def backups(path: str) -> list[str]:
    """The backups of a store, oldest first."""
    folder = _backup_folder(path)
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("memory-") and name.endswith(".db"))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def backup_is_due(path: str, now: float) -> bool:
    """Whether the last backup is more than a day old, or there is none."""
    existing = backups(path)
    return not existing or now - os.stat(existing[-1]).st_mtime >= _BACKUP_EVERY


def back_up(db: sqlite3.Connection, path: str, now: float) -> str:
    """Make a backup, keep the last seven; returns its path."""
    private_files.make_folder(_backup_folder(path))
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    target = os.path.join(_backup_folder(path), f"memory-{stamp}.db")
    unfinished = f"{target}.{os.getpid()}-{_thread.get_ident()}.part"  # two threads may do this at once
    os.close(os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(unfinished)) as copy:
            db.backup(copy)
            # A backup is a single file that any tool can open; the journal mode is stored in it.
            copy.execute("PRAGMA journal_mode = DELETE")
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
    for old in [*backups(path)[:-_KEPT_BACKUPS], *_abandoned(_backup_folder(path), now)]:
        with contextlib.suppress(OSError):
            os.unlink(old)
    return target


def read_only_uri(path: str, mode: str = "mode=ro") -> str:
    """The URI that opens a database without writing to it."""
    return f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?{mode}"


def set_aside(path: str) -> str:
    """Rename a damaged file and its WAL, without deleting anything; returns the new path."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = f"{path}.corrupt-{stamp}"
    for attempt in range(1, 100):
        if not os.path.exists(target):
            break
        target = f"{path}.corrupt-{stamp}-{attempt}"
    for suffix in _SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path + suffix, target + suffix)
    return target


def refuse_network(path: str) -> None:
    """Check that `path` is not on a network file system.

    Raises: StoreError that names the file system and a solution.
    """
    kind = network_file_system(os.path.dirname(path))
    if kind:
        raise StoreError(
            f"the memory store would be on a network file system ({kind}), where SQLite cannot be shared safely. "
            "Set KEEPMUM_HOME to a folder on a local disk."
        )


def remove_copies(path: str) -> list[str]:
    """Remove backups, damaged files that were set aside and unfinished files of a store; returns their names."""
    folder, name = os.path.split(path)
    copies = [
        os.path.join(folder, entry)
        for entry in os.listdir(folder)
        if entry.startswith((f"{name}.corrupt-", f"{name}.mended"))
        or (entry.startswith(f"{name}.") and entry.endswith(".part"))
    ]
    removed = []
    for copy in [*backups(path), *copies]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(copy)
            removed.append(os.path.basename(copy))
    return removed


def _abandoned(folder: str, now: float) -> list[str]:
    """Unfinished backups that killed processes left."""
    parts = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".part")]
    return [part for part in parts if now - os.stat(part).st_mtime >= _BACKUP_EVERY]


def _backup_folder(path: str) -> str:
    return os.path.join(os.path.dirname(path), "backups")
