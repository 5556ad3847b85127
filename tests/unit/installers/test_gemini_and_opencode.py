"""Gemini CLI's extension and OpenCode's plugin: installing, uninstalling, checking."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers import apply
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.gemini import GeminiCli, manifests
from keepmum_installers.clients.opencode import OpenCode
from keepmum_installers.finding import Finding
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change
from keepmum_installers.product import SKILL, read


@pytest.fixture
def gemini(home: Path, machine: Machine) -> Path:
    """The client's command, on PATH."""
    program = home / "programs" / "gemini"
    program.write_text("")
    program.chmod(0o755)
    assert machine.find("gemini") == str(program)
    return program


def link(home: Path, where: str, kind: str = "link") -> None:
    """What the client writes when it links an extension."""
    folder = home / ".gemini" / "extensions" / "keepmum"
    folder.mkdir(parents=True)
    note = json.dumps({"source": where, "type": kind})
    (folder / ".gemini-extension-install.json").write_text(note, encoding="utf-8")


def found(client: GeminiCli | OpenCode, machine: Machine, spec: InstallSpec, about: str) -> Finding:
    (finding,) = [each for each in client.checks(machine, spec.product) if each.about.endswith(about)]
    return finding


# -- Gemini CLI ------------------------------------------------------------------------------------------------------


def test_the_extension_is_linked_by_one_file_and_no_command(
    spec: InstallSpec, machine: Machine, gemini: Path, home: Path
) -> None:
    assert gemini.exists()
    (step,) = GeminiCli().plan(spec, machine).steps
    assert isinstance(step, Change)
    assert step.path == str(home / ".gemini" / "extensions" / "keepmum" / ".gemini-extension-install.json")
    assert json.loads(step.after) == {"source": f"{spec.root}/plugin/gemini", "type": "link"}


def test_a_linked_extension_is_not_linked_again(spec: InstallSpec, machine: Machine, gemini: Path, home: Path) -> None:
    assert gemini.exists()
    link(home, f"{spec.root}/plugin/gemini")
    assert GeminiCli().plan(spec, machine).steps == ()
    assert "gemini extensions uninstall" in "\n".join(GeminiCli().remains(machine))


@pytest.mark.parametrize(("where", "kind"), [("/elsewhere/gemini", "link"), ("{root}/plugin/gemini", "local")])
def test_an_extension_from_another_folder_is_linked_again(  # noqa: PLR0917 - fixtures and columns
    spec: InstallSpec, machine: Machine, gemini: Path, home: Path, where: str, kind: str
) -> None:
    assert gemini.exists()
    link(home, where.format(root=spec.root), kind)
    assert len(GeminiCli().plan(spec, machine).steps) == 1


def test_without_the_command_or_a_folder_the_user_gets_the_commands_to_type(
    spec: InstallSpec, without_client: Machine, machine: Machine, gemini: Path
) -> None:
    assert gemini.exists()
    for plan in (
        GeminiCli().plan(spec, without_client),
        GeminiCli().plan(dataclasses.replace(spec, source="owner/keepmum"), machine),
    ):
        assert plan.steps == ()
        assert "gemini extensions link plugin/gemini" in plan.notes[1]


def test_the_doctor_sees_the_extension(
    spec: InstallSpec, machine: Machine, gemini: Path, home: Path, root: Path
) -> None:
    assert gemini.exists()
    assert found(GeminiCli(), machine, spec, " extension").level == "note"
    link(home, "/gone/gemini")
    assert found(GeminiCli(), machine, spec, " extension").level == "problem"
    note = home / ".gemini" / "extensions" / "keepmum" / ".gemini-extension-install.json"
    note.write_text(json.dumps({"source": str(root / "plugin" / "gemini"), "type": "link"}), encoding="utf-8")
    assert found(GeminiCli(), machine, spec, " extension").level == "ok"


def test_a_missing_client_is_one_finding(spec: InstallSpec, without_client: Machine) -> None:
    assert [each.level for each in GeminiCli().checks(without_client, spec.product)] == ["absent"]
    assert [each.level for each in OpenCode().checks(without_client, spec.product)] == ["absent"]


@pytest.fixture
def rendered(root: Path) -> dict[str, Any]:
    return dict(manifests.render(read(str(root))))


