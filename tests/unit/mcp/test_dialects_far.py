"""What the dialects say of a team's server that cannot hold what they keep: a sentence, and nothing is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from dialect_calls import opened
from keepmum.core.errors import Unsupported
from rest_server import KEY, FakeServer, behind

WRITES = [
    ("hackathon", "remember", {"key": "db", "value": "PostgreSQL"}),
    ("hackathon", "handoff", {"summary": "half", "next_steps": "rest"}),
    ("per-user", "MemoryStore", {"userId": "ada", "content": "Uses macOS", "category": "fact"}),
    ("token-saver", "write_memory", {"key": "editor", "value": "vim", "scope": "global"}),
    ("token-saver", "write_memory", {"key": "step", "value": 3, "scope": "session"}),
]


@pytest.fixture
def fake(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    server = FakeServer()
    monkeypatch.setenv("MEMORY_API_URL", behind(httpserver, server))
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    return server


@pytest.mark.parametrize(("dialect", "tool", "arguments"), WRITES, ids=lambda value: str(value)[:20])
def test_what_a_server_cannot_hold_is_refused_with_a_sentence(
    fake: FakeServer, dialect: str, tool: str, arguments: dict[str, object]
) -> None:
    with opened(dialect) as tools, pytest.raises(Unsupported, match="this server"):
        tools.text(tool, **arguments)
    assert fake.memories == {}


def test_a_users_memories_are_asked_of_no_server(fake: FakeServer) -> None:
    with opened("per-user") as tools:
        assert tools.json("MemoryRecall", userId="ada", query="what does Ada use?")["memories"] == []
        assert tools.json("MemoryList", userId="ada")["memories"] == []
    assert not fake.asked("POST", "/api/v1/memories/search")


def test_a_value_of_a_project_goes_to_the_server_and_comes_back(fake: FakeServer) -> None:
    with opened("token-saver") as tools:
        told = tools.json("write_memory", key="project.type", value={"kind": "web"})
        assert told["status"] == "created"
        assert len(fake.memories) == 1
        assert tools.json("read_memory", key="project.type")["value"] == {"kind": "web"}
        assert tools.json("delete_memory", key="project.type") is True
