"""Into Cursor's own folder and out again: five files, nothing of anybody else's."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks.places import heartbeat_file
from keepmum_installers import install, uninstall
from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.cursor import Cursor, health, local, manifests, places
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.product import read
from keepmum_installers.voice import Voice


@pytest.fixture
def cursor_folder(home: Path) -> Path:
    """The folder by which the client is known to be here."""
    folder = home / ".cursor"
    folder.mkdir()
    return folder


def put(wish: Wish, machine: Machine) -> int:
    options = install.Options(clients=("cursor",), runtime=False)
    return install.install(dataclasses.replace(options), read(str(wish.root)), wish.root, machine, Voice())


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def plugin(wish: Wish, machine: Machine, cursor_folder: Path) -> Path:
    """The plugin's folder, with the files that the plan writes."""
    for step in local.plan(wish, machine).steps:
        path = Path(step.path)  # type: ignore[union-attr]  # every step is a change of a file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(step.after)  # type: ignore[union-attr]  # as above
    return cursor_folder / "plugins" / "local" / "keepmum"


def test_the_client_is_known_by_its_folder_or_its_command(machine: Machine, cursor_folder: Path) -> None:
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


def test_a_second_plan_is_empty(wish: Wish, machine: Machine, plugin: Path) -> None:
    assert plugin.exists()
    assert local.plan(wish, machine).steps == ()


def test_a_file_that_is_behind_is_planned_alone(wish: Wish, machine: Machine, plugin: Path) -> None:
    (plugin / "plugin" / "rules" / "keepmum.mdc").write_text("old", encoding="utf-8")
    (step,) = local.plan(wish, machine).steps
    assert "keepmum.mdc" in str(step)


def test_no_path_of_the_plugin_waits_for_a_variable(plugin: Path) -> None:
    assert not [name for name in tree(plugin) if "PLUGIN_ROOT" in (plugin / name).read_text(encoding="utf-8")]


def test_hooks_and_server_name_the_clone_and_an_interpreter_by_their_full_paths(wish: Wish, plugin: Path) -> None:
    servers = json.loads((plugin / manifests.SERVERS).read_text(encoding="utf-8"))
    server = servers["mcpServers"]["keepmum"]
    assert os.path.isabs(server["command"])
    assert server["args"][2] == f"{os.path.realpath(str(wish.root))}/plugin/launch.py"


def test_a_hook_of_the_plugin_runs(root: Path, machine: Machine, home: Path) -> None:
    command = local.start(str(root)).hook("stop")
    done = subprocess.run(
        command, shell=True, input=b"{}", env={"HOME": str(home)}, capture_output=True, timeout=30, check=True
    )
    assert (done.stdout, done.stderr) == (b"{}", b"")
    assert machine.user_home == str(home)


def test_from_a_repository_the_user_is_told_what_to_click(wish: Wish, machine: Machine) -> None:
    plan = local.plan(dataclasses.replace(wish, source="owner/keepmum"), machine)
    assert plan.steps == ()
    assert "owner/keepmum" in plan.notes[1]


def test_half_a_clone_is_refused(wish: Wish, machine: Machine, clone: Path) -> None:
    (clone / "plugin" / "skills" / "memory" / "SKILL.md").unlink()
    with pytest.raises(InstallError, match="is no whole Keepmum"):
        local.plan(wish, machine)


def test_a_folder_that_somebody_else_made_is_named(machine: Machine, plugin: Path) -> None:
    assert str(plugin) in "\n".join(local.remains(machine))


