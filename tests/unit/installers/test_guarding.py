"""The guard in a client's configuration: one entry changes, and its bytes are restored."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers import apply, guarding
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.guard_entry import guarded, is_guarded, is_keepmum, unguarded
from keepmum_installers.guarding import Target
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine

MEMORY = {"type": "stdio", "command": "npx", "args": ["-y", "memory"], "env": {"MEMORY_FILE_PATH": "/m.json"}}
REMOTE = {"type": "http", "url": "https://memory.example/mcp", "headers": {"Authorization": "Bearer ${MEMORY_KEY}"}}
CALL = ["/home/.keepmum/bin/keepmum", "guard"]


@pytest.fixture
def own_file(machine: Machine) -> Path:
    """The client's file, in an unusual layout."""
    path = Path(machine.user_home) / ".claude.json"
    servers = json.dumps({"memory": MEMORY, "other": {"command": "x"}, "remote": REMOTE}, indent=5)
    path.write_text('{ "numStartups":7,\r\n\t"mcpServers":' + servers + ',\n "projects": {} }\n\n', encoding="utf-8")
    return path


def entry(path: Path, server: str = "memory") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["mcpServers"][server]
    return found


def add(machine: Machine, server: str = "memory", **options: Any) -> int:
    return guarding.add(Target("claude-code", server), machine, Console(), **options)


def remove(machine: Machine, server: str = "memory", **options: Any) -> int:
    return guarding.remove(Target("claude-code", server), machine, Console(), **options)


def test_the_server_starts_behind_the_guard(machine: Machine, own_file: Path) -> None:
    assert add(machine) == 0
    after = entry(own_file)
    assert after["args"][-4:] == ["--", "npx", "-y", "memory"]
    assert "guard" in after["args"]
    assert after["env"] == MEMORY["env"]


def test_every_other_byte_stays(machine: Machine, own_file: Path) -> None:
    before = own_file.read_bytes()
    add(machine)
    after = own_file.read_bytes()
    start, end = before.index(b'"command"'), before.index(b'"env"')
    assert after.startswith(before[:start])
    assert after.endswith(before[end:])


@pytest.mark.parametrize("server", ["memory", "other", "remote"])
def test_removing_the_guard_restores_the_bytes(machine: Machine, own_file: Path, server: str) -> None:
    before = own_file.read_bytes()
    add(machine, server)
    assert own_file.read_bytes() != before
    assert remove(machine, server) == 0
    assert own_file.read_bytes() == before


def test_two_servers_are_added_and_removed_in_any_order(machine: Machine, own_file: Path) -> None:
    before = own_file.read_bytes()
    for server in ("memory", "remote", "other"):
        add(machine, server)
    for server in ("remote", "memory", "other"):
        remove(machine, server)
    assert own_file.read_bytes() == before


def test_uninstalling_removes_the_guard(machine: Machine, own_file: Path) -> None:
    before = own_file.read_bytes()
    add(machine)
    add(machine, "remote")
    apply.undo(Journal(machine.home), machine, lambda _: True)
    assert own_file.read_bytes() == before


def test_changes_by_others_stay(machine: Machine, own_file: Path) -> None:
    add(machine)
    values = json.loads(own_file.read_text(encoding="utf-8"))
    values["numStartups"] = 8
    values["mcpServers"]["new"] = {"command": "y"}
    own_file.write_text(json.dumps(values), encoding="utf-8")
    remove(machine)
    after = json.loads(own_file.read_text(encoding="utf-8"))
    assert after["numStartups"] == 8
    assert after["mcpServers"]["new"] == {"command": "y"}
    assert after["mcpServers"]["memory"] == MEMORY


def test_a_changed_entry_keeps_the_change_without_the_guard(machine: Machine, own_file: Path) -> None:
    add(machine)
    own_file.write_text(own_file.read_text(encoding="utf-8").replace('"memory"]', '"memory@2"]'), encoding="utf-8")
    remove(machine)
    assert entry(own_file)["command"] == "npx"
    assert entry(own_file)["args"] == ["-y", "memory@2"]


