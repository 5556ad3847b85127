"""`keepmum import URL` copies a team server's memories into this machine's database."""

from __future__ import annotations

import json

import pytest
from pytest_httpserver import HTTPServer

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


def test_a_server_that_nobody_approved_gets_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "https://memory.example.com"]) == 1
    assert "keepmum login https://memory.example.com" in capsys.readouterr().err
