"""Backups of a team's memory: one file with the database, its digest, and the head of the audit log.

A backup is a zip archive with a SQLite database, whatever the engine of the server: it can be restored to either.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

from keepmum.core import audit_chain
from keepmum.core.errors import InvalidInput, StoreError
from keepmum.core.version import VERSION
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import SharedStore, TeamSqliteSpec, open_shared
from keepmum.stores.team_copy import Copied, copy_team
from keepmum.system import private_files

__all__ = ["Manifest", "back_up", "copy", "opened", "replace_database"]

_FORM = 1
_MANIFEST, _DATABASE, _SECRET = "manifest.json", "memory.db", "server.key"
_LARGEST_MANIFEST = 64 * 1024  # bytes
_PART = 1024 * 1024  # bytes
_BEFORE = ".before-restore"  # suffix of the database that a restore replaced


class Manifest(NamedTuple):
    """What a backup says about itself."""

    form: int
    version: str  # of Keepmum
    at: int
    digest: str  # SHA-256 of the database
    size: int
    memories: int
    head: str  # of the audit log


def back_up(shared: SharedStore, path: str, secret_file: str | None = None) -> Manifest:
    """Write a backup to `path`, with the server's secret if its file is named.

    Raises: StoreError, OSError.
    """
    shared.records.seal()
    folder = os.path.dirname(os.path.abspath(path))
    private_files.make_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".backup-") as work:
        database = os.path.join(work, _DATABASE)
        shared.copy_to(database)
        memories, head = _checked(database)
        size, digest = os.path.getsize(database), _digest(database)
        manifest = Manifest(_FORM, VERSION, time.time_ns() // 1_000_000, digest, size, memories, str(head))
        with private_files.replacement(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_MANIFEST, json.dumps(manifest._asdict(), indent=2))
            archive.write(database, _DATABASE)
            if secret_file is not None:
                archive.write(secret_file, _SECRET)
    return manifest


@contextlib.contextmanager
def opened(path: str, folder: str) -> Iterator[tuple[Manifest, str, bytes | None]]:
    """A backup's manifest, its database as a file in `folder`, and its secret; all of it checked.

    Raises: InvalidInput when it is no backup, is damaged, or its audit log was changed; StoreError.
    """
    private_files.make_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".restore-") as work:
        database = os.path.join(work, _DATABASE)
        try:
            with zipfile.ZipFile(path) as archive:
                manifest = _manifest(archive)
                with archive.open(_DATABASE) as source, open(database, "xb") as target:
                    _copy(source, target, manifest.size)
                secret = archive.read(_SECRET) if _SECRET in archive.namelist() else None
        except (zipfile.BadZipFile, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
            raise InvalidInput("backup", f"is damaged, or is no backup ({type(error).__name__})") from None
        if _digest(database) != manifest.digest:
            raise InvalidInput("backup", "is damaged: the database has another digest")
        memories, head = _checked(database)
        if (memories, str(head)) != (manifest.memories, manifest.head):
            raise InvalidInput("backup", "is damaged: it has other memories, or another audit log, than it says")
        yield manifest, database, secret


def copy(source: SharedStore, target: SharedStore, report: Callable[[int], object] = lambda _: None) -> Copied:
    """Copy everything into another database, which has nothing else, and compare; run it again to resume.

    Raises: StoreError.
    """
    whole = Grant(ORGANISATION)
    source.records.seal()
    sides = [(shared.acting(whole), shared.records) for shared in (source, target)]
    return copy_team(sides[0], sides[1], report)


def replace_database(database: str, path: str) -> str:
    """Put a database in the place of the one at `path`, which is kept; returns where, or an empty text.

    Nothing may have either of them open.

    Raises: OSError.
    """
    private_files.make_folder(os.path.dirname(path))
    kept = ""
    if os.path.exists(path):
        kept = path + _BEFORE
        shutil.copyfile(path, kept)
        os.chmod(kept, 0o600)
    for suffix in ("-wal", "-shm", ".lock"):  # of the former file; the lock has the number of its last write
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)
    shutil.rmtree(os.path.join(os.path.dirname(path), "cache"), ignore_errors=True)  # vectors of the former file
    os.replace(database, path)
    return kept


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    with archive.open(_MANIFEST) as file:
        fields = json.loads(file.read(_LARGEST_MANIFEST))
    if not isinstance(fields, dict) or fields.get("form") != _FORM:
        raise InvalidInput("backup", "was made by a newer version of Keepmum; upgrade this one")
    try:
        return Manifest(**fields)
    except TypeError:
        raise ValueError("fields") from None


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    """Copy exactly so many bytes.

    Raises: ValueError.
    """
    while part := source.read(_PART):
        size -= len(part)
        if size < 0:
            raise ValueError("size")
        target.write(part)
    if size:
        raise ValueError("size")


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(database: str) -> tuple[int, audit_chain.Head]:
    """The number of memories in a database file and the head of its audit log; the file stays as it is.

    Raises: InvalidInput when it is damaged, StoreError when it is of a newer version.
    """
    with tempfile.TemporaryDirectory(dir=os.path.dirname(database)) as work:
        copy = os.path.join(work, _DATABASE)
        shutil.copyfile(database, copy)
        with contextlib.closing(sqlite3.connect(copy)) as db:
            try:
                sound = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
                (memories,) = db.execute("SELECT count(*) FROM memories").fetchone()
            except sqlite3.DatabaseError:
                raise InvalidInput("backup", "is damaged: its database cannot be read") from None
        if not sound:
            raise InvalidInput("backup", "is damaged: its database cannot be read")
        with contextlib.closing(open_shared(TeamSqliteSpec(copy))) as shared:
            store = shared.acting(Grant(ORGANISATION))
            if not store.capabilities.writable:
                raise StoreError(store.capabilities.reason)
            verdict = audit_chain.verify(shared.records.chain())
            if verdict.problem:
                raise InvalidInput("backup", f"has an audit log that was changed: {verdict.problem}")
    return memories, verdict.head
