"""The ids that several projects of a team use, in the SQLite file of its memories.

The file and Qdrant have one set of ids for all projects. The first memory with an id is stored under it, one of another
project under a new id that nobody chose; this table says which project means which of them by the id. It is empty until
a client chooses an id of another project. A key of (project, id) instead would copy the whole table of each file, and
change what a shared-agent-memory server finds in Qdrant.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from keepmum.core import ids
from keepmum.core.memory import Change
from keepmum.stores.sqlite.database import Database

__all__ = ["SharedId", "TeamIds", "new_row"]


class SharedId(NamedTuple):
    """One of the memories of several projects with the same id."""

    stored: str  # the id under which it is stored
    id: str
    project: str  # "" for none


class TeamIds:
    """The table. One process uses the file, so what was read at the start stays right."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.lock = threading.RLock()  # held from the choice of an id until the memory is stored
        self.changes: Sequence[Change] = ()  # those that are being committed, as their author sees them
        self._added: Sequence[SharedId] = ()
        self._rows: dict[str, SharedId] = {}
        if database.query("SELECT 1 FROM sqlite_schema WHERE name = 'team_ids'", ()):  # not in an old file, only read
            self._keep(SharedId._make(row) for row in database.query("SELECT stored, id, project FROM team_ids", ()))

    def stored(self, projects: Iterable[str]) -> dict[str, str]:
        """What these projects mean by an id that others use too: the id under which the memory is stored.

        Without the ids that several of these projects use: those memories are known by the ids under which they are
        stored, which differ.
        """
        if not self._rows:
            return {}
        among = set(projects)
        known = [row for row in self._rows.values() if row.project in among]
        times = Counter(row.id for row in known)
        return {row.id: row.stored for row in known if times[row.id] == 1 and row.stored != row.id}

    def find(self, ident: str, project: str) -> SharedId | None:
        """The memory that a project means by an id that others use too."""
        return next((row for row in self._rows.values() if (row.id, row.project) == (ident, project)), None)

    def at(self, stored: str) -> SharedId | None:
        """The memory that is stored under this id, if its id is used by several projects."""
        return self._rows.get(stored)

    def uses(self, ident: str) -> bool:
        """Whether several projects use this id."""
        return ident in self._rows or any(row.id == ident for row in self._rows.values())

    @contextlib.contextmanager
    def committing(self, changes: Sequence[Change], added: Sequence[SharedId]) -> Iterator[None]:
        """Add rows in the transaction of the commit that the block makes, which calls `save`."""
        self.changes, self._added = changes, added
        try:
            yield
            self._keep(added)
        finally:
            self.changes, self._added = (), ()

    def save(self, db: sqlite3.Connection) -> None:
        """Write the rows that are being added."""
        if self._added:
            db.executemany("INSERT OR REPLACE INTO team_ids(stored, id, project) VALUES (?, ?, ?)", self._added)

    def forget(self, stored: Iterable[str]) -> None:
        """Remove the rows of memories that were erased, since a row names a project."""
        rows = [(each,) for each in stored if each in self._rows]
        if rows:
            with self._database.writing() as db:
                db.executemany("DELETE FROM team_ids WHERE stored = ?", rows)
            gone = {each for (each,) in rows}
            self._rows = {there: row for there, row in self._rows.items() if there not in gone}

    def _keep(self, rows: Iterable[SharedId]) -> None:
        self._rows = {**self._rows, **{row.stored: row for row in rows}}  # replaced: other threads read it


def new_row(ident: str, project: str) -> SharedId:
    """A row for another memory with an id that is in use."""
    return SharedId(ids.new_id(), ident, project)
