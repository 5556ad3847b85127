"""`keepmum promote`, `demote`, `migrate` and `standup`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keepmum.service.opening import open_session
from unit.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("project")


def test_promotion_is_previewed_before_confirmation(keepmum: Command, project: Path) -> None:
    keepmum("remember", "Deploys go through the blue pool", "--key", "deploy")
    status, shown, errors = keepmum("promote", "deploy", "--to", "repo")
    assert "+read by: everybody who has the repository" in shown
    assert " Deploys go through the blue pool" in shown
    assert (status, "nothing was moved" in errors) == (1, True)  # nobody can confirm
    assert list(project.rglob("*.md")) == []


def test_memory_is_promoted_and_demoted(keepmum: Command, project: Path) -> None:
    keepmum("remember", "Deploys go through the blue pool", "--key", "deploy")
    status, shown, errors = keepmum("promote", "deploy", "--to", "repo", "--yes")
    assert (status, shown.splitlines()[-1].endswith("from sqlite to markdown")) == (0, True)
    assert "keepmum backend use markdown" in errors
    assert len(list(project.rglob("*.md"))) == 1
    assert keepmum("demote", "deploy", "--yes").status == 0
    assert list(project.rglob("*.md")) == []


def test_promotion_changes_neither_author_nor_date(keepmum: Command) -> None:
    with open_session(os.environ, "codex") as memory:
        memory.remember("Deploys go through the blue pool", key="deploy")
    before = json.loads(keepmum("recall", "--json").out)
    keepmum("promote", "deploy", "--to", "repo", "--yes")
    after = json.loads(keepmum("recall", "--json").out)
    said = ("updated_by", "updated_at", "created_by", "trust")
    assert [[each[name] for name in said] for each in after] == [[each[name] for name in said] for each in before]


def test_promotion_to_a_team_needs_a_server(keepmum: Command) -> None:
    keepmum("remember", "A zebra", "--key", "animal")
    status, _, errors = keepmum("promote", "animal", "--to", "team", "--yes")
    assert (status, "keepmum backend use URL" in errors) == (1, True)


def test_migration_copies_and_counts(keepmum: Command, project: Path) -> None:
    keepmum("remember", "A zebra")
    assert keepmum("migrate", "sqlite", "markdown").out.startswith("1 copied and verified, 0 unchanged")
    assert keepmum("migrate", "sqlite", "markdown").out.startswith("0 copied and verified, 1 unchanged")
    assert len(list(project.rglob("*.md"))) == 1


def test_standup_groups_by_project(keepmum: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPMUM_BACKEND", "markdown")
    keepmum("remember", "Fixed the login")
    (tmp_path / "api").mkdir()
    monkeypatch.chdir(tmp_path / "api")
    keepmum("remember", "Chose Postgres")
    answer = keepmum("standup")
    lines = answer.out.splitlines()
    assert (answer.status, [lines[0], lines[2]]) == (0, ["In api:", "In shop:"])
    assert lines[1].startswith("- Chose Postgres (mem_")
    assert lines[3].startswith("- Fixed the login (mem_")


@pytest.fixture
def namesake(keepmum: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another project folder of the same name with one memory; the test continues in its own."""
    folder = tmp_path / "elsewhere" / "shop"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    keepmum("remember", "Chose Postgres")
    monkeypatch.chdir(tmp_path / "shop")
    return folder


def test_standup_distinguishes_projects_of_the_same_name(keepmum: Command, namesake: Path) -> None:
    keepmum("remember", "Fixed the login")
    lines = keepmum("standup").out.splitlines()
    assert [line for line in lines if line.endswith(":")] == [f"In shop ({namesake}):", f"In shop ({os.getcwd()}):"]


def test_memory_of_another_project_names_its_project(keepmum: Command, namesake: Path) -> None:
    keepmum("remember", "Postgres listens on the usual port")
    found = keepmum("recall", "--scope", "all", "postgres").out.splitlines()
    other = next(line for line in found if "Chose Postgres" in line)
    assert f'of "shop ({namesake})"' in other
    assert [line for line in found if 'of "shop' in line] == [other]


def test_recall_json_includes_the_reason(keepmum: Command) -> None:
    keepmum("remember", "Chose Postgres", "--why", "its licence")
    (found,) = json.loads(keepmum("recall", "postgres", "--json").out)
    assert found["why"] == "its licence"


def test_empty_standup_is_reported(keepmum: Command) -> None:
    assert keepmum("standup", "--since", "1h") == (1, "", "keepmum: no memories since 1h\n")
