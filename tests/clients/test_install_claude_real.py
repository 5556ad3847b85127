"""The installer's plans with the real Claude Code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.clients

Done = subprocess.CompletedProcess[str]
LIMIT = 120  # seconds
PARTS = ("installers", "plugin", "hooks", "scanner", ".claude-plugin", ".mcp.json", "pyproject.toml")
SETTINGS = '{\n    "theme": "dark",\n    "permissions": {"allow": ["Bash(ls:*)"]}\n}\n'


@pytest.fixture
def bundle(snapshot: Path, tmp_path: Path) -> Path:
    """A clone as a user has it."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in PARTS:
        if (snapshot / name).is_dir():
            shutil.copytree(snapshot / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(snapshot / name, folder / name)
    return folder


@pytest.fixture
def environ(claude_program: Path, home: Path, tmp_path: Path) -> dict[str, str]:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(claude_program)
    (programs / "python3").symlink_to(sys.executable)
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"]),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


@pytest.fixture
def run(environ: dict[str, str], tmp_path: Path) -> Callable[..., Done]:
    def run(*command: str | Path) -> Done:
        return subprocess.run(
            command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT, check=False
        )

    return run


@pytest.fixture
def installer(run: Callable[..., Done], bundle: Path) -> Callable[..., Done]:
    return lambda *options: run("/bin/sh", bundle / "installers" / "install.sh", *options)


def _plugins(run: Callable[..., Done]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(run("claude", "plugin", "list", "--json").stdout)
    return listed


def test_one_command_installs_the_plugin_and_another_removes_it_completely(
    installer: Callable[..., Done], run: Callable[..., Done], home: Path
) -> None:
    (home / ".claude").mkdir()
    settings = home / ".claude" / "settings.json"
    settings.write_text(SETTINGS)
    done = installer("--no-runtime")
    assert (done.returncode, done.stderr) == (0, "")
    (plugin,) = _plugins(run)
    assert (plugin["enabled"], plugin["readFromFolder"]) == (True, str(home / ".keepmum" / "plugins" / "claude-code"))
    copied = {path.name for path in (home / ".claude" / "plugins" / "cache").rglob("*") if path.is_file()}
    assert copied <= {"plugin.json", "marketplace.json", ".mcp.json", "hooks.json", "SKILL.md"}

    again = installer("--no-runtime")
    assert "Nothing to do" in again.stdout

    report = json.loads(run(home / ".keepmum" / "bin" / "keepmum", "doctor", "--json").stdout)
    assert [each for each in report["findings"] if each["level"] == "problem"] == []

    removed = installer("--uninstall")
    assert (removed.returncode, removed.stderr) == (0, "")
    assert _plugins(run) == []
    assert settings.read_text() == SETTINGS


def test_settings_that_the_client_cannot_read_are_reported_with_its_message(
    installer: Callable[..., Done], home: Path
) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{ // mine\n}")
    done = installer("--no-runtime")
    assert (done.returncode, (home / ".claude" / "settings.json").read_text()) == (1, "{ // mine\n}")
    assert "settings.json" in done.stderr
    assert "Traceback" not in done.stderr
