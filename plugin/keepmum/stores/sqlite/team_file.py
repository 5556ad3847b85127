"""A team's SQLite file as a whole, while no server has it open: what it lacks, a copy as it is, and its replacement."""

from __future__ import annotations

import contextlib
import os
import shutil

from keepmum.core.errors import StoreError
from keepmum.stores.sqlite import files, schema, team_schema
from keepmum.stores.sqlite.connecting import connect
from keepmum.stores.sqlite.database import REPAIRED
from keepmum.stores.sqlite.errors import FAILURES, store_error
from keepmum.system import private_files

__all__ = ["copy_unchanged", "missing", "replace", "size_of"]

_BEFORE = ".before-restore-"  # with the time: suffix of a database that was replaced


def missing(path: str) -> list[str]:
    """The names of the migrations that the file lacks; none for a file that is not there.

    Raises: StoreError when it is of a newer version, or cannot be read.
    """
    if not files.size_of(path):
        return []
    try:
        with contextlib.closing(connect(files.read_only_uri(path), uri=True)) as db:
            version, known = schema.version_of(db), team_schema.applied(db)
    except FAILURES as error:
        raise store_error(error, "open") from error
    if version > len(schema.MIGRATIONS):
        raise StoreError(f"{path} was written by a newer version of Keepmum; upgrade this one")
    steps = [step.__name__ for step in schema.MIGRATIONS[version:]]
    return steps + [step.name for step in team_schema.MIGRATIONS[known:]]


def copy_unchanged(path: str, target: str) -> None:
    """Copy the database into a new file without migrating either.

    Raises: StoreError.
    """
    try:
        with (
            contextlib.closing(connect(files.read_only_uri(path), uri=True)) as db,
            contextlib.closing(connect(target)) as copy,
        ):
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file has everything
    except FAILURES as error:
        raise store_error(error, "copy") from error


def size_of(path: str) -> int:
    """Bytes of the file and its WAL."""
    return files.size_of(path) + files.size_of(path + "-wal")


def replace(database: str, path: str) -> str:
    """Put a database in the place of the one at `path`, which is kept with its WAL; returns where, or an empty text.

    Its daily backups are kept too, where no later repair finds them: it would bring back what they have. What earlier
    replacements kept stays. Nothing may have either database open. Killed at any point, `path` is the
    former database or the new one when it is opened again, and a repetition completes the replacement.

    Raises: OSError.
    """
    private_files.make_folder(os.path.dirname(path))
    with contextlib.suppress(FileNotFoundError):  # of the former file: it has the number of its last write
        os.unlink(path + ".lock")
    shutil.rmtree(os.path.join(os.path.dirname(path), "cache"), ignore_errors=True)  # vectors of the former file
    os.replace(database, path + REPAIRED)  # an opening puts it in the place of a file that is missing
    kept = files.aside_name(path, _BEFORE)
    for backup in files.backups(path):
        os.replace(backup, backup + kept.removeprefix(path))
    was_there = files.set_aside(path, kept)
    os.replace(path + REPAIRED, path)
    return kept if was_there else ""
