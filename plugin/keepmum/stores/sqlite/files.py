"""The files around the database: where it may lie, its backups, and what to do when it is damaged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time

from keepmum import private_files
from keepmum.errors import StoreError
from keepmum.memory import Memory
from keepmum.stores.sqlite import rows

__all__ = [
    "back_up",
    "backup_is_due",
    "backups",
    "network_file_system",
    "refuse_network",
    "salvage",
    "set_aside",
]

_KEPT_BACKUPS = 7
_BACKUP_EVERY = 24 * 3600  # seconds
_SIDE_FILES = ("", "-wal", "-shm")
# WAL needs memory shared between the processes of one machine, which these cannot give.
# Source: https://sqlite.org/wal.html, read 2026-11-21.
_NETWORK_TYPES = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "fuse.sshfs",
    "fuse.rclone",
    "glusterfs",
    "ceph",
    "lustre",
    "ncpfs",
)


def network_file_system(path: str, mounts: str = "/proc/self/mountinfo") -> str | None:
    """The type of the network file system that `path` lies on, or None; None also where mounts cannot be read."""
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
    """A new backup's path; the last seven are kept."""
    private_files.make_folder(_backup_folder(path))
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    target = os.path.join(_backup_folder(path), f"memory-{stamp}.db")
    unfinished = f"{target}.{os.getpid()}.part"
    os.close(os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(unfinished)) as copy:
            db.backup(copy)
            # A backup is one file that any tool may open; the journal mode travels inside it.
            copy.execute("PRAGMA journal_mode = DELETE")
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
    for old in backups(path)[:-_KEPT_BACKUPS]:
        with contextlib.suppress(OSError):
            os.unlink(old)
    return target


def set_aside(path: str) -> str:
    """Rename a damaged store and its side files out of the way, never deleting them; their new path."""
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


def salvage(damaged: str, saved: list[str]) -> tuple[list[Memory], int]:
    """All memories that can still be read from a damaged store, and how many more came from its backups.

    A row that is damaged in the store is taken from the latest of the backups `saved` that has it.
    """
    found = {memory.id: memory for memory in _readable(damaged)}
    own = len(found)
    if not found or _is_incomplete(damaged):
        for backup in reversed(saved):
            for memory in _readable(backup):
                found.setdefault(memory.id, memory)
    return sorted(found.values(), key=lambda memory: memory.id), len(found) - own


def _readable(path: str) -> list[Memory]:
    """The memories of a store row by row, past rows that cannot be read."""
    memories: list[Memory] = []
    try:
        db = sqlite3.connect(f"file:{_quote(path)}?mode=ro", uri=True)
    except sqlite3.Error:
        return memories
    with contextlib.closing(db):
        db.row_factory = sqlite3.Row
        for order in ("ASC", "DESC"):  # a broken page ends a walk; the other direction reads what lies behind it
            with contextlib.suppress(sqlite3.Error):
                cursor = db.execute(f"SELECT {', '.join(rows.COLUMNS)} FROM memories ORDER BY seq {order}")
                while (row := cursor.fetchone()) is not None:
                    with contextlib.suppress(ValueError, TypeError):
                        memories.append(rows.from_row(row))
    return list({memory.id: memory for memory in memories}.values())


def _is_incomplete(path: str) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{_quote(path)}?mode=ro", uri=True)) as db:
            return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
    except sqlite3.Error:
        return True


def refuse_network(path: str) -> None:
    """Nothing, unless the store would lie on a network file system.

    Raises: StoreError that names the file system and the way out.
    """
    kind = network_file_system(os.path.dirname(path))
    if kind:
        raise StoreError(
            f"the memory store would lie on a network file system ({kind}), where SQLite cannot be shared safely. "
            "Set KEEPMUM_HOME to a folder on a local disk."
        )


def _backup_folder(path: str) -> str:
    return os.path.join(os.path.dirname(path), "backups")


def _quote(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
