"""Installing into Cursor's own folder and uninstalling: five files, and no others."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks.places import heartbeat_file
from keepmum_installers import install, local_plugin, uninstall
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.cursor import Cursor, health, local, manifests
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import read


@pytest.fixture
def cursor_folder(home: Path) -> Path:
    """The folder by which the client is found."""
    folder = home / ".cursor"
    folder.mkdir()
    return folder


def put(spec: InstallSpec, machine: Machine) -> int:
    options = install.Options(clients=("cursor",), runtime=False)
    return install.install(dataclasses.replace(options), read(str(spec.root)), spec.root, machine, Console())


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def plugin(spec: InstallSpec, machine: Machine, cursor_folder: Path) -> Path:
    """The plugin's folder, with the files that the plan writes."""
    for step in local.plan(spec, machine).steps:
        path = Path(step.path)  # type: ignore[union-attr]  # every step is a change of a file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(step.after)  # type: ignore[union-attr]  # as above
    return cursor_folder / "plugins" / "local" / "keepmum"


def test_the_client_is_found_by_its_folder_or_its_command(machine: Machine, cursor_folder: Path) -> None:
    assert Cursor().is_here(machine)
    cursor_folder.rmdir()
    assert not Cursor().is_here(machine)


def test_the_plan_is_the_plugins_files_and_nothing_else(plugin: Path) -> None:
    assert tree(plugin) == [
        ".cursor-plugin/plugin.json",
        ".mcp.cursor.json",
        "hooks/cursor.json",
        "plugin/rules/keepmum.mdc",
        "plugin/skills/memory/SKILL.md",
    ]


def test_a_second_plan_is_empty(spec: InstallSpec, machine: Machine, plugin: Path) -> None:
    assert plugin.exists()
    assert local.plan(spec, machine).steps == ()


def test_only_an_outdated_file_is_planned(spec: InstallSpec, machine: Machine, plugin: Path) -> None:
    (plugin / "plugin" / "rules" / "keepmum.mdc").write_text("old", encoding="utf-8")
    (step,) = local.plan(spec, machine).steps
    assert "keepmum.mdc" in str(step)


def test_no_path_of_the_plugin_has_a_placeholder(plugin: Path) -> None:
    assert not [name for name in tree(plugin) if "PLUGIN_ROOT" in (plugin / name).read_text(encoding="utf-8")]


def test_hooks_and_server_have_full_paths(spec: InstallSpec, plugin: Path) -> None:
    servers = json.loads((plugin / manifests.SERVERS).read_text(encoding="utf-8"))
    server = servers["mcpServers"]["keepmum"]
    assert os.path.isabs(server["command"])
    assert server["args"][2] == f"{os.path.realpath(str(spec.root))}/plugin/launch.py"


