"""`keepmum serve run`, as its clients and its operator see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server_process import BOB, TeamServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("server")) as running:
        yield running


MEMORY = {"text": "Deploys go through the blue pool", "title": "Deploys", "project": "api"}


def test_health_needs_no_key(server: TeamServer) -> None:
    answer = server.ask("GET", "/health", key=None)
    assert (answer.status, answer.raw) == (200, b'{"status":"ok","modelReady":true}')


def test_without_a_key_nothing_else_is_served(server: TeamServer) -> None:
    answer = server.ask("GET", "/api/v1/memories/load?ids=a", key=None)
    assert (answer.status, answer.raw, answer.headers["www-authenticate"]) == (
        401,
        b'{"error":"Unauthorized"}',
        "Bearer",
    )


def test_a_memory_is_stored_and_loaded(server: TeamServer) -> None:
    stored = server.ask("POST", "/api/v1/memories", MEMORY)
    assert stored.status == 201
    loaded = server.ask("GET", f"/api/v1/memories/load?ids={stored.body['data']['id']}", key=BOB)
    assert loaded.body["data"][0]["text"] == MEMORY["text"]


def test_another_project_is_refused(server: TeamServer) -> None:
    answer = server.ask("POST", "/api/v1/memories", {**MEMORY, "project": "secret-project"})
    assert (answer.status, answer.body["error"]["message"]) == (403, "Access denied for project")


def test_a_server_without_keys_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="keepmum serve init"):
        TeamServer(tmp_path, environ={"API_KEYS": ""})
