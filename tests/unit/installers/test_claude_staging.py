"""Claude Code gets a small folder with the plugin; where `python3` is no Python that works, it names one that does."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fake_claude import FakeClaude
from keepmum_installers import apply
from keepmum_installers.clients.claude import health, registration, staging
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Change

STUB = Outcome(49)  # what the store's stub on Windows ends with, without a word
PYTHON = sys._base_executable  # type: ignore[attr-defined]  # of every CPython since 3.7


@pytest.fixture
def stub(claude: FakeClaude) -> FakeClaude:
    """A `python3` on PATH that runs nothing."""
    claude.python = STUB
    return claude


def carry_out(wish: Wish, machine: Machine) -> None:
    Path(machine.home).mkdir(exist_ok=True)
    apply.carry_out(registration.plan(wish, machine).steps, Journal(machine.home), machine)


def place(machine: Machine) -> Path:
    return Path(staging.folder(machine))


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def server_in(folder: Path) -> tuple[str, str]:
    """Interpreter and script of the one server."""
    (server,) = json.loads((folder / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"].values()
    return server["command"], server["args"][2]


def test_the_client_is_given_what_it_has_to_read_and_nothing_of_a_clone(
    wish: Wish, machine: Machine, clone: Path, claude: FakeClaude
) -> None:
    (clone / ".venv").mkdir()
    (clone / ".venv" / "large").write_bytes(b"x")
    carry_out(wish, machine)
    assert claude.changes[0] == f"plugin marketplace add {place(machine).resolve()}"
    assert files_in(place(machine)) == {
        ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", ".mcp.json", "hooks/hooks.json",
        "plugin/skills/memory/SKILL.md",
    }  # fmt: skip


def test_a_python3_that_works_is_named_as_it_is_everywhere(wish: Wish, machine: Machine) -> None:
    carry_out(wish, machine)
    assert server_in(place(machine)) == ("python3", f"{wish.root}/plugin/launch.py")


def test_half_a_clone_is_refused(wish: Wish, machine: Machine, clone: Path) -> None:
    (clone / "plugin" / "skills" / "memory" / "SKILL.md").unlink()
    with pytest.raises(InstallError, match="is no whole Keepmum"):
        registration.plan(wish, machine)


def plugin_finding(machine: Machine, wish: Wish) -> Finding:
    (found,) = [each for each in health.checks(machine, wish.product) if each.about == "claude-code plugin"]
    return found


def test_the_doctor_finds_code_that_is_gone(wish: Wish, machine: Machine, clone: Path) -> None:
    carry_out(wish, machine)
    (clone / "plugin" / "launch.py").unlink()
    found = plugin_finding(machine, wish)
    assert (found.level, found.says) == ("problem", f"its code at {clone}/plugin/launch.py is gone")


def test_the_doctor_finds_a_plugin_of_another_clone_until_this_one_is_installed(
    wish: Wish, machine: Machine, root: Path
) -> None:
    carry_out(wish, machine)
    found = plugin_finding(machine, wish)
    assert (found.level, found.next_step) == ("note", "Run `keepmum install`.")
    carry_out(dataclasses.replace(wish, root=str(root)), machine)
    assert plugin_finding(machine, wish).level == "ok"


def test_a_stub_is_found_by_running_it(wish: Wish, machine: Machine, stub: FakeClaude) -> None:
    carry_out(wish, machine)
    assert stub.changes[0] == f"plugin marketplace add {place(machine).resolve()}"


@pytest.mark.usefixtures("stub")
def test_server_and_hooks_name_interpreter_and_code_in_full(wish: Wish, machine: Machine) -> None:
    carry_out(wish, machine)
    assert server_in(place(machine)) == (PYTHON, f"{wish.root}/plugin/launch.py")
    groups = json.loads((place(machine) / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"].values()
    hooks = [hook for group in groups for entry in group for hook in entry["hooks"]]
    assert {hook["command"] for hook in hooks} == {PYTHON}
    assert {hook["args"][2] for hook in hooks} == {f"{wish.root}/hooks/run.py"}


@pytest.mark.usefixtures("stub")
def test_the_folder_is_a_whole_plugin(wish: Wish, machine: Machine) -> None:
    carry_out(wish, machine)
    manifest = json.loads((place(machine) / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert (place(machine) / manifest["skills"] / "memory" / "SKILL.md").is_file()


@pytest.mark.usefixtures("stub")
def test_a_second_plan_is_empty(wish: Wish, machine: Machine) -> None:
    carry_out(wish, machine)
    assert registration.plan(wish, machine).steps == ()


def test_uninstalling_removes_the_folder(wish: Wish, machine: Machine, stub: FakeClaude) -> None:
    carry_out(wish, machine)
    journal = Journal(machine.home)
    done = apply.undo(journal, machine, lambda _: stub.program, lambda _: True)
    assert [each.problem for each in done if each.problem] == []
    assert not place(machine).exists()


@pytest.mark.usefixtures("stub")
def test_the_user_is_told_which_python_it_is(wish: Wish, machine: Machine) -> None:
    assert any(
        "names the Python that this installer runs on" in line for line in registration.plan(wish, machine).notes
    )


def test_the_doctor_looks_at_the_named_interpreter(wish: Wish, machine: Machine, stub: FakeClaude) -> None:
    carry_out(wish, machine)

    def run(argv: Sequence[str], seconds: float) -> Outcome:
        return Outcome(0, out="3.11\n") if argv[0] == PYTHON else stub.run(argv, seconds)

    findings = health.checks(dataclasses.replace(machine, run=run), wish.product)
    (finding,) = [each for each in findings if each.about.endswith("python3")]
    assert (finding.level, finding.says) == ("ok", f"3.11 at {PYTHON}")


@pytest.mark.usefixtures("stub")
def test_a_plugin_from_a_repository_stays_portable(wish: Wish, machine: Machine) -> None:
    plan = registration.plan(dataclasses.replace(wish, source="team/keepmum"), machine)
    assert not any(isinstance(step, Change) for step in plan.steps)
