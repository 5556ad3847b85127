"""What a team's records promise, on both engines."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event
from keepmum.core.audit_chain import Head, verify
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Activity, Change
from keepmum.stores import Store
from keepmum.stores.postgres import Grant, PostgresStore
from keepmum.stores.postgres.team_records import PostgresTeamRecords
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords, save_claim
from keepmum.stores.team import Claim, Entry, Erasure, Key, Person, Repeated, TeamRecords, claiming

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


def test_roles_change_from_what_is_stored(team: Team) -> None:
    team.records.add_person(ADA, ENTRY)

    def promote(number: int) -> None:
        team.records.change_person(
            "p_1", lambda person: person._replace(roles={**person.roles, f"p{number}": "reader"}), ENTRY
        )

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(promote, range(8)))
    assert len(team.records.people()[0].roles) == 9


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


def test_audit_rows_are_found_by_project_and_subject(team: Team) -> None:
    memory = _write(team)
    team.records.note(Entry(NOW, "root", "tested", "p_1"))
    team.records.note(Entry(NOW, "root", "tested", "p_2", "beta"))
    team.records.seal()
    assert [row.subject for row in team.records.audit(projects=["alpha", "beta"])] == [memory, "p_2"]
    assert [row.subject for row in team.records.audit(projects=[""])] == ["p_1"]
    assert [row.number for row in team.records.audit(subject="p_2")] == [3]
    assert [row.number for row in team.records.audit(after=1, limit=1)] == [2]


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
    team.records.keep_answer(CLAIM, ["mem_1"])
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
    team.records.keep_answer(CLAIM, ["mem_1"])
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
