"""The installer's commands of Claude Code leave the user's own state as it is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from keepmum_installers.clients.claude import command_line
from keepmum_installers.machine import Machine, Outcome

MOST_BACKUPS = 5  # that the client keeps


class Client:
    """What every start of the client does to its state file; seen in 2.1.329."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ: dict[str, str] = {}

    def run(self, argv: Sequence[str], seconds: float, environ: Mapping[str, str] | None = None) -> Outcome:
        assert argv[1:] == ("plugin", "list")
        assert seconds > 0
        self.environ = dict(environ or {})
        folder = Path(self.environ.get("CLAUDE_CONFIG_DIR", self.home / ".claude"))
        state = folder / ".claude.json" if "CLAUDE_CONFIG_DIR" in self.environ else self.home / ".claude.json"
        backups = folder / "backups"
        backups.mkdir(parents=True, exist_ok=True)
        if state.exists():
            (backups / ".claude.json.backup.9999").write_bytes(state.read_bytes())
        for old in sorted(backups.iterdir())[:-MOST_BACKUPS]:
            old.unlink()
        state.write_text('{"numStartups": 4}', encoding="utf-8")
        return Outcome(0)


def _tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def client(home: Path) -> Client:
    return Client(home)


def _call(client: Client, machine: Machine, **environ: str) -> Outcome:
    machine = dataclasses.replace(machine, run=client.run, environ={**machine.environ, **environ})
    return command_line.call("/programs/claude", ("plugin", "list"), 1, machine)


@pytest.mark.parametrize("backups", [0, 1, MOST_BACKUPS, 9])
def test_state_and_its_backups_are_as_before(client: Client, machine: Machine, home: Path, backups: int) -> None:
    (home / ".claude.json").write_text('{"numStartups": 3}', encoding="utf-8")
    (home / ".claude").mkdir()
    for number in range(backups):
        (home / ".claude" / "backups").mkdir(exist_ok=True)
        (home / ".claude" / "backups" / f".claude.json.backup.{number}").write_text(f"{number}", encoding="utf-8")
    before = _tree(home)
    assert _call(client, machine).code == 0
    assert _tree(home) == before


def test_nothing_is_created_for_a_client_that_never_ran(client: Client, machine: Machine, home: Path) -> None:
    before = _tree(home)
    _call(client, machine)
    assert _tree(home) == before


def test_a_settings_folder_that_the_user_chose_is_used_as_it_is(client: Client, machine: Machine, home: Path) -> None:
    _call(client, machine, CLAUDE_CONFIG_DIR=str(home / "elsewhere"))
    assert "CLAUDE_CONFIG_DIR" not in client.environ


def test_a_state_file_in_the_settings_folder_stays(client: Client, machine: Machine, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / ".claude.json").write_text("{}", encoding="utf-8")
    _call(client, machine)
    assert (home / ".claude" / ".claude.json").exists()


def test_the_state_of_an_interrupted_run_is_removed_by_the_next(client: Client, machine: Machine, home: Path) -> None:
    before = _tree(home)

    def interrupted(*_: object) -> Outcome:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        command_line.call("/programs/claude", ("plugin", "list"), 1, dataclasses.replace(machine, run=interrupted))
    assert _tree(home) == before
    (home / ".claude").mkdir()
    (home / ".claude" / ".claude.json").write_bytes(command_line._OWN_STATE)
    _call(client, machine)
    assert not (home / ".claude" / ".claude.json").exists()


def test_a_folder_that_cannot_be_written_gets_no_state(
    client: Client, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    _call(client, machine)
    assert "CLAUDE_CONFIG_DIR" not in client.environ


def test_the_client_sends_no_telemetry_for_a_command_of_ours(client: Client, machine: Machine) -> None:
    _call(client, machine)
    assert client.environ["DISABLE_TELEMETRY"] == "1"
    assert os.sep in client.environ["CLAUDE_CONFIG_DIR"]
