"""The installer's lines: short, each said once, and last what the user still has to do."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from keepmum_installers import install
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.console import Console
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("edit /home/u/.x: why", "edit ~/.x: why"),
        ("/home/u/.x and `/home/u/y` (/home/u/z)", "~/.x and `~/y` (~/z)"),
        ("sh '/home/u/a b/install.sh'", "sh '/home/u/a b/install.sh'"),
        ("/home/user/.x", "/home/user/.x"),
        ("/mnt/home/u/.x", "/mnt/home/u/.x"),
        ("file:///home/u/x", "file:///home/u/x"),
        ("/home/u", "/home/u"),
    ],
)
def test_the_home_is_printed_as_the_shell_reads_it(text: str, printed: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, home="/home/u")
    console.say(text)
    console.problem(ValueError(text))
    assert out.getvalue() == f"{printed}\n"
    assert err.getvalue() == f"keepmum: {printed}\n"


@pytest.mark.parametrize("home", ["", "/"])
def test_without_a_home_paths_stay(home: str) -> None:
    out = io.StringIO()
    Console(out, home=home).say("edit /home/u/.x")
    assert out.getvalue() == "edit /home/u/.x\n"


def test_a_log_has_one_line_for_each_long_step() -> None:
    out = io.StringIO()
    console = Console(out)
    for what in ("installing packages", "installing packages for vector search"):
        for second in range(1, 40):
            console.wait(what, second)
    assert out.getvalue() == "  installing packages …\n  installing packages for vector search …\n"


def _printed(spec: InstallSpec, machine: Machine, **options: object) -> list[str]:
    out = io.StringIO()
    chosen = install.Options(**{"source": spec.root, **options})  # type: ignore[arg-type]  # as the test says
    assert install.install(chosen, spec.product, None, machine, Console(out, home=machine.user_home)) == 0
    return out.getvalue().splitlines()


def test_the_files_of_a_plugin_are_one_line_and_a_dry_run_names_each(spec: InstallSpec, machine: Machine) -> None:
    each = _printed(spec, machine, clients=("cursor",), dry_run=True)
    assert sum("the plugin for Cursor" in line for line in each) == 5
    lines = _printed(spec, machine, clients=("cursor",), verbose=True)
    assert lines[2] == "  write 5 files in ~/.cursor/plugins/local/keepmum: the plugin for Cursor"


def test_the_folder_of_the_code_is_named_once(spec: InstallSpec, machine: Machine) -> None:
    lines = _printed(spec, machine, clients=("claude-code", "cursor", "opencode", "vscode", "claude-desktop"))
    assert len([line for line in lines if str(spec.root) in line and "keep that folder" in line]) == 1


def test_the_steps_of_the_user_are_the_last_lines(spec: InstallSpec, machine: Machine) -> None:
    console = Console(out := io.StringIO())
    plans = [Plan(notes=("Codex has it.",), closing=("You still have to: trust its hooks.",)), Plan(notes=("b",))]
    install._say_summary(plans, str(spec.root), machine, console, install.Options())
    assert out.getvalue().splitlines()[-1] == "You still have to: trust its hooks."
    assert "Your memories do not leave this machine." in out.getvalue()


def test_a_team_reads_each_sentence_once(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    assert repository.exists()
    clients = ("claude-code", "codex", "cursor", "vscode")
    lines = _printed(spec, machine, scope="project", source=None, clients=clients)
    sentences = [line for line in lines if line.startswith(("Commit", "For ", "Teammates"))]
    assert len(sentences) == len(set(sentences)) == 6
    assert sum("Memories are not in the repository" in line for line in lines) == 1
    assert any("This is a guess: --source names another place" in line for line in lines)
    assert not any("guess" in line for line in _printed(spec, machine, scope="project", source="a/b", clients=clients))
