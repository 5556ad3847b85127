"""What a team's server of the first API holds is taken in, and a memory goes there and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from keepmum.cli.main import main
from rest_server import KEY, Answer, FakeServer, behind


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> FakeServer:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    fake = FakeServer()
    origin = behind(httpserver, fake)
    monkeypatch.setenv("MEMORY_API_URL", origin)
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    main(["backend", "use", origin])
    return fake


def test_a_server_is_copied_into_the_database_once(capsys: pytest.CaptureFixture[str]) -> None:
    main(["remember", "Deploys go through the blue pool", "--title", "Deploys"])
    main(["remember", "Releases go out on Tuesdays", "--title", "Releases"])
    capsys.readouterr()
    assert main(["import", "--from", "server"]) == 0
    assert capsys.readouterr().out == "2 imported, 0 unchanged, 0 refused\n"
    assert main(["import", "--from", "server"]) == 0
    assert capsys.readouterr().out == "0 imported, 2 unchanged, 0 refused\n"


def test_a_server_that_cannot_be_asked_is_not_taken_for_an_empty_one(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    main(["remember", "Deploys go through the blue pool"])
    server.fault = lambda _: Answer(503)
    capsys.readouterr()
    assert main(["import", "--from", "server"]) == 1
    said = capsys.readouterr()
    assert "could not be asked what it has" in said.err
    assert "cannot serve just now (503)" in said.err


def test_a_memory_is_promoted_to_the_team_and_taken_back(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPMUM_ROUTES", "project:sqlite shared:rest")
    main(["remember", "Deploys go through the blue pool", "--key", "deploy"])
    capsys.readouterr()
    assert main(["promote", "deploy", "--to", "team", "--yes"]) == 0
    assert "from sqlite to rest" in capsys.readouterr().out
    main(["recall", "blue", "pool"])
    kept = capsys.readouterr().out
    assert "Deploys go through the blue pool" in kept
    assert main(["demote", "deploy", "--yes"]) == 0
    assert "from rest to sqlite" in capsys.readouterr().out


def test_what_goes_to_the_team_leaves_no_copy_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPMUM_ROUTES", "project:sqlite shared:rest")
    main(["remember", "Deploys go through the blue pool", "--key", "deploy"])
    main(["migrate", "sqlite", "markdown"])
    monkeypatch.setenv("KEEPMUM_ROUTES", "project:markdown shared:rest")
    assert main(["promote", "deploy", "--to", "team", "--yes"]) == 0
    capsys.readouterr()
    main(["recall", "blue", "pool"])
    assert capsys.readouterr().out.count("Deploys go through the blue pool") == 1
