"""The guard in every client's own file: one entry changes, and the bytes are restored."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers import apply, guarding
from keepmum_installers.clients import CLIENTS
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.guarding import Target
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine

CODEX = """\
model = "x"  # mine

[mcp_servers.memory] # the team's
command = 'npx'   # from node
args = [
  "-y",
  "memory", # pinned elsewhere
]
env = { A = "1" }

[mcp_servers.plain]
command = "x"

[mcp_servers.remote]
url = "https://memory.example/mcp"

[mcp_servers]
inline = { command = "x" }
""".replace("\n", "\r\n")
STDIO = {"command": "npx", "args": ["-y", "memory"], "env": {"A": "1"}}


def servers(key: str, **entries: object) -> str:
    return json.dumps({"theirs": [1], key: {"memory": STDIO, "plain": {"command": "x"}, **entries}}, indent=3) + "\n\n"


FILES = {
    "codex": (".codex/config.toml", CODEX),
    "cursor": (".cursor/mcp.json", servers("mcpServers", remote={"url": "https://memory.example/mcp"})),
    "copilot-cli": (
        ".copilot/mcp-config.json",
        servers("mcpServers", memory={"type": "local", "tools": ["*"], **STDIO}),
    ),
    "gemini-cli": (".gemini/settings.json", servers("mcpServers", remote={"httpUrl": "https://memory.example/mcp"})),
    "vscode": (".config/Code/User/mcp.json", servers("servers", memory={"type": "stdio", **STDIO})),
    "opencode": (
        ".config/opencode/opencode.json",
        json.dumps(
            {"mcp": {"memory": {"type": "local", "command": ["npx", "-y", "memory"], "environment": {"A": "1"}}}}
        ),
    ),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", servers("mcpServers")),
}


@pytest.fixture(params=sorted(FILES))
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(client: str, home: Path) -> Path:
    """The client's file, as its user wrote it."""
    name, text = FILES[client]
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def entry(file: Path, server: str = "memory") -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    values = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    lists = [values[key] for key in ("mcpServers", "mcp_servers", "servers", "mcp") if key in values]
    found: dict[str, Any] = lists[0][server]
    return found


def words(given: dict[str, Any]) -> list[str]:
    command = given["command"]
    return [*command, *given.get("args", [])] if isinstance(command, list) else [command, *given.get("args", [])]


def test_every_client_has_a_server_to_guard_in_this_file() -> None:
    assert set(CLIENTS) == {*FILES, "claude-code"}


def test_the_server_starts_behind_the_guard(client: str, file: Path, machine: Machine) -> None:
    before = entry(file)
    assert guarding.add(Target(client, "memory"), machine, Console()) == 0
    after = entry(file)
    assert words(after)[-4:] == ["--", "npx", "-y", "memory"]
    assert "guard" in words(after)
    others = {"command", "args"}
    assert {key: after[key] for key in after.keys() - others} == {key: before[key] for key in before.keys() - others}


def test_removing_the_guard_restores_the_bytes(client: str, file: Path, machine: Machine) -> None:
    before = file.read_bytes()
    guarding.add(Target(client, "memory"), machine, Console())
    assert file.read_bytes() != before
    assert guarding.remove(Target(client, "memory"), machine, Console()) == 0
    assert file.read_bytes() == before


def test_uninstalling_removes_the_guard(client: str, file: Path, machine: Machine) -> None:
    before = file.read_bytes()
    guarding.add(Target(client, "memory"), machine, Console())
    journal = Journal(machine.home)
    assert [done for done in apply.undo(journal, machine, lambda _: True) if done.problem] == []
    assert file.read_bytes() == before


def test_a_second_guard_is_not_put_in_front(client: str, file: Path, machine: Machine) -> None:
    guarding.add(Target(client, "memory"), machine, Console())
    before = file.read_bytes()
    assert guarding.add(Target(client, "memory"), machine, Console()) == 0
    assert file.read_bytes() == before


