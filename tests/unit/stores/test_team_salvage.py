from __future__ import annotations

import os
from pathlib import Path

from contract.stores import NOW, a_memory, an_event
from keepmum.core.audit_chain import verify
from keepmum.core.memory import Change
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords
from keepmum.stores.team import Entry, Key, Person


def test_a_repair_keeps_people_keys_and_the_audit_log(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    store = SqliteStore(path)
    records = SqliteTeamRecords(store.database)
    records.add_person(Person("p_1", "ada", {"alpha": "writer"}), Entry(NOW, "root", "person-added", "p_1"))
    records.add_key(Key("kkkkkkkk", "p_1", "laptop", b"digest"), Entry(NOW, "root", "key-made", "kkkkkkkk"))
    memory = a_memory()
    store.commit([Change(None, memory)], [an_event(memory)])
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
    other = a_memory("another")
    store.commit([Change(None, other)], [an_event(other)])
    assert repaired.seal().number == 4
    store.close()
