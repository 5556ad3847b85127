"""Backups of a team's memory: one file with the database, its digest, and the head of the audit log.

A backup is a zip archive with a SQLite database, whatever the engine of the server: it can be restored to either.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import struct
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

from keepmum.core import audit_chain, serialization, validation
from keepmum.core.errors import InvalidInput, StoreError
from keepmum.core.version import VERSION
from keepmum.service import audit
from keepmum.service.context import ServiceContext, ServiceOptions
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import SharedStore, TeamSqliteSpec, open_shared
from keepmum.stores.sqlite import team_file
from keepmum.stores.sqlite.team_file import replace as replace_database
from keepmum.stores.team import seal_all
from keepmum.stores.team_copy import Copied, copy_team, pages
from keepmum.stores.team_traces import TRACES
from keepmum.system import private_files

__all__ = [
    "SUFFIX",
    "Manifest",
    "Written",
    "back_up",
    "back_up_file",
    "copy",
    "latest",
    "opened",
    "redact",
    "replace_database",
]

_FORM = 1
_MANIFEST, _DATABASE, _SECRET = "manifest.json", "memory.db", "server.key"
_LARGEST_MANIFEST = _LARGEST_SECRET = 64 * 1024  # bytes
_LATEST = 253_402_300_800_000  # milliseconds since the epoch: the year 10000
_PART = 1024 * 1024  # bytes
SUFFIX = ".backup"  # of the names of backups
_NO_BACKUP = (
    zipfile.BadZipFile, zlib.error, struct.error, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip


class Manifest(NamedTuple):
    """What a backup says about itself."""

    form: int
    version: str  # of Keepmum
    at: int
    digest: str  # SHA-256 of the database
    size: int
    memories: int
    head: str  # of the audit log


class Written(NamedTuple):
    """A backup that was made."""

    path: str
    manifest: Manifest


def back_up(shared: SharedStore, path: str, secret_file: str | None = None) -> Written:
    """Write a backup to `path`, or with a number behind its name when that is taken; it replaces no file.

    The server's secret is in it if its file is named.

    Raises: StoreError, OSError.
    """
    seal_all(shared.records)
    return _pack(shared.copy_to, path, secret_file)


def back_up_file(database: str, path: str) -> Written:
    """As `back_up`, of a SQLite file that no server has open, without migrating it.

    Raises: StoreError, OSError.
    """
    return _pack(lambda target: team_file.copy_unchanged(database, target), path)


def latest(folder: str) -> tuple[str, int] | None:
    """The path of the latest backup in a folder, and when it was made; None for none that can be read."""
    found = []
    for path in glob.glob(os.path.join(glob.escape(folder), f"*{SUFFIX}")):
        with contextlib.suppress(OSError, InvalidInput, *_NO_BACKUP), zipfile.ZipFile(path) as archive:
            found.append((_manifest(archive).at, path))
    return max(found)[::-1] if found else None


def _pack(copy_to: Callable[[str], None], path: str, secret_file: str | None = None) -> Written:
    """Write a copy of a database, its manifest and the secret to `path`, or a free name like it."""
    folder = os.path.dirname(os.path.abspath(path))
    private_files.make_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".backup-") as work:
        database = os.path.join(work, _DATABASE)
        copy_to(database)
        memories, head = _checked(database)
        size, digest = os.path.getsize(database), _digest(database)
        manifest = Manifest(_FORM, VERSION, time.time_ns() // 1_000_000, digest, size, memories, str(head))
        packed = os.path.join(work, f"packed{SUFFIX}")
        with private_files.replacement(packed) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_MANIFEST, json.dumps(manifest._asdict(), indent=2))
            archive.write(database, _DATABASE)
            if secret_file is not None:
                archive.write(secret_file, _SECRET)
        name = next(name for name in _names(path) if private_files.rename_new(packed, name))
    return Written(name, manifest)


def _names(path: str) -> Iterator[str]:
    """This path, and then others like it: two processes may choose one name in the same second."""
    stem, suffix = os.path.splitext(path)
    yield path
    yield from (f"{stem}-{number}{suffix}" for number in itertools.count(2))


@contextlib.contextmanager
def opened(path: str, folder: str) -> Iterator[tuple[Manifest, str, bytes | None]]:
    """A backup's manifest, its database as a file in `folder`, and its secret; all of it checked.

    Raises: InvalidInput when it is not a backup, is damaged, or its audit log was changed; StoreError.
    """
    private_files.make_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".restore-") as work:
        database = os.path.join(work, _DATABASE)
        try:
            with zipfile.ZipFile(path) as archive:
                manifest = _manifest(archive)
                with _entry(archive, _DATABASE) as source, open(database, "xb") as target:
                    _copy(source, target, manifest.size)
                secret = _secret(archive)
        except _NO_BACKUP as error:
            raise InvalidInput("backup", f"is damaged, or is not a backup ({type(error).__name__})") from None
        if _digest(database) != manifest.digest:
            raise InvalidInput("backup", "is damaged: the database has another digest")
        memories, head = _checked(database, complete=True)
        if (memories, str(head)) != (manifest.memories, manifest.head):
            raise InvalidInput("backup", "is damaged: it has other memories, or another audit log, than it says")
        _end_sessions(database)
        yield manifest, database, secret


def _end_sessions(database: str) -> None:
    """Remove the sessions in a database file: who has signed out since the backup must not be signed in again."""
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'team_sessions'").fetchone():
            db.execute("DELETE FROM team_sessions")


def copy(source: SharedStore, target: SharedStore, report: Callable[[int], object] = lambda _: None) -> Copied:
    """Copy everything into another database, which has nothing else, and compare; run it again to resume.

    Raises: StoreError.
    """
    seal_all(source.records)
    return copy_team(source.side(), target.side(), report)


def redact(shared: SharedStore, scan: validation.Scan, actor: str) -> int:
    """Redact the secrets that the scanner finds in memories, their history and the log; returns how many had some.

    The rules may be newer than a backup, and a backup may hold what no server has checked.

    Raises: StoreError, ScannerFailed.
    """
    options = ServiceOptions(agent=actor, origin="server")
    context = ServiceContext.create(shared.acting(Grant(ORGANISATION)), scan, options)
    report = audit.audit_store(context)
    if report.places:
        audit.cleanse(context, report, purge=False)
    return len(report.memories)


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    with _entry(archive, _MANIFEST) as file:
        fields = json.loads(file.read(_LARGEST_MANIFEST))
    if not isinstance(fields, dict) or fields.get("form") != _FORM:
        raise InvalidInput("backup", "was made by a newer version of Keepmum; upgrade this one")
    try:
        manifest = Manifest(**fields)
    except TypeError:
        raise ValueError("fields") from None
    numbers = (manifest.form, manifest.at, manifest.size, manifest.memories)
    texts = (manifest.version, manifest.digest, manifest.head)
    if {*map(type, numbers)} != {int} or {*map(type, texts)} != {str} or not 0 <= manifest.at < _LATEST:
        raise ValueError("fields")
    return manifest


def _secret(archive: zipfile.ZipFile) -> bytes | None:
    """The server's secret as its file was; None without one.

    Raises: ValueError.
    """
    if _SECRET not in archive.namelist():
        return None
    with _entry(archive, _SECRET) as file:
        secret = file.read(_LARGEST_SECRET + 1)
    if len(secret) > _LARGEST_SECRET:
        raise ValueError("secret")
    return secret


def _entry(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """An entry to be read; backups have no other compression, whose errors are of many types.

    Raises: KeyError, ValueError.
    """
    if archive.getinfo(name).compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("compression")
    return archive.open(name)


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    """Copy exactly this number of bytes.

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


