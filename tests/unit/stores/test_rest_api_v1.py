"""API version 1, as existing servers implement it: requests, responses, and the error for each status."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import rest_server
from keepmum.core.errors import KeyRefused
from keepmum.stores.rest.api import Api
from keepmum.stores.rest.http_client import HttpClient, RequestRefused
from keepmum.workspace.credentials import Server
from rest_server import KEY, FakeServer
from unit.stores.conftest import OpenService

NOTE: dict[str, Any] = {"text": "Blue first", "title": "Pools", "project": "alpha", "agent": "ada", "tags": ["a", "b"]}
Connect = Callable[..., Api]


@pytest.fixture
def connect(origin: str) -> Iterator[Connect]:
    with ExitStack() as stack:

        def connect_one(key: str = KEY) -> Api:
            api = Api(HttpClient(Server(origin, key)))
            stack.callback(api.close)
            return api

        yield connect_one


def create(api: Api, **fields: Any) -> str:
    return api.create(**{**NOTE, **fields}, idempotency_key=str(uuid.uuid4()))


def last_body(fake: FakeServer, method: str) -> dict[str, Any]:
    body = json.loads(fake.asked(method)[-1].get_data())
    assert isinstance(body, dict)
    return body


def test_create_sends_five_fields_and_returns_the_id(connect: Connect, fake: FakeServer) -> None:
    name = create(connect())
    assert last_body(fake, "POST") == NOTE
    assert list(fake.memories) == [name]


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        pytest.param({"text": ""}, 400, "must NOT have fewer than 1 characters", id="no text"),
        pytest.param({"text": "", "project": "beta"}, 400, "fewer than 1", id="no text, checked before the project"),
        pytest.param({"project": "*"}, 400, "project must be a specific name", id="every project"),
        pytest.param({"text": "a canary"}, 400, "Secret detected in text: a-rule", id="a secret in the text"),
        pytest.param({"title": "a canary"}, 400, "Secret detected in title: a-rule", id="a secret in the title"),
    ],
)
def test_a_refusal_has_the_status_and_message_of_the_server(
    connect: Connect, fake: FakeServer, fields: dict[str, str], status: int, words: str
) -> None:
    fake.keys, fake.secret = {KEY: ["alpha"]}, "canary"
    with pytest.raises(RequestRefused, match=words) as caught:
        create(connect(), **fields)
    assert caught.value.status == status
    assert not fake.memories


def test_a_key_for_another_project_is_reported(connect: Connect, fake: FakeServer) -> None:
    fake.keys = {KEY: ["alpha"]}
    with pytest.raises(KeyRefused, match="403"):
        create(connect(), project="beta")
    assert not fake.memories


def test_search_sends_query_and_filters_and_returns_four_fields(connect: Connect, fake: FakeServer) -> None:
    api = connect()
    name = create(api)
    found = api.search("blue", limit=7, agent="ada", project="alpha", tags=["a", "b"])
    assert dict(fake.asked("GET")[-1].args) == {
        "query": "blue", "limit": "7", "agent": "ada", "project": "alpha", "tags": "a,b",
    }  # fmt: skip
    assert [(item.id, item.title, item.project, item.score) for item in found] == [(name, "Pools", "alpha", 1.0)]
    assert api.search("blue", limit=7, tags=["a", "c"]) == []


def test_a_search_without_a_project_sends_none(connect: Connect, fake: FakeServer) -> None:
    connect().search("blue", limit=10)
    assert dict(fake.asked("GET")[-1].args) == {"query": "blue", "limit": "10"}


def test_load_returns_the_access_count_before_it(connect: Connect, fake: FakeServer) -> None:
    api = connect()
    name = create(api)
    first, second = api.load([name])[0], api.load([name])[0]
    assert (first.text, first.agent, first.tags, first.created_by) == ("Blue first", "ada", ("a", "b"), "a key")
    assert (first.access_count, second.access_count) == (0, 1)
    assert dict(fake.asked("GET")[-1].args) == {"ids": name}


def test_load_leaves_out_unknown_and_forbidden_memories(connect: Connect, fake: FakeServer) -> None:
    ours, theirs = fake.put("Blue first", project="alpha"), fake.put("Red first", project="beta")
    fake.keys = {KEY: ["alpha"]}
    assert [item.id for item in connect().load([theirs, str(uuid.uuid4()), ours])] == [ours]


def test_recent_lists_the_latest_first_within_the_days(connect: Connect, fake: FakeServer) -> None:
    names = [fake.put(f"number {number}") for number in range(3)]
    for age, name in enumerate(names):
        fake.memories[name]["created_at"] = (datetime.now(UTC) - timedelta(days=20 * age)).isoformat()
    found = connect().recent(limit=10, days=30, project="alpha")
    assert [item.id for item in found] == names[:2]
    assert dict(fake.asked("GET")[-1].args) == {"limit": "10", "days": "30", "project": "alpha"}


def test_update_sends_text_and_title_and_keeps_the_other_fields(connect: Connect, fake: FakeServer) -> None:
    api = connect()
    name = create(api)
    api.update(name, text="Green first", title="Pools")
    assert last_body(fake, "PUT") == {"text": "Green first", "title": "Pools"}
    assert (fake.memories[name]["tags"], fake.memories[name]["agent"]) == (["a", "b"], "ada")


def test_delete_sends_no_body_and_no_content_type(connect: Connect, fake: FakeServer) -> None:
    api = connect()
    api.delete(create(api))
    asked = fake.asked("DELETE")[-1]
    assert (asked.get_data(), asked.headers.get("Content-Type")) == (b"", None)
    assert not fake.memories


@pytest.mark.parametrize("name", ["no-uuid", "../config"])
def test_an_invalid_id_reaches_no_other_path(connect: Connect, fake: FakeServer, name: str) -> None:
    with pytest.raises(RequestRefused):
        connect().delete(name)
    assert not fake.asked("DELETE", "/api/v1/config")


def test_the_config_names_the_collection(connect: Connect) -> None:
    assert connect().collection() == ("shared_agent_memory", True)


def test_an_unknown_key_is_refused_also_when_the_error_is_a_string(connect: Connect) -> None:
    with pytest.raises(KeyRefused):
        connect(key="not a key of this server").collection()


@pytest.mark.parametrize("hours", [-30 * 24, -1, 1, 48], ids=lambda hours: f"{hours} hours")
def test_a_wrong_clock_of_the_server_loses_nothing(
    open_memory: OpenService, fake: FakeServer, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    def wrong_now() -> str:
        return (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    monkeypatch.setattr(rest_server, "_now", wrong_now)
    memory = open_memory()
    name = memory.remember("Blue first", title="Pools").memory.id
    assert [match.memory.title for match in memory.recall("blue")] == ["Pools"]
    assert [match.memory.title for match in memory.recall()] == ["Pools"]
    memory.revise(name, "Green first")
    assert open_memory(machine="there").load([name])[0].text == "Green first"
    memory.forget([name])
    assert not fake.memories
    assert memory.recall() == []
