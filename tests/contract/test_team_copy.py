"""A team's memory copied from each engine to each: ids, history, people, keys and audit log stay as they are."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event
from contract.test_team_records import Team, _postgres, _sqlite
from keepmum.core.audit_chain import verify
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Filter
from keepmum.stores.base import StaleWrite
from keepmum.stores.postgres import Grant, PostgresStore
from keepmum.stores.postgres.team_records import PostgresTeamRecords
from keepmum.stores.team import Entry, Erasure, Key, Person
from keepmum.stores.team_copy import copy_team

ENGINES = {"postgres": _postgres, "sqlite": _sqlite}


@contextlib.contextmanager
def _opened(engine: str, folder: Path) -> Iterator[Team]:
    folder.mkdir()
    generator = ENGINES[engine](folder)
    yield next(generator)
    next(generator, None)


def _filled(team: Team) -> None:
    entry = Entry(NOW, "root", "person-added", "p_1")
    team.records.add_person(Person("p_1", "ada", {"alpha": "writer"}, created_at=NOW), entry)
    team.records.add_key(Key("kkkkkkkk", "p_1", "laptop", b"digest", projects=("alpha",), created_at=NOW), entry)
    team.records.add_erasure(Erasure(NOW, "project", "digest", {"memories": 1}))
    for number in range(5):
        memory = a_memory(
            f"memory {number}", project=(None, "alpha")[number % 2], scope=("global", "project")[number % 2]
        )
        team.store.commit([Change(None, memory)], [an_event(memory, agent=f"agent-{number}")])
        changed = dataclasses.replace(memory, text=f"memory {number}, revised", revision=memory.revision + 1)
        team.store.commit([Change(memory, changed)], [an_event(changed, action="updated")])
    team.records.erase_names(["agent-2"], entry)
    team.records.seal()


@pytest.mark.parametrize("to", ENGINES)
@pytest.mark.parametrize("engine", ENGINES)
def test_everything_is_the_same_in_the_copy(engine: str, to: str, tmp_path: Path) -> None:
    with _opened(engine, tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        copied = copy_team(source[:2][::-1], target[:2][::-1])
        assert (copied.memories, copied.people, copied.keys, copied.audit) == (5, 1, 1, 13)
        assert target.records.people() == source.records.people()
        assert target.records.keys() == source.records.keys()
        assert target.records.erasures() == source.records.erasures()
        assert target.records.audit() == source.records.audit()
        assert verify(target.records.chain(), source.records.seal()).problem == ""
        assert target.store.count(Filter(now=NOW, project="alpha")) == 5
        everything = [memory.id for memory in source.store.between("", "~", 100)]
        assert target.store.get(everything) == source.store.get(everything)
        _goes_on(target)


def _goes_on(team: Team) -> None:
    """The copy is written and audited as any other database."""
    memory = a_memory("later")
    team.store.commit([Change(None, memory)], [an_event(memory, agent="somebody new")])
    team.records.seal()
    assert team.records.audit()[-1][1:] == (NOW, "somebody new", "created", memory.id, "alpha")
    assert verify(team.records.chain()).problem == ""


@pytest.mark.parametrize("to", ENGINES)
def test_a_copy_that_was_interrupted_goes_on(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        first = source.store.between("", "~", 2)
        target.store.commit([Change(None, memory, past=tuple(source.store.history(memory.id))) for memory in first])
        target.records.adopt_audit(list(source.records.chain())[:3])
        assert copy_team(source[:2][::-1], target[:2][::-1]) == copy_team(source[:2][::-1], target[:2][::-1])


@pytest.mark.parametrize("to", ENGINES)
def test_a_database_with_other_data_is_refused(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        target.store.commit([Change(None, a_memory("another"))])
        with pytest.raises(StoreError, match="memories of its own"):
            copy_team(source[:2][::-1], target[:2][::-1])
        _filled(target)
        with pytest.raises(StoreError, match="audit log of its own"):
            copy_team(source[:2][::-1], target[:2][::-1])


@pytest.mark.parametrize("to", ENGINES)
def test_a_refused_copy_leaves_no_key(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        target.records.note(Entry(NOW, "root", "tested"))
        with pytest.raises(StoreError, match="of its own"):
            copy_team(source[:2][::-1], target[:2][::-1])
        assert (target.records.people(), target.records.keys()) == ([], [])


@pytest.mark.parametrize("to", ENGINES)
def test_a_false_row_is_not_adopted(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        rows = list(source.records.chain())
        for false in ([rows[1]], [rows[0]._replace(action="x")], [rows[0], rows[2]]):
            with pytest.raises(StaleWrite):
                target.records.adopt_audit(false)
        assert target.records.seal().number == 0


def test_a_snapshot_sees_one_moment(tmp_path: Path) -> None:
    for team in _postgres(tmp_path):
        assert isinstance(team.store, PostgresStore)
        grant = team.store._grant
        _filled(team)
        with postgres_server.pool().snapshot() as pool:
            store = PostgresStore(pool, Grant(grant.organisation))
            before = len(store.between("", "~", 100))
            memory = a_memory("later")
            team.store.commit([Change(None, memory)], [an_event(memory)])
            assert len(store.between("", "~", 100)) == before
            assert PostgresTeamRecords(pool, grant.organisation).unsealed().rows == 0
            with pytest.raises(Exception, match="read-only"):
                store.commit([Change(None, a_memory("more"))])
        assert len(team.store.between("", "~", 100)) == before + 1
