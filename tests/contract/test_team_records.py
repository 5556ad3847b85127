"""What a team's records promise, on both engines."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event
from keepmum.core.audit_chain import Head, verify
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Activity, Change
from keepmum.server.people.administration import Administration
from keepmum.stores import Store
from keepmum.stores.postgres import Grant, PostgresStore
from keepmum.stores.postgres.team_records import PostgresTeamRecords
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords, save_claim
from keepmum.stores.team import (
    AuditFilter,
    Claim,
    Entry,
    Erasure,
    Key,
    Person,
    Repeated,
    Session,
    TeamRecords,
    claiming,
)
from keepmum_scanner import scan

ENTRY = Entry(NOW, "root", "tested", "p_1")
ADA = Person("p_1", "ada", {"alpha": "writer"}, created_at=NOW)


class Team(NamedTuple):
    records: TeamRecords
    store: Store
    tamper: Callable[[str], object]  # as an attacker with all rights on the database; sqlite names of the tables


def _sqlite(folder: Path) -> Iterator[Team]:
    store = SqliteStore(str(folder / "memory.db"), along=save_claim)

    def tamper(sql: str) -> None:
        with store.database.writing() as db:
            db.execute("PRAGMA defer_foreign_keys = ON")
            for name in ("team_audit_stays", "team_audit_sealed"):
                db.execute(f"DROP TRIGGER IF EXISTS {name}")
            db.execute(sql)

    yield Team(SqliteTeamRecords(store.database), store, tamper)
    store.close()


def _postgres(folder: Path) -> Iterator[Team]:
    import psycopg

    organisation = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4], "big") >> 1
    addresses, pool = postgres_server.server(), postgres_server.pool()
    store = PostgresStore(pool, Grant(organisation))

    def tamper(sql: str) -> None:
        with psycopg.connect(addresses.admin, autocommit=True) as db:
            own = sql.replace("team_", "").replace("WHERE", f"WHERE organisation = {organisation} AND")
            db.execute(own.encode())

    yield Team(PostgresTeamRecords(pool, organisation), store, tamper)
    store.close()


@pytest.fixture(params=["postgres", "sqlite"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    yield from {"postgres": _postgres, "sqlite": _sqlite}[request.param](tmp_path)


def _write(team: Team, text: str = "The build runs on Postgres 16", by: str = "ada") -> str:
    memory = a_memory(text)
    team.store.commit([Change(None, memory)], [an_event(memory, agent=by)])
    return memory.id


def _key(**fields: Any) -> Key:
    return Key("kkkkkkkk", "p_1", "laptop", b"digest", created_at=NOW)._replace(**fields)


def _session(number: int, **fields: Any) -> Session:
    ends_at = NOW + 1_000 + number
    return Session(bytes([number]) * 32, "p_1", "kkkkkkkk", {"api": "reader"}, "api", ends_at)._replace(**fields)


# -- sessions


def test_a_session_is_found_until_it_ends(team: Team) -> None:
    session = _session(1)
    team.records.add_session(session, 16, NOW)
    assert team.records.session(session.digest, session.ends_at - 1) == session
    assert team.records.session(session.digest, session.ends_at) is None
    assert team.records.session(bytes(32), NOW) is None


def test_a_key_has_a_number_of_sessions(team: Team) -> None:
    other = _session(9, key="another")
    for session in (other, *map(_session, range(4))):
        team.records.add_session(session, 2, NOW)
    found = [team.records.session(_session(number).digest, NOW) is not None for number in (0, 1, 2, 3, 9)]
    assert found == [False, False, True, True, True]


def test_a_session_shows_another_project_until_it_is_ended(team: Team) -> None:
    one, two = _session(1), _session(2)
    for session in (one, two):
        team.records.add_session(session, 16, NOW)
    team.records.show_project(one.digest, "web")
    assert team.records.session(one.digest, NOW) == one._replace(project="web")
    team.records.end_session(one.digest)
    team.records.show_project(one.digest, "api")
    assert team.records.session(one.digest, NOW) is None
    assert team.records.session(two.digest, NOW) == two


@pytest.mark.parametrize("end", ["end_sessions", "erase_person"])
def test_the_sessions_of_a_person_end(team: Team, end: str) -> None:
    others = _session(2, person="p_2")
    for session in (_session(1), others):
        team.records.add_session(session, 16, NOW)
    getattr(team.records, end)("p_1")
    assert team.records.session(_session(1).digest, NOW) is None
    assert team.records.session(others.digest, NOW) == others


# -- people and keys


def test_a_person_is_kept_with_roles(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    assert team.records.people() == [ADA]


def test_a_name_is_taken_until_its_person_is_removed(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    with pytest.raises(InvalidInput, match="taken"):
        team.records.add_person(ADA._replace(id="p_2"), ENTRY)
    team.records.change_person("p_1", lambda person: person._replace(removed_at=NOW), ENTRY)
    team.records.add_person(ADA._replace(id="p_2"), ENTRY)
    assert {person.id for person in team.records.people()} == {"p_1", "p_2"}


def test_an_id_is_taken_also_after_its_person_was_removed(team: Team) -> None:
    """As when two processes note a person of the identity provider, of whom the second finds another name."""
    team.records.add_person(ADA, ENTRY)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="taken"):
            team.records.add_person(ADA._replace(name="ada-2"), ENTRY)
        team.records.change_person("p_1", lambda person: person._replace(removed_at=NOW), ENTRY)
    assert [person.name for person in team.records.people()] == ["ada"]


def test_a_person_is_found_by_id_also_after_they_were_removed(team: Team) -> None:
    assert team.records.person("p_1") is None
    team.records.add_person(ADA, ENTRY)
    assert team.records.person("p_1") == ADA
    team.records.change_person("p_1", lambda person: person._replace(removed_at=NOW), ENTRY)
    assert team.records.person("p_1") == ADA._replace(removed_at=NOW)


def test_roles_change_from_what_is_stored(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)

    def promote(number: int) -> None:
        team.records.change_person(
            "p_1", lambda person: person._replace(roles={**person.roles, f"p{number}": "reader"}), ENTRY
        )

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(promote, range(8)))
    assert len(team.records.people()[0].roles) == 9


def test_checked_changes_of_people_run_one_after_another(team: Team) -> None:
    people = [ADA, ADA._replace(id="p_2", name="bob")]
    for person in people:
        team.records.add_person(person, ENTRY)
    both_check = threading.Barrier(2)

    def check(stored: Sequence[Person]) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            both_check.wait(0.3)
        if sum(person.removed_at is None for person in stored) < 2:
            raise InvalidInput("person", "is the last")

    def remove(person: Person) -> bool:
        with contextlib.suppress(InvalidInput):
            team.records.change_person(person.id, lambda found: found._replace(removed_at=NOW), ENTRY, check)
            return True
        return False

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(remove, people)) == [False, True]
    assert both_check.broken
    assert [person.removed_at for person in team.records.people()].count(None) == 1
    assert team.records.unsealed().rows == 3, "a refused change is not in the audit log"


def test_of_admins_who_remove_each_other_at_once_one_stays(team: Team) -> None:
    admin = Administration(team.records, b"", scan, "root")
    for number in range(8):
        admin.add(f"admin {number}", {"*": "admin"})
    at_once = threading.Barrier(8)

    def take_away(number: int) -> None:
        at_once.wait(60)
        with contextlib.suppress(InvalidInput):
            if number % 2:
                admin.set_role(f"admin {number}", "*", "reader")
            else:
                admin.remove(f"admin {number}")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(take_away, range(8)))
    assert [person.roles for person in admin.people()].count({"*": "admin"}) == 1


def test_a_change_of_nobody_changes_nothing(team: Team) -> None:
    assert team.records.change_person("p_9", lambda person: person, ENTRY) is None
    assert team.records.change_key("kkkkkkk9", lambda key: key, ENTRY) is None
    assert team.records.unsealed().rows == 0


def test_a_key_is_found_with_its_person(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    key = _key(projects=("alpha", "beta"), role="reader", expires_at=NOW + 1)
    team.records.add_key(key, ENTRY)
    assert team.records.find_key("kkkkkkkk") == (key, ADA)
    assert team.records.keys("p_1") == team.records.keys() == [key]
    assert team.records.find_key("unknown") is None


def test_a_use_is_noted(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    team.records.add_key(_key(), ENTRY)
    team.records.note_use({"kkkkkkkk": NOW, "unknown": NOW})
    assert team.records.keys()[0].used_at == NOW


def test_a_withdrawn_key_is_kept(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    team.records.add_key(_key(), ENTRY)
    changed = team.records.change_key("kkkkkkkk", lambda key: key._replace(withdrawn_at=NOW), ENTRY)
    assert changed == _key(withdrawn_at=NOW) == team.records.keys()[0]


# -- the audit log


def test_a_write_has_its_audit_row(team: Team) -> None:
    memory = _write(team)
    team.records.seal()
    (row,) = team.records.audit()
    assert row == (1, NOW, "ada", "created", memory, "alpha")


def test_a_refused_transaction_has_no_audit_row(team: Team) -> None:
    memory = a_memory()
    stale = Change(dataclasses.replace(memory, revision=9), memory)
    with pytest.raises(Exception, match="meanwhile"):
        team.store.commit([stale], [an_event(memory)])
    assert team.records.unsealed().rows == 0


def test_reads_are_not_audited(team: Team) -> None:
    team.store.log([an_event(action="recalled"), an_event(action="loaded"), an_event(action="refused")])
    team.records.seal()
    assert [row.action for row in team.records.audit()] == ["refused"]


def test_a_change_of_people_has_its_audit_row(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    team.records.seal()
    assert team.records.audit()[0][2:] == ("root", "tested", "p_1", None)


@pytest.mark.parametrize("name", ["ada", 'a "quoted\\ name"', "Zoë\u2028\u007f\t", "名前", ""], ids=ascii)
def test_a_chain_is_intact_whatever_the_names(team: Team, name: str) -> None:
    _write(team, by=name)
    team.records.note(Entry(NOW, name, name, name, name))
    team.records.seal()
    assert verify(team.records.chain()).problem == ""


def test_sealing_goes_on_from_the_head(team: Team) -> None:
    _write(team, "one")
    first = team.records.seal()
    _write(team, "two")
    assert (first.number, team.records.seal().number, team.records.seal().number) == (1, 2, 2)
    assert verify(team.records.chain(), first) == (team.records.seal(), "")


def test_only_as_many_rows_are_sealed_as_asked_for(team: Team) -> None:
    for number in range(3):
        _write(team, str(number))
    assert (team.records.seal(2).number, team.records.unsealed()) == (2, (1, NOW))


def _sealed(team: Team, rows: int = 6) -> Head:
    for number in range(rows):
        _write(team, f"memory {number}", by=("ada", "bob")[number % 2])
    return team.records.seal()


DAMAGES = [
    pytest.param("UPDATE team_audit SET action = 'read' WHERE number = 4", "row 4 was changed", id="an edit"),
    pytest.param("UPDATE team_audit SET at = at + 1 WHERE number = 1", "row 1 was changed", id="an edit of a time"),
    pytest.param("DELETE FROM team_audit WHERE number = 3", "row 3 is missing", id="a deletion"),
    pytest.param("DELETE FROM team_audit WHERE number < 3", "row 1 to 2 is missing", id="the first rows"),
    pytest.param("UPDATE team_names SET name = 'eve' WHERE name = 'bob'", "name in audit row 2", id="a name"),
    pytest.param(
        "UPDATE team_names SET name = 'erased-1' WHERE name = 'bob'", "name in audit row 2", id="a false pseudonym"
    ),
]


@pytest.mark.parametrize(("sql", "found"), DAMAGES)
def test_tampering_is_found_in_its_place(team: Team, sql: str, found: str) -> None:
    _sealed(team)
    team.tamper(sql)
    assert found in verify(team.records.chain()).problem


def test_a_new_order_is_found(team: Team) -> None:
    _sealed(team)
    for old, new in ((2, -1), (3, 2), (-1, 3)):
        team.tamper(f"UPDATE team_audit SET number = {new} WHERE number = {old}")
    assert "row 2 was changed, or is not in its place" in verify(team.records.chain()).problem


def test_a_truncation_is_found_against_a_kept_head(team: Team) -> None:
    head = _sealed(team)
    team.tamper("DELETE FROM team_audit WHERE number > 4")
    assert verify(team.records.chain()).problem == ""
    assert "rows 5 to 6 are missing at the end" in verify(team.records.chain(), head).problem


def test_a_rewritten_chain_is_found_against_a_kept_head(team: Team) -> None:
    head = _sealed(team, 3)
    team.tamper("DELETE FROM team_audit WHERE number > 2")
    _write(team, "another")
    team.records.seal()
    assert "row 3 is not the one" in verify(team.records.chain(), head).problem


def test_sealers_at_once_make_one_chain(team: Team) -> None:
    def work(number: int) -> None:
        _write(team, f"memory {number}")
        team.records.seal()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(40)))
    team.records.seal()
    assert verify(team.records.chain()) == (team.records.seal(), "")
    assert team.records.seal().number == 40


def test_audit_rows_are_found_by_their_fields(team: Team) -> None:
    memory = _write(team)
    team.records.note(Entry(NOW, "root", "tested", "p_1"))
    team.records.note(Entry(NOW, "root", "tested", "p_2", "beta"))
    team.records.seal()
    assert [row.subject for row in team.records.audit(projects=["alpha", "beta"])] == [memory, "p_2"]
    assert [row.subject for row in team.records.audit(projects=[""])] == ["p_1"]
    assert [row.number for row in team.records.audit(wanted=AuditFilter(subject="p_2"))] == [3]
    assert [row.number for row in team.records.audit(wanted=AuditFilter(actor="root", action="tested"))] == [2, 3]
    assert [row.number for row in team.records.audit(after=1, limit=1)] == [2]
    assert [row.number for row in team.records.audit(before=3)] == [2, 1]


# -- answers to repeated requests

CLAIM = Claim("p_1", "request-1", b"digest", NOW)


def test_the_answer_is_kept_with_the_write(team: Team) -> None:
    with claiming(CLAIM):
        memory = _write(team)
    answer = team.records.answer(CLAIM)
    assert answer is not None
    assert answer.ids == (memory,)


def test_a_write_without_a_claim_keeps_no_answer(team: Team) -> None:
    _write(team)
    assert team.records.answer(CLAIM) is None


def test_of_requests_at_once_one_writes(team: Team) -> None:
    def request(number: int) -> str:
        try:
            with claiming(CLAIM):
                return _write(team, f"memory {number}")
        except Repeated:
            return ""

    with ThreadPoolExecutor(16) as threads:
        made = [memory for memory in threads.map(request, range(50)) if memory]
    assert len(made) == 1
    answer = team.records.answer(CLAIM)
    assert answer is not None
    assert answer.ids == (made[0],)
    assert team.records.unsealed().rows == 1


def test_a_key_of_another_request_is_refused(team: Team) -> None:
    with claiming(CLAIM):
        _write(team)
    with pytest.raises(InvalidInput, match="another request"):
        team.records.answer(CLAIM._replace(digest=b"other"))
    assert team.records.answer(CLAIM._replace(principal="p_2")) is None


def test_answers_are_forgotten(team: Team) -> None:
    with claiming(CLAIM):
        _write(team)
    assert (team.records.forget_answers(NOW), team.records.forget_answers(NOW + 1)) == (0, 1)
    assert team.records.answer(CLAIM) is None


# -- erasure


def test_an_erased_name_leaves_the_chain_intact(team: Team) -> None:
    head = _sealed(team)
    pseudonym = team.records.erase_names(["bob", "nobody"], Entry(NOW, "root", "erased"))
    assert verify(team.records.chain(), head).problem == ""
    assert set(pseudonym) == {"bob"}
    actors = {row.actor for row in team.records.audit()}
    assert actors == {"ada", pseudonym["bob"]}
    assert pseudonym["bob"].startswith("erased-")


def test_an_erased_person_leaves_no_name(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)
    team.records.add_key(_key(agent="adas-laptop"), ENTRY)
    with claiming(CLAIM):
        _write(team)
    team.records.erase_person("p_1")
    assert team.records.people()[0].name == "erased-p_1"
    assert team.records.keys()[0][:7] == _key(name="", agent="")[:7]
    assert team.records.answer(CLAIM) is None


def test_erasures_are_listed(team: Team) -> None:
    erasure = Erasure(NOW, "person", "digest", {"memories": 3})
    team.records.add_erasure(erasure)
    assert team.records.erasures() == [erasure]


# -- the second lock of PostgreSQL


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit SET action = 'x'",
        "DELETE FROM audit",
        "INSERT INTO audit(organisation, at, actor, action) VALUES (1, 1, 1, 'x')",
        "TRUNCATE audit",
        "UPDATE names SET name = 'x'",
        "DELETE FROM keys",
        "ALTER TABLE activity DISABLE TRIGGER audited",
        "SELECT name_of(1, 'x')",
    ],
)
def test_the_role_of_requests_cannot_change_the_audit_log(sql: str) -> None:
    import psycopg

    address = postgres_server.server().app
    with psycopg.connect(address, autocommit=True) as db, pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.execute(sql.encode())


def test_a_grant_for_projects_reaches_no_keys(tmp_path: Path) -> None:
    for team in _postgres(tmp_path):
        team.records.add_person(ADA, ENTRY)
        team.records.add_key(_key(), ENTRY)
        organisation = int.from_bytes(hashlib.sha256(str(tmp_path).encode()).digest()[:4], "big") >> 1
        for table in ("people", "keys", "audit", "names", "erasures"):
            with postgres_server.pool().acting((), (), organisation) as db:
                assert db.query(f"SELECT count(*) FROM {table}") == [(0,)]
            with postgres_server.pool().acting(None, None, organisation ^ 1) as db:
                assert db.query(f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_write_under_a_grant_for_one_project_is_audited_and_answered_once(tmp_path: Path) -> None:
    for team in _postgres(tmp_path):
        assert isinstance(team.store, PostgresStore)
        alpha = frozenset({"alpha"})
        store = PostgresStore(postgres_server.pool(), Grant(team.store._grant.organisation, alpha, alpha))
        limited = team._replace(store=store)
        with claiming(CLAIM):
            memory = _write(limited)
        with pytest.raises(Repeated), claiming(CLAIM):
            _write(limited, "another")
        team.records.seal()
        assert [row.subject for row in team.records.audit()] == [memory]
        answer = team.records.answer(CLAIM)
        assert answer is not None
        assert answer.ids == (memory,)


def test_the_digest_of_the_secret_is_saved_once(team: Team) -> None:
    assert team.records.secret_digest(None) is None
    assert team.records.secret_digest(b"one") == b"one"
    assert team.records.secret_digest(b"two") == team.records.secret_digest(None) == b"one"


def test_an_activity_of_another_organisation_is_not_written(tmp_path: Path) -> None:
    """The trigger runs as the owner, but only after row-level security let the activity in."""
    event: Callable[[], Activity] = functools.partial(an_event, None, project="alpha")
    for team in _postgres(tmp_path):
        reader = PostgresStore(postgres_server.pool(), Grant(7, frozenset({"alpha"}), frozenset()))
        reader.log([event()])
        assert team.records.unsealed().rows == 0
