"""Claude Desktop: one entry in its file, one package with the server; and the entry for the registry."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers import manifests, mcpb
from keepmum_installers.clients.claude_desktop import ClaudeDesktop
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change
from keepmum_installers.product import read
from unit.installers.install_parts import undone

THEIRS = '{"mcpServers": {"theirs": {"command": "x"}}, "globalShortcut": ""}'
LIMIT = 60.0  # seconds


@pytest.fixture
def settings(machine: Machine) -> Path:
    """The app's file, with a server of the user."""
    file = Path(ClaudeDesktop().folder(machine)) / "claude_desktop_config.json"
    file.parent.mkdir(parents=True)
    file.write_text(THEIRS, encoding="utf-8")
    return file


def test_the_server_is_added_next_to_others_and_removed_completely(
    spec: InstallSpec, machine: Machine, settings: Path
) -> None:
    (change,) = ClaudeDesktop().plan(spec, machine).steps
    assert isinstance(change, Change)
    servers = json.loads(change.after)["mcpServers"]
    assert list(servers) == ["theirs", "keepmum"]
    assert os.path.isabs(servers["keepmum"]["command"])
    assert undone(change) == THEIRS
    settings.write_bytes(change.after)
    assert ClaudeDesktop().plan(spec, machine).steps == ()


def test_a_repository_as_source_plans_nothing(spec: InstallSpec, machine: Machine) -> None:
    assert ClaudeDesktop().plan(dataclasses.replace(spec, source="owner/keepmum"), machine).steps == ()


@pytest.mark.parametrize(
    ("text", "level", "says"),
    [
        pytest.param("{}", "note", "there is none", id="absent"),
        pytest.param("[", "problem", "not plain JSON", id="damaged"),
        pytest.param(
            '{"mcpServers": {"keepmum": {"args": ["a", "b", "/gone"]}}}',
            "problem",
            "/gone does not exist",
            id="no code",
        ),
        pytest.param('{"mcpServers": {"keepmum": 7}}', "problem", "no path", id="another type"),
    ],
)
def test_the_doctor_reads_the_entry(  # noqa: PLR0917 - fixtures and columns
    spec: InstallSpec, machine: Machine, settings: Path, text: str, level: str, says: str
) -> None:
    settings.write_text(text, encoding="utf-8")
    finding, _ = ClaudeDesktop().checks(machine, spec.product)
    assert (finding.level, says in finding.says) == (level, True)


def test_a_missing_app_is_one_finding(spec: InstallSpec, machine: Machine) -> None:
    assert [each.level for each in ClaudeDesktop().checks(machine, spec.product)] == ["absent"]


def test_a_server_from_before_is_reported_after_removal(machine: Machine, settings: Path) -> None:
    assert list(ClaudeDesktop().remains(machine)) == []
    settings.write_text('{"mcpServers": {"keepmum": {}}}', encoding="utf-8")
    assert str(settings) in "\n".join(ClaudeDesktop().remains(machine))


# -- the package -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def packed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("package") / "keepmum.mcpb"
    assert mcpb.pack(str(root), str(path)) > 100
    return path


def test_the_same_clone_gives_the_same_bytes(root: Path, packed: Path, tmp_path: Path) -> None:
    mcpb.pack(str(root), str(tmp_path / "again.mcpb"))
    assert (tmp_path / "again.mcpb").read_bytes() == packed.read_bytes()


def test_the_package_has_what_the_server_needs_and_no_byte_code(packed: Path) -> None:
    with zipfile.ZipFile(packed) as file:
        names = file.namelist()
    assert names[0] == "manifest.json"
    assert {"plugin/launch.py", "plugin/keepmum/core/version.py", "hooks/keepmum_hooks/places.py"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or name.startswith((".", "tests/"))]


def test_the_server_in_the_package_answers(packed: Path, tmp_path: Path, home: Path) -> None:
    with zipfile.ZipFile(packed) as file:
        file.extractall(tmp_path)
        manifest = json.loads(file.read("manifest.json"))
    config = manifest["server"]["mcp_config"]
    arguments = [word.replace("${__dirname}", str(tmp_path)) for word in config["args"]]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-ai", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [sys.executable, *arguments],
        input="".join(json.dumps(each) + "\n" for each in asked),
        env={"HOME": str(home)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=True,
    )
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    assert "remember" in [tool["name"] for tool in answers[2]["result"]["tools"]]


def test_a_wrong_command_line_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert mcpb.main([]) == 2
    assert "usage" in capsys.readouterr().err


# -- the registry ----------------------------------------------------------------------------------------------------


def test_the_registry_has_the_name_that_the_readme_proves(root: Path) -> None:
    product = read(str(root))
    value: Any = json.loads((root / manifests.REGISTRY_FILE).read_text(encoding="utf-8"))
    assert f"mcp-name: {value['name']}" in (root / "README.md").read_text(encoding="utf-8")
    assert value["version"] == product.version == value["packages"][0]["version"]
    assert len(value["description"]) <= 100  # the registry's limit
