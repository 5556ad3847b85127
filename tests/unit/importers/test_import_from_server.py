"""Memories of a team server of the first API are imported, promoted to it and demoted again."""

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


def test_an_unreachable_server_does_not_count_as_empty(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    main(["remember", "Deploys go through the blue pool"])
    server.fault = lambda _: Answer(503)
    capsys.readouterr()
    assert main(["import", "--from", "server"]) == 1
    output = capsys.readouterr()
    assert "could not list its memories" in output.err
    assert "cannot serve just now (503)" in output.err


def test_a_memory_can_be_promoted_to_the_team_and_demoted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPMUM_ROUTES", "project:sqlite shared:rest")
    main(["remember", "Deploys go through the blue pool", "--key", "deploy"])
    capsys.readouterr()
    assert main(["promote", "deploy", "--to", "team", "--yes"]) == 0
    assert "from sqlite to rest" in capsys.readouterr().out
    main(["recall", "blue", "pool"])
    assert "Deploys go through the blue pool" in capsys.readouterr().out
    assert main(["demote", "deploy", "--yes"]) == 0
    assert "from rest to sqlite" in capsys.readouterr().out


def test_promotion_leaves_no_copy_on_this_machine(
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
