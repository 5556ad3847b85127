"""Visual Studio Code: the plugin's folder in its settings, and the server in a repository; comments stay."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.vscode import VisualStudioCode
from keepmum_installers.errors import FileLeft
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change
from unit.installers.install_parts import undone

THEIRS = '{\n    "editor.fontSize": 14,\n    "chat.pluginLocations": {"/theirs": true}\n}\n'


@pytest.fixture
def settings(machine: Machine) -> Path:
    """The editor's settings, with a plugin of the user."""
    file = Path(VisualStudioCode().folder(machine)) / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(THEIRS, encoding="utf-8")
    return file


def test_the_plugins_folder_is_added_next_to_others_and_removed_completely(
    spec: InstallSpec, machine: Machine, settings: Path
) -> None:
    (change,) = VisualStudioCode().plan(spec, machine).steps
    assert isinstance(change, Change)
    assert json.loads(change.after)["chat.pluginLocations"] == {"/theirs": True, spec.root: True}
    assert undone(change) == THEIRS
    settings.write_bytes(change.after)
    assert VisualStudioCode().plan(spec, machine).steps == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{\n  // mine\n}\n", "{\n  // mine\n  ADDED\n}\n"),
        ('{\n\t"a": 1, // one\n\t// two\n}\n', '{\n\t"a": 1, // one\n\t// two\n\tADDED\n}\n'),
        ('{\r\n    "a": 1 // one\r\n}', '{\r\n    "a": 1, // one\r\n    ADDED\r\n}'),
        ('// top\n{"a": [1,],}', '// top\n{"a": [1,], ADDED}'),
        ("{ /* none */ }", "{ /* none */ ADDED }"),
        ('{"a": 1 // one\n}', '{"a": 1, // one\nADDED\n}'),
    ],
)
def test_settings_with_comments_keep_every_byte(
    spec: InstallSpec, machine: Machine, settings: Path, text: str, after: str
) -> None:
    settings.write_bytes(text.encode())
    (change,) = VisualStudioCode().plan(spec, machine).steps
    assert isinstance(change, Change)
    found = re.sub(r'"chat.pluginLocations": \{[^}]*\}', "ADDED", change.after.decode())
    assert found == after
    assert undone(change) == text


def test_damaged_settings_are_left_unchanged_with_the_lines_to_add(
    spec: InstallSpec, machine: Machine, settings: Path
) -> None:
    settings.write_text('{"a": /* 1 }', encoding="utf-8")
    with pytest.raises(FileLeft, match="damaged JSON") as caught:
        VisualStudioCode().plan(spec, machine)
    assert f'"{spec.root}": true' in caught.value.next_step


def test_a_repository_gets_the_command_as_server(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    (change,) = VisualStudioCode().plan(dataclasses.replace(spec, scope="project"), machine).steps
    assert isinstance(change, Change)
    assert change.path == str(repository / ".vscode" / "mcp.json")
    server = json.loads(change.after)["servers"]["keepmum"]
    assert (server["type"], server["command"]) == ("stdio", "${userHome}/.keepmum/bin/keepmum")


def test_a_repositorys_file_with_comments_is_edited(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    file = repository / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{ // mine\n\t"servers": {}, "inputs": []\n}', encoding="utf-8")
    (change,) = VisualStudioCode().plan(dataclasses.replace(spec, scope="project"), machine).steps
    assert isinstance(change, Change)
    assert change.after.startswith(b"{ // mine\n")
    assert undone(change) == file.read_text(encoding="utf-8")


def test_a_repository_as_source_plans_nothing(spec: InstallSpec, machine: Machine) -> None:
    assert VisualStudioCode().plan(dataclasses.replace(spec, source="owner/keepmum"), machine).steps == ()


def test_the_doctor_looks_for_the_folder_in_the_settings(spec: InstallSpec, machine: Machine, settings: Path) -> None:
    first, *_ = VisualStudioCode().checks(machine, spec.product)
    assert first.level == "note"
    settings.write_text('{"chat.pluginLocations": {"/my/keepmum": true}} // mine', encoding="utf-8")
    first, *_ = VisualStudioCode().checks(machine, spec.product)
    assert first.level == "ok"


def test_a_missing_editor_is_one_finding(spec: InstallSpec, machine: Machine) -> None:
    assert [each.level for each in VisualStudioCode().checks(machine, spec.product)] == ["absent"]