def _checked(database: str, *, complete: bool = False) -> tuple[int, audit_chain.Head]:
    """The number of memories in a database file and the head of its audit log; the file stays as it is.

    With `complete`, also the tables are compared with ours, and everything is read.

    Raises: InvalidInput when it is damaged, StoreError when it is of a newer version.
    """
    with tempfile.TemporaryDirectory(dir=os.path.dirname(database)) as work:
        copy = os.path.join(work, _DATABASE)
        shutil.copyfile(database, copy)
        with contextlib.closing(sqlite3.connect(copy)) as db:
            try:
                sound = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
                (memories,) = db.execute("SELECT count(*) FROM memories").fetchone()
            except (sqlite3.DatabaseError, UnicodeDecodeError):  # SQLite quotes a damaged schema
                raise InvalidInput("backup", "is damaged: its database cannot be read") from None
        if not sound:
            raise InvalidInput("backup", "is damaged: its database cannot be read")
        with contextlib.closing(open_shared(TeamSqliteSpec(copy))) as shared:
            store = shared.acting(Grant(ORGANISATION))
            if not store.capabilities.writable:
                raise StoreError(store.capabilities.reason)
            if complete and (names := team_file.differing(copy)):
                raise InvalidInput("backup", f"has other tables or triggers than Keepmum makes: {', '.join(names)}")
            verdict = audit_chain.verify(shared.records.chain())
            if verdict.problem:
                raise InvalidInput("backup", f"has an audit log that was changed: {verdict.problem}")
            if complete:
                _read(shared)
    return memories, verdict.head


def _read(shared: SharedStore) -> None:
    """Read everything once, so that a restored database does not fail when somebody asks for it.

    Raises: InvalidInput.
    """
    side = shared.side()
    try:
        people, keys = side.records.people(), side.records.keys()
        names = [field for each in (*people, *keys) for field in each if isinstance(field, str)]
        projects = [project for person in people for project in person.roles]
        side.records.erasures()
        for project in side.projects():
            store = side.of(project)
            for memory in itertools.chain.from_iterable(pages(store)):
                serialization.to_json(memory)
                store.history(memory.id)
        for trace in TRACES:
            for _ in side.records.traces.rows(trace):
                pass
    except (StoreError, ValueError, TypeError, KeyError, AttributeError):
        raise InvalidInput("backup", "is damaged: a row of its database cannot be read") from None
    has_roles = all(isinstance(person.roles, dict) for person in people)
    if not (has_roles and all(map(str.isprintable, [*names, *projects]))):  # escape sequences reach who lists them
        raise InvalidInput("backup", "is damaged: a row of its database cannot be read")
