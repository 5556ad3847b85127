"""The doctor's findings about Claude Code."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fake_claude import FakeClaude
from keepmum_hooks.places import heartbeat_file
from keepmum_installers.clients.claude import health
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine, Outcome

INSTALLED = {"id": "keepmum@keepmum", "version": "0.1.0", "scope": "user", "enabled": True}


def _found(spec: InstallSpec, machine: Machine, about: str) -> list[Finding]:
    return [each for each in health.checks(machine, spec.product) if each.about == f"claude-code{about}"]


def _one(spec: InstallSpec, machine: Machine, about: str) -> tuple[str, str]:
    (finding,) = _found(spec, machine, about)
    return finding.level, finding.says


def _beat(machine: Machine, event: str, age: float) -> None:
    path = Path(heartbeat_file(machine.home, "claude-code", event))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    at = path.stat().st_mtime - age
    os.utime(path, (at, at))


def test_missing_client_is_not_a_problem(spec: InstallSpec, without_client: Machine) -> None:
    assert [each.level for each in health.checks(without_client, spec.product)] == ["absent"]


@pytest.mark.parametrize(
    ("version", "level"),
    [("2.1.329 (Claude Code)", "ok"), ("2.1.163", "ok"), ("2.1.162", "note"), ("1.9.999", "note"), ("?", "problem")],
)
def test_version_is_checked(spec: InstallSpec, machine: Machine, claude: FakeClaude, version: str, level: str) -> None:
    claude.version = version
    assert _one(spec, machine, "")[0] == level


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        pytest.param(Outcome(0, out="3.9\n"), "ok", id="the version of macOS"),
        pytest.param(Outcome(0, out="3.8\n"), "problem", id="too old"),
        pytest.param(Outcome(49), "problem", id="a stub for an app store"),
        pytest.param(Outcome(0, out="Python?"), "problem", id="no version"),
    ],
)
def test_interpreter_is_checked_by_running_it(
    spec: InstallSpec, machine: Machine, claude: FakeClaude, answer: Outcome, level: str
) -> None:
    claude.python = answer
    assert _one(spec, machine, " python3")[0] == level


def test_installed_plugin_is_reported_with_its_folder(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    claude.plugins = [{**INSTALLED, "readFromFolder": str(spec.root), "folderVersion": "0.1.0"}]
    assert _one(spec, machine, " plugin") == ("ok", f"version 0.1.0, for user, from {spec.root}")


@pytest.mark.parametrize(
    ("entries", "level", "words"),
    [
        pytest.param([], "problem", "not installed", id="none"),
        pytest.param([{**INSTALLED, "enabled": False}], "note", "switched off", id="off"),
        pytest.param([{**INSTALLED, "version": "0.0.9"}], "note", "0.0.9", id="another version"),
        pytest.param([{**INSTALLED, "readFromFolder": "/nowhere"}], "problem", "missing", id="its folder is missing"),
        pytest.param([{**INSTALLED, "id": "keepmum@fork"}], "problem", "not installed", id="only another one"),
    ],
)
def test_registration_is_checked(
    spec: InstallSpec, machine: Machine, claude: FakeClaude, *, entries: list[dict[str, Any]], level: str, words: str
) -> None:
    claude.plugins = entries
    finding = _found(spec, machine, " plugin")[0]
    assert (finding.level, words in finding.says, bool(finding.next_step)) == (level, True, True)


def test_second_registration_is_a_problem(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    claude.plugins = [INSTALLED, {**INSTALLED, "id": "keepmum@fork"}]
    assert "keepmum@fork is on as well" in _found(spec, machine, " plugin")[1].says


def test_plugin_that_settings_enable_is_not_missing(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_text('{"enabledPlugins": {"keepmum@keepmum": true}}')
    assert _one(spec, machine, " plugin")[0] == "ok"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"disableAllHooks": True}, "all hooks off"),
        ({"enabledPlugins": {"keepmum@keepmum": False}}, "the plugin off"),
    ],
)
def test_switch_in_a_settings_file_is_reported_with_the_file(
    spec: InstallSpec, machine: Machine, repository: Path, settings: dict[str, Any], words: str
) -> None:
    path = repository / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text(json.dumps(settings))
    assert _one(spec, machine, " settings")[1] == f"{path} switches {words}"


def test_settings_that_the_client_cannot_read_are_a_problem(spec: InstallSpec, machine: Machine, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{,}")
    assert _one(spec, machine, " settings")[0] == "problem"


def test_hook_that_never_ran_has_a_next_step(spec: InstallSpec, machine: Machine) -> None:
    assert _one(spec, machine, " Stop hook") == ("note", "has not run yet")


@pytest.mark.parametrize(
    ("age", "level", "words"),
    [(5, "ok", "just now"), (90, "ok", "a minute ago"), (8000, "ok", "2 hours ago"), (9 * 86400, "note", "9 days ago")],
)
def test_heartbeat_is_reported_by_its_age(
    spec: InstallSpec, machine: Machine, age: float, level: str, words: str
) -> None:
    _beat(machine, "session-start", age)
    assert _one(spec, machine, " SessionStart hook") == (level, f"last ran {words}")


@pytest.mark.parametrize(
    ("age", "level", "words"),
    [
        (None, "note", "has met no write to another memory yet"),
        (5, "ok", "last ran just now"),
        (9 * 86400, "ok", "last ran 9 days ago"),
    ],
)
def test_a_guard_without_a_call_to_check_is_not_a_problem(
    spec: InstallSpec, machine: Machine, age: float | None, level: str, words: str
) -> None:
    if age is not None:
        _beat(machine, "guard", age)
    assert _one(spec, machine, " guard hook") == (level, words)


def test_last_user_of_the_server_is_reported(spec: InstallSpec, machine: Machine) -> None:
    assert _one(spec, machine, " server") == ("note", "has not been used yet")
    path = Path(heartbeat_file(machine.home, "claude-code", "server"))
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"name": "claude-code", "version": "2.1.329"}), encoding="utf-8")
    assert _one(spec, machine, " server") == ("ok", "last used just now, by claude-code 2.1.329")


def test_heartbeat_in_the_future_is_not_an_error(spec: InstallSpec, machine: Machine) -> None:
    _beat(machine, "stop", -500)
    assert _one(spec, machine, " Stop hook") == ("ok", "last ran just now")


def test_python3_missing_from_path_is_a_problem(spec: InstallSpec, machine: Machine, claude: FakeClaude) -> None:
    os.unlink(Path(claude.program).with_name("python3"))
    assert _one(spec, dataclasses.replace(machine), " python3")[0] == "problem"