@pytest.mark.parametrize("kept", [(), ("plugins/local/other/x",)])
def test_uninstalling_leaves_the_clients_folder_as_it_was(
    root: Path, machine: Machine, cursor_folder: Path, kept: tuple[str, ...]
) -> None:
    for name in kept:
        (cursor_folder / name).parent.mkdir(parents=True)
        (cursor_folder / name).write_text("theirs", encoding="utf-8")
    before = sorted(str(path) for path in cursor_folder.rglob("*"))
    assert put(Wish(read(str(root)), str(root)), machine) == 0
    assert len(tree(cursor_folder)) == 5 + len(kept)
    assert uninstall.uninstall(uninstall.Options(), machine, Voice()) == 0
    assert sorted(str(path) for path in cursor_folder.rglob("*")) == before


# -- the doctor ------------------------------------------------------------------------------------------------------


def found(wish: Wish, machine: Machine, about: str) -> Finding:
    (finding,) = [each for each in health.checks(machine, wish.product) if each.about == f"cursor{about}"]
    return finding


def answering(machine: Machine, outcome: Outcome) -> Machine:
    return dataclasses.replace(machine, run=lambda _argv, _seconds: outcome)


def test_without_the_client_there_is_one_finding(wish: Wish, machine: Machine) -> None:
    (finding,) = health.checks(machine, wish.product)
    assert (finding.level, finding.about) == ("absent", "cursor")


def test_a_whole_plugin_is_well(wish: Wish, machine: Machine, plugin: Path) -> None:
    assert str(plugin) in found(wish, machine, " plugin").says
    assert found(wish, answering(machine, Outcome(0, out="3.12\n")), " python").says.startswith("3.12 at ")


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
    wish: Wish, machine: Machine, plugin: Path, name: str, text: str, expected: tuple[str, str]
) -> None:
    (plugin / name).write_text(text, encoding="utf-8")
    finding = found(wish, machine, " plugin")
    assert finding.level == expected[0]
    assert expected[1] in finding.says


def test_a_lost_file_is_found(wish: Wish, machine: Machine, plugin: Path) -> None:
    (plugin / manifests.HOOKS).unlink()
    assert "lacks hooks/cursor.json" in found(wish, machine, " plugin").says


def test_a_clone_that_is_gone_is_found(wish: Wish, machine: Machine, plugin: Path, clone: Path) -> None:
    (clone / "plugin" / "launch.py").unlink()
    assert plugin.exists()
    assert "is gone" in found(wish, machine, " plugin").says


def test_an_interpreter_that_is_gone_is_found(wish: Wish, machine: Machine, plugin: Path) -> None:
    assert plugin.exists()
    assert found(wish, answering(machine, Outcome(127, err="no such file")), " python").level == "problem"


def test_a_link_is_named_as_what_the_client_refuses(wish: Wish, machine: Machine, tmp_path: Path, home: Path) -> None:
    place = home / ".cursor" / "plugins" / "local" / "keepmum"
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path)
    assert "link" in found(wish, machine, " plugin").says


@pytest.mark.parametrize("word", ["stop", "session-start", "guard"])
def test_hooks_tell_when_they_ran(wish: Wish, machine: Machine, cursor_folder: Path, word: str) -> None:
    event: Any = {"stop": "stop", "session-start": "sessionStart", "guard": "guard"}[word]
    assert cursor_folder.exists()
    assert found(wish, machine, f" {event} hook").level == "note"
    beat = Path(heartbeat_file(machine.home, places.NAME, word))
    beat.parent.mkdir(parents=True)
    beat.touch()
    assert found(wish, machine, f" {event} hook").level == "ok"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param('{"name": "cursor-vscode", "version": "1.0.0"}', "by cursor-vscode 1.0.0", id="its own word"),
        pytest.param("{", "did not say", id="half a note"),
    ],
)
def test_the_doctor_says_who_used_the_server(
    wish: Wish, machine: Machine, cursor_folder: Path, text: str, says: str
) -> None:
    assert cursor_folder.exists()
    assert found(wish, machine, " server").level == "note"
    beat = Path(heartbeat_file(machine.home, places.NAME, "server"))
    beat.parent.mkdir(parents=True)
    beat.write_text(text, encoding="utf-8")
    assert says in found(wish, machine, " server").says
