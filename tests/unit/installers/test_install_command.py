"""The `keepmum` command starts this bundle, and is linked only where the name is free."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from keepmum_installers import apply, shell_command
from keepmum_installers.errors import FileChanged
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine


@pytest.fixture
def local_bin(machine: Machine) -> Path:
    folder = Path(machine.user_home) / ".local" / "bin"
    folder.mkdir(parents=True)
    return folder


def _install(root: Path, machine: Machine) -> None:
    Path(machine.home).mkdir(exist_ok=True)
    apply.carry_out(shell_command.plan(str(root), machine).steps, Journal(machine.home), machine)


def test_command_starts_the_bundle_in_any_folder(machine: Machine, tmp_path: Path) -> None:
    bundle = tmp_path / "a b's" / "plugin"
    bundle.mkdir(parents=True)
    (bundle / "launch.py").write_text("import sys; print(sys.argv[1:], sys.flags.isolated)")
    _install(bundle.parent, machine)
    done = subprocess.run(
        [Path(machine.home) / "bin" / "keepmum", "recall", "a b"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "['recall', 'a b'] 1\n"


def test_command_without_its_bundle_prints_the_next_step(machine: Machine, tmp_path: Path) -> None:
    _install(tmp_path / "a b's", machine)
    done = subprocess.run(
        [Path(machine.home) / "bin" / "keepmum"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "a b's/plugin/launch.py is missing" in done.stderr) == (1, True)


def test_command_outlives_the_runtime_that_wrote_it(
    root: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", f"{machine.home}/runtime/bin/python")
    _install(root, machine)
    assert "runtime" not in (Path(machine.home) / "bin" / "keepmum").read_text()


def test_windows_has_the_command_in_every_shell_and_no_link(machine: Machine, tmp_path: Path, local_bin: Path) -> None:
    bundle = str(tmp_path / "100% ours")
    Path(machine.home).mkdir()
    apply.carry_out(shell_command.plan(bundle, machine, windows=True).steps, Journal(machine.home), machine)
    written = sorted(path.name for path in Path(machine.home, "bin").iterdir())
    assert (written, list(local_bin.iterdir())) == (["keepmum", "keepmum.cmd"], [])
    assert "100%% ours" in Path(machine.home, "bin", "keepmum.cmd").read_text()


def test_existing_command_is_not_planned_again(root: Path, machine: Machine) -> None:
    _install(root, machine)
    assert shell_command.plan(str(root), machine).steps == ()


def test_link_is_created_in_a_folder_on_path(root: Path, machine: Machine, local_bin: Path) -> None:
    _install(root, machine)
    assert (local_bin / "keepmum").resolve() == (Path(machine.home) / "bin" / "keepmum").resolve()
    assert shell_command.invocation(machine) == "keepmum"


@pytest.mark.parametrize("spelling", ["{}", "{}/", "/usr/bin:{}/."])
def test_a_missing_folder_on_path_is_created_and_removed_again(root: Path, machine: Machine, spelling: str) -> None:
    local = Path(machine.user_home) / ".local"
    machine = dataclasses.replace(machine, environ={"PATH": spelling.format(local / "bin")})
    _install(root, machine)
    assert (local / "bin" / "keepmum").is_symlink()
    assert (shell_command.invocation(machine), shell_command.hint(machine)) == ("keepmum", ())
    apply.undo(Journal(machine.home), machine, lambda _: True)
    assert not local.exists()


def test_a_folder_that_cannot_be_created_is_not_an_error(root: Path, machine: Machine) -> None:
    (Path(machine.user_home) / ".local").write_text("a file", encoding="utf-8")
    assert len(shell_command.plan(str(root), machine).steps) == 1


def test_the_user_reads_what_to_type_when_the_shell_finds_no_command_or_another(
    root: Path, machine: Machine, tmp_path: Path
) -> None:
    own = "~/.keepmum/bin/keepmum"
    machine = dataclasses.replace(machine, environ={"PATH": str(tmp_path / "programs")})
    _install(root, machine)
    (line,) = shell_command.hint(machine)
    assert line.startswith("`keepmum` is not on your PATH")
    assert line.endswith(f"type {own}")
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "keepmum").touch(mode=0o755)
    (line,) = shell_command.hint(machine)
    assert str(tmp_path / "programs" / "keepmum") in line


def test_folder_outside_path_gets_no_link(root: Path, machine: Machine, local_bin: Path) -> None:
    machine = dataclasses.replace(machine, environ={"PATH": "/usr/bin"})
    _install(root, machine)
    assert list(local_bin.iterdir()) == []
    assert shell_command.invocation(machine) == "~/.keepmum/bin/keepmum"


def test_command_of_another_program_is_not_replaced(root: Path, machine: Machine, local_bin: Path) -> None:
    (local_bin / "keepmum").symlink_to("/nowhere")
    _install(root, machine)
    assert (local_bin / "keepmum").readlink() == Path("/nowhere")


@pytest.mark.usefixtures("local_bin")
def test_link_that_another_installer_created_means_planning_again(root: Path, machine: Machine) -> None:
    steps = shell_command.plan(str(root), machine).steps
    _install(root, machine)
    with pytest.raises(FileChanged):
        apply.carry_out(steps[1:], Journal(machine.home), machine)
    assert shell_command.plan(str(root), machine).steps == ()