def test_an_entry_without_a_journal_is_derived_from_itself(machine: Machine, own_file: Path) -> None:
    add(machine)
    add(machine, "remote")
    os.unlink(machine.state("installed.json"))
    remove(machine)
    remove(machine, "remote")
    assert entry(own_file) == MEMORY
    assert entry(own_file, "remote") == REMOTE


def test_a_second_time_changes_nothing(machine: Machine, own_file: Path) -> None:
    add(machine)
    after = own_file.read_bytes()
    assert add(machine) == 0
    assert own_file.read_bytes() == after


def test_removing_a_missing_guard_changes_nothing(machine: Machine, own_file: Path) -> None:
    before = own_file.read_bytes()
    assert remove(machine) == 0
    assert own_file.read_bytes() == before


@pytest.mark.parametrize("change", [add, remove])
def test_a_dry_run_changes_nothing(machine: Machine, own_file: Path, change: Any) -> None:
    if change is remove:
        add(machine)
    before = own_file.read_bytes()
    assert change(machine, dry_run=True) == 0
    assert own_file.read_bytes() == before


def test_a_header_moves_into_the_environment_of_the_entry(machine: Machine, own_file: Path) -> None:
    add(machine, "remote")
    after = entry(own_file, "remote")
    assert "${MEMORY_KEY}" not in " ".join(after["args"])
    assert after["env"] == {"KEEPMUM_GUARD_HEADER_1": "Bearer ${MEMORY_KEY}"}
    assert after["args"][-4:] == ["--url", REMOTE["url"], "--header-env", "Authorization=KEEPMUM_GUARD_HEADER_1"]
    assert not {"type", "url", "headers"} & set(after)


def test_a_team_starts_the_guard_by_its_name(
    machine: Machine, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"memory": MEMORY}}), encoding="utf-8")
    add(machine)
    assert entry(path)["command"] == "keepmum"
    assert entry(path)["args"] == ["guard", "--", "npx", "-y", "memory"]
    assert "not on PATH here" in capsys.readouterr().out


def test_a_server_of_this_folder_is_found(machine: Machine, own_file: Path) -> None:
    values = {"projects": {machine.cwd: {"mcpServers": {"memory": MEMORY}}}}
    own_file.write_text(json.dumps(values), encoding="utf-8")
    before = own_file.read_bytes()
    add(machine)
    after = json.loads(own_file.read_text(encoding="utf-8"))["projects"][machine.cwd]["mcpServers"]["memory"]
    assert is_guarded(after)
    remove(machine)
    assert own_file.read_bytes() == before


def test_the_file_is_in_the_configured_folder(machine: Machine, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / ".claude.json").write_text(json.dumps({"mcpServers": {"memory": MEMORY}}), encoding="utf-8")
    there = dataclasses.replace(machine, environ={**machine.environ, "CLAUDE_CONFIG_DIR": str(moved)})
    add(there)
    assert is_guarded(entry(moved / ".claude.json"))


def test_one_name_in_two_lists_needs_a_scope(machine: Machine, own_file: Path, repository: Path) -> None:
    path = repository / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"memory": MEMORY}}), encoding="utf-8")
    with pytest.raises(InstallError) as raised:
        add(machine)
    assert "--scope project or --scope user" in raised.value.next_step
    guarding.add(Target("claude-code", "memory", "project"), machine, Console())
    assert is_guarded(entry(path))
    assert not is_guarded(entry(own_file))


def test_an_unknown_server_lists_the_known_ones(machine: Machine, own_file: Path) -> None:
    with pytest.raises(InstallError) as raised:
        add(machine, "memori")
    assert own_file.exists()
    assert "memory, other, remote" in raised.value.next_step


