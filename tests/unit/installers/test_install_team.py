"""What a repository says once for all clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepmum.workspace import settings
from keepmum_installers import team
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change, Plan


def texts(plan: Plan) -> dict[str, str]:
    return {Path(step.path).name: step.after.decode() for step in plan.steps if isinstance(step, Change)}


def test_agents_are_told_of_the_memory(machine: Machine) -> None:
    assert "A secret never belongs in a memory" in texts(team.plan((), machine))["AGENTS.md"]


def test_settings_for_everybody_are_those_that_the_product_reads(machine: Machine, repository: Path) -> None:
    wanted = ("project=checkout", "capture.every=10", "briefing.enabled=false")
    (repository / ".keepmum.toml").write_text(texts(team.plan(wanted, machine))[".keepmum.toml"])
    said = settings.load({"HOME": str(repository.parent)}, str(repository))
    assert (said.project, said.capture.every, said.briefing.enabled) == ("checkout", 10, False)


def test_settings_that_stand_there_are_not_written_again(machine: Machine, repository: Path) -> None:
    (repository / ".keepmum.toml").write_text("# ours\n[capture]\nevery = 10\n")
    assert list(texts(team.plan(("capture.every=10",), machine))) == ["AGENTS.md"]


def test_a_file_that_says_something_else_is_the_teams_own(machine: Machine, repository: Path) -> None:
    (repository / ".keepmum.toml").write_text('project = "old"\n')
    with pytest.raises(InstallError, match="left alone") as caught:
        team.plan(("project=new",), machine)
    assert "project=new" in caught.value.next_step


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("capture.every=often", "must be a whole number from 1 to 1000"),
        ("capture.every=0", "must be a whole number from 1 to 1000"),
        ("store.path=/tmp/x", "is no setting that a project can choose"),
        ("colour=red", "is no setting that a project can choose"),
        ("guard.paths=x", "is no setting that a project can choose"),
    ],
)
def test_what_a_project_cannot_choose_is_refused(machine: Machine, setting: str, words: str) -> None:
    with pytest.raises(InstallError, match=words):
        team.plan((setting,), machine)


def test_a_file_that_is_no_text_is_left_alone(machine: Machine, repository: Path) -> None:
    (repository / "AGENTS.md").write_bytes(b"\xff")
    with pytest.raises(InstallError, match="UTF-8"):
        team.plan((), machine)
