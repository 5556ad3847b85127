"""A machine with a fake client, a repository to work in, and a folder like a clone of the bundle."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from fake_claude import FakeClaude, machine_with
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.machine import Machine
from keepmum_installers.product import read


@pytest.fixture
def claude(home: Path) -> FakeClaude:
    """A fake client, with `claude` and `python3` on its PATH."""
    folder = home / "programs"
    folder.mkdir()
    for name in ("claude", "python3"):
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    return FakeClaude(str(folder / "claude"), str(home / ".claude" / "settings.json"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The top folder of a repository."""
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path / "work"


@pytest.fixture
def machine(claude: FakeClaude, home: Path, repository: Path) -> Machine:
    """The machine, in the repository."""
    return machine_with(claude, str(home), str(repository))


@pytest.fixture
def without_client(machine: Machine) -> Machine:
    """The same machine before the client was installed."""
    return dataclasses.replace(machine, environ={"PATH": os.path.join(machine.user_home, ".local", "bin")})


@pytest.fixture
def clone(tmp_path: Path, root: Path) -> Path:
    """A folder with the files of the bundle that the installer reads."""
    folder = tmp_path / "clone"
    for name in (
        "pyproject.toml",
        ".claude-plugin/marketplace.json",
        "plugin/launch.py",
        "plugin/skills/memory/SKILL.md",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((root / name).read_bytes())
    return folder


@pytest.fixture
def spec(clone: Path) -> InstallSpec:
    """The installation of the clone for the user."""
    return InstallSpec(read(str(clone)), str(clone))
