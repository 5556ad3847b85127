"""Gemini CLI's extension and OpenCode's plugin: how they get in, out, and past the doctor."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.gemini import GeminiCli, manifests
from keepmum_installers.clients.opencode import OpenCode
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Call, Change
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


def found(client: GeminiCli | OpenCode, machine: Machine, wish: Wish, about: str) -> Finding:
    (finding,) = [each for each in client.checks(machine, wish.product) if each.about.endswith(about)]
    return finding


# -- Gemini CLI ------------------------------------------------------------------------------------------------------


def test_the_extension_is_linked_by_the_clients_own_command(wish: Wish, machine: Machine, gemini: Path) -> None:
    (step,) = GeminiCli().plan(wish, machine).steps
    assert isinstance(step, Call)
    assert step.program == str(gemini)
    assert step.arguments == ("extensions", "link", f"{wish.root}/plugin/gemini", "--consent")
    assert step.undo == ("extensions", "uninstall", "keepmum")


def test_an_extension_that_is_linked_is_left_alone(wish: Wish, machine: Machine, gemini: Path, home: Path) -> None:
    assert gemini.exists()
    link(home, f"{wish.root}/plugin/gemini")
    assert GeminiCli().plan(wish, machine).steps == ()
    assert "gemini extensions uninstall" in "\n".join(GeminiCli().remains(machine))


@pytest.mark.parametrize(("where", "kind"), [("/elsewhere/gemini", "link"), ("{root}/plugin/gemini", "local")])
def test_an_extension_from_elsewhere_is_linked_anew(  # noqa: PLR0917 - fixtures and columns
    wish: Wish, machine: Machine, gemini: Path, home: Path, where: str, kind: str
) -> None:
    assert gemini.exists()
    link(home, where.format(root=wish.root), kind)
    assert len(GeminiCli().plan(wish, machine).steps) == 1


def test_without_the_command_or_a_folder_the_user_is_told_what_to_type(
    wish: Wish, without_client: Machine, machine: Machine, gemini: Path
) -> None:
    assert gemini.exists()
    for plan in (
        GeminiCli().plan(wish, without_client),
        GeminiCli().plan(dataclasses.replace(wish, source="owner/keepmum"), machine),
    ):
        assert plan.steps == ()
        assert "gemini extensions link plugin/gemini" in plan.notes[1]


def test_the_doctor_sees_the_extension(wish: Wish, machine: Machine, gemini: Path, home: Path, root: Path) -> None:
    assert gemini.exists()
    assert found(GeminiCli(), machine, wish, " extension").level == "note"
    link(home, "/gone/gemini")
    assert found(GeminiCli(), machine, wish, " extension").level == "problem"
    note = home / ".gemini" / "extensions" / "keepmum" / ".gemini-extension-install.json"
    note.write_text(json.dumps({"source": str(root / "plugin" / "gemini"), "type": "link"}), encoding="utf-8")
    assert found(GeminiCli(), machine, wish, " extension").level == "ok"


def test_without_the_client_the_doctor_says_so_once(wish: Wish, without_client: Machine) -> None:
    assert [each.level for each in GeminiCli().checks(without_client, wish.product)] == ["absent"]
    assert [each.level for each in OpenCode().checks(without_client, wish.product)] == ["absent"]


@pytest.fixture
def rendered(root: Path) -> dict[str, Any]:
    return dict(manifests.render(read(str(root))))


def test_the_extensions_times_are_milliseconds_and_its_events_the_clients_own(rendered: dict[str, Any]) -> None:
    hooks = rendered["plugin/gemini/hooks/hooks.json"]["hooks"]
    assert set(hooks) == {"SessionStart", "AfterAgent", "BeforeTool"}
    for groups in hooks.values():
        for group in groups:
            assert [hook["timeout"] for hook in group["hooks"]] == [5000]


@pytest.mark.parametrize(
    ("tool", "is_guarded"),
    [("write_file", True), ("replace", True), ("save_memory", True), ("mcp_x_add", True), ("read_file", False)],
)
def test_the_extensions_guard_looks_at_what_may_write(
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
def file(home: Path, wish: Wish, machine: Machine) -> Path:
    """The file that the plan writes, written."""
    (step,) = OpenCode().plan(wish, machine).steps
    assert isinstance(step, Change)
    path = Path(step.path)
    assert path == home / ".config" / "opencode" / "plugins" / "keepmum.js"
    path.parent.mkdir(parents=True)
    path.write_bytes(step.after)
    return path


def test_one_line_leads_to_the_plugin_in_the_clone(wish: Wish, file: Path) -> None:
    assert file.read_text(encoding="utf-8") == f'export * from "file://{wish.root}/plugin/opencode/keepmum.js"\n'


def test_a_second_plan_is_empty(wish: Wish, machine: Machine, file: Path) -> None:
    assert file.exists()
    assert OpenCode().plan(wish, machine).steps == ()


def test_a_configuration_that_was_moved_is_found(wish: Wish, machine: Machine, tmp_path: Path) -> None:
    moved = dataclasses.replace(machine, environ={**machine.environ, "XDG_CONFIG_HOME": str(tmp_path)})
    (step,) = OpenCode().plan(wish, moved).steps
    assert isinstance(step, Change)
    assert step.path == str(tmp_path / "opencode" / "plugins" / "keepmum.js")


def test_from_a_repository_there_is_nothing_to_write(wish: Wish, machine: Machine) -> None:
    assert OpenCode().plan(dataclasses.replace(wish, source="owner/keepmum"), machine).steps == ()


def test_the_doctor_sees_the_plugin(wish: Wish, machine: Machine, file: Path, clone: Path) -> None:
    assert found(OpenCode(), machine, wish, " plugin").level == "problem"
    (clone / "plugin" / "opencode").mkdir()
    (clone / "plugin" / "opencode" / "keepmum.js").touch()
    assert found(OpenCode(), machine, wish, " plugin").level == "ok"
    file.write_text("other", encoding="utf-8")
    assert "changed by hand" in found(OpenCode(), machine, wish, " plugin").says
    file.unlink()
    assert found(OpenCode(), machine, wish, " plugin").level == "note"


def test_what_others_wrote_is_named(machine: Machine, file: Path) -> None:
    assert str(file) in "\n".join(OpenCode().remains(machine))
    file.unlink()
    assert list(OpenCode().remains(machine)) == []