def test_an_unknown_client_lists_the_known_ones(machine: Machine) -> None:
    with pytest.raises(InstallError) as raised:
        guarding.add(Target("emacs", "memory"), machine, Console())
    assert "claude-code" in raised.value.next_step


@pytest.mark.parametrize(
    "strange",
    [
        pytest.param({"type": "sse", "url": "https://x.example"}, id="the old transport"),
        pytest.param({"type": "ws", "url": "wss://x.example"}, id="another transport"),
        pytest.param({"command": "x", "args": "y"}, id="arguments as a string"),
        pytest.param({"command": ["x"]}, id="a command as a list"),
        pytest.param({"type": "http"}, id="no address"),
        pytest.param({"type": "http", "url": "https://x.example", "oauth": {}}, id="authentication by the client"),
        pytest.param({}, id="nothing"),
    ],
)
def test_an_unsupported_entry_is_refused(machine: Machine, own_file: Path, strange: object) -> None:
    own_file.write_text(json.dumps({"mcpServers": {"memory": strange}}), encoding="utf-8")
    before = own_file.read_bytes()
    with pytest.raises(InstallError):
        add(machine)
    assert own_file.read_bytes() == before


@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", '{"mcpServers":', "\udcff"])
def test_a_file_that_cannot_be_edited_is_left_unchanged(machine: Machine, own_file: Path, text: str) -> None:
    own_file.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = own_file.read_bytes()
    with pytest.raises(InstallError, match="left unchanged"):
        add(machine)
    assert own_file.read_bytes() == before


def test_the_list_shows_what_is_guarded(machine: Machine, own_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(machine)
    capsys.readouterr()
    assert guarding.show(None, machine, Console()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2:4] for line in lines] == [["memory", "guarded"], ["other", "not"], ["remote", "not"]]
    assert own_file.exists()


def test_an_unknown_server_is_answered_with_those_there_are(machine: Machine, own_file: Path) -> None:
    with pytest.raises(InstallError) as caught:
        add(machine, "nope")
    assert caught.value.next_step.startswith("It has memory, other, remote.")
    own_file.write_text("{}")
    with pytest.raises(InstallError) as caught:
        add(machine, "nope")
    assert caught.value.next_step.startswith("Its settings name no server.")


def test_the_list_names_our_own_server(machine: Machine, own_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_file.write_text(json.dumps({"mcpServers": {"memory": {"command": "keepmum", "args": ["mcp"]}}}))
    assert guarding.show(None, machine, Console()) == 0
    assert "memory  is Keepmum, which scans every write" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"command": "python3", "args": ["-I", "-S", "/x/plugin/launch.py", "mcp", "--client", "cursor"]}, True),
        ({"command": "${userHome}/.keepmum/bin/keepmum", "args": ["mcp"]}, True),
        ({"command": "keepmum", "args": ["guard", "--", "npx", "mcp"]}, False),
        ({"command": "npx", "args": ["mcp"]}, False),
        ({"type": "http", "url": "https://x"}, False),
    ],
)
def test_our_own_server_is_recognised(entry: object, *, expected: bool) -> None:
    assert is_keepmum(entry) is expected


@pytest.mark.parametrize("plain", [MEMORY, REMOTE, {"command": "x", "args": []}, {"type": "http", "url": "https://x"}])
def test_unguarding_restores_the_entry(plain: dict[str, Any]) -> None:
    assert unguarded(guarded(plain, CALL)) == plain


@pytest.mark.parametrize(
    "foreign",
    [
        pytest.param({"command": "guard", "args": ["--", "x"]}, id="a program of that name"),
        pytest.param({"command": "other", "args": ["guard", "--", "x"]}, id="another program's argument"),
        pytest.param({"command": "keepmum", "args": ["mcp"]}, id="our own server"),
        pytest.param({"command": 7}, id="no command"),
    ],
)
def test_other_entries_are_not_guarded(foreign: object) -> None:
    assert not is_guarded(foreign)
