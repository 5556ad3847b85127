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
    "aside_name",
    "back_up",
    "backup_is_due",
    "backups",
    "is_filled",
    "is_old",
    "last_backup_before",
    "network_file_system",
    "read_only_uri",
    "refuse_network",
    "remove_copies",
    "report",
    "reports",
    "set_aside",
    "size_of",
]

VECTORS_PREFIX = "vectors-"  # starts the name of every folder of a vector index
_KEPT_BACKUPS = 7
_BACKUP_EVERY = 24 * 3600  # seconds
_SIDE_FILES = ("", "-wal", "-shm")
_ASIDE, _REPORT = ".corrupt-", ".damage-"  # what a damaged store is renamed to, and what its report is called
_LONGEST_REPORT = 2_000  # characters
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
    folder, prefix = _backup_folder(path), _backup_prefix(path)
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(prefix) and name.endswith(".db"))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def is_filled(backup: str) -> bool:
    """Whether a backup can be read and has memories."""
    try:
        with contextlib.closing(sqlite3.connect(read_only_uri(backup, "immutable=1"), uri=True)) as db:
            return db.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def backup_is_due(path: str, now: float, most: int = 1) -> bool:
    """Whether fewer than `most` backups with memories were made in the last day."""
    recent = [backup for backup in backups(path)[-most:] if now - _modified(backup) < _BACKUP_EVERY]
    return sum(map(is_filled, recent)) < most


def is_old(existing: list[str], now: float) -> bool:
    """Whether all of these backups are more than a day old."""
    return not any(now - _modified(backup) < _BACKUP_EVERY for backup in existing)


def last_backup_before(path: str, moment: float) -> str | None:
    """The last backup, when it was made before `moment` and as the last of several in one day; else None."""
    *_, before, last = ["", "", *backups(path)]
    is_second = bool(before) and _modified(last) - _modified(before) < _BACKUP_EVERY
    return last if is_second and _modified(last) < moment else None


def back_up(db: sqlite3.Connection, path: str, now: float) -> str:
    """Make a backup; returns its path.

    Of the others stay the last seven, and the last one of each of seven days; one with memories in any case.
    """
    folder = _backup_folder(path)
    private_files.make_folder(folder)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    target = os.path.join(folder, f"{_backup_prefix(path)}{stamp}.db")
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
    for old in [*_outdated(backups(path)), *_abandoned(path, now)]:
        with contextlib.suppress(OSError):
            os.unlink(old)
    return target


def read_only_uri(path: str, mode: str = "mode=ro") -> str:
    """The URI that opens a database without writing to it."""
    return f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?{mode}"


def aside_name(path: str, suffix: str = _ASIDE) -> str:
    """A new name, with this suffix and the time, for a store that is kept; by default that of a damaged one."""
    return _unused(path + suffix, _SIDE_FILES)


def set_aside(path: str, target: str) -> list[str]:
    """Rename a database, its WAL and its shared memory, without deleting anything; returns the new names."""
    renamed = []
    for suffix in _SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path + suffix, target + suffix)
            renamed.append(os.path.basename(target + suffix))
    return renamed


def report(path: str, text: str) -> str:
    """Keep a report of damage, which a person acknowledges by deleting it; returns it with that request.

    Raises: OSError.
    """
    target = _unused(path + _REPORT, ("",))
    text = f"{text} Delete {target} once you have read this; until then it is reported."
    private_files.replace_file(target, text + "\n")
    return text


def reports(path: str, newer_than: float = 0.0) -> list[str]:
    """The reports of damage that were not deleted, oldest first."""
    folder, name = os.path.split(path)
    found = []
    try:
        for entry in sorted(os.listdir(folder)):
            if entry.startswith(name + _REPORT) and not entry.endswith(".part"):
                one = os.path.join(folder, entry)
                if _modified(one) >= newer_than:
                    with open(one, encoding="utf-8", errors="replace") as file:
                        found.append(file.read(_LONGEST_REPORT).strip())
    except OSError:
        pass
    return found


def size_of(path: str) -> int:
    """Bytes of a file, 0 when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


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
        if entry.startswith((f"{name}{_ASIDE}", f"{name}{_REPORT}", f"{name}.mended"))
        or (entry.startswith(f"{name}.") and entry.endswith(".part"))
    ]
    removed = []
    for copy in [*backups(path), *copies]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(copy)
            removed.append(os.path.basename(copy))
    return removed


def _unused(prefix: str, suffixes: tuple[str, ...]) -> str:
    """A name that starts with `prefix`, goes on with the time, and is free with each of `suffixes`."""
    stamp = prefix + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    names = [stamp, *(f"{stamp}-{attempt}" for attempt in range(1, 100))]
    return next((name for name in names if not any(os.path.exists(name + end) for end in suffixes)), stamp)


def _outdated(existing: list[str]) -> list[str]:
    """The backups that may be deleted."""
    last_of_day = {os.path.basename(backup).rpartition("T")[0]: backup for backup in existing}
    kept = {*existing[-_KEPT_BACKUPS:], *list(last_of_day.values())[-_KEPT_BACKUPS:]}
    if not any(map(is_filled, kept)):
        kept.update([backup for backup in existing if is_filled(backup)][-1:])
    return [backup for backup in existing if backup not in kept]


def _abandoned(path: str, now: float) -> list[str]:
    """Unfinished copies that killed processes left: their process is gone, or they are a day old."""
    folder, name = os.path.split(path)
    backup_folder = _backup_folder(path)
    parts = [os.path.join(backup_folder, entry) for entry in os.listdir(backup_folder) if entry.endswith(".part")]
    parts += [
        os.path.join(folder, entry)
        for entry in os.listdir(folder)
        if entry.startswith(f"{name}.") and entry.endswith(".part")
    ]
    return [part for part in parts if now - _modified(part) >= _BACKUP_EVERY or not _may_be_running(part)]


def _may_be_running(part: str) -> bool:
    """Whether the process that a part names, `….PID-NUMBER.part`, may be running."""
    process = part.removesuffix(".part").rpartition(".")[2].partition("-")
    if os.name == "nt" or not (process[0].isdecimal() and process[2].isdecimal()):
        return True
    try:
        os.kill(int(process[0]), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _backup_folder(path: str) -> str:
    return os.path.join(os.path.dirname(path), "backups")


def _backup_prefix(path: str) -> str:
    """The start of the names of a store's backups; several stores may share a folder."""
    return f"{os.path.basename(path).removesuffix('.db')}-"
