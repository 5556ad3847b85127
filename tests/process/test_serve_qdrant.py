"""A real server process over Qdrant's REST API, as a team moves to it from a shared-agent-memory server."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bytecode
from own_server import OwnServer
from qdrant_server import NAME, QdrantHttp, seeds_point

ROOT = Path(__file__).resolve().parents[2]
SEEDS_ID = "3b0f4e52-5c3a-4d1e-9a51-3f1a2b3c4d5e"
KEY = "a-key-for-tests"


@pytest.fixture(scope="module")
def qdrant() -> Iterator[QdrantHttp]:
    """The Qdrant of a team, with one memory that its former server wrote."""
    with QdrantHttp(KEY) as server:
        server.make_seeds(NAME)
        server.client.upsert(NAME, [seeds_point(SEEDS_ID, "Deploys go through the blue pool", [1.0] + [0.0] * 383)])
        yield server


@pytest.fixture(scope="module")
def team(qdrant: QdrantHttp, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    """Our server over it."""
    environ = {"KEEPMUM_SERVER_DATABASE_URL": qdrant.url, "KEEPMUM_SERVER_DATABASE_KEY": KEY}
    with OwnServer(tmp_path_factory.mktemp("server"), environ) as server:
        yield server


def test_a_team_goes_on_with_its_memories(qdrant: QdrantHttp, team: OwnServer) -> None:
    def ask(method: str, path: str, body: Any = None) -> Any:
        answer = team.ask(method, path, body, key=team.key)
        assert answer.status in {200, 201}, answer.body
        return answer.body["data"]

    (found,) = ask("GET", "/api/v1/memories/search?query=deploy&project=alpha")
    assert found["id"] == SEEDS_ID
    assert ask("GET", f"/api/v1/memories/load?ids={SEEDS_ID}")[0]["createdBy"] == "team-key"
    ask("PUT", f"/api/v1/memories/{SEEDS_ID}", {"text": "Deploys go through the green pool"})
    made = ask("POST", "/api/v1/memories", {"text": "Backups run at night", "title": "Backups", "project": "alpha"})
    assert {one["id"] for one in ask("GET", "/api/v1/memories/recent?days=3650")} == {SEEDS_ID, made["id"]}
    actions = [event["action"] for event in ask("GET", f"/api/v1/memories/{SEEDS_ID}/audit")]
    assert actions[-1] == "update"
    assert team.ask("GET", "/health/ready").status == 200
    payload = qdrant.client.retrieve(NAME, [SEEDS_ID])[0].payload or {}
    assert (payload["text"], payload["createdBy"]) == ("Deploys go through the green pool", "team-key")


def test_a_secret_reaches_qdrant_by_no_request(qdrant: QdrantHttp, team: OwnServer) -> None:
    secret = "AKIA" + "QYLPMN5H" + "HHFPZAM2"
    body = {"text": f"the key is {secret}", "title": "Key", "project": "alpha"}
    assert team.ask("POST", "/api/v1/memories", body, key=team.key).status == 400
    assert secret not in repr(qdrant.asked)


def test_a_server_says_that_qdrant_is_away(qdrant: QdrantHttp, team: OwnServer) -> None:
    qdrant.status = 503
    try:
        answer = team.ask("GET", "/api/v1/memories/search?query=deploy", key=team.key)
        assert (answer.status, team.ask("GET", "/health/ready").status) == (503, 503)
    finally:
        qdrant.status = 0
    assert "must not be quoted" not in repr(answer.body)
    assert team.ask("GET", "/api/v1/memories/search?query=deploy", key=team.key).status == 200


def test_init_says_what_it_found_and_stores_no_key(qdrant: QdrantHttp, tmp_path: Path) -> None:
    environ = {"KEEPMUM_SERVER_DATABASE_KEY": KEY}
    done = _keepmum(tmp_path, environ, "serve", "init", "--database", qdrant.url)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"the collection {NAME} has \d memor", done.stderr)
    assert KEY not in (tmp_path / "server" / "server.toml").read_text(encoding="utf-8")
    checked = _keepmum(tmp_path, environ, "serve", "check")
    assert f"the collection {NAME} of Qdrant at {qdrant.url}" in checked.stdout, checked.stderr


def _keepmum(home: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(ROOT / "plugin" / "launch.py"), *arguments]
    given = {"PATH": "/usr/bin:/bin", "HOME": str(home), "KEEPMUM_HOME": str(home), **environ}
    bytecode.share(home)
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=120, check=False)
