"""The records of a team in PostgreSQL (see `keepmum.stores.team` for what each method returns)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from keepmum.core.audit_chain import EMPTY, ERASED, Head, Name, Pending, Sealed
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change
from keepmum.stores.postgres.access import Database, Pool
from keepmum.stores.postgres.team_traces import PostgresTraces
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

__all__ = ["PostgresTeamRecords", "save_claim"]

_NOTE = "SELECT append_audit(%s, %s, %s, %s, %s)"
_CHAIN = (
    "SELECT a.number, a.at, a.action, a.subject, a.hash, x.number, x.name, x.salt, x.digest,"
    " p.number, p.name, p.salt, p.digest FROM audit a"
    " JOIN names x ON x.organisation = a.organisation AND x.number = a.actor"
    " LEFT JOIN names p ON p.organisation = a.organisation AND p.number = a.project"
)
_PENDING = (
    "SELECT a.at, a.action, a.subject, x.number, x.name, x.salt, x.digest, p.number, p.name, p.salt, p.digest"
    " FROM audit a JOIN names x ON x.organisation = a.organisation AND x.number = a.actor"
    " LEFT JOIN names p ON p.organisation = a.organisation AND p.number = a.project"
    " WHERE a.number IS NULL ORDER BY a.id"
)
_AT_ONCE = 1_000  # rows of the chain in memory
_CHECKED_LOCK = 3  # of an organisation, for checked changes of people; 1 and 2 are those of the schema


class PostgresTeamRecords:
    """`TeamRecords` of one organisation."""

    def __init__(self, pool: Pool, organisation: int) -> None:
        self._pool = pool
        self._organisation = organisation
        self.traces = PostgresTraces(pool, organisation)

    # -- people and keys

    def people(self) -> list[Person]:
        with self._acting() as db:
            found = db.query(f"SELECT {_listed(PEOPLE)} FROM people ORDER BY name, created_at")
        return list(map(person_of, found))

    def person(self, ident: str) -> Person | None:
        with self._acting() as db:
            found = db.query(f"SELECT {_listed(PEOPLE)} FROM people WHERE id = %s", ident)
        return person_of(found[0]) if found else None

    def add_person(self, person: Person, entry: Entry) -> None:
        with self._acting() as db:
            added = db.run(
                f"INSERT INTO people(organisation, {_listed(PEOPLE)}) VALUES ({_marks(len(PEOPLE) + 1)})"
                " ON CONFLICT DO NOTHING",
                self._organisation, *person_row(person),
            )  # fmt: skip
            if not added:
                raise InvalidInput("name", f"{person.name} is taken")
            db.run(_NOTE, *entry)

    def change_person(
        self, person: str, change: Callable[[Person], Person], entry: Entry, check: PeopleCheck | None = None
    ) -> Person | None:
        with self._acting() as db:
            if check is not None:
                db.run("SELECT pg_advisory_xact_lock(%s, %s)", self._organisation, _CHECKED_LOCK)
                check(list(map(person_of, db.query(f"SELECT {_listed(PEOPLE)} FROM people"))))
            found = db.query(f"SELECT {_listed(PEOPLE)} FROM people WHERE id = %s FOR UPDATE", person)
            if not found:
                return None
            changed = change(person_of(found[0]))
            db.run(f"UPDATE people SET {_sets(PEOPLE)} WHERE id = %s", *person_row(changed), person)
            db.run(_NOTE, *entry)
        return changed

    def secret_digest(self, digest: bytes | None) -> bytes | None:
        with self._acting() as db:
            if digest is not None:
                db.run("INSERT INTO secrets VALUES (%s, %s) ON CONFLICT DO NOTHING", self._organisation, digest)
            found = db.query("SELECT digest FROM secrets")
        return found[0][0] if found else None

    def keys(self, person: str | None = None) -> list[Key]:
        tail = "WHERE %s::text IS NULL OR person = %s ORDER BY created_at, id"
        with self._acting() as db:
            return list(map(key_of, db.query(f"SELECT {_listed(KEYS)} FROM keys {tail}", person, person)))

    def find_key(self, key: str) -> tuple[Key, Person] | None:
        with self._acting() as db:
            found = db.query(
                f"SELECT {_listed(KEYS, 'k.')}, {_listed(PEOPLE, 'p.')} FROM keys k"
                " JOIN people p ON p.organisation = k.organisation AND p.id = k.person WHERE k.id = %s",
                key,
            )
        return (key_of(found[0][: len(KEYS)]), person_of(found[0][len(KEYS) :])) if found else None

    def add_key(self, key: Key, entry: Entry) -> None:
        with self._acting() as db:
            db.run(
                f"INSERT INTO keys(organisation, {_listed(KEYS)}) VALUES ({_marks(len(KEYS) + 1)})",
                self._organisation, *key_row(key),
            )  # fmt: skip
            db.run(_NOTE, *entry)

    def change_key(self, key: str, change: Callable[[Key], Key], entry: Entry) -> Key | None:
        with self._acting() as db:
            found = db.query(f"SELECT {_listed(KEYS)} FROM keys WHERE id = %s FOR UPDATE", key)
            if not found:
                return None
            changed = change(key_of(found[0]))
            db.run(f"UPDATE keys SET {_sets(KEYS)} WHERE id = %s", *key_row(changed), key)
            db.run(_NOTE, *entry)
        return changed

    def note_use(self, times: Mapping[str, int]) -> None:
        with self._acting() as db:
            rows = [(at, key) for key, at in sorted(times.items(), key=lambda use: use[0])]  # in one order: no deadlock
            db.run_each("UPDATE keys SET used_at = greatest(used_at, %s) WHERE id = %s", rows)

    # -- sessions of the dashboard

    def add_session(self, session: Session, most: int, now: int) -> None:
        with self._acting() as db:
            db.run(
                "DELETE FROM sessions WHERE ends_at <= %s OR (key = %s AND digest NOT IN"
                " (SELECT digest FROM sessions WHERE key = %s ORDER BY ends_at DESC LIMIT %s))",
                now, session.key, session.key, most - 1,
            )  # fmt: skip
            db.run(
                f"INSERT INTO sessions(organisation, {_listed(SESSIONS)}) VALUES ({_marks(len(SESSIONS) + 1)})",
                self._organisation, *session_row(session),
            )  # fmt: skip

    def session(self, digest: bytes, now: int) -> Session | None:
        with self._acting() as db:
            sql = f"SELECT {_listed(SESSIONS)} FROM sessions WHERE digest = %s AND ends_at > %s"
            found = db.query(sql, digest, now)
        return session_of(found[0]) if found else None

    def show_project(self, digest: bytes, project: str) -> None:
        with self._acting() as db:
            db.run("UPDATE sessions SET project = %s WHERE digest = %s", project, digest)

    def end_session(self, digest: bytes) -> None:
        with self._acting() as db:
            db.run("DELETE FROM sessions WHERE digest = %s", digest)

    def end_sessions(self, person: str) -> None:
        with self._acting() as db:
            db.run("DELETE FROM sessions WHERE person = %s", person)

    # -- the audit log

    def note(self, entry: Entry) -> None:
        with self._acting() as db:
            db.run(_NOTE, *entry)

    def seal(self, most: int = 5_000) -> Head:
        with self._acting() as db:
            found = db.query("SELECT number, hash FROM seal_audit(%s)", most)
        return Head(*found[0]) if found else EMPTY

    def unsealed(self) -> Unsealed:
        with self._acting() as db:
            return Unsealed(*db.query("SELECT count(*), min(at) FROM audit WHERE number IS NULL")[0])

    def pending(self) -> list[Pending]:
        with self._acting() as db:
            found = db.query(_PENDING)
        return [
            Pending(at, Name(*names[:4]), action, subject, None if names[4] is None else Name(*names[4:]))
            for at, action, subject, *names in found
        ]

    def chain(self, after: int = 0) -> Iterator[Sealed]:
        while True:
            with self._acting() as db:
                found = db.query(f"{_CHAIN} WHERE a.number > %s ORDER BY a.number LIMIT %s", after, _AT_ONCE)
            for number, at, action, subject, digest, *names in found:
                project = None if names[4] is None else Name(*names[4:])
                yield Sealed(number, at, Name(*names[:4]), action, subject, project, digest)
            if not found:
                return
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
        listed = None if projects is None else sorted(projects)
        with self._acting() as db:
            found = db.query(
                "SELECT f.number, f.at, f.actor, f.action, f.subject, f.project FROM (SELECT a.number, a.at,"
                " x.name AS actor, a.action, a.subject, p.name AS project FROM audit a"
                " JOIN names x ON x.organisation = a.organisation AND x.number = a.actor"
                " LEFT JOIN names p ON p.organisation = a.organisation AND p.number = a.project"
                " WHERE a.number > %s AND (%s::bigint IS NULL OR a.number < %s)"
                " AND (%s::text IS NULL OR a.subject = %s) AND (%s::text IS NULL OR x.name = %s)"
                " AND (%s::text IS NULL OR a.action = %s)) f"
                " WHERE %s::text[] IS NULL OR coalesce(f.project, '') = ANY (%s::text[])"
                f" ORDER BY f.number {'' if before is None else 'DESC'} LIMIT %s",
                after, before, before, *(each for each in wanted for _ in range(2)), listed, listed, limit,
            )  # fmt: skip
        return list(map(AuditRow._make, found))

    # -- answers to repeated requests

    def answer(self, claim: Claim) -> Answer | None:
        with self._acting() as db:
            found = db.query(
                "SELECT digest, answer, at FROM answers WHERE principal = %s AND key = %s", claim.principal, claim.key
            )
        return kept_answer(claim, *found[0]) if found else None

    def forget_answers(self, before: int) -> int:
        with self._acting() as db:
            return db.run("DELETE FROM answers WHERE at < %s", before)

    # -- erasure

    def erase_names(self, names: Sequence[str], entry: Entry) -> dict[str, str]:
        with self._acting() as db:
            found = {name: db.query("SELECT erase_name(%s)", name)[0][0] for name in names}
            db.run(_NOTE, *entry)
        return {name: pseudonym for name, pseudonym in found.items() if pseudonym is not None}

    def erase_person(self, person: str) -> None:
        with self._acting() as db:
            db.run("UPDATE people SET name = %s || id WHERE id = %s", ERASED, person)
            db.run("UPDATE keys SET name = '', agent = '' WHERE person = %s", person)
            db.run("DELETE FROM answers WHERE principal = %s", person)
            db.run("DELETE FROM sessions WHERE person = %s", person)

    def erasures(self) -> list[Erasure]:
        with self._acting() as db:
            found = db.query("SELECT at, kind, digest, receipt FROM erasures ORDER BY at")
        return [Erasure(at, kind, digest, json.loads(receipt)) for at, kind, digest, receipt in found]

    def add_erasure(self, erasure: Erasure) -> None:
        with self._acting() as db:
            row = (self._organisation, *erasure[:3], json.dumps(dict(erasure.receipt)))
            db.run("INSERT INTO erasures VALUES (%s, %s, %s, %s, %s)", *row)

    # -- taking over another database

    def adopt_people(self, people: Sequence[Person], keys: Sequence[Key], erasures: Sequence[Erasure]) -> None:
        with self._acting() as db:
            for table, names, rows in (("people", PEOPLE, map(person_row, people)), ("keys", KEYS, map(key_row, keys))):
                db.run_each(
                    f"INSERT INTO {table}(organisation, {_listed(names)}) VALUES ({_marks(len(names) + 1)})"
                    " ON CONFLICT (organisation, id) DO NOTHING",
                    [[self._organisation, *row] for row in rows],
                )
            known = {(at, digest) for at, digest in db.query("SELECT at, digest FROM erasures")}
            db.run_each(
                "INSERT INTO erasures VALUES (%s, %s, %s, %s, %s)",
                [
                    (self._organisation, *erasure[:3], json.dumps(dict(erasure.receipt)))
                    for erasure in erasures
                    if (erasure.at, erasure.digest) not in known
                ],
            )

    def adopt_audit(self, rows: Sequence[Sealed]) -> None:
        with self._acting() as db:
            for name in names_of(rows):
                db.run("SELECT adopt_name(%s, %s, %s, %s)", *name)
            for row in rows:
                project = None if row.project is None else row.project.number
                db.run(
                    "SELECT adopt_audit(%s, %s, %s, %s, %s, %s, %s)",
                    row.number, row.at, row.actor.number, row.action, row.subject, project, row.hash,
                )  # fmt: skip

    def adopt_pending(self, rows: Sequence[Pending]) -> None:
        with self._acting() as db:
            for name in names_of(rows):
                db.run("SELECT adopt_name(%s, %s, %s, %s)", *name)
            for row in rows:
                db.run(_NOTE, *entry_of(row))

    def _acting(self) -> AbstractContextManager[Database]:
        """A transaction over the organisation."""
        return self._pool.acting(None, None, self._organisation)


def save_claim(db: Database, organisation: int, changes: Sequence[Change]) -> None:
    """Keep the answer of the request that makes these changes, in their transaction.

    Raises: Repeated when another request with the same key was first.
    """
    found = claimed(changes)
    if found is not None:
        _save_answer(db, organisation, *found)


def _save_answer(db: Database, organisation: int, claim: Claim, answer: str) -> None:
    saved = db.run(
        "INSERT INTO answers AS a (organisation, principal, key, digest, token, answer, at)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (organisation, principal, key)"
        " DO UPDATE SET answer = excluded.answer WHERE a.token = excluded.token",
        organisation, claim.principal, claim.key, claim.digest, claim.token, answer, claim.at,
    )  # fmt: skip
    if saved != 1:
        raise Repeated


def _listed(names: Sequence[str], table: str = "") -> str:
    return ", ".join(table + name for name in names)


def _marks(count: int) -> str:
    return ", ".join(["%s"] * count)


def _sets(names: Sequence[str]) -> str:
    return ", ".join(f"{name} = %s" for name in names)
