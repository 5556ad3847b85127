"""Invalid responses of a server: each gives a one-sentence error, and nothing of them is stored."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from keepmum.core.errors import StoreError
from keepmum.service import MemoryService
from rest_server import Answer, FakeServer

OpenService = Callable[..., MemoryService]
ID = str(uuid.uuid4())
FAR = "9999-12-31T23:59:59.999Z"


def respond_with(fake: FakeServer, body: Any) -> None:
    fake.fault = lambda request: Answer(200, body) if request.path != "/health" else None


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"data": None},
        {"data": {"id": ID}},
        {"data": ["text"]},
        {"data": [{"title": "no id"}]},
        {"data": [{"id": "no uuid", "title": "x"}]},
        {"data": [{"id": ID, "title": "x", "score": "high"}]},
        {"data": [{"id": ID, "title": "x", "score": True}]},
        {"data": [{"id": 5, "title": "x"}]},
    ],
)
def test_an_invalid_search_response_is_reported_and_the_mirror_is_searched(
    open_memory: OpenService, fake: FakeServer, body: Any
) -> None:
    respond_with(fake, body)
    memory = open_memory()
    assert memory.recall("blue") == []
    assert "is it a memory server?" in memory.caveat() or "in a form that is not its API's" in memory.caveat()


@pytest.mark.parametrize("body", [{}, {"data": {}}, {"data": {"id": "x"}}, {"data": {"id": None}}, {"data": []}])
def test_an_invalid_response_to_a_write_is_an_error(open_memory: OpenService, fake: FakeServer, body: Any) -> None:
    respond_with(fake, body)
    with pytest.raises(StoreError, match="in a form that is not its API's"):
        open_memory().remember("Blue first")


@pytest.mark.parametrize(
    "fields",
    [
        {"created_at": FAR, "createdAt": FAR, "updatedAt": FAR},
        {"created_at": "yesterday", "createdAt": 5, "updatedAt": None},
        {"created_at": "0001-01-01T00:00:00Z", "createdAt": "0001-01-01T00:00:00Z"},
        {"access_count": -5},
        {"access_count": 10**400},
        {"tags": "no list"},
        {"tags": [1, None, "kept"]},
        {"agent": None, "createdBy": 7},
        {"title": ""},
        {"title": "half \ud800 a pair", "text": "half \udc00 a pair"},
    ],
    ids=[
        "far future",
        "no time",
        "far past",
        "negative",
        "huge",
        "tags",
        "tags of other types",
        "no agent",
        "untitled",
        "lone surrogates",
    ],
)
def test_invalid_optional_fields_are_replaced_by_defaults(
    open_memory: OpenService, fake: FakeServer, fields: dict[str, Any]
) -> None:
    name = fake.put("Blue first", "Pools")
    fake.memories[name] |= fields
    memory = open_memory()
    memory.recall("blue pools half pair")
    loaded = memory.load([name])[0]
    assert loaded.text
    assert 0 <= loaded.created_at <= 253_402_300_799_999
    assert memory.caveat() == ""


def test_a_repeated_id_is_listed_once(open_memory: OpenService, fake: FakeServer) -> None:
    item = {"id": ID, "title": "Pools", "project": "alpha", "score": 0.5, "created_at": "2026-01-01T00:00:00Z"}
    respond_with(fake, {"data": [item, {**item, "title": "Pools again"}]})
    memory = open_memory()
    assert len(memory.recall("pools")) == 1
    assert len(memory.recall()) == 1


def test_a_response_that_is_not_json_is_reported(open_memory: OpenService, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(200, b"<!doctype html><title>Sign in", {"Content-Type": "text/html"})
    memory = open_memory()
    memory.recall("blue")
    assert "did not answer in JSON; is it a memory server?" in memory.caveat()
    with pytest.raises(StoreError, match="did not answer in JSON"):
        memory.remember("Blue first")
