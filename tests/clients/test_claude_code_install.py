"""Installing the plugin into the real Claude Code: from a folder, from git, for a user and for a team."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from clients.claude import Claude
from clients.git_server import served
from clients.mock_model import Call, MockModel, Say
from clients.terminal import LIMIT

pytestmark = pytest.mark.clients

REMEMBER = "mcp__plugin_keepmum_memory__remember"
MINE = ("-c", "user.name=Test", "-c", "user.email=test@localhost")


def git(folder: Path, *arguments: str) -> str:
    """The output of git."""
    command = ["git", *MINE, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=True, text=True).stdout


def commit_all(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=all")


def run_installer(user: Claude, product: Path, *options: str, folder: Path) -> None:
    """Run the installer as the README says, without packages; the client is on PATH."""
    subprocess.run(
        ["sh", str(product / "installers" / "install.sh"), *options, "--no-runtime"],
        cwd=folder,
        env={**user.environ, "PATH": f"{user.program.parent}:{user.environ['PATH']}"},
        capture_output=True,
        timeout=120,
        check=True,
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, except the client's own marks that a copy is in use."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts and ".in_use" not in path.parts
    }


def test_the_plugin_is_valid_by_the_clients_own_strict_rules(newcomer: Claude, product: Path) -> None:
    assert "Validation passed" in newcomer.run("plugin", "validate", "--strict", str(product), folder=product)


def test_a_folder_installs_and_its_tools_are_offered(user: Claude, model: MockModel, project: Path) -> None:
    user.ask("hello", folder=project)
    assert REMEMBER in model.requests[0].tools


def test_the_plugins_folder_stays_as_it_was(user: Claude, model: MockModel, product: Path, project: Path) -> None:
    before = contents(product)
    model.will(Call(REMEMBER, {"text": "Deploys go through the blue pool first."}))
    user.ask("hello", folder=project)
    assert contents(product) == before


def test_the_installer_hands_over_a_plugin_of_a_few_files_that_works_from_the_clone(
    newcomer: Claude, model: MockModel, product: Path, project: Path
) -> None:
    run_installer(newcomer, product, folder=project)
    model.will(Call(REMEMBER, {"text": "Deploys go through the blue pool first."}))
    newcomer.ask("hello", folder=project)
    assert REMEMBER in model.requests[0].tools
    assert "keepmum:memory" in model.requests[0].text
    assert "Kept" in model.requests[1].news
    assert (newcomer.memories / "state" / "heartbeat" / "claude-code.session-start").exists()
    copied = contents(newcomer.config / "plugins" / "cache")
    assert {Path(name).name for name in copied} == {
        "marketplace.json", "plugin.json", ".mcp.json", "hooks.json", "SKILL.md",
    }  # fmt: skip


def test_a_plugin_that_was_read_from_the_clone_is_read_from_the_few_files_once_the_installer_ran(
    user: Claude, model: MockModel, product: Path, project: Path
) -> None:
    run_installer(user, product, folder=project)
    (plugin,) = user.plugins(project)
    assert plugin["readFromFolder"] == str(user.memories / "plugins" / "claude-code")
    user.ask("hello", folder=project)
    assert REMEMBER in model.requests[0].tools


def test_git_installs_a_copy_that_runs_alone(newcomer: Claude, model: MockModel, product: Path, project: Path) -> None:
    commit_all(product)
    with served(product) as address:
        newcomer.install(address, folder=project)
    shutil.rmtree(product)
    (plugin,) = newcomer.plugins(project)
    copy = Path(plugin["installPath"])
    before = contents(copy)
    assert newcomer.config in copy.parents
    assert "readFromFolder" not in plugin

    model.will(Call(REMEMBER, {"text": "Deploys go through the blue pool first."}))
    newcomer.ask("hello", folder=project)
    assert REMEMBER in model.requests[0].tools
    assert "Kept" in model.requests[1].news
    assert (newcomer.memories / "state" / "heartbeat" / "claude-code.session-start").exists()
    assert contents(copy) == before


class Team:
    """A user who sets the plugin up for a project, and a second one who clones that project."""

    def __init__(self, first: Claude, second: Claude, product: Path, project: Path) -> None:
        self.first = first
        self.second = second
        self.product = product
        self.project = project
        self.clone = project.parent / "clone"

    def set_up(self, source: str) -> None:
        """The first user runs the installer for the project; the second clones and trusts it."""
        run_installer(self.first, self.product, "--scope", "project", "--source", source, folder=self.project)
        commit_all(self.project)
        git(self.project.parent, "clone", "--quiet", str(self.project), str(self.clone))
        state = {"projects": {str(self.clone): {"hasTrustDialogAccepted": True}}}
        (self.second.config / ".claude.json").write_text(json.dumps(state), encoding="utf-8")

    def settings(self) -> object:
        """The client settings in the clone."""
        return json.loads((self.clone / ".claude" / "settings.json").read_text(encoding="utf-8"))

    def work_until_the_marketplace_is_known(self) -> None:
        """Keep one session of the second user going until the client has fetched the project's marketplace.

        The mock model answers at once, so a single short run would end before the download.
        """
        registry = self.second.config / "plugins" / "known_marketplaces.json"
        with self.second.conversation(self.clone) as session:
            deadline = time.monotonic() + LIMIT
            while not registry.exists() or "keepmum" not in registry.read_text(encoding="utf-8"):
                assert time.monotonic() < deadline, "the client did not fetch the marketplace"
                session.say("go on")


@pytest.fixture
def team(newcomer: Claude, product: Path, project: Path, tmp_path: Path) -> Team:
    second = Claude(newcomer.program, tmp_path / "second", newcomer.environ["ANTHROPIC_BASE_URL"])
    return Team(newcomer, second, product, project)


def test_settings_for_a_team_name_no_folder_of_one_machine(team: Team, tmp_path: Path) -> None:
    commit_all(team.product)
    with served(team.product) as address:
        team.set_up(address)
    settings = json.dumps(team.settings())
    assert str(tmp_path) not in settings
    assert str(team.product) not in settings


def test_a_project_that_holds_the_plugin_brings_it(team: Team, model: MockModel) -> None:
    shutil.copytree(team.product, team.project / "tools" / "keepmum")
    team.set_up("tools/keepmum")
    team.work_until_the_marketplace_is_known()
    team.second.ask("hello", folder=team.clone)
    assert REMEMBER in model.requests[-1].tools


def test_a_project_that_names_a_repository_brings_the_plugin_to_the_first_session(team: Team, model: MockModel) -> None:
    commit_all(team.product)
    with served(team.product) as address, contextlib.ExitStack() as stack:
        team.set_up(address)
        terminal = stack.enter_context(team.second.terminal(team.clone))
        terminal.wait_until_ready()
        deadline = time.monotonic() + LIMIT
        for turn in itertools.count():
            assert time.monotonic() < deadline, "the client did not fetch the plugin"
            model.whenever(f"turn {turn}", Say(f"answer {turn}."))
            terminal.type(f"turn {turn}")
            terminal.wait_for(f"answer {turn}.")
            if REMEMBER in model.requests[-1].tools:
                break


def test_one_command_keeps_what_a_project_names(team: Team, model: MockModel) -> None:
    # Version 2.1.329 fetches such a plugin for one session only, and then says that it has to be installed.
    commit_all(team.product)
    with served(team.product) as address:
        team.set_up(address)
        team.work_until_the_marketplace_is_known()
        team.second.run("plugin", "install", "keepmum@keepmum", "--scope", "project", folder=team.clone)
    team.second.ask("hello", folder=team.clone)
    assert REMEMBER in model.requests[-1].tools
    assert git(team.clone, "status", "--porcelain") == "", "the clone of the second has nothing to commit"


def test_a_folder_that_is_not_trusted_runs_nothing(team: Team, model: MockModel) -> None:
    shutil.copytree(team.product, team.project / "tools" / "keepmum")
    team.set_up("tools/keepmum")
    (team.second.config / ".claude.json").unlink()
    with team.second.conversation(team.clone) as session:
        for _ in range(10):
            session.say("go on")
    team.second.ask("hello", folder=team.clone)
    assert REMEMBER not in model.requests[-1].tools
    assert not team.second.memories.exists()
