"""Two machines of a team at our own server: neither is held up by what its mirror has of the other's memories."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import own_server
from keepmum.core.memory import Memory
from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import RestSpec, SqliteSpec
from keepmum.workspace.credentials import Server
from keepmum_scanner import scan

Machine = Callable[[str], MemoryService]


@pytest.fixture(params=["sqlite", "postgres"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """Opens the memory of one project as an agent on the machine of this name."""
    server = own_server.shared(request.param)
    project = f"github.com/acme/{tmp_path.name}"
    with contextlib.ExitStack() as stack:

        def open_one(name: str) -> MemoryService:
            home = str(tmp_path / name)
            service = open_service(
                RestSpec(Server(server.origin, server.key), SqliteSpec(f"{home}/servers/mirror.db"), home),
                scan,
                ServiceOptions(place=Place(project=project, name="alpha", root=str(tmp_path)), agent=name, home=home),
            )
            stack.callback(service.close)
            return service

        yield open_one


def _texts(memory: MemoryService, query: str = "") -> list[str]:
    return [match.memory.text for match in memory.recall(query)]


def _reused(here: MemoryService, there: MemoryService) -> Memory:
    """The memory that has the key `pool` now; `here` knows the one that had it before."""
    here.remember("Blue first", key="pool")
    there.forget(["pool"])
    return there.remember("Green first", key="pool").memory


def test_a_key_that_was_freed_elsewhere_can_be_used_again(machine: Machine) -> None:
    here, there = machine("here"), machine("there")
    here.remember("Blue first", key="pool")
    there.forget(["pool"])
    assert here.remember("Green first", key="pool").action == "created"
    assert _texts(there) == _texts(here) == ["Green first"]


@pytest.mark.parametrize("read", ["nothing", "list", "search", "load"])
def test_a_key_that_another_memory_has_now_names_that_one(machine: Machine, read: str) -> None:
    here, there = machine("here"), machine("there")
    new = _reused(here, there)
    match read:
        case "list":
            assert _texts(here) == ["Green first"]
        case "search":
            assert [match.memory.id for match in here.recall("green")] == [new.id]
        case "load":
            assert [memory.id for memory in here.load([new.id])] == [new.id]
    changed = here.remember("Pink first", key="pool")
    assert (changed.memory.id, changed.queued) == (new.id, 0)
    assert _texts(there) == _texts(here) == ["Pink first"]


def test_a_memory_with_such_a_key_can_be_edited_by_its_id(machine: Machine) -> None:
    here, there = machine("here"), machine("there")
    new = _reused(here, there)
    (shown,) = [match.memory for match in here.recall("green")]
    here.edit(new.id, "Pink first", revision=shown.revision)
    assert _texts(there) == ["Pink first"]


def test_keys_that_two_memories_have_exchanged_elsewhere(machine: Machine) -> None:
    here, there = machine("here"), machine("there")
    first, second = (here.remember(text, key=key).memory for text, key in (("Blue first", "one"), ("Green", "two")))
    there.forget(["one", "two"])
    there.remember("Blue again", key="two")
    there.remember("Green again", key="one")
    assert sorted(_texts(here)) == ["Blue again", "Green again"]
    for key in ("one", "two"):
        assert here.remember(f"Pink for {key}", key=key).memory.id not in {first.id, second.id}
    assert sorted(_texts(there)) == ["Pink for one", "Pink for two"]


@pytest.mark.parametrize("seed", range(2))
def test_four_sessions_see_each_others_last_write(machine: Machine, seed: int) -> None:
    sessions = [machine(name) for name in ("here", "there") for _ in range(2)]
    chance, written = random.Random(seed), dict[str, str]()  # texts by key
    for step in range(60):
        session, key = chance.choice(sessions), chance.choice(("blue", "green", "pink", "white"))
        match chance.choice(("remember", "remember", "forget", "list", "search", "load", "upkeep")):
            case "remember":
                written[key] = f"The {key} pool goes first since step {step}"
                assert session.remember(written[key], key=key).queued == 0
            case "forget" if key in written:
                session.forget([key])
                del written[key]
            case "list":
                assert sorted(_texts(session)) == sorted(written.values())
            case "search":
                found = [text for text in _texts(session, key) if key in text]
                assert found == ([written[key]] if key in written else [])
            case "load" if key in written:
                assert [memory.text for memory in session.load([key])] == [written[key]]
            case "upkeep":
                session.upkeep()
    for session in sessions:
        assert sorted(_texts(session)) == sorted(written.values())
