"""A team's memory copied from each engine to each: ids, history, people, keys and audit log stay as they are."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import unittest.mock
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import postgres_server
import qdrant_server
from contract.stores import NOW, a_memory, an_event
from keepmum.core.audit_chain import verify
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Embedding, Filter, LogFilter, Memory, WrongMark
from keepmum.stores import Store, qdrant
from keepmum.stores.base import StaleWrite
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.postgres import PostgresStore
from keepmum.stores.postgres.team_records import PostgresTeamRecords
from keepmum.stores.shared import QdrantSpec, TeamSqliteSpec, open_shared
from keepmum.stores.team import Claim, Entry, Erasure, Key, Person, TeamRecords, claiming
from keepmum.stores.team_copy import Side, copy_team
from keepmum.stores.team_traces import TRACES


class Team(NamedTuple):
    records: TeamRecords
    store: Store  # of all projects
    side: Side


def _postgres(folder: Path) -> Iterator[Team]:
    organisation = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4], "big") >> 1
    pool, records = postgres_server.pool(), PostgresTeamRecords(postgres_server.pool(), organisation)
    whole = PostgresStore(pool, Grant(organisation))

    def acting(grant: Grant) -> Store:
        return PostgresStore(pool, grant._replace(organisation=organisation))

    yield Team(records, whole, Side(acting, whole.usage, records))
    whole.close()


def _sqlite(folder: Path) -> Iterator[Team]:
    with contextlib.closing(open_shared(TeamSqliteSpec(str(folder / "memory.db")))) as shared:
        yield Team(shared.records, shared.acting(Grant(ORGANISATION)), shared.side())


def _qdrant(folder: Path) -> Iterator[Team]:
    spec = QdrantSpec("", "", "", str(folder / "memory.db"))
    with unittest.mock.patch.object(qdrant, "connect", return_value=qdrant_server.collection_of(folder)):
        shared = open_shared(spec)
    with contextlib.closing(shared):
        yield Team(shared.records, shared.acting(Grant(ORGANISATION)), shared.side())


ENGINES = {"postgres": _postgres, "qdrant": _qdrant, "sqlite": _sqlite}


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
        with claiming(Claim("p_1", f"key-{number}", b"request", NOW, "token")):
            team.store.commit([Change(None, memory)], [an_event(memory, agent=f"agent-{number}")])
        changed = dataclasses.replace(memory, text=f"memory {number}, revised", revision=memory.revision + 1)
        team.store.commit([Change(memory, changed)], [an_event(changed, action="updated")])
    reviews = team.store.features.review_state
    assert reviews is not None
    reviews.mark_wrong(memory, WrongMark(memory.id, NOW, "ada", "not so"), Embedding("model", b"\0" * 8))
    reviews.mark_wrong(a_memory("purged", id="mem_purged"), WrongMark("mem_purged", NOW, "ada", ""), None)
    reviews.postpone("item-1", NOW, None)
    reviews.postpone("item-2", NOW, NOW * 2)
    team.store.log([an_event(memory, action="recalled", detail="blue pool")])
    team.records.erase_names(["agent-2"], entry)
    team.records.seal()


@pytest.mark.parametrize("to", ENGINES)
@pytest.mark.parametrize("engine", ENGINES)
def test_everything_is_the_same_in_the_copy(engine: str, to: str, tmp_path: Path) -> None:
    with _opened(engine, tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        copied = copy_team(source.side, target.side)
        assert (copied.memories, copied.people, copied.keys, copied.audit) == (5, 1, 1, 13)
        assert target.records.people() == source.records.people()
        assert target.records.keys() == source.records.keys()
        assert target.records.erasures() == source.records.erasures()
        assert target.records.audit() == source.records.audit()
        assert verify(target.records.chain(), source.records.seal()).problem == ""
        assert target.store.count(Filter(now=NOW, project="alpha")) == 5
        everything = [memory.id for memory in source.store.between("", "~", 100)]
        assert target.store.get(everything) == source.store.get(everything)
        for trace in TRACES:
            assert list(target.records.traces.rows(trace)) == list(source.records.traces.rows(trace)) != [], trace
        _goes_on(target)


def _goes_on(team: Team) -> None:
    """The copy is written and audited as any other database."""
    memory = a_memory("later")
    team.store.commit([Change(None, memory)], [an_event(memory, agent="somebody new")])
    team.records.seal()
    assert team.records.audit()[-1][1:] == (NOW, "somebody new", "created", memory.id, "alpha")
    assert verify(team.records.chain()).problem == ""


@pytest.mark.parametrize("to", ENGINES)
@pytest.mark.parametrize("engine", ENGINES)
def test_audit_rows_that_are_not_sealed_yet_are_copied(engine: str, to: str, tmp_path: Path) -> None:
    """They are sealed in the copy, as the source seals them later."""
    with _opened(engine, tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        sealed = source.records.seal().number
        for project in ("alpha", "new project"):
            memory = a_memory(f"of {project}", project=project)
            source.store.commit([Change(None, memory)], [an_event(memory, agent="agent-2", project=project)])
        source.records.note(Entry(NOW, "somebody new", "person-added", "p_2"))
        copied = copy_team(source.side, target.side)
        assert source.records.unsealed().rows == 3
        assert (copied.audit, target.records.unsealed().rows) == (sealed + 3, 0)
        assert source.records.seal() == target.records.seal()
        assert target.records.audit() == source.records.audit()
        assert verify(target.records.chain()).problem == ""
        _goes_on(target)


@pytest.mark.parametrize("to", ENGINES)
def test_a_copy_that_was_interrupted_goes_on(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        first = source.store.between("", "~", 2)
        target.store.commit([Change(None, memory, past=tuple(source.store.history(memory.id))) for memory in first])
        target.records.adopt_audit(list(source.records.chain())[:3])
        for trace in TRACES:
            target.records.traces.adopt(trace, list(source.records.traces.rows(trace))[:1])
        assert copy_team(source.side, target.side) == copy_team(source.side, target.side)


@pytest.mark.parametrize("to", ENGINES)
def test_a_person_who_was_removed_after_an_interrupted_copy_is_not_admitted_by_it(to: str, tmp_path: Path) -> None:
    """The source was served again in between."""
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        copy_team(source.side, target.side)
        entry = Entry(NOW, "root", "person-removed", "p_1")
        source.records.change_person("p_1", lambda found: found._replace(removed_at=NOW), entry)
        with pytest.raises(StoreError, match="not the same in the target; empty it"):
            copy_team(source.side, target.side)


@pytest.mark.parametrize("to", ENGINES)
def test_a_database_with_other_data_is_refused(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        target.store.commit([Change(None, a_memory("another"))])
        with pytest.raises(StoreError, match="memories of its own"):
            copy_team(source.side, target.side)
        _filled(target)
        with pytest.raises(StoreError, match="audit log of its own"):
            copy_team(source.side, target.side)


@pytest.mark.parametrize("to", ENGINES)
def test_a_refused_copy_leaves_no_key(to: str, tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        _filled(source)
        target.records.note(Entry(NOW, "root", "tested"))
        with pytest.raises(StoreError, match="of its own"):
            copy_team(source.side, target.side)
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


@pytest.mark.parametrize("to", ["postgres", "sqlite"])
@pytest.mark.parametrize("engine", ["postgres", "sqlite"])
def test_two_projects_may_have_a_session_of_the_same_name(engine: str, to: str, tmp_path: Path) -> None:
    """Clients name sessions, so a key in one must tell nothing about a project that cannot be read, or stop a copy."""
    with _opened(engine, tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        for project in ("alpha", "beta"):
            memory = a_memory(f"of {project}", project=project, scope="session", session="s-1", key="release/branch")
            source.store.commit([Change(None, memory)], [an_event(memory)])
        assert copy_team(source.side, target.side).memories == 2
        assert sorted(memory.text for memory in target.store.between("", "~", 9)) == ["of alpha", "of beta"]


@pytest.mark.parametrize("to", ENGINES)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_id_in_two_projects_is_copied_for_each(engine: str, to: str, tmp_path: Path) -> None:
    with _opened(engine, tmp_path / "a") as source, _opened(to, tmp_path / "b") as target:
        written = {project: _write_colliding(source.side.of(project), project) for project in ("alpha", "beta")}
        source.records.seal()
        assert copy_team(source.side, target.side).memories == 2
        assert copy_team(source.side, target.side).memories == 2  # again, as after an interruption
        for project, memory in written.items():
            store = target.side.of(project)
            assert (store.get([memory.id]), store.between("", "~", 9)) == ([memory], [memory])
            assert [past.before["text"] for past in store.history(memory.id)] == [f"of {project}"]
            assert {past.before["id"] for past in store.history(memory.id)} == {memory.id}
            reviews = store.features.review_state
            assert reviews is not None
            marks = reviews.wrong_like([memory.space], memory.text, None, 1.0)
            assert [mark for mark, _ in marks] == [WrongMark(memory.id, NOW, project, "not so")]
            logged = store.activity(9, wanted=LogFilter(memory=memory.id))
            assert [event.detail for event in logged] == [f"title in {project}"] * 2
            audited = target.records.audit(projects=[project])
            assert [(row.subject, row.action) for row in audited] == [(memory.id, "created"), (memory.id, "updated")]


def _write_colliding(store: Store, project: str) -> Memory:
    """Store and change a memory with an id that the other project has too, and mark it as wrong."""
    first = a_memory(f"of {project}", id="mem_" + "7" * 26, project=project, title=f"title in {project}")
    store.commit([Change(None, first)], [an_event(first)])
    changed = dataclasses.replace(first, text=f"of {project}, changed", revision=2)
    store.commit([Change(first, changed)], [an_event(changed, action="updated")])
    reviews = store.features.review_state
    assert reviews is not None
    reviews.mark_wrong(changed, WrongMark(changed.id, NOW, project, "not so"), None)
    return changed


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
            with pytest.raises(StoreError, match="takes no writes"):
                store.commit([Change(None, a_memory("more"))])
        assert len(team.store.between("", "~", 100)) == before + 1
