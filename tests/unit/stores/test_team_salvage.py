from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from contract.stores import NOW, a_memory, an_event
from keepmum.core import ids
from keepmum.core.audit_chain import verify
from keepmum.core.memory import Change
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import TeamSqliteSpec, open_shared
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords
from keepmum.stores.team import Answer, Claim, Entry, Key, Person, Session


def test_a_repair_keeps_people_keys_and_the_audit_log(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    store = SqliteStore(path)
    records = SqliteTeamRecords(store.database)
    records.add_person(Person("p_1", "ada", {"alpha": "writer"}), Entry(NOW, "root", "person-added", "p_1"))
    records.add_key(Key("kkkkkkkk", "p_1", "laptop", b"digest"), Entry(NOW, "root", "key-made", "kkkkkkkk"))
    memory, claim = a_memory(), Claim("p_1", "request-1", b"digest", NOW)
    store.commit([Change(None, memory)], [an_event(memory)])
    with store.database.writing() as db:
        db.execute("INSERT INTO team_answers VALUES ('p_1', 'request-1', ?, 't', ?, ?)", (b"digest", '["m_1"]', NOW))
    records.add_session(Session(bytes(32), "p_1", "kkkkkkkk", {}, "alpha", 2 * NOW), 1, NOW)
    head = records.seal()
    people, keys = records.people(), records.keys()
    store.close()
    with open(path, "r+b") as file:
        file.write(bytes(100))  # the header is lost
    os.unlink(path + ".lock")

    store = SqliteStore(path)
    repaired = SqliteTeamRecords(store.database)
    assert store.notice
    assert (repaired.people(), repaired.keys()) == (people, keys)
    assert verify(repaired.chain(), head) == (head, "")
    assert repaired.answer(claim) == Answer(("m_1",), NOW), "a repeated request has one effect"
    assert repaired.session(bytes(32), NOW) is None, "a backup may be older than the sign-out"
    other = a_memory("another")
    store.commit([Change(None, other)], [an_event(other)])
    assert repaired.seal().number == 4
    store.close()


def test_a_repair_keeps_the_keys_of_two_projects_in_one_session(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    store = SqliteStore(path)
    SqliteTeamRecords(store.database)
    for project in ("alpha", "beta"):
        memory = a_memory(f"of {project}", project=project, scope="session", session="s-1", key="release/branch")
        store.commit([Change(None, memory)], [an_event(memory)])
    store.close()
    with open(path, "r+b") as file:
        file.write(bytes(100))  # the header is lost
    os.unlink(path + ".lock")
    store = SqliteStore(path)
    SqliteTeamRecords(store.database)
    assert sorted(memory.text for memory in store.between("", "~", 9)) == ["of alpha", "of beta"]
    store.close()


def test_a_repair_keeps_the_memories_of_two_projects_with_one_id(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    ident = ids.new_id(NOW)
    with contextlib.closing(open_shared(TeamSqliteSpec(path))) as shared:
        for project in ("alpha", "beta"):
            store, memory = shared.acting(_of(project)), a_memory(f"of {project}", id=ident, project=project)
            store.commit([Change(None, memory)], [an_event(memory)])
            changed = replace(memory, text=f"of {project}, changed", revision=2)
            store.commit([Change(memory, changed)], [an_event(changed, action="updated")])
    with open(path, "r+b") as file:
        file.write(bytes(100))  # the header is lost
    os.unlink(path + ".lock")
    with contextlib.closing(open_shared(TeamSqliteSpec(path))) as shared:
        for project in ("alpha", "beta"):
            store = shared.acting(_of(project))
            assert [memory.text for memory in store.get([ident])] == [f"of {project}, changed"]
            assert [past.before["text"] for past in store.history(ident)] == [f"of {project}"]
        third = a_memory("of gamma", id=ident, project="gamma")
        shared.acting(_of("gamma")).commit([Change(None, third)], [an_event(third)])
        assert len(shared.acting(Grant(ORGANISATION)).between("", "~", 9)) == 3


def _of(project: str) -> Grant:
    return Grant(ORGANISATION, frozenset({project}), frozenset({project}))
