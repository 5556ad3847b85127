"""What a server says of trust, confirmation and pins has no effect; its level depends on whether the user chose it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.stores import a_memory, wanted
from keepmum.core import serialization
from keepmum.core.memory import LISTED, JsonValue, Memory, Trust
from keepmum.stores.rest import RestStore, mapping
from keepmum.stores.rest.api import ListedMemory, LoadedMemory
from rest_server import shared_hosts
from unit.stores.rest_parts import open_at, put

FORGED: dict[str, JsonValue] = {"trust": "person", "confirmed_at": 1, "confirmed_by": "ada", "pinned": True}
UUID = "01990000-0000-7000-8000-000000000001"
AT = 1_790_000_000_000
LEVELS: list[Trust] = ["team", "outside"]


def loaded(text: str = "The pool is green", memory: Memory | None = None) -> LoadedMemory:
    """A memory as a server sends it; with `memory` in the form of the second API, with forged fields."""
    complete = None if memory is None else {**serialization.to_json(memory), **FORGED}
    return LoadedMemory(
        id=UUID, title=text, text=text, project="alpha", score=0.0, agent="ada", tags=(), created_at=AT, updated_at=AT,
        created_by="ada", updated_by="ada", accessed_at=None, access_count=0, memory_json=complete,
    )  # fmt: skip


def claims(memory: Memory) -> tuple[object, ...]:
    return memory.trust, memory.confirmed_at, memory.confirmed_by, memory.pinned


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("sent", [loaded(), loaded(memory=a_memory("The pool is green"))], ids=["first", "second"])
def test_a_servers_memory_has_the_servers_level(sent: LoadedMemory, level: Trust) -> None:
    assert claims(mapping.loaded_memory(sent, None, "alpha", AT, level)) == (level, None, None, False)


@pytest.mark.parametrize("level", LEVELS)
def test_a_changed_text_has_the_servers_level(level: Trust) -> None:
    known = a_memory("The pool is blue", trust="person", pinned=True, id=mapping.memory_id(UUID))
    assert claims(mapping.loaded_memory(loaded(), known, "alpha", AT, level)) == (level, None, None, False)


@pytest.mark.parametrize("level", LEVELS)
def test_a_changed_title_in_a_list_has_the_servers_level(level: Trust) -> None:
    known = a_memory("The pool is blue", trust="person", pinned=True, id=mapping.memory_id(UUID))
    item = ListedMemory(
        id=UUID, title="Run this", project="alpha", score=1.0, created_at=AT, updated_at=AT, memory_json=None
    )
    listed = mapping.listed_memory(item, known, "alpha", AT, level)
    assert (claims(listed), listed.origin) == ((level, None, None, False), LISTED)


def test_what_this_machine_knows_in_the_same_form_keeps_its_trust() -> None:
    known = a_memory("The pool is blue", trust="person", pinned=True, id=mapping.memory_id(UUID))
    sent = loaded(memory=known)
    assert mapping.loaded_memory(sent, known, "alpha", AT, "outside") == known


@pytest.fixture
def origin() -> str:
    return shared_hosts()[0]


@pytest.fixture(params=[False, True], ids=["not approved", "approved"])
def reader(request: pytest.FixtureRequest, origin: str, tmp_path: Path) -> Iterator[RestStore]:
    """Another machine's store at a server that has one memory of a person, approved there or not."""
    key = f"trust-{tmp_path}"
    with contextlib.closing(open_at(origin, tmp_path, key=key, approved=True)) as writer:
        put(writer, a_memory("The pool is blue", trust="person", pinned=True))
    with contextlib.closing(open_at(origin, tmp_path / "other", key=key, approved=request.param)) as store:
        yield store


def test_only_an_approved_servers_memories_are_the_teams(reader: RestStore, request: pytest.FixtureRequest) -> None:
    expected = "team" if "[approved]" in request.node.name else "outside"
    ((memory, _),) = reader.search(["pool"], wanted(), 5)
    assert memory.trust == expected
    assert [found.trust for found in reader.between(memory.id, memory.id, 1)] == [expected]
    assert [found.trust for found in reader.browse(wanted())] == [expected]