def test_a_hook_of_the_plugin_runs(root: Path, machine: Machine, home: Path) -> None:
    command = manifests.Start(str(root), local_plugin.interpreter()).hook("stop")
    done = subprocess.run(
        command, shell=True, input=b"{}", env={"HOME": str(home)}, capture_output=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == (b"{}", b"")
    assert machine.user_home == str(home)


def test_a_repository_as_source_gives_the_menu_to_use(spec: InstallSpec, machine: Machine) -> None:
    plan = local.plan(dataclasses.replace(spec, source="owner/keepmum"), machine)
    assert plan.steps == ()
    assert "owner/keepmum" in plan.notes[1]


def test_an_incomplete_clone_is_refused(spec: InstallSpec, machine: Machine, clone: Path) -> None:
    (clone / "plugin" / "skills" / "memory" / "SKILL.md").unlink()
    with pytest.raises(InstallError, match="is not a complete Keepmum"):
        local.plan(spec, machine)


def test_a_folder_of_others_is_reported_after_removal(machine: Machine, plugin: Path) -> None:
    assert str(plugin) in "\n".join(local.remains(machine))


@pytest.mark.parametrize("kept", [(), ("plugins/local/other/x",)])
def test_uninstalling_restores_the_clients_folder(
    root: Path, machine: Machine, cursor_folder: Path, kept: tuple[str, ...]
) -> None:
    for name in kept:
        (cursor_folder / name).parent.mkdir(parents=True)
        (cursor_folder / name).write_text("theirs", encoding="utf-8")
    before = sorted(str(path) for path in cursor_folder.rglob("*"))
    assert put(InstallSpec(read(str(root)), str(root)), machine) == 0
    assert len(tree(cursor_folder)) == 5 + len(kept)
    assert uninstall.uninstall(uninstall.Options(), machine, Console()) == 0
    assert sorted(str(path) for path in cursor_folder.rglob("*")) == before


# -- the doctor ------------------------------------------------------------------------------------------------------


def found(spec: InstallSpec, machine: Machine, about: str) -> Finding:
    (finding,) = [each for each in health.checks(machine, spec.product) if each.about == f"cursor{about}"]
    return finding


def answering(machine: Machine, outcome: Outcome) -> Machine:
    return dataclasses.replace(machine, run=lambda *_: outcome)


def test_a_missing_client_is_one_finding(spec: InstallSpec, machine: Machine) -> None:
    (finding,) = health.checks(machine, spec.product)
    assert (finding.level, finding.about) == ("absent", "cursor")


def test_a_complete_plugin_is_ok(spec: InstallSpec, machine: Machine, plugin: Path) -> None:
    assert str(plugin) in found(spec, machine, " plugin").says
    assert found(spec, answering(machine, Outcome(0, out="3.12\n")), " python3").says.startswith("3.12 at ")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param(manifests.MANIFEST, '{"version": "0.0.1"}', ("note", "version 0.0.1"), id="another version"),
        pytest.param(manifests.MANIFEST, "{", ("problem", "not plain JSON"), id="a damaged manifest"),
        pytest.param(manifests.SERVERS, '{"mcpServers": {}}', ("problem", "changed by hand"), id="no server"),
        pytest.param(manifests.SERVERS, '{"mcpServers": []}', ("problem", "changed by hand"), id="a list of servers"),
        pytest.param(manifests.HOOKS, "{}", ("note", "version"), id="no hooks"),
    ],
)
def test_a_damaged_plugin_is_found(  # noqa: PLR0917 - a fixture for each thing and a column for each fact
    spec: InstallSpec, machine: Machine, plugin: Path, name: str, text: str, expected: tuple[str, str]
) -> None:
    (plugin / name).write_text(text, encoding="utf-8")
    finding = found(spec, machine, " plugin")
    assert finding.level == expected[0]
    assert expected[1] in finding.says


def test_a_missing_file_is_found(spec: InstallSpec, machine: Machine, plugin: Path) -> None:
    (plugin / manifests.HOOKS).unlink()
    assert "lacks hooks/cursor.json" in found(spec, machine, " plugin").says


def test_a_missing_clone_is_found(spec: InstallSpec, machine: Machine, plugin: Path, clone: Path) -> None:
    (clone / "plugin" / "launch.py").unlink()
    assert plugin.exists()
    assert "does not exist" in found(spec, machine, " plugin").says


def test_a_missing_interpreter_is_found(spec: InstallSpec, machine: Machine, plugin: Path) -> None:
    assert plugin.exists()
    assert found(spec, answering(machine, Outcome(127, err="no such file")), " python3").level == "problem"


def test_a_symbolic_link_is_a_problem(spec: InstallSpec, machine: Machine, tmp_path: Path, home: Path) -> None:
    place = home / ".cursor" / "plugins" / "local" / "keepmum"
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path)
    assert "link" in found(spec, machine, " plugin").says


@pytest.mark.parametrize("word", ["stop", "session-start", "guard"])
def test_the_last_run_of_a_hook_is_reported(
    spec: InstallSpec, machine: Machine, cursor_folder: Path, word: str
) -> None:
    event: Any = {"stop": "stop", "session-start": "sessionStart", "guard": "guard"}[word]
    assert cursor_folder.exists()
    assert found(spec, machine, f" {event} hook").level == "note"
    beat = Path(heartbeat_file(machine.home, manifests.NAME, word))
    beat.parent.mkdir(parents=True)
    beat.touch()
    assert found(spec, machine, f" {event} hook").level == "ok"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param('{"name": "cursor-vscode", "version": "1.0.0"}', "by cursor-vscode 1.0.0", id="name and version"),
        pytest.param("{", "did not send its name", id="a truncated file"),
    ],
)
def test_the_doctor_reports_who_used_the_server(
    spec: InstallSpec, machine: Machine, cursor_folder: Path, text: str, says: str
) -> None:
    assert cursor_folder.exists()
    assert found(spec, machine, " server").level == "note"
    beat = Path(heartbeat_file(machine.home, manifests.NAME, "server"))
    beat.parent.mkdir(parents=True)
    beat.write_text(text, encoding="utf-8")
    assert says in found(spec, machine, " server").says
