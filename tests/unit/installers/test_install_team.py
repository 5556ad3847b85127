"""The files of a repository that all clients share."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from keepmum.workspace import settings
from keepmum_installers import team
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change, Plan


def texts(plan: Plan) -> dict[str, str]:
    return {Path(step.path).name: step.after.decode() for step in plan.steps if isinstance(step, Change)}


def test_agents_file_names_the_memory(machine: Machine) -> None:
    assert "A secret never belongs in a memory" in texts(team.plan((), machine))["AGENTS.md"]


def test_settings_for_everybody_are_read_by_the_product(machine: Machine, repository: Path) -> None:
    wanted = ("project=checkout", "capture.every=10", "briefing.enabled=false")
    (repository / ".keepmum.toml").write_text(texts(team.plan(wanted, machine))[".keepmum.toml"])
    said = settings.load({"HOME": str(repository.parent)}, str(repository))
    assert (said.project, said.capture.every, said.briefing.enabled) == ("checkout", 10, False)


def test_existing_settings_are_not_written_again(machine: Machine, repository: Path) -> None:
    (repository / ".keepmum.toml").write_text("# ours\n[capture]\nevery = 10\n")
    assert list(texts(team.plan(("capture.every=10",), machine))) == ["AGENTS.md"]


def test_a_settings_file_of_the_team_is_not_edited(machine: Machine, repository: Path) -> None:
    (repository / ".keepmum.toml").write_text('project = "old"\n')
    plan = team.plan(("project=new",), machine)
    (problem,) = plan.problems
    assert "left unchanged" in str(problem)
    assert "project=new" in problem.next_step
    assert list(texts(plan)) == ["AGENTS.md"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("capture.every=often", "must be a whole number from 1 to 1000"),
        ("capture.every=0", "must be a whole number from 1 to 1000"),
        ("store.path=/tmp/x", "is not a setting that a project can choose"),
        ("colour=red", "is not a setting that a project can choose"),
        ("guard.paths=x", "is not a setting that a project can choose"),
    ],
)
def test_a_setting_that_a_project_cannot_choose_is_refused(machine: Machine, setting: str, words: str) -> None:
    with pytest.raises(InstallError, match=words):
        team.plan((setting,), machine)


def test_a_file_that_is_not_text_is_left_unchanged(machine: Machine, repository: Path) -> None:
    (repository / "AGENTS.md").write_bytes(b"\xff")
    (problem,) = team.plan((), machine).problems
    assert "UTF-8" in str(problem)


def test_a_wrong_setting_and_a_home_are_errors_before_anything_is_planned(machine: Machine) -> None:
    with pytest.raises(InstallError, match="must be a whole number"):
        team.check(("capture.every=often",), machine)
    with pytest.raises(InstallError, match="is your home"):
        team.check((), dataclasses.replace(machine, cwd=machine.user_home))
