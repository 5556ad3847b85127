"""Visual Studio Code: the plugin's folder in its settings, the server in a repository, and no harm to comments."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from keepmum_installers.clients.client import Wish
from keepmum_installers.clients.vscode import VisualStudioCode
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change
from unit.installers.install_parts import undone

THEIRS = '{\n    "editor.fontSize": 14,\n    "chat.pluginLocations": {"/theirs": true}\n}\n'


@pytest.fixture
def settings(machine: Machine) -> Path:
    """The editor's settings, which hold a plugin of the user's."""
    file = Path(VisualStudioCode().folder(machine)) / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(THEIRS, encoding="utf-8")
    return file


def test_the_plugins_folder_is_named_beside_others_and_comes_out_without_a_trace(
    wish: Wish, machine: Machine, settings: Path
) -> None:
    (change,) = VisualStudioCode().plan(wish, machine).steps
    assert isinstance(change, Change)
    assert json.loads(change.after)["chat.pluginLocations"] == {"/theirs": True, wish.root: True}
    assert undone(change) == THEIRS
    settings.write_bytes(change.after)
    assert VisualStudioCode().plan(wish, machine).steps == ()


def test_settings_with_comments_are_left_alone_and_what_to_add_is_said(
    wish: Wish, machine: Machine, settings: Path
) -> None:
    settings.write_text("{\n  // mine\n}\n", encoding="utf-8")
    plan = VisualStudioCode().plan(wish, machine)
    assert plan.steps == ()
    assert f'"{wish.root}": true' in "\n".join(plan.notes)


def test_a_repository_gets_the_server_by_its_command(wish: Wish, machine: Machine, repository: Path) -> None:
    (change,) = VisualStudioCode().plan(dataclasses.replace(wish, scope="project"), machine).steps
    assert isinstance(change, Change)
    assert change.path == str(repository / ".vscode" / "mcp.json")
    server = json.loads(change.after)["servers"]["keepmum"]
    assert (server["type"], server["command"]) == ("stdio", "keepmum")


def test_a_repositorys_file_with_comments_is_refused(wish: Wish, machine: Machine, repository: Path) -> None:
    file = repository / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{ // mine\n}", encoding="utf-8")
    with pytest.raises(InstallError, match="left alone"):
        VisualStudioCode().plan(dataclasses.replace(wish, scope="project"), machine)


def test_from_a_repository_address_there_is_nothing_to_write(wish: Wish, machine: Machine) -> None:
    assert VisualStudioCode().plan(dataclasses.replace(wish, source="owner/keepmum"), machine).steps == ()


def test_the_doctor_looks_for_the_folder_in_the_settings(wish: Wish, machine: Machine, settings: Path) -> None:
    first, *_ = VisualStudioCode().checks(machine, wish.product)
    assert first.level == "note"
    settings.write_text('{"chat.pluginLocations": {"/my/keepmum": true}} // mine', encoding="utf-8")
    first, *_ = VisualStudioCode().checks(machine, wish.product)
    assert first.level == "ok"


def test_without_the_editor_the_doctor_says_so_once(wish: Wish, machine: Machine) -> None:
    assert [each.level for each in VisualStudioCode().checks(machine, wish.product)] == ["absent"]
