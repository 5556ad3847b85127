"""The tables of a team server in its SQLite file, as an append-only list of named migrations with digests.

They are apart from the tables of memories, because files of users never have them. A migration that has shipped is
never edited. The trigger on `activity` makes the audit row of a write part of its transaction.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Sequence
from typing import NamedTuple

from keepmum.core.errors import StoreError
from keepmum.stores.team import UNAUDITED
from keepmum.stores.transactions import transaction

__all__ = ["MIGRATIONS", "PREFIX", "applied", "check", "is_outdated", "migrate"]

PREFIX = "team_"  # of every table and trigger
_UNAUDITED = ", ".join(f"'{action}'" for action in UNAUDITED)


class Migration(NamedTuple):
    """One step, in a transaction of its own."""

    name: str
    statements: Sequence[str]

    @property
    def digest(self) -> str:
        """Shows that a migration that was applied is the one of this version."""
        return hashlib.sha256("\n".join(self.statements).encode()).hexdigest()


MIGRATIONS = (
    Migration(
        "m001_team",
        (
            """CREATE TABLE team_people (
                id TEXT PRIMARY KEY, name TEXT NOT NULL, roles TEXT NOT NULL, kind TEXT NOT NULL,
                created_at INTEGER NOT NULL, removed_at INTEGER
            ) STRICT""",
            "CREATE UNIQUE INDEX team_people_name ON team_people(name) WHERE removed_at IS NULL",
            """CREATE TABLE team_keys (
                id TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES team_people(id), name TEXT NOT NULL,
                digest BLOB NOT NULL, role TEXT NOT NULL, projects TEXT, agent TEXT NOT NULL,
                created_at INTEGER NOT NULL, expires_at INTEGER, used_at INTEGER, withdrawn_at INTEGER
            ) STRICT""",
            "CREATE INDEX team_keys_person ON team_keys(person)",
            """CREATE TABLE team_answers (
                principal TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, token TEXT NOT NULL,
                answer TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (principal, key)
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX team_answers_time ON team_answers(at)",
            """CREATE TABLE team_names (
                number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, salt BLOB, digest BLOB
            ) STRICT""",
            """CREATE TABLE team_audit (
                id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,
                actor INTEGER NOT NULL REFERENCES team_names(number), action TEXT NOT NULL, subject TEXT,
                project INTEGER REFERENCES team_names(number), number INTEGER UNIQUE, hash BLOB
            ) STRICT""",
            "CREATE INDEX team_audit_unsealed ON team_audit(id) WHERE number IS NULL",
            "CREATE INDEX team_audit_subject ON team_audit(subject) WHERE subject IS NOT NULL",
            """CREATE TABLE team_erasures (
                at INTEGER NOT NULL, kind TEXT NOT NULL, digest TEXT NOT NULL, receipt TEXT NOT NULL
            ) STRICT""",
            """CREATE VIEW team_entries AS SELECT NULL AS at, NULL AS actor, NULL AS action, NULL AS subject,
                NULL AS project WHERE FALSE""",
            f"""CREATE TRIGGER team_audited AFTER INSERT ON activity WHEN new.action NOT IN ({_UNAUDITED}) BEGIN
                INSERT INTO team_entries VALUES (new.at, new.agent, new.action, new.memory, new.project);
            END""",
            """CREATE TRIGGER team_appended INSTEAD OF INSERT ON team_entries BEGIN
                INSERT INTO team_names(name, salt) SELECT new.actor, randomblob(16)
                    WHERE NOT EXISTS (SELECT 1 FROM team_names WHERE name = new.actor);
                INSERT INTO team_names(name, salt) SELECT new.project, randomblob(16)
                    WHERE new.project IS NOT NULL AND NOT EXISTS (SELECT 1 FROM team_names WHERE name = new.project);
                INSERT INTO team_audit(at, actor, action, subject, project) VALUES (
                    new.at, (SELECT number FROM team_names WHERE name = new.actor), new.action, new.subject,
                    (SELECT number FROM team_names WHERE name = new.project)
                );
            END""",
            """CREATE TRIGGER team_audit_stays BEFORE DELETE ON team_audit BEGIN
                SELECT raise(ABORT, 'audit rows are not deleted');
            END""",
            """CREATE TRIGGER team_audit_sealed BEFORE UPDATE ON team_audit WHEN old.number IS NOT NULL BEGIN
                SELECT raise(ABORT, 'sealed audit rows are not changed');
            END""",
        ),
    ),
    Migration("m002_secret", ("CREATE TABLE team_secret (digest BLOB NOT NULL) STRICT",)),
    # Sessions are named by clients, so two projects may have one of the same name; neither learns of the other's keys.
    Migration(
        "m003_keys",
        (
            "DROP INDEX memories_key",
            """CREATE UNIQUE INDEX team_memories_key ON memories(space, key, coalesce(project, ''))
                WHERE key IS NOT NULL AND status = 'active'""",
        ),
    ),
    Migration(
        "m004_sessions",
        (
            """CREATE TABLE team_sessions (
                digest BLOB PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, roles TEXT NOT NULL,
                project TEXT NOT NULL, ends_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
    # See `team_ids`. The audit log names a memory as its project does.
    Migration(
        "m005_ids",
        (
            "CREATE TABLE team_ids (stored TEXT PRIMARY KEY, id TEXT NOT NULL, project TEXT NOT NULL) STRICT",
            "CREATE INDEX team_ids_id ON team_ids(id, project)",
            "DROP TRIGGER team_audited",
            f"""CREATE TRIGGER team_audited AFTER INSERT ON activity WHEN new.action NOT IN ({_UNAUDITED}) BEGIN
                INSERT INTO team_entries VALUES (
                    new.at, new.agent, new.action,
                    coalesce((SELECT id FROM team_ids WHERE stored = new.memory), new.memory), new.project
                );
            END""",
        ),
    ),
)


def migrate(db: sqlite3.Connection) -> None:
    """Apply missing migrations, each in a transaction; the caller holds the writer lock.

    Raises: StoreError when a migration that was applied is not the one of this version, or the file is newer.
    """
    db.execute(
        "CREATE TABLE IF NOT EXISTS team_migrations"
        " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
    )
    known = check(db)
    for number, step in enumerate(MIGRATIONS, start=1):
        if number > known:
            with transaction(db):
                for statement in step.statements:
                    db.execute(statement)
                db.execute(
                    "INSERT INTO team_migrations VALUES (?, ?, ?, ?)",
                    (number, step.name, step.digest, time.time_ns() // 1_000_000),
                )


def is_outdated(db: sqlite3.Connection) -> bool:
    """Whether the file has the team's tables, of an older version.

    Raises: StoreError as `migrate`.
    """
    return 0 < applied(db) < len(MIGRATIONS)


def applied(db: sqlite3.Connection) -> int:
    """The number of migrations that were applied; 0 for a file without the team's tables.

    Raises: StoreError as `migrate`.
    """
    known = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'team_migrations'").fetchone()
    return check(db) if known else 0


def check(db: sqlite3.Connection) -> int:
    """The number of migrations that were applied to a file that has any.

    Raises: StoreError as `migrate`.
    """
    rows = db.execute("SELECT name, digest FROM team_migrations ORDER BY number").fetchall()
    if len(rows) > len(MIGRATIONS):
        raise StoreError("the team's tables were made by a newer version of Keepmum; upgrade this one")
    for row, step in zip(rows, MIGRATIONS, strict=False):
        if tuple(row) != (step.name, step.digest):
            raise StoreError(f"the migration {row[0]} of the team's tables is not the one of this version of Keepmum")
    return len(rows)
