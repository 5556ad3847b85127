"""A server of the second API: nothing of a memory is lost, nothing is sent twice, nobody is overwritten."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from keepmum.core import ids
from keepmum.service import MemoryService
from rest_server import Answer, FakeServer, behind

OpenService = Callable[..., MemoryService]


@pytest.fixture
def fake() -> FakeServer:
    return FakeServer(newest=2)


@pytest.fixture
def origin(httpserver: HTTPServer, fake: FakeServer) -> str:
    return behind(httpserver, fake)


def whole(memory: MemoryService, name: str) -> Any:
    return memory.load([name])[0]


def test_a_write_asks_once_what_the_server_speaks(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.remember("Blue first")
    memory.remember("Green first")
    assert [(one.method, one.path) for one in fake.requests] == [
        ("GET", "/health"), ("POST", "/api/v2/memories"), ("POST", "/api/v2/memories"),
    ]  # fmt: skip


def test_a_read_learns_it_from_the_answer(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.recall("blue")
    memory.recall("green")
    assert [one.path for one in fake.requests] == ["/api/v1/memories/search", "/api/v2/memories/search"]


def test_a_memory_keeps_the_id_it_was_given(open_memory: OpenService, fake: FakeServer) -> None:
    name = open_memory().remember("Blue first").memory.id
    assert list(fake.memories) == [ids.to_uuid(name)]


def test_every_field_reaches_other_machines(open_memory: OpenService) -> None:
    kept = open_memory().remember(
        "Blue first", key="pool", kind="decision", why="it is tested", importance=0.9, tags=["deploy"],
        source="README:3", data={"a": [1]},
    ).memory  # fmt: skip
    seen = whole(open_memory("codex", machine="there"), kept.id)
    assert (seen.key, seen.kind, seen.why, seen.importance, seen.tags, seen.source, seen.data) == (
        "pool", "decision", "it is tested", 0.9, ("deploy",), "README:3", {"a": [1]},
    )  # fmt: skip


def test_a_search_brings_the_texts_along(open_memory: OpenService, fake: FakeServer) -> None:
    open_memory().remember("Blue first", title="Pools")
    there = open_memory(machine="there")
    there.recall("nothing")
    assert [match.memory.text for match in there.recall("blue")] == ["Blue first"]
    assert not fake.asked("GET", "/api/v2/memories/load")


def test_a_change_of_a_field_alone_reaches_the_server(open_memory: OpenService) -> None:
    memory = open_memory()
    name = memory.remember("Blue first", key="pool").memory.id
    memory.remember("Blue first", key="pool", tags=["deploy"])
    assert whole(open_memory(machine="there"), name).tags == ("deploy",)


def test_a_change_by_a_teammate_is_not_overwritten_unseen(open_memory: OpenService, fake: FakeServer) -> None:
    here, there = open_memory(), open_memory("codex", machine="there")
    name = here.remember("Blue first", key="pool").memory.id
    there.load([name])
    there.remember("Green first", key="pool")
    answer = here.remember("Pink first", key="pool")
    assert answer.action == "conflict"
    assert here.history("pool")[0].before["text"] == "Green first"
    assert [one["text"] for one in fake.memories.values()] == ["Pink first"]


def test_an_answer_that_was_lost_is_asked_for_again_at_once(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.recall("blue")
    lost = [Answer(502)]
    fake.late_fault = lambda request: lost.pop() if lost and request.method == "POST" else None
    assert memory.remember("Blue first").queued == 0
    assert [one["text"] for one in fake.memories.values()] == ["Blue first"]


def test_what_was_queued_arrives_whole_under_its_own_id(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    name = memory.remember("Blue first", kind="decision").memory.id
    fake.fault = lambda _: None
    sender: Any = open_memory(drains=True).store
    ends = time.monotonic() + 20
    while sender.health()["queued"]:
        assert time.monotonic() < ends, "the queue is not sent"
    assert list(fake.memories) == [ids.to_uuid(name)]
    assert whole(open_memory(machine="there"), name).kind == "decision"


def test_what_is_promised_grows_with_the_server(open_memory: OpenService) -> None:
    memory = open_memory()
    assert "fields" in memory.store.capabilities.cannot
    memory.remember("Blue first", kind="decision")
    assert not {"fields", "kinds", "conflicts", "ids"} & set(memory.store.capabilities.cannot)
    assert memory.notices() == []


def test_a_memory_that_somebody_wrote_by_the_first_api_is_read_as_that(
    open_memory: OpenService, fake: FakeServer
) -> None:
    name = fake.put("Blue first", "Pools")
    memory = open_memory()
    memory.recall("pools")
    assert whole(memory, name).text == "Blue first"


@pytest.mark.parametrize("bad", [{"kind": "nonsense"}, {"revision": "x"}, {"unknown": 1}, {"text": 5}])
def test_a_whole_memory_that_is_none_is_read_by_its_plain_fields(
    open_memory: OpenService, fake: FakeServer, bad: dict[str, Any]
) -> None:
    name = open_memory().remember("Blue first").memory.id
    fake.memories[ids.to_uuid(name)]["memory"] |= bad
    assert whole(open_memory(machine="there"), name).text == "Blue first"


def test_a_whole_memory_brings_in_no_other_users_and_no_other_scope(open_memory: OpenService, fake: FakeServer) -> None:
    name = open_memory().remember("Blue first").memory.id
    fake.memories[ids.to_uuid(name)]["memory"] |= {"scope": "global", "user": "somebody", "session": "s"}
    seen = whole(open_memory(machine="there"), name)
    assert (seen.scope, seen.user, seen.session) == ("project", None, None)
