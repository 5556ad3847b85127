"""A team's SQLite file as a whole, while no server has it open: what it lacks, a copy as it is, and its replacement."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3

from keepmum.core.errors import StoreError
from keepmum.stores.sqlite import files, schema, team_schema
from keepmum.stores.sqlite.connecting import connect
from keepmum.stores.sqlite.database import REPAIRED
from keepmum.stores.sqlite.errors import FAILURES, store_error
from keepmum.system import private_files

__all__ = ["copy_unchanged", "differing", "missing", "replace", "size_of"]

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


def differing(path: str) -> list[str]:
    """The names of tables, indexes, views and triggers that a file of this version lacks or has otherwise.

    Also views and triggers of others: they would run with what the server does. Further tables do nothing.
    """
    with contextlib.closing(connect(":memory:")) as db:
        schema.migrate(db)
        team_schema.migrate(db)
        ours = _statements(db)
    with contextlib.closing(connect(files.read_only_uri(path), uri=True)) as db:
        found = _statements(db)
    others = {name for name, (kind, _) in found.items() if kind in {"view", "trigger"}} - set(ours)
    return sorted(others | {name for name, made in ours.items() if found.get(name) != made})


def _statements(db: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Kind and statement of each table, index, view and trigger; the parts of the index of words are SQLite's."""
    rows = db.execute(
        "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        " AND NOT (type = 'table' AND name GLOB 'words_*')"
    )
    return {name: (kind, sql) for name, kind, sql in rows}


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
