"""For one user the client's own commands do the work, and only the commands that are needed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from fake_claude import FakeClaude
from keepmum_installers.clients.claude import registration, staging
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Call


def _arguments(wish: Wish, machine: Machine) -> list[str]:
    steps = registration.plan(wish, machine).steps
    return [" ".join(step.arguments) for step in steps if isinstance(step, Call)]


def test_new_machine_gets_marketplace_and_plugin(wish: Wish, machine: Machine) -> None:
    assert _arguments(wish, machine) == [
        f"plugin marketplace add {staging.folder(machine)}",
        "plugin install keepmum@keepmum --scope user",
    ]


def test_planning_changes_nothing(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    registration.plan(wish, machine)
    assert claude.changes == []


def test_nothing_is_planned_where_everything_is_in_place(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    assert wish.root
    for name, text in staging.texts(wish.product, wish.root, "python3").items():
        path = Path(staging.folder(machine), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for words in (["marketplace", "add", staging.folder(machine)], ["install", "keepmum@keepmum"]):
        claude.run([claude.program, "plugin", *words], 1)
    assert registration.plan(wish, machine).steps == ()


def test_marketplace_that_points_elsewhere_is_moved_and_can_be_moved_back(
    wish: Wish, machine: Machine, claude: FakeClaude
) -> None:
    claude.marketplaces = [{"name": "keepmum", "source": "git", "url": "https://host/keepmum.git"}]
    moved = next(step for step in registration.plan(wish, machine).steps if isinstance(step, Call))
    assert moved.undo == ("plugin", "marketplace", "add", "https://host/keepmum.git")


def test_plugin_that_was_off_is_switched_on_and_can_be_switched_off(
    wish: Wish, machine: Machine, claude: FakeClaude
) -> None:
    claude.plugins = [{"id": "keepmum@keepmum", "version": "0.1.0", "scope": "user", "enabled": False}]
    switched = registration.plan(wish, machine).steps[-1]
    assert isinstance(switched, Call)
    assert switched.undo == ("plugin", "disable", "keepmum@keepmum", "--scope", "user")


def test_plugin_of_a_project_does_not_count_for_the_user(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    claude.plugins = [{"id": "keepmum@keepmum", "version": "0.1.0", "scope": "project", "enabled": True}]
    assert "plugin install keepmum@keepmum --scope user" in _arguments(wish, machine)


def test_older_copy_of_a_repository_is_updated(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    claude.marketplaces = [{"name": "keepmum", "source": "github", "repo": "team/keepmum"}]
    claude.plugins = [{"id": "keepmum@keepmum", "version": "0.0.9", "scope": "user", "enabled": True}]
    wish = dataclasses.replace(wish, source="team/keepmum")
    assert _arguments(wish, machine) == [
        "plugin marketplace update keepmum",
        "plugin update keepmum@keepmum --scope user",
    ]


def test_wheel_installs_from_the_public_repository(wish: Wish, machine: Machine) -> None:
    wish = dataclasses.replace(wish, root=None)
    assert _arguments(wish, machine)[0] == "plugin marketplace add keepmum/keepmum"


def test_copy_that_the_client_keeps_is_no_source(wish: Wish, machine: Machine, home: Path) -> None:
    wish = dataclasses.replace(wish, root=str(home / ".claude" / "plugins" / "cache" / "keepmum"))
    assert _arguments(wish, machine)[0] == "plugin marketplace add keepmum/keepmum"


def test_missing_client_is_told_with_what_to_type(wish: Wish, without_client: Machine) -> None:
    with pytest.raises(InstallError, match="not found on PATH") as caught:
        registration.plan(wish, without_client)
    assert f"  /plugin marketplace add {wish.root}" in caught.value.next_step


def test_client_is_found_where_its_own_installer_puts_it(
    wish: Wish, without_client: Machine, claude: FakeClaude
) -> None:
    place = Path(without_client.user_home) / ".local" / "bin"
    place.mkdir(parents=True)
    (place / "claude").symlink_to(claude.program)
    claude.program = str(place / "claude")
    assert len(_arguments(wish, without_client)) == 2


def test_old_client_is_told_what_it_lacks(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    claude.version = "2.1.162 (Claude Code)"
    assert any("before 2.1.163" in line for line in registration.plan(wish, machine).notes)


def test_interpreter_that_the_client_would_not_find_is_told(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    Path(claude.program).with_name("python3").unlink()
    assert any("`python3`, which is not on PATH" in line for line in registration.plan(wish, machine).notes)


def test_client_that_gives_no_list_is_an_error_with_its_words(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    claude.broken["plugin list"] = Outcome(1, err="error: unknown option '--json'\n")
    with pytest.raises(InstallError, match="unknown option"):
        registration.plan(wish, machine)


def test_plugin_that_was_installed_by_hand_is_named_after_removal(machine: Machine, claude: FakeClaude) -> None:
    claude.run([claude.program, "plugin", "install", "keepmum@keepmum"], 1)
    assert any("claude plugin uninstall keepmum@keepmum" in line for line in registration.remains(machine))


def test_list_of_something_else_is_no_list(wish: Wish, machine: Machine, claude: FakeClaude) -> None:
    claude.broken["plugin marketplace list"] = Outcome(0, out=json.dumps({"keepmum": {}}))
    assert _arguments(wish, machine)[0].startswith("plugin marketplace add")