def test_the_extension_has_milliseconds_and_the_clients_events(rendered: dict[str, Any]) -> None:
    hooks = rendered["plugin/gemini/hooks/hooks.json"]["hooks"]
    assert set(hooks) == {"SessionStart", "AfterAgent", "BeforeTool"}
    for groups in hooks.values():
        for group in groups:
            assert [hook["timeout"] for hook in group["hooks"]] == [5000]


@pytest.mark.parametrize(
    ("tool", "is_guarded"),
    [("write_file", True), ("replace", True), ("save_memory", True), ("mcp_x_add", True), ("read_file", False)],
)
def test_the_extensions_guard_checks_tools_that_may_write(
    rendered: dict[str, Any],
    tool: str,
    is_guarded: bool,  # noqa: FBT001 - a table's column
) -> None:
    (group,) = rendered["plugin/gemini/hooks/hooks.json"]["hooks"]["BeforeTool"]
    assert bool(re.search(group["matcher"], tool)) is is_guarded


def test_the_extensions_skill_is_the_skill(root: Path, rendered: dict[str, Any]) -> None:
    assert rendered["plugin/gemini/skills/memory/SKILL.md"] == (root / SKILL).read_text(encoding="utf-8")


# -- OpenCode --------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(home: Path, spec: InstallSpec, machine: Machine) -> Path:
    """The file after executing the plan."""
    (step,) = OpenCode().plan(spec, machine).steps
    assert isinstance(step, Change)
    path = Path(step.path)
    assert path == home / ".config" / "opencode" / "plugins" / "keepmum.js"
    path.parent.mkdir(parents=True)
    path.write_bytes(step.after)
    return path


def test_one_line_imports_the_plugin_of_the_clone(spec: InstallSpec, file: Path) -> None:
    assert file.read_text(encoding="utf-8") == f'export * from "file://{spec.root}/plugin/opencode/keepmum.js"\n'


def test_a_second_plan_is_empty(spec: InstallSpec, machine: Machine, file: Path) -> None:
    assert file.exists()
    assert OpenCode().plan(spec, machine).steps == ()


def test_a_moved_configuration_is_found(spec: InstallSpec, machine: Machine, tmp_path: Path) -> None:
    moved = dataclasses.replace(machine, environ={**machine.environ, "XDG_CONFIG_HOME": str(tmp_path)})
    (step,) = OpenCode().plan(spec, moved).steps
    assert isinstance(step, Change)
    assert step.path == str(tmp_path / "opencode" / "plugins" / "keepmum.js")


def test_a_repository_as_source_plans_nothing(spec: InstallSpec, machine: Machine) -> None:
    assert OpenCode().plan(dataclasses.replace(spec, source="owner/keepmum"), machine).steps == ()


def test_the_doctor_sees_the_plugin(spec: InstallSpec, machine: Machine, file: Path, clone: Path) -> None:
    assert found(OpenCode(), machine, spec, " plugin").level == "problem"
    (clone / "plugin" / "opencode").mkdir()
    (clone / "plugin" / "opencode" / "keepmum.js").touch()
    assert found(OpenCode(), machine, spec, " plugin").level == "ok"
    file.write_text("other", encoding="utf-8")
    assert "changed by hand" in found(OpenCode(), machine, spec, " plugin").says
    file.unlink()
    assert found(OpenCode(), machine, spec, " plugin").level == "note"


def test_a_file_of_others_is_reported_after_removal(machine: Machine, file: Path) -> None:
    assert str(file) in "\n".join(OpenCode().remains(machine))
    file.unlink()
    assert list(OpenCode().remains(machine)) == []


def test_a_file_of_the_user_in_our_place_comes_back(spec: InstallSpec, machine: Machine) -> None:
    file = Path(OpenCode().folder(machine)) / "plugins" / "keepmum.js"
    file.parent.mkdir(parents=True)
    file.write_text("export const mine = 1\n", encoding="utf-8")
    Path(machine.home).mkdir()
    for _ in range(2):  # the second installation replaces a file of ours
        apply.carry_out(OpenCode().plan(spec, machine).steps, Journal(machine.home), machine)
        spec = dataclasses.replace(spec, source=str(Path(str(spec.root)).resolve()))
        file.write_bytes(file.read_bytes())
    assert "mine" not in file.read_text(encoding="utf-8")
    done = apply.undo(Journal(machine.home), machine, lambda _: True)
    assert [each.done for each in done] == [f"restored {file}"]
    assert file.read_text(encoding="utf-8") == "export const mine = 1\n"
