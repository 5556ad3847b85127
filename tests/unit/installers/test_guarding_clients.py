"""The guard in every client's own file: one entry changes, and the file gets its bytes back."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers import apply, guarding
from keepmum_installers.clients import CLIENTS
from keepmum_installers.errors import InstallError
from keepmum_installers.guarding import Wanted
from keepmum_installers.journal import Journal
from keepmum_installers.machine import Machine
from keepmum_installers.voice import Voice

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


def test_every_client_that_can_be_installed_can_have_its_servers_guarded() -> None:
    assert set(guarding.CLIENTS) == set(CLIENTS) == {*FILES, "claude-code"}


def test_the_server_starts_behind_the_guard(client: str, file: Path, machine: Machine) -> None:
    before = entry(file)
    assert guarding.add(Wanted(client, "memory"), machine, Voice()) == 0
    after = entry(file)
    assert words(after)[-4:] == ["--", "npx", "-y", "memory"]
    assert "guard" in words(after)
    others = {"command", "args"}
    assert {key: after[key] for key in after.keys() - others} == {key: before[key] for key in before.keys() - others}


def test_taking_the_guard_away_gives_the_file_its_bytes_back(client: str, file: Path, machine: Machine) -> None:
    before = file.read_bytes()
    guarding.add(Wanted(client, "memory"), machine, Voice())
    assert file.read_bytes() != before
    assert guarding.remove(Wanted(client, "memory"), machine, Voice()) == 0
    assert file.read_bytes() == before


def test_uninstalling_takes_the_guard_away(client: str, file: Path, machine: Machine) -> None:
    before = file.read_bytes()
    guarding.add(Wanted(client, "memory"), machine, Voice())
    journal = Journal(machine.home)
    assert [done for done in apply.undo(journal, machine, lambda _: None, lambda _: True) if done.problem] == []
    assert file.read_bytes() == before


def test_a_second_guard_is_not_put_in_front(client: str, file: Path, machine: Machine) -> None:
    guarding.add(Wanted(client, "memory"), machine, Voice())
    before = file.read_bytes()
    assert guarding.add(Wanted(client, "memory"), machine, Voice()) == 0
    assert file.read_bytes() == before


def test_without_the_journal_the_entry_tells_what_it_was(client: str, file: Path, machine: Machine) -> None:
    before = words(entry(file))
    guarding.add(Wanted(client, "memory"), machine, Voice())
    (Path(machine.home) / "state" / "installed.json").unlink()
    assert guarding.remove(Wanted(client, "memory"), machine, Voice()) == 0
    assert words(entry(file)) == before


def test_comments_of_toml_stay(home: Path, machine: Machine) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(CODEX.encode())
    for server in ("memory", "plain"):
        assert guarding.add(Wanted("codex", server), machine, Voice()) == 0
    text = path.read_bytes().decode()
    assert [each for each in ("# mine", "# the team's", "# from node") if each not in text] == []
    assert text.count("\r\n") == text.count("\n")
    for server in ("memory", "plain"):
        guarding.remove(Wanted("codex", server), machine, Voice())
    assert path.read_bytes().decode() == CODEX


@pytest.mark.parametrize(
    ("client", "server", "words"),
    [
        pytest.param("codex", "remote", "neither a command", id="an address in TOML"),
        pytest.param("codex", "inline", "better changed by hand", id="a table in one line"),
        pytest.param("gemini-cli", "remote", "neither a command", id="an address with a name of its own"),
        pytest.param("cursor", "none", "no server of that name", id="no such server"),
    ],
)
def test_what_the_guard_cannot_stand_in_front_of_is_left_alone(
    home: Path, machine: Machine, client: str, server: str, words: str
) -> None:
    name, text = FILES[client]
    path = home / name
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    with pytest.raises(InstallError, match=words):
        guarding.add(Wanted(client, server), machine, Voice())
    assert path.read_bytes().decode() == text


def test_an_address_of_cursor_goes_through_the_guard_and_comes_back(home: Path, machine: Machine) -> None:
    name, text = FILES["cursor"]
    path = home / name
    path.parent.mkdir()
    path.write_bytes(text.encode())
    guarding.add(Wanted("cursor", "remote"), machine, Voice())
    assert "--url" in entry(path, "remote")["args"]
    guarding.remove(Wanted("cursor", "remote"), machine, Voice())
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(("name", "text"), [("mcp.json", "// c\n{}"), ("mcp.json", "{]"), ("mcp.json", "\xff")])
def test_a_damaged_file_is_named_with_its_line_and_left_alone(
    home: Path, machine: Machine, name: str, text: str
) -> None:
    path = home / ".cursor" / name
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InstallError, match=r"was left alone: (line 1|not UTF-8)"):
        guarding.add(Wanted("cursor", "memory"), machine, Voice())
    assert path.read_bytes() == text.encode("latin-1")


def test_damaged_toml_is_named_with_its_line(home: Path, machine: Machine) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('a = 1\nb = "x\n', encoding="utf-8")
    with pytest.raises(InstallError, match=r"line 2, column [0-9]+: not TOML"):
        guarding.add(Wanted("codex", "memory"), machine, Voice())


def test_a_projects_entry_names_the_guard_by_its_name(machine: Machine, repository: Path) -> None:
    path = repository / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(servers("mcpServers"), encoding="utf-8")
    here = dataclasses.replace(machine, cwd=str(repository))
    guarding.add(Wanted("cursor", "memory"), here, Voice())
    assert entry(path)["command"] == "keepmum"
