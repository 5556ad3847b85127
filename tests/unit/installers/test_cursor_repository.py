"""Cursor's files in a team's repository: their content, next to what others wrote, and their removal."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cursor_executor import Executor
from keepmum.cli import main as cli
from keepmum_installers import install, shell_command, uninstall
from keepmum_installers.clients.cursor import repository as team
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.product import read

THEIRS = """\
{
  "version": 1,
  "hooks": {
    "stop": [
      {"command": "./mine.sh"}
    ]
  }
}
"""
LIMIT = 60.0  # seconds


def put(root: Path, machine: Machine) -> None:
    options = install.Options(scope="project", clients=("cursor",), runtime=False)
    assert install.install(options, read(str(root)), str(root), machine, Console()) == 0


def value(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_no_file_names_a_folder_of_this_machine(root: Path, machine: Machine, repository: Path) -> None:
    put(root, machine)
    for name in ("mcp.json", "hooks.json", "rules/keepmum.mdc"):
        text = (repository / ".cursor" / name).read_text(encoding="utf-8")
        assert str(root) not in text
        assert machine.user_home not in text


def test_the_server_is_the_command_with_the_folder_in_a_variable(
    root: Path, machine: Machine, repository: Path
) -> None:
    put(root, machine)
    server = value(repository / ".cursor" / "mcp.json")["mcpServers"]["keepmum"]
    assert server["command"] == "${userHome}/.keepmum/bin/keepmum"
    assert (server["args"], server["env"]) == (
        ["mcp", "--client", "cursor"],
        {"CURSOR_PROJECT_DIR": "${workspaceFolder}"},
    )


def test_hooks_block_nothing_for_a_teammate_without_keepmum(root: Path, machine: Machine, repository: Path) -> None:
    put(root, machine)
    hooks = value(repository / ".cursor" / "hooks.json")["hooks"]
    entries = [entry for each in hooks.values() for entry in each]
    assert len(entries) == 6
    assert all(entry["command"].startswith('"$HOME/.keepmum/bin/keepmum" hook ') for entry in entries)
    assert not any("failClosed" in entry for entry in entries)


def test_hooks_of_others_stay_and_ours_are_removed_completely(root: Path, machine: Machine, repository: Path) -> None:
    file = repository / ".cursor" / "hooks.json"
    file.parent.mkdir()
    file.write_text(THEIRS, encoding="utf-8")
    put(root, machine)
    put(root, machine)
    commands = [entry["command"] for entry in value(file)["hooks"]["stop"]]
    assert commands == ["./mine.sh", '"$HOME/.keepmum/bin/keepmum" hook stop --client cursor']
    assert uninstall.uninstall(uninstall.Options(scope="project"), machine, Console()) == 0
    assert file.read_text(encoding="utf-8") == THEIRS
    assert sorted(path.name for path in file.parent.iterdir()) == ["hooks.json"]


def older(folder: Path) -> None:
    """Rewrite the committed files as an older version wrote them."""
    for name, now, before in (
        ("mcp.json", "${userHome}/.keepmum/bin/keepmum", "keepmum"),
        ("hooks.json", '\\"$HOME/.keepmum/bin/keepmum\\" hook', "keepmum hook"),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert now in text
        (folder / name).write_text(text.replace(now, before), encoding="utf-8")


@pytest.mark.parametrize("recorded", [True, False])
def test_files_of_an_older_version_get_the_new_command_in_place(
    root: Path, machine: Machine, repository: Path, *, recorded: bool
) -> None:
    folder = repository / ".cursor"
    put(root, machine)
    older(folder)
    names = ("mcp.json", "hooks.json")
    old = {name: (folder / name).read_bytes() for name in names}
    if not recorded:  # a teammate committed them
        Path(machine.state("installed.json")).unlink()
    put(root, machine)
    assert value(folder / "mcp.json")["mcpServers"]["keepmum"]["command"] == "${userHome}/.keepmum/bin/keepmum"
    entries = [entry["command"] for each in value(folder / "hooks.json")["hooks"].values() for entry in each]
    assert len(entries) == 6
    assert all(command.startswith('"$HOME/') for command in entries)
    assert uninstall.uninstall(uninstall.Options(scope="project"), machine, Console()) == 0
    left = {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}
    assert left == ({} if recorded else old)


@pytest.mark.skipif(os.name == "nt", reason="the command of these tests is a shell script")
def test_server_and_hooks_start_without_path(
    root: Path, machine: Machine, repository: Path, home: Path, tmp_path: Path
) -> None:
    put(root, machine)
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    server = value(repository / ".cursor" / "mcp.json")["mcpServers"]["keepmum"]
    command = [server["command"].replace("${userHome}", str(home)), *server["args"]]
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    done = subprocess.run(
        command,
        input=json.dumps(message) + "\n",
        env=environ,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=True,
    )
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}

    plugin = tmp_path / "plugin"
    (plugin / ".cursor-plugin").mkdir(parents=True)
    (plugin / ".cursor-plugin" / "plugin.json").write_text('{"name":"p","hooks":"hooks.json"}', encoding="utf-8")
    (plugin / "hooks.json").write_bytes((repository / ".cursor" / "hooks.json").read_bytes())
    secret = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    fields = {"tool_name": "add_memory", "tool_input": json.dumps({"text": secret}), "mcp_server_name": "memory"}
    assert Executor([plugin], repository, environ).run("beforeMCPExecution", **fields).permission == "deny"


def test_the_home_is_not_a_project(machine: Machine) -> None:
    at_home = dataclasses.replace(machine, cwd=machine.user_home)
    with pytest.raises(InstallError, match="is your home"):
        team.plan(at_home)


def test_the_file_follows_the_executors_rules(root: Path, machine: Machine, repository: Path, tmp_path: Path) -> None:
    put(root, machine)
    plugin = tmp_path / "plugin"
    (plugin / ".cursor-plugin").mkdir(parents=True)
    (plugin / ".cursor-plugin" / "plugin.json").write_text('{"name":"p","hooks":"hooks.json"}', encoding="utf-8")
    (plugin / "hooks.json").write_bytes((repository / ".cursor" / "hooks.json").read_bytes())
    without_keepmum = Executor([plugin], repository, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    fields = {"tool_name": "add_memory", "tool_input": "{}", "mcp_server_name": "memory"}
    assert without_keepmum.run("beforeMCPExecution", **fields).permission == "allow"
    assert without_keepmum.turn(1) == []


@pytest.mark.skipif(os.name == "nt", reason="the command of these tests is a shell script")
def test_the_command_starts_a_hook(root: Path, machine: Machine, home: Path) -> None:
    (step, *_) = shell_command.plan(str(root), machine).steps
    script = home / "keepmum"
    script.write_bytes(step.after)  # type: ignore[union-attr]  # the first step is the command's file
    done = subprocess.run(
        ["/bin/sh", str(script), "hook", "stop", "--client", "cursor"],
        input=b"{}",
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=LIMIT,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"{}", b"")


def test_the_command_line_runs_a_hook_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keepmum_hooks.main.payload.read_stdin", lambda: b"{}")
    assert cli.main(["hook", "stop", "--client", "cursor"]) == 0
    assert capsys.readouterr() == ("{}", "")


def test_a_failing_hook_writes_to_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hook", "stop", "--client", "cursor", "nonsense"]) == 0
    assert capsys.readouterr() == ("", "keepmum: the hook failed (ValueError)\n")


def test_an_unknown_hook_prints_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hook", "nonsense", "--client", "cursor"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith("usage: keepmum hook stop|session-start|guard --client NAME\n")
