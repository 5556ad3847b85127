"""A foreign server of version 2: no field is lost, no write is delivered twice, and no other is overwritten."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request

from keepmum.core import ids
from keepmum.core.errors import KeepmumError
from keepmum.core.memory import Change
from keepmum.service import MemoryService
from keepmum.stores import Store
from keepmum.stores.rest import RestStore
from rest_server import Answer, FakeServer, behind, shared_hosts

OpenService = Callable[..., MemoryService]


@pytest.fixture
def fake() -> FakeServer:
    return FakeServer(newest=2)


@pytest.fixture
def origin(httpserver: HTTPServer, fake: FakeServer) -> str:
    return behind(httpserver, fake)


def call_once(fake: FakeServer, act: Callable[[], object], *, answering: str) -> list[object]:
    """Call `act` before the first answer to this method or path is sent; what it returned is added to the list."""
    done: list[object] = []

    def before_response(request: Request) -> None:
        if not done and (request.method == answering or request.path.endswith(answering)):
            fake.before_response = lambda _: None  # `act` makes such requests itself
            done.append(act())

    fake.before_response = before_response
    return done


def load(memory: MemoryService, name: str) -> Any:
    return memory.load([name])[0]


def mirror_of(memory: MemoryService) -> Store:
    """The mirror of the server on the machine of `memory`."""
    assert isinstance(memory.store, RestStore)
    return memory.store.local


def delivered(sender: Any) -> None:
    """Wait until a service that sends has emptied its queue."""
    ends = time.monotonic() + 60
    while sender.store.health()["queued"]:
        assert time.monotonic() < ends, "the queue is not sent"


def test_the_first_write_asks_once_for_the_version(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.remember("Blue first")
    memory.remember("Green first")
    assert [(one.method, one.path) for one in fake.requests] == [
        ("GET", "/health"), ("GET", "/api/v2"), ("POST", "/api/v2/memories"), ("POST", "/api/v2/memories"),
    ]  # fmt: skip


def test_a_read_learns_the_version_from_its_response(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.recall("blue")
    memory.recall("green")
    assert [one.path for one in fake.requests] == [
        "/api/v1/memories/search", "/api/v2/memories/search", "/api/v2", "/api/v2/memories/search",
    ]  # fmt: skip


def test_a_memory_keeps_the_id_of_the_client(open_memory: OpenService, fake: FakeServer) -> None:
    name = open_memory().remember("Blue first").memory.id
    assert list(fake.memories) == [ids.to_uuid(name)]


def test_every_field_reaches_other_machines(open_memory: OpenService) -> None:
    kept = open_memory().remember(
        "Blue first", key="pool", kind="decision", why="it is tested", importance=0.9, tags=["deploy"],
        source="README:3", data={"a": [1]},
    ).memory  # fmt: skip
    loaded = load(open_memory("codex", machine="there"), kept.id)
    assert (loaded.key, loaded.kind, loaded.why, loaded.importance, loaded.tags, loaded.source, loaded.data) == (
        "pool", "decision", "it is tested", 0.9, ("deploy",), "README:3", {"a": [1]},
    )  # fmt: skip


def test_the_first_search_returns_the_texts(open_memory: OpenService, fake: FakeServer) -> None:
    open_memory().remember("Blue first", title="Pools")
    there = open_memory(machine="there")
    assert [match.memory.text for match in there.recall("blue")] == ["Blue first"]
    assert not fake.asked("GET", "/api/v2/memories/load")


def test_a_change_of_tags_only_reaches_the_server(open_memory: OpenService) -> None:
    memory = open_memory()
    name = memory.remember("Blue first", key="pool").memory.id
    memory.remember("Blue first", key="pool", tags=["deploy"])
    assert load(open_memory(machine="there"), name).tags == ("deploy",)


def test_a_change_by_a_teammate_is_not_overwritten_unnoticed(open_memory: OpenService, fake: FakeServer) -> None:
    here, there = open_memory(), open_memory("codex", machine="there")
    name = here.remember("Blue first", key="pool").memory.id
    there.load([name])
    there.remember("Green first", key="pool")
    answer = here.remember("Pink first", key="pool")
    assert answer.action == "conflict"
    assert here.history("pool")[0].before["text"] == "Green first"
    assert [one["text"] for one in fake.memories.values()] == ["Pink first"]


def test_a_write_whose_response_was_lost_is_retried_at_once(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.recall("blue")
    lost = [Answer(502)]
    fake.late_fault = lambda request: lost.pop() if lost and request.method == "POST" else None
    assert memory.remember("Blue first").queued == 0
    assert [one["text"] for one in fake.memories.values()] == ["Blue first"]


def test_a_queued_memory_is_delivered_with_all_fields_and_its_id(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    name = memory.remember("Blue first", kind="decision").memory.id
    fake.fault = lambda _: None
    delivered(open_memory(drains=True))
    assert list(fake.memories) == [ids.to_uuid(name)]
    assert load(open_memory(machine="there"), name).kind == "decision"


def test_capabilities_grow_once_the_version_is_known(open_memory: OpenService) -> None:
    memory = open_memory()
    assert "fields" in memory.store.capabilities.cannot
    memory.remember("Blue first", kind="decision")
    assert not {"fields", "kinds", "conflicts", "ids"} & set(memory.store.capabilities.cannot)
    assert memory.notices() == []


def test_a_memory_written_through_version_1_is_readable(open_memory: OpenService, fake: FakeServer) -> None:
    name = fake.put("Blue first", "Pools")
    memory = open_memory()
    memory.recall("pools")
    assert load(memory, name).text == "Blue first"


@pytest.mark.parametrize("bad", [{"kind": "nonsense"}, {"revision": "x"}, {"unknown": 1}, {"text": 5}])
def test_an_invalid_complete_memory_is_read_from_its_version_1_fields(
    open_memory: OpenService, fake: FakeServer, bad: dict[str, Any]
) -> None:
    name = open_memory().remember("Blue first").memory.id
    fake.memories[ids.to_uuid(name)]["memory"] |= bad
    assert load(open_memory(machine="there"), name).text == "Blue first"


def test_a_complete_memory_sets_no_user_session_or_global_scope(open_memory: OpenService, fake: FakeServer) -> None:
    name = open_memory().remember("Blue first").memory.id
    fake.memories[ids.to_uuid(name)]["memory"] |= {"scope": "global", "user": "somebody", "session": "s"}
    loaded = load(open_memory(machine="there"), name)
    assert (loaded.scope, loaded.user, loaded.session) == ("project", None, None)


def test_a_queued_change_is_not_replaced_by_what_the_server_still_has(
    open_memory: OpenService, fake: FakeServer
) -> None:
    here = open_memory()
    here.remember("Blue first", key="pool", title="Blue")
    fake.fault = lambda _: Answer(503)
    here.remember("Green first", key="pool", title="Green")
    fake.fault = lambda _: None
    later = open_memory()  # another process, which the server answers
    assert [match.memory.text for match in later.recall("first")] == ["Green first"]
    assert [match.memory.text for match in later.recall()] == ["Green first"]
    assert load(later, "pool").text == "Green first"


def test_a_queued_removal_is_not_undone_by_what_the_server_still_has(
    open_memory: OpenService, fake: FakeServer
) -> None:
    here = open_memory()
    here.remember("Blue first", key="pool")
    fake.fault = lambda _: Answer(503)
    here.forget(["pool"])
    fake.fault = lambda _: None
    later = open_memory()
    assert later.recall("first") == []
    assert later.recall() == []


def test_a_memory_can_be_changed_after_a_late_response_showed_what_it_was(open_memory: OpenService) -> None:
    where, hosts = shared_hosts()  # answers several requests at a time
    key = "second-late-response"
    here, other = (open_memory(where=where, key=key) for _ in range(2))  # two processes of this machine
    fake = hosts.server(key)
    here.remember("Blue first", key="pool")
    written = call_once(fake, lambda: other.remember("Green first", key="pool"), answering="/search")
    here.recall("first")  # its response is from before the change
    assert written
    here.recall("first")
    assert here.remember("Pink first", key="pool").queued == 0
    assert [one["text"] for one in fake.memories.values()] == ["Pink first"]


def test_a_change_that_another_process_read_first_keeps_its_revision_and_trust(open_memory: OpenService) -> None:
    where, hosts = shared_hosts()
    key = "second-read-first"
    here, other = (open_memory(where=where, key=key) for _ in range(2))  # two processes of this machine
    fake = hosts.server(key)
    written = here.remember("Blue first", key="pool").memory
    other.recall("first")
    read = call_once(fake, other.recall, answering="PUT")
    here.remember("Green first", key="pool")
    assert read
    changed = mirror_of(here).get([written.id])[0]
    assert [one["memory"]["revision"] for one in fake.memories.values()] == [changed.revision]
    assert (changed.text, changed.trust, changed.origin) == ("Green first", written.trust, written.origin)
    assert here.remember("Pink first", key="pool").action == "updated"
    assert [one["text"] for one in fake.memories.values()] == ["Pink first"]


def test_a_change_does_not_hide_a_later_one_that_another_process_read_first(open_memory: OpenService) -> None:
    where, hosts = shared_hosts()
    key = "second-later-change"
    here, other = (open_memory(where=where, key=key) for _ in range(2))
    there = open_memory("codex", machine="there", where=where, key=key)
    fake = hosts.server(key)
    name = here.remember("Blue first", key="pool").memory.id
    other.recall("first")

    def change_again() -> None:
        there.load([name])
        there.remember("Pink first", key="pool")
        other.recall()

    done = call_once(fake, change_again, answering="PUT")
    here.remember("Green first", key="pool")
    assert done
    assert [one.text for one in mirror_of(here).get([name])] == ["Pink first"]


def test_a_purge_erases_a_copy_that_another_process_has_just_changed(open_memory: OpenService) -> None:
    where, hosts = shared_hosts()
    key = "second-purge"
    here, other = (open_memory(where=where, key=key) for _ in range(2))
    fake = hosts.server(key)
    name = here.remember("Blue first", key="pool").memory.id
    (seen,) = mirror_of(other).get([name])
    changed = replace(seen, text="Pink first", revision=seen.revision + 1)
    from_before = Change(seen, changed)  # of an answer from before the purge
    committed = call_once(fake, lambda: mirror_of(other).commit([from_before]), answering="DELETE")
    assert here.erase(["pool"]) == 1
    assert committed
    assert (fake.memories, mirror_of(here).get([name]), mirror_of(here).history(name)) == ({}, [], [])


def test_a_change_that_cannot_see_what_overtook_it_says_so(open_memory: OpenService, fake: FakeServer) -> None:
    here, there = open_memory(), open_memory("codex", machine="there")
    name = here.remember("Blue first", key="pool").memory.id
    there.load([name])
    there.remember("Green first", key="pool")
    fake.fault = lambda request: Answer(400) if request.method == "GET" else None
    with pytest.raises(KeepmumError, match=r"newer version .* nothing was stored.*refused \(400\)"):
        here.remember("Pink first", key="pool")
    assert [one["text"] for one in fake.memories.values()] == ["Green first"]


def test_a_queued_change_that_had_arrived_is_not_called_refused(open_memory: OpenService, fake: FakeServer) -> None:
    here = open_memory()
    here.remember("Blue first", key="pool")
    fake.late_fault = lambda request: Answer(503) if request.method == "PUT" else None
    assert here.remember("Green first", key="pool").queued == 1
    fake.late_fault = lambda _: None
    sender = open_memory(drains=True)
    delivered(sender)
    assert sender.notices() == []
    assert [one["text"] for one in fake.memories.values()] == ["Green first"]


def test_a_queued_change_that_another_overtook_is_called_refused(open_memory: OpenService, fake: FakeServer) -> None:
    here, there = open_memory(), open_memory("codex", machine="there")
    name = here.remember("Blue first", key="pool").memory.id
    fake.fault = lambda _: Answer(503)
    here.remember("Green first", key="pool")
    fake.fault = lambda _: None
    there.load([name])
    there.remember("Pink first", key="pool")
    sender = open_memory(drains=True)
    delivered(sender)
    assert ["1 write that was queued" in notice for notice in sender.notices()] == [True]
    assert [one["text"] for one in fake.memories.values()] == ["Pink first"]
