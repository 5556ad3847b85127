"""Others can neither read what the installer writes into Keepmum's home, nor write where programs are started from."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepmum_installers import apply, files, shell_command
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.cursor import Cursor
from keepmum_installers.doctor import _home
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")


@pytest.fixture
def _no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("_no_umask")
def test_without_a_umask_nobody_else_can_write_a_hook(spec: InstallSpec, machine: Machine, home: Path) -> None:
    files.private_folder(machine.home)
    steps = (*shell_command.plan(str(spec.root), machine).steps, *Cursor().plan(spec, machine).steps)
    apply.carry_out(steps, Journal(machine.home), machine)
    written = [*Path(machine.home).rglob("*"), *(home / ".cursor").rglob("*")]
    assert [path for path in written if not path.is_symlink() and _mode(path) & 0o002] == []
    assert (_mode(Path(machine.home)), _mode(Path(machine.home, "bin", "keepmum"))) == (0o700, 0o700)


def test_folders_that_others_can_write_are_tightened(machine: Machine) -> None:
    folders = [Path(machine.home, name) for name in (".", "bin", "plugins", "plugins/codex/hooks", "state")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        folder.chmod(0o777)
    files.tighten(machine.home, is_ours=True)
    assert [_mode(folder) for folder in folders] == [0o700, 0o755, 0o755, 0o755, 0o755]
    assert [finding.level for finding in _home(machine)] == ["ok"]


def test_a_home_that_the_user_chose_is_reported_and_not_changed(machine: Machine, tmp_path: Path) -> None:
    machine = dataclasses.replace(machine, home=str(tmp_path / "chosen"))
    Path(machine.home).mkdir()
    Path(machine.home).chmod(0o777)
    files.tighten(machine.home, is_ours=False)
    assert _mode(Path(machine.home)) == 0o777
    assert [finding.level for finding in _home(machine)] == ["problem", "problem"]


def test_a_link_is_left_alone(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs").chmod(0o777)
    Path(machine.home).mkdir()
    Path(machine.home, "cache").symlink_to(tmp_path / "theirs")
    files.tighten(machine.home, is_ours=True)
    assert _mode(tmp_path / "theirs") == 0o777