def test_without_the_journal_the_entry_is_derived_from_itself(client: str, file: Path, machine: Machine) -> None:
    before = words(entry(file))
    guarding.add(Target(client, "memory"), machine, Console())
    (Path(machine.home) / "state" / "installed.json").unlink()
    assert guarding.remove(Target(client, "memory"), machine, Console()) == 0
    assert words(entry(file)) == before


def test_comments_of_toml_stay(home: Path, machine: Machine) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(CODEX.encode())
    for server in ("memory", "plain"):
        assert guarding.add(Target("codex", server), machine, Console()) == 0
    text = path.read_bytes().decode()
    assert [each for each in ("# mine", "# the team's", "# from node") if each not in text] == []
    assert text.count("\r\n") == text.count("\n")
    for server in ("memory", "plain"):
        guarding.remove(Target("codex", server), machine, Console())
    assert path.read_bytes().decode() == CODEX


@pytest.mark.parametrize(
    ("client", "server", "words"),
    [
        pytest.param("codex", "remote", "neither a command", id="an address in TOML"),
        pytest.param("codex", "inline", "better changed by hand", id="a table in one line"),
        pytest.param("gemini-cli", "remote", "neither a command", id="an address under another key"),
        pytest.param("cursor", "none", "no server of that name", id="no such server"),
    ],
)
def test_an_unsupported_server_is_left_unchanged(
    home: Path, machine: Machine, client: str, server: str, words: str
) -> None:
    name, text = FILES[client]
    path = home / name
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    with pytest.raises(InstallError, match=words):
        guarding.add(Target(client, server), machine, Console())
    assert path.read_bytes().decode() == text


def test_an_address_of_cursor_is_guarded_and_restored(home: Path, machine: Machine) -> None:
    name, text = FILES["cursor"]
    path = home / name
    path.parent.mkdir()
    path.write_bytes(text.encode())
    guarding.add(Target("cursor", "remote"), machine, Console())
    assert "--url" in entry(path, "remote")["args"]
    guarding.remove(Target("cursor", "remote"), machine, Console())
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(("name", "text"), [("mcp.json", "/* c\n{}"), ("mcp.json", "{]"), ("mcp.json", "\xff")])
def test_a_damaged_file_is_reported_with_its_line_and_left_unchanged(
    home: Path, machine: Machine, name: str, text: str
) -> None:
    path = home / ".cursor" / name
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InstallError, match=r"was left unchanged: (line 1|not UTF-8)"):
        guarding.add(Target("cursor", "memory"), machine, Console())
    assert path.read_bytes() == text.encode("latin-1")


COMMENTED = """\
// servers
{"mcpServers": {
    "notes": {"command": "npx", /* pinned */ "args": ["notes"],}, // mine
}}
"""


@pytest.mark.parametrize("from_entry", [False, True])
def test_comments_stay_when_the_guard_comes_and_goes(home: Path, machine: Machine, *, from_entry: bool) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(COMMENTED, encoding="utf-8")
    guarding.add(Target("cursor", "notes"), machine, Console())
    assert '/* pinned */ "args": [' in path.read_text(encoding="utf-8")
    assert '"--", "npx", "notes"]' in path.read_text(encoding="utf-8")
    if from_entry:  # without the journal
        Path(machine.state("installed.json")).unlink()
    guarding.remove(Target("cursor", "notes"), machine, Console())
    assert path.read_text(encoding="utf-8") == COMMENTED


def test_damaged_toml_is_reported_with_its_line(home: Path, machine: Machine) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('a = 1\nb = "x\n', encoding="utf-8")
    with pytest.raises(InstallError, match=r"line 2, column [0-9]+: not TOML"):
        guarding.add(Target("codex", "memory"), machine, Console())


def test_a_projects_entry_names_the_guard_by_its_name(machine: Machine, repository: Path) -> None:
    path = repository / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(servers("mcpServers"), encoding="utf-8")
    here = dataclasses.replace(machine, cwd=str(repository))
    guarding.add(Target("cursor", "memory"), here, Console())
    assert entry(path)["command"] == "${userHome}/.keepmum/bin/keepmum"
