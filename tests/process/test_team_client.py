"""The client of our own server: everything that this machine can store reaches the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from contract.stores import a_memory, wanted
from keepmum.core.memory import Change, Embedding
from keepmum.stores.rest import RestStore
from own_server import OwnServer, shared
from rest_server import KEY, FakeServer, behind
from unit.stores.rest_parts import open_at, put


@pytest.fixture
def server() -> OwnServer:
    server = shared("sqlite")
    server.wipe()
    return server


def opened(server: OwnServer, folder: Path, **options: Any) -> RestStore:
    return open_at(server.origin, folder, key=server.key, approved=True, **options)


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"scope": "global", "project": None}, {}),
        ({"scope": "session", "session": "s"}, {"session": "s"}),
        ({"user": "ada"}, {"user": "ada"}),
        ({"status": "archived"}, {"statuses": ("archived",)}),
        ({"kind": "decision", "key": "pool", "why": "tested", "importance": 0.9}, {"kinds": ("decision",)}),
    ],
)
def test_a_memory_of_any_form_reaches_another_machine(
    server: OwnServer, tmp_path: Path, fields: dict[str, Any], asked: dict[str, Any]
) -> None:
    here, there = opened(server, tmp_path / "here"), opened(server, tmp_path / "there")
    memory = a_memory("Blue pools first", **fields)
    put(here, memory)
    (found,) = there.browse(wanted(**asked))
    assert [getattr(found, name) for name in fields] == list(fields.values())
    assert (there.caveat, dict(there.capabilities.cannot)) == ("", {})
    here.close()
    there.close()


def test_history_is_that_of_all_machines(server: OwnServer, tmp_path: Path) -> None:
    from dataclasses import replace

    here, there = opened(server, tmp_path / "here"), opened(server, tmp_path / "there")
    first = a_memory("one")
    put(here, first)
    here.commit([Change(first, replace(first, text="two", revision=2))])
    assert [past.before["text"] for past in there.history(first.id)] == ["one"]
    here.close()
    there.close()


def test_what_a_server_can_do_is_known_while_it_cannot_be_reached(server: OwnServer, tmp_path: Path) -> None:
    first = opened(server, tmp_path)
    put(first, a_memory("one"))
    first.close()
    kept = tmp_path / "mirror.db.server"
    assert os.stat(kept).st_mode & 0o077 == 0
    (tmp_path / "later").mkdir()
    kept.rename(tmp_path / "later" / "mirror.db.server")
    away = open_at("http://127.0.0.1:9", tmp_path / "later", key=server.key)
    assert not away.capabilities.cannot
    assert put(away, a_memory("for all projects", scope="global", project=None)).queued == 1
    away.close()


def test_what_the_key_may_do_is_among_the_facts(server: OwnServer, tmp_path: Path) -> None:
    body = {"name": "reading", "roles": [{"project": "alpha", "role": "reader"}]}
    assert server.ask("POST", "/api/v2/people", body, key=server.key).status == 201
    made = server.ask("POST", "/api/v2/keys", {"person": "reading"}, key=server.key)
    store = open_at(server.origin, tmp_path, key=made.body["data"]["key"], approved=True)
    assert store.health()["roles"] == {"alpha": "reader"}
    store.close()


def test_a_server_of_version_1_gets_its_own_client_again(httpserver: HTTPServer, tmp_path: Path) -> None:
    (tmp_path / "mirror.db.server").write_text('{"promises": ["scopes"], "model": "", "roles": {"*": "curator"}}')
    fake = FakeServer()
    store = open_at(behind(httpserver, fake), tmp_path, key=KEY)
    fake.put("Blue first", "pools", "alpha")
    store.search(["pools"], wanted(), 5)
    assert [memory.title for memory, _ in store.search(["pools"], wanted(), 5)] == ["pools"]
    assert "scopes" in store.capabilities.cannot
    assert not (tmp_path / "mirror.db.server").exists()
    store.close()


def test_a_vector_of_another_model_is_not_sent(server: OwnServer, tmp_path: Path) -> None:
    store = opened(server, tmp_path)
    put(store, a_memory("Blue pools first"))
    found = store.candidates(["blue"], lambda: Embedding("other", b"\0\0"), wanted(), 5)
    assert [each.lexical > 0 for each in found] == [True]
    assert store.caveat == ""
    store.close()
