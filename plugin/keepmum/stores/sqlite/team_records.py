"""The records of a team in the SQLite file of its memories (see `keepmum.stores.team` for what each method returns)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from keepmum.core.audit_chain import EMPTY, ERASED, Head, Link, Name, Pending, Sealed, link, name_digest
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change
from keepmum.stores.base import StaleWrite
from keepmum.stores.sqlite import team_schema
from keepmum.stores.sqlite.database import Database
from keepmum.stores.sqlite.team_traces import SqliteTraces
from keepmum.stores.team import (
    EVERY_ROW,
    Answer,
    AuditFilter,
    AuditRow,
    Claim,
    Entry,
    Erasure,
    Key,
    PeopleCheck,
    Person,
    Repeated,
    Session,
    Unsealed,
    claimed,
    entry_of,
    kept_answer,
    names_of,
)
from keepmum.stores.team_rows import (
    KEYS,
    PEOPLE,
    SESSIONS,
    key_of,
    key_row,
    person_of,
    person_row,
    session_of,
    session_row,
)

__all__ = ["SqliteTeamRecords", "save_claim"]

_PEOPLE = ", ".join(PEOPLE)
_KEYS = ", ".join(KEYS)
_SESSIONS = ", ".join(SESSIONS)
_NOTE = "INSERT INTO team_entries VALUES (?, ?, ?, ?, ?)"
_SEALED = (
    "SELECT a.number, a.at, a.action, a.subject, a.hash, x.number, x.name, x.salt, x.digest,"
    " p.number, p.name, p.salt, p.digest FROM team_audit a JOIN team_names x ON x.number = a.actor"
    " LEFT JOIN team_names p ON p.number = a.project WHERE a.number > ? ORDER BY a.number LIMIT ?"
)
_UNSEALED = (
    "SELECT a.id, a.at, x.digest, a.action, a.subject, p.digest FROM team_audit a"
    " JOIN team_names x ON x.number = a.actor LEFT JOIN team_names p ON p.number = a.project"
    " WHERE a.number IS NULL ORDER BY a.id LIMIT ?"
)
_PENDING = (
    "SELECT a.at, a.action, a.subject, x.number, x.name, x.salt, x.digest, p.number, p.name, p.salt, p.digest"
    " FROM team_audit a JOIN team_names x ON x.number = a.actor LEFT JOIN team_names p ON p.number = a.project"
    " WHERE a.number IS NULL ORDER BY a.id"
)
_LAST = "SELECT number, hash FROM team_audit WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1"
_AT_ONCE = 1_000  # rows of the chain in memory


class SqliteTeamRecords:
    """`TeamRecords` of a server with one SQLite file."""

    def __init__(self, database: Database) -> None:
        """Create the tables in a file that lacks them, or bring them to this version after a backup.

        Raises: StoreError.
        """
        self._database = database
        self.traces = SqliteTraces(database)
        if database.capabilities.writable:
            with database.using("open", alone=True) as db:
                if team_schema.is_outdated(db):
                    database.back_up()
                team_schema.migrate(db)

    # -- people and keys

    def people(self) -> list[Person]:
        return list(map(person_of, self._query(f"SELECT {_PEOPLE} FROM team_people ORDER BY name, created_at")))

    def person(self, ident: str) -> Person | None:
        found = self._query(f"SELECT {_PEOPLE} FROM team_people WHERE id = ?", ident)
        return person_of(found[0]) if found else None

    def add_person(self, person: Person, entry: Entry) -> None:
        with self._database.writing() as db:
            same = "SELECT 1 FROM team_people WHERE id = ? OR (name = ? AND removed_at IS NULL)"
            if db.execute(same, person[:2]).fetchone():
                raise InvalidInput("name", f"{person.name} is taken")
            db.execute(f"INSERT INTO team_people({_PEOPLE}) VALUES ({_marks(PEOPLE)})", person_row(person))
            db.execute(_NOTE, entry)

    def change_person(
        self, person: str, change: Callable[[Person], Person], entry: Entry, check: PeopleCheck | None = None
    ) -> Person | None:
        with self._database.writing() as db:
            if check is not None:
                check(list(map(person_of, db.execute(f"SELECT {_PEOPLE} FROM team_people"))))
            found = db.execute(f"SELECT {_PEOPLE} FROM team_people WHERE id = ?", (person,)).fetchone()
            if found is None:
                return None
            changed = change(person_of(found))
            db.execute(f"UPDATE team_people SET {_sets(PEOPLE)} WHERE id = ?", [*person_row(changed), person])
            db.execute(_NOTE, entry)
        return changed

    def secret_digest(self, digest: bytes | None) -> bytes | None:
        found = self._query("SELECT digest FROM team_secret")
        if not found and digest is not None:
            with self._database.writing() as db:
                db.execute("INSERT INTO team_secret SELECT ? WHERE NOT EXISTS (SELECT 1 FROM team_secret)", (digest,))
            found = self._query("SELECT digest FROM team_secret")
        return found[0][0] if found else None

    def keys(self, person: str | None = None) -> list[Key]:
        tail = "WHERE ?1 IS NULL OR person = ?1 ORDER BY created_at, id"
        return list(map(key_of, self._query(f"SELECT {_KEYS} FROM team_keys {tail}", person)))

    def find_key(self, key: str) -> tuple[Key, Person] | None:
        fields = ", ".join([*(f"k.{name}" for name in KEYS), *(f"p.{name}" for name in PEOPLE)])
        found = self._query(
            f"SELECT {fields} FROM team_keys k JOIN team_people p ON p.id = k.person WHERE k.id = ?", key
        )
        return (key_of(found[0][: len(KEYS)]), person_of(found[0][len(KEYS) :])) if found else None

    def add_key(self, key: Key, entry: Entry) -> None:
        with self._database.writing() as db:
            db.execute(f"INSERT INTO team_keys({_KEYS}) VALUES ({_marks(KEYS)})", key_row(key))
            db.execute(_NOTE, entry)

    def change_key(self, key: str, change: Callable[[Key], Key], entry: Entry) -> Key | None:
        with self._database.writing() as db:
            found = db.execute(f"SELECT {_KEYS} FROM team_keys WHERE id = ?", (key,)).fetchone()
            if found is None:
                return None
            changed = change(key_of(found))
            db.execute(f"UPDATE team_keys SET {_sets(KEYS)} WHERE id = ?", [*key_row(changed), key])
            db.execute(_NOTE, entry)
        return changed

    def note_use(self, times: Mapping[str, int]) -> None:
        with self._database.writing() as db:
            db.executemany("UPDATE team_keys SET used_at = ? WHERE id = ?", [(at, key) for key, at in times.items()])

    # -- sessions of the dashboard

    def add_session(self, session: Session, most: int, now: int) -> None:
        with self._database.writing() as db:
            db.execute(
                "DELETE FROM team_sessions WHERE ends_at <= ?1 OR (key = ?2 AND digest NOT IN"
                " (SELECT digest FROM team_sessions WHERE key = ?2 ORDER BY ends_at DESC LIMIT ?3))",
                (now, session.key, most - 1),
            )
            db.execute(f"INSERT INTO team_sessions({_SESSIONS}) VALUES ({_marks(SESSIONS)})", session_row(session))

    def session(self, digest: bytes, now: int) -> Session | None:
        sql = f"SELECT {_SESSIONS} FROM team_sessions WHERE digest = ? AND ends_at > ?"
        found = self._query(sql, digest, now)
        return session_of(found[0]) if found else None

    def show_project(self, digest: bytes, project: str) -> None:
        with self._database.writing() as db:
            db.execute("UPDATE team_sessions SET project = ? WHERE digest = ?", (project, digest))

    def end_session(self, digest: bytes) -> None:
        with self._database.writing() as db:
            db.execute("DELETE FROM team_sessions WHERE digest = ?", (digest,))

    def end_sessions(self, person: str) -> None:
        with self._database.writing() as db:
            db.execute("DELETE FROM team_sessions WHERE person = ?", (person,))

    # -- the audit log

    def note(self, entry: Entry) -> None:
        with self._database.writing() as db:
            db.execute(_NOTE, entry)

    def seal(self, most: int = 5_000) -> Head:
        if not self._query("SELECT 1 FROM team_audit WHERE number IS NULL LIMIT 1"):
            return _head(self._query(_LAST))
        with self._database.writing() as db:
            _digest_names(db)
            head, sealed = _head(db.execute(_LAST).fetchall()), []
            for row, *fields in db.execute(_UNSEALED, (most,)):
                head = link(head, Link(*fields))
                sealed.append((*head, row))
            db.executemany("UPDATE team_audit SET number = ?, hash = ? WHERE id = ?", sealed)
        return head

    def unsealed(self) -> Unsealed:
        return Unsealed(*self._query("SELECT count(*), min(at) FROM team_audit WHERE number IS NULL")[0])

    def pending(self) -> list[Pending]:
        if not self._query("SELECT 1 FROM team_audit WHERE number IS NULL LIMIT 1"):
            return []
        with self._database.writing() as db:
            _digest_names(db)
        return [
            Pending(at, Name(*names[:4]), action, subject, None if names[4] is None else Name(*names[4:]))
            for at, action, subject, *names in self._query(_PENDING)
        ]

    def chain(self, after: int = 0) -> Iterator[Sealed]:
        while found := self._query(_SEALED, after, _AT_ONCE):
            for number, at, action, subject, digest, *names in found:
                project = None if names[4] is None else Name(*names[4:])
                yield Sealed(number, at, Name(*names[:4]), action, subject, project, digest)
            after = found[-1][0]

    def audit(
        self,
        after: int = 0,
        limit: int = 100,
        *,
        projects: Iterable[str] | None = None,
        wanted: AuditFilter = EVERY_ROW,
        before: int | None = None,
    ) -> list[AuditRow]:
        found = self._query(
            "SELECT a.number, a.at, x.name, a.action, a.subject, p.name FROM team_audit a"
            " JOIN team_names x ON x.number = a.actor LEFT JOIN team_names p ON p.number = a.project"
            " WHERE a.number > ?1 AND (?2 IS NULL OR a.number < ?2) AND (?3 IS NULL OR a.subject = ?3)"
            " AND (?4 IS NULL OR x.name = ?4) AND (?5 IS NULL OR a.action = ?5)"
            " AND (?6 IS NULL OR coalesce(p.name, '') IN (SELECT value FROM json_each(?6)))"
            f" ORDER BY a.number {'' if before is None else 'DESC'} LIMIT ?7",
            after, before, *wanted, None if projects is None else json.dumps(sorted(projects)), limit,
        )  # fmt: skip
        return list(map(AuditRow._make, found))

    # -- answers to repeated requests

    def answer(self, claim: Claim) -> Answer | None:
        found = self._query(
            "SELECT digest, answer, at FROM team_answers WHERE principal = ? AND key = ?", claim.principal, claim.key
        )
        return kept_answer(claim, *found[0]) if found else None

    def forget_answers(self, before: int) -> int:
        if not self._query("SELECT 1 FROM team_answers WHERE at < ? LIMIT 1", before):
            return 0
        with self._database.writing() as db:
            return db.execute("DELETE FROM team_answers WHERE at < ?", (before,)).rowcount

    # -- erasure

    def erase_names(self, names: Sequence[str], entry: Entry) -> dict[str, str]:
        pseudonyms = {}
        with self._database.writing() as db:
            _digest_names(db)
            for name in names:
                found = db.execute("SELECT number FROM team_names WHERE name = ?", (name,)).fetchone()
                if found is not None:
                    pseudonyms[name] = f"{ERASED}{found[0]}"
                    db.execute(
                        "UPDATE team_names SET name = ?, salt = NULL WHERE number = ?", (pseudonyms[name], found[0])
                    )
            db.execute(_NOTE, entry)
        return pseudonyms

    def erase_person(self, person: str) -> None:
        with self._database.writing() as db:
            db.execute("UPDATE team_people SET name = ? || id WHERE id = ?", (ERASED, person))
            db.execute("UPDATE team_keys SET name = '', agent = '' WHERE person = ?", (person,))
            db.execute("DELETE FROM team_answers WHERE principal = ?", (person,))
            db.execute("DELETE FROM team_sessions WHERE person = ?", (person,))

    def erasures(self) -> list[Erasure]:
        found = self._query("SELECT at, kind, digest, receipt FROM team_erasures ORDER BY at")
        return [Erasure(at, kind, digest, json.loads(receipt)) for at, kind, digest, receipt in found]

    def add_erasure(self, erasure: Erasure) -> None:
        with self._database.writing() as db:
            row = (*erasure[:3], json.dumps(erasure.receipt))
            db.execute("INSERT INTO team_erasures VALUES (?, ?, ?, ?)", row)

    # -- taking over another database

    def adopt_people(self, people: Sequence[Person], keys: Sequence[Key], erasures: Sequence[Erasure]) -> None:
        known = {(each.at, each.digest) for each in self.erasures()}
        with self._database.writing() as db:
            for table, names, rows in (("people", PEOPLE, map(person_row, people)), ("keys", KEYS, map(key_row, keys))):
                db.executemany(
                    f"INSERT OR IGNORE INTO team_{table}({', '.join(names)}) VALUES ({_marks(names)})", list(rows)
                )
            db.executemany(
                "INSERT INTO team_erasures VALUES (?, ?, ?, ?)",
                [
                    (*erasure[:3], json.dumps(dict(erasure.receipt)))
                    for erasure in erasures
                    if (erasure.at, erasure.digest) not in known
                ],
            )

    def adopt_audit(self, rows: Sequence[Sealed]) -> None:
        with self._database.writing() as db:
            _adopt_names(db, names_of(rows))
            head = _head(db.execute(_LAST).fetchall())
            for row in rows:
                project = None if row.project is None else row.project
                digest = None if project is None else project.digest
                head = link(head, Link(row.at, row.actor.digest, row.action, row.subject, digest))
                if head != (row.number, row.hash):
                    raise StaleWrite("the row does not continue the audit log")
                db.execute(
                    "INSERT INTO team_audit(at, actor, action, subject, project, number, hash)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (row.at, row.actor.number, row.action, row.subject, project and project.number, *head),
                )

    def adopt_pending(self, rows: Sequence[Pending]) -> None:
        with self._database.writing() as db:
            _adopt_names(db, names_of(rows))
            db.executemany(_NOTE, [entry_of(row) for row in rows])

    def _query(self, sql: str, *parameters: str | int | bytes | None) -> list[sqlite3.Row]:
        return self._database.query(sql, parameters)


def save_claim(db: sqlite3.Connection, changes: Sequence[Change]) -> None:
    """Keep the answer of the request that makes these changes, in their transaction.

    Raises: Repeated when another request with the same key was first.
    """
    found = claimed(changes)
    if found is not None:
        _save_answer(db, *found)


def _save_answer(db: sqlite3.Connection, claim: Claim, answer: str) -> None:
    saved = db.execute(
        "INSERT INTO team_answers(principal, key, digest, token, answer, at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (principal, key) DO UPDATE SET answer = excluded.answer WHERE token = excluded.token",
        (claim.principal, claim.key, claim.digest, claim.token, answer, claim.at),
    )
    if saved.rowcount != 1:
        raise Repeated


def _adopt_names(db: sqlite3.Connection, names: Iterable[Name]) -> None:
    """Add names of another audit log, under their numbers.

    Raises: StaleWrite when another name has one of these numbers.
    """
    for name in names:
        known = db.execute("SELECT name, digest FROM team_names WHERE number = ?", (name.number,)).fetchone()
        if known is None:
            db.execute("INSERT INTO team_names(number, name, salt, digest) VALUES (?, ?, ?, ?)", name)
        elif tuple(known) != (name.name, name.digest):
            raise StaleWrite("another name has this number")


def _digest_names(db: sqlite3.Connection) -> None:
    """Add the digests of new names; a trigger cannot compute them."""
    for number, name, salt in db.execute("SELECT number, name, salt FROM team_names WHERE digest IS NULL").fetchall():
        db.execute("UPDATE team_names SET digest = ? WHERE number = ?", (name_digest(salt, name), number))


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))


def _sets(names: Sequence[str]) -> str:
    return ", ".join(f"{name} = ?" for name in names)


def _head(found: Sequence[sqlite3.Row]) -> Head:
    return Head(*found[0]) if found else EMPTY
