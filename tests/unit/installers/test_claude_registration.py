"""Installation for one user runs the client's commands, and only those that are needed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from fake_claude import FakeClaude
from keepmum_installers.clients.claude import manifests, registration
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Command


def _arguments(spec: InstallSpec, machine: Machine) -> list[str]:
    steps = registration.plan(spec, machine).steps
    return [" ".join(step.arguments) for step in steps if isinstance(step, Command)]


def test_new_machine_gets_marketplace_and_plugin(spec: InstallSpec, machine: Machine) -> None:
    assert _arguments(spec, machine) == [
        f"plugin marketplace add {manifests.plugin_folder(machine)}",
        "plugin install keepmum@keepmum --scope user",
    ]


def test_planning_changes_nothing(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    registration.plan(spec, machine)
    assert claude.changes == []


def test_nothing_is_planned_when_everything_is_installed(
    spec: InstallSpec, machine: Machine, claude: FakeClaude
) -> None:
    assert spec.root
    for name, text in manifests.plugin_files(spec.product, spec.root, "python3").items():
        path = Path(manifests.plugin_folder(machine), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for words in (["marketplace", "add", manifests.plugin_folder(machine)], ["install", "keepmum@keepmum"]):
        claude.run([claude.program, "plugin", *words], 1)
    assert registration.plan(spec, machine).steps == ()


def test_marketplace_with_another_source_is_changed_and_can_be_restored(
    spec: InstallSpec, machine: Machine, claude: FakeClaude
) -> None:
    claude.marketplaces = [{"name": "keepmum", "source": "git", "url": "https://host/keepmum.git"}]
    moved = next(step for step in registration.plan(spec, machine).steps if isinstance(step, Command))
    assert moved.undo == ("plugin", "marketplace", "add", "https://host/keepmum.git")


def test_disabled_plugin_is_enabled_and_can_be_disabled_again(
    spec: InstallSpec, machine: Machine, claude: FakeClaude
) -> None:
    claude.plugins = [{"id": "keepmum@keepmum", "version": "0.1.0", "scope": "user", "enabled": False}]
    switched = registration.plan(spec, machine).steps[-1]
    assert isinstance(switched, Command)
    assert switched.undo == ("plugin", "disable", "keepmum@keepmum", "--scope", "user")


def test_plugin_of_a_project_is_not_the_users(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    claude.plugins = [{"id": "keepmum@keepmum", "version": "0.1.0", "scope": "project", "enabled": True}]
    assert "plugin install keepmum@keepmum --scope user" in _arguments(spec, machine)


def test_older_copy_of_a_repository_is_updated(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    claude.marketplaces = [{"name": "keepmum", "source": "github", "repo": "team/keepmum"}]
    claude.plugins = [{"id": "keepmum@keepmum", "version": "0.0.9", "scope": "user", "enabled": True}]
    spec = dataclasses.replace(spec, source="team/keepmum")
    assert _arguments(spec, machine) == [
        "plugin marketplace update keepmum",
        "plugin update keepmum@keepmum --scope user",
    ]


def test_wheel_installs_from_the_public_repository(spec: InstallSpec, machine: Machine) -> None:
    spec = dataclasses.replace(spec, root=None)
    assert _arguments(spec, machine)[0] == "plugin marketplace add keepmum/keepmum"


def test_the_clients_own_copy_is_not_a_source(spec: InstallSpec, machine: Machine, home: Path) -> None:
    spec = dataclasses.replace(spec, root=str(home / ".claude" / "plugins" / "cache" / "keepmum"))
    assert _arguments(spec, machine)[0] == "plugin marketplace add keepmum/keepmum"


def test_missing_client_gives_the_commands_to_type(spec: InstallSpec, without_client: Machine) -> None:
    with pytest.raises(InstallError, match="not found on PATH") as caught:
        registration.plan(spec, without_client)
    assert f"  /plugin marketplace add {spec.root}" in caught.value.next_step


def test_client_is_found_in_the_folder_of_its_installer(
    spec: InstallSpec, without_client: Machine, claude: FakeClaude
) -> None:
    place = Path(without_client.user_home) / ".local" / "bin"
    place.mkdir(parents=True)
    (place / "claude").symlink_to(claude.program)
    claude.program = str(place / "claude")
    assert len(_arguments(spec, without_client)) == 2


def test_old_client_gets_a_note(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    claude.version = "2.1.162 (Claude Code)"
    assert any("before 2.1.163" in line for line in registration.plan(spec, machine).notes)


def test_interpreter_that_the_client_would_not_find_is_reported(
    spec: InstallSpec, machine: Machine, claude: FakeClaude
) -> None:
    Path(claude.program).with_name("python3").unlink()
    assert any("`python3`, which is not on PATH" in line for line in registration.plan(spec, machine).notes)


def test_client_without_a_list_is_an_error_with_its_message(
    spec: InstallSpec, machine: Machine, claude: FakeClaude
) -> None:
    claude.broken["plugin list"] = Outcome(1, err="error: unknown option '--json'\n")
    with pytest.raises(InstallError, match="unknown option"):
        registration.plan(spec, machine)


def test_plugin_installed_by_hand_is_reported_after_removal(machine: Machine, claude: FakeClaude) -> None:
    claude.run([claude.program, "plugin", "install", "keepmum@keepmum"], 1)
    assert any("claude plugin uninstall keepmum@keepmum" in line for line in registration.remains(machine))


def test_unexpected_json_is_an_empty_list(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    claude.broken["plugin marketplace list"] = Outcome(0, out=json.dumps({"keepmum": {}}))
    assert _arguments(spec, machine)[0].startswith("plugin marketplace add")
