"""`keepmum promote`, `demote`, `migrate` and `standup`, as a person runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keepmum.cli.main import main

pytestmark = pytest.mark.usefixtures("project")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, output and remarks."""
    capsys.readouterr()
    status = main(words)
    told = capsys.readouterr()
    return status, told.out, told.err


def test_promotion_is_previewed_before_confirmation(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    main(["remember", "Deploys go through the blue pool", "--key", "deploy"])
    status, shown, told = run(capsys, "promote", "deploy", "--to", "repo")
    assert "+read by: everybody who has the repository" in shown
    assert " Deploys go through the blue pool" in shown
    assert (status, "nothing was moved" in told) == (1, True)  # there is nobody to ask
    assert list(project.rglob("*.md")) == []


def test_memory_is_promoted_and_demoted(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    main(["remember", "Deploys go through the blue pool", "--key", "deploy"])
    status, shown, told = run(capsys, "promote", "deploy", "--to", "repo", "--yes")
    assert (status, shown.splitlines()[-1].endswith("from sqlite to markdown")) == (0, True)
    assert "keepmum backend use markdown" in told
    assert len(list(project.rglob("*.md"))) == 1
    assert run(capsys, "demote", "deploy", "--yes")[0] == 0
    assert list(project.rglob("*.md")) == []


def test_promotion_to_a_team_needs_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    main(["remember", "A zebra", "--key", "animal"])
    status, _, told = run(capsys, "promote", "animal", "--to", "team", "--yes")
    assert (status, "keepmum backend use URL" in told) == (1, True)


def test_migration_copies_and_counts(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    main(["remember", "A zebra"])
    assert run(capsys, "migrate", "sqlite", "markdown")[1].startswith("1 copied and verified, 0 unchanged")
    assert run(capsys, "migrate", "sqlite", "markdown")[1].startswith("0 copied and verified, 1 unchanged")
    assert len(list(project.rglob("*.md"))) == 1


def test_standup_groups_by_project(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPMUM_BACKEND", "markdown")
    main(["remember", "Fixed the login"])
    (tmp_path / "api").mkdir()
    monkeypatch.chdir(tmp_path / "api")
    main(["remember", "Chose Postgres"])
    status, told, _ = run(capsys, "standup")
    lines = told.splitlines()
    assert (status, [lines[0], lines[2]]) == (0, ["api:", "shop:"])
    assert lines[1].startswith("- Chose Postgres (mem_")
    assert lines[3].startswith("- Fixed the login (mem_")


@pytest.fixture
def namesake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder that is called like the one of the test, with a memory; the test goes on in its own."""
    folder = tmp_path / "elsewhere" / "shop"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    main(["remember", "Chose Postgres"])
    monkeypatch.chdir(tmp_path / "shop")
    return folder


def test_standup_distinguishes_projects_of_the_same_name(capsys: pytest.CaptureFixture[str], namesake: Path) -> None:
    main(["remember", "Fixed the login"])
    told = run(capsys, "standup")[1].splitlines()
    assert [line for line in told if line.endswith(":")] == [f"shop ({namesake}):", f"shop ({os.getcwd()}):"]


def test_memory_of_another_project_names_its_project(capsys: pytest.CaptureFixture[str], namesake: Path) -> None:
    main(["remember", "Postgres listens on the usual port"])
    found = run(capsys, "recall", "--scope", "all", "postgres")[1].splitlines()
    other = next(line for line in found if "Chose Postgres" in line)
    assert f"of shop ({namesake})" in other
    assert [line for line in found if "of shop" in line] == [other]


def test_recall_json_includes_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    main(["remember", "Chose Postgres", "--why", "its licence"])
    (found,) = json.loads(run(capsys, "recall", "postgres", "--json")[1])
    assert found["why"] == "its licence"


def test_empty_standup_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "standup", "--since", "1h") == (1, "", "keepmum: no memories since 1h\n")
