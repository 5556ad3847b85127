from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from keepmum_installers.clients.claude_desktop import ClaudeDesktop
from keepmum_installers.clients.vscode import VisualStudioCode
from keepmum_installers.machine import NEUTRAL, Machine, config_home, run


@pytest.fixture(params=["platformdirs", "no package"])
def package(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test with platformdirs, and as install.sh runs before the first installation."""
    if request.param == "no package":
        monkeypatch.setitem(sys.modules, "platformdirs", None)


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("moved", [True, False])
def test_settings_of_apps_are_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, moved: bool
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    if moved:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    machine = Machine.this()
    folder = tmp_path if moved else home / ".config"
    assert machine.config_home == str(folder)
    assert VisualStudioCode().folder(machine) == str(folder / "Code" / "User")
    assert ClaudeDesktop().folder(machine) == str(folder / "Claude")


def test_apps_of_macos_ignore_the_variables_of_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = config_home("/Users/u", {"XDG_CONFIG_HOME": "/elsewhere"})
    assert found == os.path.join("/Users/u", "Library", "Application Support")


def test_a_command_runs_in_a_neutral_folder_and_with_added_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(("/bin/sh", "-c", 'printf "%s %s %s" "$(pwd)" "$PWD" "$ADDED"'), 20, {"ADDED": "x"})
    assert done.out == f"{NEUTRAL} {NEUTRAL} x"
