"""`keepmum import URL` copies a team server's memories into this machine's database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from foreign_memories import AGENT_MEMORY, tables
from keepmum.cli.main import main
from rest_server import KEY, FakeServer, behind

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def origin(httpserver: HTTPServer) -> str:
    return behind(httpserver, FakeServer())


def test_a_server_is_imported_without_becoming_the_store(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, origin: str
) -> None:
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    with monkeypatch.context() as there:
        there.setenv("MEMORY_API_URL", origin)
        main(["remember", "Deploys go through the blue pool", "--title", "Deploys"])
    capsys.readouterr()
    assert main(["import", origin]) == 0
    assert capsys.readouterr().out == "1 imported, 0 unchanged, 0 refused\n"
    main(["recall", "blue", "pool", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["text"] == "Deploys go through the blue pool"


def test_a_dry_run_over_a_server_stores_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, origin: str
) -> None:
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    with monkeypatch.context() as there:
        there.setenv("MEMORY_API_URL", origin)
        main(["remember", "Deploys go through the blue pool"])
    capsys.readouterr()
    assert main(["import", "--dry-run", origin]) == 0
    assert capsys.readouterr().out == "1 would be imported, 0 unchanged, 0 refused\n"


def test_with_a_team_server_an_import_stays_on_this_machine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer, tmp_path: Path
) -> None:
    fake = FakeServer()
    path = tables("memories.db", AGENT_MEMORY)(tmp_path)
    with monkeypatch.context() as there:
        there.setenv("MEMORY_API_URL", behind(httpserver, fake))
        there.setenv("MEMORY_API_KEY", KEY)
        for counts in ("2 imported, 0 unchanged, 0 refused\n", "0 imported, 2 unchanged, 0 refused\n"):
            assert main(["import", "--yes", str(path)]) == 0
            output = capsys.readouterr()
            assert output.out == counts
    assert fake.memories == {}
    main(["recall", "PostgreSQL", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["text"] == "PostgreSQL 16"


def test_a_server_that_nobody_approved_gets_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "https://memory.example.com"]) == 1
    assert "keepmum login https://memory.example.com" in capsys.readouterr().err
