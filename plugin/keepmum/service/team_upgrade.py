"""Upgrades the tables of a team's memory: a backup first, then the steps that they lack, then a check.

It can be repeated when it was interrupted: each step is one transaction, and a backup has its name when it is complete.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from typing import Literal, NamedTuple

from keepmum.core import audit_chain
from keepmum.core.errors import SettingsError, StoreError
from keepmum.core.wording import counted
from keepmum.service import team_backup
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import PostgresSpec, QdrantSpec, SharedSpec, TeamSqliteSpec, open_shared
from keepmum.stores.sqlite import team_file

__all__ = ["Safety", "Upgraded", "backup_name", "upgrade"]

Safety = Literal["backup", "recent", "none"]  # make a backup, find one of the last day, or neither
_RECENT = 24 * 3600 * 1000  # milliseconds
_ROOM = 3  # times the size of the database: its copy, a copy to check that, and the archive
_OTHERWISE = "; `--without-backup` goes on without one"


class Upgraded(NamedTuple):
    """What an upgrade did."""

    steps: list[str]  # that were applied; none when the tables were of this version
    backup: str = ""  # the file with the state before; empty for none


def upgrade(spec: SharedSpec, owner: str, folder: str, safety: Safety) -> Upgraded:
    """Apply the steps that the tables lack, when the backup that `safety` asks for is in `folder`.

    `owner` is the address for the owner of PostgreSQL's tables. Servers of the version before may go on meanwhile on
    PostgreSQL; nothing else may have a SQLite file open.

    Raises: StoreError, SettingsError, OSError with what is missing; nothing was changed then, or only complete steps.
    """
    steps = _missing(spec)
    if not steps:
        return Upgraded([])
    if isinstance(spec, PostgresSpec) and not owner:
        raise SettingsError(
            "database.owner_url is missing: the address for keepmum_owner, who may change the tables. "
            f"{counted(len(steps), 'step')} to apply"
        )
    backup = _backup(spec, folder, safety)
    _apply(spec, owner)
    _check(spec)
    return Upgraded(steps, backup)


def backup_name() -> str:
    """The name of a backup that is made now; another one of the same second gets a number."""
    return time.strftime(f"keepmum-%Y%m%d-%H%M%S{team_backup.SUFFIX}", time.gmtime())


def _missing(spec: SharedSpec) -> list[str]:
    match spec:
        case TeamSqliteSpec() | QdrantSpec():
            return team_file.missing(spec.path)
        case PostgresSpec(dsn):
            from keepmum.stores import postgres

            return postgres.missing(dsn)


def _backup(spec: SharedSpec, folder: str, safety: Safety) -> str:
    """The path of a backup that is recent enough; empty when none is wanted.

    Raises: StoreError when there is none.
    """
    if safety == "none":
        return ""
    if safety == "backup":
        try:
            return _make_backup(spec, os.path.join(folder, backup_name()))
        except StoreError as error:
            problem = f"no backup could be made: {error}"
    else:
        problem = f"the tables lack a migration, and no backup younger than a day is in {folder}"
    found = team_backup.latest(folder)
    if found is None or time.time_ns() // 1_000_000 - found[1] > _RECENT:
        raise StoreError(
            f"{problem}. Nothing was changed. Run `keepmum serve backup` with the version that the server has now"
            f"{_OTHERWISE}"
        )
    return found[0]


def _make_backup(spec: SharedSpec, path: str) -> str:
    """Write a backup of tables that may be of an older version to `path` or a free name like it; returns its path.

    Raises: StoreError.
    """
    try:
        match spec:
            case TeamSqliteSpec() | QdrantSpec():  # the memories in Qdrant have no steps
                _refuse_full(path, team_file.size_of(spec.path))
                return team_backup.back_up_file(spec.path, path).path
            case PostgresSpec(dsn):
                from keepmum.stores import postgres

                _refuse_full(path, postgres.size_of(dsn))
                with contextlib.closing(open_shared(spec._replace(outdated=True))) as shared:
                    return team_backup.back_up(shared, path).path
    except OSError as error:
        raise StoreError(f"{error.filename or path}: {error.strerror}") from None


def _refuse_full(path: str, size: int) -> None:
    """Check that a backup of a database of `size` bytes fits.

    Raises: StoreError.
    """
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    if free < size * _ROOM:
        raise StoreError(
            f"the disk of {folder} has {free / 1e6:,.0f} MB free, and a backup of this database may need "
            f"{size * _ROOM / 1e6:,.0f} MB; make room there, or set `backups` to another folder"
        )


def _apply(spec: SharedSpec, owner: str) -> None:
    match spec:
        case TeamSqliteSpec() | QdrantSpec():
            open_shared(spec).close()  # opening applies them
        case PostgresSpec():
            from keepmum.stores import postgres

            postgres.migrate(owner)


def _check(spec: SharedSpec) -> None:
    """Check that the server can use the tables, and that the audit log is intact.

    Raises: StoreError.
    """
    with contextlib.closing(open_shared(spec)) as shared:
        store = shared.acting(Grant(ORGANISATION))
        store.changes()
        if not store.capabilities.writable:
            raise StoreError(store.capabilities.reason)
        verdict = audit_chain.verify(shared.records.chain())
    if verdict.problem:
        raise StoreError(f"the steps were applied; the audit log is damaged: {verdict.problem}")
