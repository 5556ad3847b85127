"""Claude Code gets a small folder with the plugin, which names another Python when `python3` does not work."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fake_claude import FakeClaude
from keepmum_installers import apply
from keepmum_installers.clients.claude import health, manifests, registration
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Change

STUB = Outcome(49)  # the exit code of the app-store stub on Windows, which prints nothing
PYTHON = sys._base_executable  # type: ignore[attr-defined]  # of every CPython since 3.7


@pytest.fixture
def stub(claude: FakeClaude) -> FakeClaude:
    """A `python3` on PATH that runs nothing."""
    claude.python = STUB
    return claude


def carry_out(spec: InstallSpec, machine: Machine) -> None:
    Path(machine.home).mkdir(exist_ok=True)
    apply.carry_out(registration.plan(spec, machine).steps, Journal(machine.home), machine)


def place(machine: Machine) -> Path:
    return Path(manifests.plugin_folder(machine))


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def server_in(folder: Path) -> tuple[str, str]:
    """Interpreter and script of the only server."""
    (server,) = json.loads((folder / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"].values()
    return server["command"], server["args"][2]


def test_the_client_gets_only_the_files_that_it_reads(
    spec: InstallSpec, machine: Machine, clone: Path, claude: FakeClaude
) -> None:
    (clone / ".venv").mkdir()
    (clone / ".venv" / "large").write_bytes(b"x")
    carry_out(spec, machine)
    assert claude.changes[0] == f"plugin marketplace add {place(machine).resolve()}"
    assert files_in(place(machine)) == {
        ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", ".mcp.json", "hooks/hooks.json",
        "plugin/skills/memory/SKILL.md",
    }  # fmt: skip


def test_a_working_python3_is_named_without_a_path(spec: InstallSpec, machine: Machine) -> None:
    carry_out(spec, machine)
    assert server_in(place(machine)) == ("python3", f"{spec.root}/plugin/launch.py")


def test_an_incomplete_clone_is_refused(spec: InstallSpec, machine: Machine, clone: Path) -> None:
    (clone / "plugin" / "skills" / "memory" / "SKILL.md").unlink()
    with pytest.raises(InstallError, match="is not a complete Keepmum"):
        registration.plan(spec, machine)


def plugin_finding(machine: Machine, spec: InstallSpec) -> Finding:
    (found,) = [each for each in health.checks(machine, spec.product) if each.about == "claude-code plugin"]
    return found


def test_the_doctor_finds_missing_code(spec: InstallSpec, machine: Machine, clone: Path) -> None:
    carry_out(spec, machine)
    (clone / "plugin" / "launch.py").unlink()
    found = plugin_finding(machine, spec)
    assert (found.level, found.says) == ("problem", f"its code at {clone}/plugin/launch.py does not exist")


def test_the_doctor_finds_a_plugin_of_another_clone(spec: InstallSpec, machine: Machine, root: Path) -> None:
    carry_out(spec, machine)
    found = plugin_finding(machine, spec)
    assert (found.level, found.next_step) == ("note", "Run `keepmum install`.")
    carry_out(dataclasses.replace(spec, root=str(root)), machine)
    assert plugin_finding(machine, spec).level == "ok"


def test_a_stub_is_found_by_running_it(spec: InstallSpec, machine: Machine, stub: FakeClaude) -> None:
    carry_out(spec, machine)
    assert stub.changes[0] == f"plugin marketplace add {place(machine).resolve()}"


@pytest.mark.usefixtures("stub")
def test_server_and_hooks_have_full_paths(spec: InstallSpec, machine: Machine) -> None:
    carry_out(spec, machine)
    assert server_in(place(machine)) == (PYTHON, f"{spec.root}/plugin/launch.py")
    groups = json.loads((place(machine) / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"].values()
    hooks = [hook for group in groups for entry in group for hook in entry["hooks"]]
    assert {hook["command"] for hook in hooks} == {PYTHON}
    assert {hook["args"][2] for hook in hooks} == {f"{spec.root}/hooks/run.py"}


@pytest.mark.usefixtures("stub")
def test_the_folder_is_a_complete_plugin(spec: InstallSpec, machine: Machine) -> None:
    carry_out(spec, machine)
    manifest = json.loads((place(machine) / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert (place(machine) / manifest["skills"] / "memory" / "SKILL.md").is_file()


@pytest.mark.usefixtures("stub")
def test_a_second_plan_is_empty(spec: InstallSpec, machine: Machine) -> None:
    carry_out(spec, machine)
    assert registration.plan(spec, machine).steps == ()


@pytest.mark.usefixtures("stub")
def test_uninstalling_removes_the_folder(spec: InstallSpec, machine: Machine) -> None:
    carry_out(spec, machine)
    journal = Journal(machine.home)
    done = apply.undo(journal, machine, lambda _: True)
    assert [each.problem for each in done if each.problem] == []
    assert not place(machine).exists()


@pytest.mark.usefixtures("stub")
def test_the_notes_name_the_python(spec: InstallSpec, machine: Machine) -> None:
    assert any("uses the Python of this installer" in line for line in registration.plan(spec, machine).notes)


def test_the_doctor_checks_the_named_interpreter(spec: InstallSpec, machine: Machine, stub: FakeClaude) -> None:
    carry_out(spec, machine)

    def run(argv: Sequence[str], seconds: float, *_: object) -> Outcome:
        return Outcome(0, out="3.11\n") if argv[0] == PYTHON else stub.run(argv, seconds)

    findings = health.checks(dataclasses.replace(machine, run=run), spec.product)
    (finding,) = [each for each in findings if each.about.endswith("python3")]
    assert (finding.level, finding.says) == ("ok", f"3.11 at {PYTHON}")


@pytest.mark.usefixtures("stub")
def test_a_plugin_from_a_repository_stays_portable(spec: InstallSpec, machine: Machine) -> None:
    plan = registration.plan(dataclasses.replace(spec, source="team/keepmum"), machine)
    assert not any(isinstance(step, Change) for step in plan.steps)
