"""Dialects over a team server: writes that the server cannot hold are refused, others round-trip."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from dialect_calls import opened
from keepmum.core.errors import Unsupported
from rest_server import KEY, FakeServer, behind

WRITES = [
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
def test_write_that_a_server_cannot_hold_is_refused(
    fake: FakeServer, dialect: str, tool: str, arguments: dict[str, object]
) -> None:
    with opened(dialect) as tools, pytest.raises(Unsupported, match="this server"):
        tools.text(tool, **arguments)
    assert fake.memories == {}


def test_memories_of_a_user_are_not_requested_from_a_server(fake: FakeServer) -> None:
    with opened("per-user") as tools:
        assert tools.json("MemoryRecall", userId="ada", query="what does Ada use?")["memories"] == []
        assert tools.json("MemoryList", userId="ada")["memories"] == []
    assert not fake.asked("POST", "/api/v1/memories/search")


def test_project_value_round_trips_through_the_server(fake: FakeServer) -> None:
    with opened("token-saver") as tools:
        written = tools.json("write_memory", key="project.type", value={"kind": "web"})
        assert written["status"] == "created"
        assert len(fake.memories) == 1
        assert tools.json("read_memory", key="project.type")["value"] == {"kind": "web"}
        assert tools.json("delete_memory", key="project.type") is True


@pytest.mark.parametrize(("version", "trailer"), [(2, False), (1, True), (1, False)])
def test_another_machine_takes_over_a_handoff_if_the_server_keeps_its_fields(
    httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, *, trailer: bool
) -> None:
    origin = behind(httpserver, FakeServer(newest=version))
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def go_to(machine: str) -> None:
        monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path / machine))
        (tmp_path / machine).mkdir(mode=0o700)
        settings = f'[backend]\norigin = "{origin}"\nv1_trailer = {str(trailer).lower()}\n'  # the user approves it
        (tmp_path / machine / "config.toml").write_text(settings, encoding="utf-8")

    go_to("first")
    with opened("hackathon") as tools:
        tools.text("remember", key="db", value="PostgreSQL", context="JSONB")
        answer = tools.text("handoff", summary="half of it", next_steps="the rest", context_keys=["db"])
    is_kept = version == 2 or trailer
    go_to("second")
    with opened("hackathon", "cursor") as tools:
        taken = tools.text("pickup")
        assert ("half of it" in taken and "JSONB" in taken) is is_kept
        assert "PostgreSQL" in tools.text("recall", query="which PostgreSQL?")
        if is_kept:
            assert tools.text("complete-handoff", handoff_id=1).startswith("Handoff #1 completed")
    assert "handoff" in answer.lower()


def test_no_write_that_waits_for_a_server_is_called_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    calls: dict[str, list[tuple[str, dict[str, object]]]] = {
        "keepmum": [("remember", {"text": "Blue first"})],
        "shared": [("store_memory", {"title": "Pools", "text": "Green first"})],
        "hackathon": [
            ("remember", {"key": "db", "value": "PostgreSQL"}),
            ("handoff", {"summary": "half", "next_steps": "rest"}),
            ("pickup", {}),
            ("complete-handoff", {"handoff_id": 1}),
            ("import-memories", {"data": [{"key": "a", "value": "b"}]}),
            ("forget", {"key": "db"}),
        ],
        "token-saver": [("write_memory", {"key": "project.type", "value": 1})],
    }
    for dialect, tools_called in calls.items():
        with opened(dialect) as tools:
            for name, arguments in tools_called:
                assert "queued" in tools.text(name, **arguments).lower(), (dialect, name)
    with opened("token-saver") as tools:
        assert tools.json("write_memory", key="project.type", value=2)["status"] == "queued"
        (tmp_path / "rows.json").write_text('[{"key": "k", "value": 1}]', encoding="utf-8")
        assert tools.json("import_memories", file="rows.json", backup=False)["queued"] == 1
