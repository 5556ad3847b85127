"""Copilot CLI: two keys are set in its settings and removed completely; one manifest serves two clients."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers import install, uninstall
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.copilot import CopilotCli, manifests
from keepmum_installers.console import Console
from keepmum_installers.machine import Machine
from keepmum_installers.product import read

THEIRS = '{\n  "theme": "dark",\n  "enabledPlugins": { "theirs@x": true }\n}\n'


@pytest.fixture
def settings(home: Path) -> Path:
    """The client's settings, with values of the user."""
    file = home / ".copilot" / "settings.json"
    file.parent.mkdir()
    file.write_text(THEIRS, encoding="utf-8")
    return file


def test_install_and_uninstall_restore_the_settings(root: Path, machine: Machine, settings: Path) -> None:
    options = install.Options(clients=("copilot-cli",), runtime=False)
    assert install.install(options, read(str(root)), str(root), machine, Console()) == 0
    known = json.loads(settings.read_text(encoding="utf-8"))
    assert known["enabledPlugins"] == {"theirs@x": True, "keepmum@keepmum": True}
    assert known["extraKnownMarketplaces"]["keepmum"]["source"] == {"source": "directory", "path": str(root)}
    assert uninstall.uninstall(uninstall.Options(), machine, Console()) == 0
    assert settings.read_text(encoding="utf-8") == THEIRS


def test_a_second_plan_is_empty(spec: InstallSpec, machine: Machine, settings: Path) -> None:
    (change,) = CopilotCli().plan(spec, machine).steps
    settings.write_bytes(change.after)  # type: ignore[union-attr]  # an edit of a file
    assert CopilotCli().plan(spec, machine).steps == ()


def test_a_repository_as_source_gives_the_commands_to_type(spec: InstallSpec, machine: Machine) -> None:
    plan = CopilotCli().plan(dataclasses.replace(spec, source="owner/keepmum"), machine)
    assert plan.steps == ()
    assert "copilot plugin marketplace add owner/keepmum" in plan.notes[1]


def test_the_client_is_found_by_its_folder(machine: Machine, settings: Path) -> None:
    assert CopilotCli().is_here(machine)
    settings.unlink()
    settings.parent.rmdir()
    assert not CopilotCli().is_here(machine)
    (finding,) = CopilotCli().checks(machine, read(str(Path(__file__).parents[3])))
    assert finding.level == "absent"


@pytest.mark.parametrize(
    ("enabled", "level", "says"),
    [
        pytest.param('{"keepmum@keepmum": true}', "ok", "switched on", id="on"),
        pytest.param('{"keepmum@keepmum": false}', "note", "switched off", id="off"),
        pytest.param("{}", "note", "not installed", id="absent"),
        pytest.param('{"keepmum@keepmum": true,} // mine\n', "ok", "switched on", id="with a comment"),
        pytest.param("[", "problem", "damaged JSON", id="damaged"),
    ],
)
def test_the_doctor_reads_the_settings(  # noqa: PLR0917 - fixtures and columns
    spec: InstallSpec, machine: Machine, settings: Path, enabled: str, level: str, says: str
) -> None:
    settings.write_text(f'{{"enabledPlugins": {enabled}}}', encoding="utf-8")
    found = [each for each in CopilotCli().checks(machine, spec.product) if each.about == "copilot-cli plugin"]
    assert [(each.level, says in each.says) for each in found] == [(level, True)]


def test_a_plugin_installed_by_others_is_reported(machine: Machine, settings: Path) -> None:
    assert list(CopilotCli().remains(machine)) == []
    settings.write_text('{"enabledPlugins": {"keepmum@keepmum": true}}', encoding="utf-8")
    assert "copilot plugin uninstall" in "\n".join(CopilotCli().remains(machine))


@pytest.fixture
def manifest(root: Path) -> dict[str, Any]:
    value = manifests.render(read(str(root)))[manifests.MANIFEST]
    assert isinstance(value, dict)
    return value


def test_the_manifest_contains_the_hooks(manifest: dict[str, Any]) -> None:
    assert set(manifest["hooks"]) == {"SessionStart", "Stop", "PreToolUse"}


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "PreToolUse"])
def test_a_hook_is_one_shell_command_without_a_matcher(manifest: dict[str, Any], event: str) -> None:
    # The command line ignores "args" and refuses an empty matcher; the editor ignores matchers.
    ((hook,),) = [group["hooks"] for group in manifest["hooks"][event]]
    assert "args" not in hook
    assert all("matcher" not in group for group in manifest["hooks"][event])
    assert '"${PLUGIN_ROOT}/hooks/run.py"' in hook["bash"]
    assert '"${PLUGIN_ROOT}/hooks/run.py"' in hook["powershell"]


def test_without_python_no_tool_is_blocked(manifest: dict[str, Any]) -> None:
    ((hook,),) = [group["hooks"] for group in manifest["hooks"]["PreToolUse"]]
    assert hook["bash"].startswith("command -v python3 >/dev/null || exit 0; ")
