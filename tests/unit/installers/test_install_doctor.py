"""Each finding names the problem and the next step, and none shows a value that may be private."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keepmum.core.errors import SettingsError, StoreError
from keepmum_hooks.places import off_marker
from keepmum_installers import commands, doctor, report
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_scanner import detect_secrets_opinion

HEALTHY = {
    "path": "/m.db",
    "writable": True,
    "integrity": "ok",
    "memories": 3,
    "indexed": 3,
    "bytes": 4096,
    "backups": 1,
}


@dataclass
class Probes:
    """A core that answers what the test wants."""

    facts: Mapping[str, object] = field(default_factory=lambda: HEALTHY)
    chosen: Sequence[tuple[str, str, str]] = ()
    refusal: str = ""

    def store(self) -> Mapping[str, object]:
        if self.refusal:
            raise StoreError(self.refusal)
        return self.facts

    def settings(self) -> Sequence[tuple[str, str, str]]:
        return self.chosen

    def left_out(self) -> str:
        return ""

    def project(self) -> tuple[str, str, str, str]:
        return "id", "api", "/projects/api", "git remote"


def _findings(spec: InstallSpec, machine: Machine, about: str, probes: Probes | None = None) -> list[Finding]:
    found = doctor.examine(spec.product, None, machine, probes or Probes())
    return [finding for finding in found if finding.about == about]


def test_healthy_machine_has_no_problem_but_the_plugin(spec: InstallSpec, machine: Machine) -> None:
    found = doctor.examine(spec.product, None, machine, Probes())
    assert [each.about for each in found if each.level == "problem"] == ["claude-code plugin"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"integrity": "damaged"}, "damaged"),
        ({"indexed": 2}, "3 memories, but 2 in the index"),
        ({"writable": False, "reason": "disk full"}, "read only: disk full"),
    ],
)
def test_unhealthy_store_is_a_problem(
    spec: InstallSpec, machine: Machine, change: Mapping[str, object], words: str
) -> None:
    found = _findings(spec, machine, "store", Probes({**HEALTHY, **change}))
    assert any(words in each.says for each in found if each.level == "problem" and each.next_step)


def test_store_that_refuses_is_a_problem_with_its_message(spec: InstallSpec, machine: Machine) -> None:
    (finding,) = _findings(spec, machine, "store", Probes(refusal="lies on a network drive (nfs)"))
    assert (finding.level, finding.says) == ("problem", "lies on a network drive (nfs)")


def test_switch_is_reported_with_its_source(spec: InstallSpec, machine: Machine) -> None:
    probes = Probes(chosen=[("capture.enabled", "False", "/projects/.keepmum.toml"), ("scope", "project", "default")])
    (finding,) = _findings(spec, machine, "settings", probes)
    assert (finding.level, "/projects/.keepmum.toml" in finding.says) == ("note", True)


@pytest.mark.parametrize(
    ("source", "step"),
    [
        pytest.param("/projects/.keepmum.toml:3", "Remove that line.", id="a project file, which may never say true"),
        pytest.param("KEEPMUM_ENABLED", "Unset that variable.", id="a variable"),
    ],
)
def test_next_step_for_a_switch_matches_its_source(spec: InstallSpec, machine: Machine, source: str, step: str) -> None:
    (finding,) = _findings(spec, machine, "settings", Probes(chosen=[("enabled", "False", source)]))
    assert finding.next_step == step


@pytest.mark.parametrize(("there", "level"), [(False, ["note"]), (True, [])])
def test_a_missing_second_opinion_is_reported(
    spec: InstallSpec, machine: Machine, monkeypatch: pytest.MonkeyPatch, *, there: bool, level: list[str]
) -> None:
    monkeypatch.setattr(detect_secrets_opinion, "is_installed", lambda: there)
    probes = Probes(chosen=[("scanner.second_opinion", "True", "/home/u/config.toml")])
    said = [finding for finding in _findings(spec, machine, "scanner", probes) if "second opinion" in finding.says]
    assert [finding.level for finding in said] == level


def test_disabled_session_is_reported(spec: InstallSpec, machine: Machine) -> None:
    session = dataclasses.replace(machine, environ={**machine.environ, "CLAUDE_CODE_SESSION_ID": "5f0a"})
    marker = Path(off_marker(machine.home, "5f0a"))
    marker.parent.mkdir(parents=True)
    marker.touch()
    says = [finding.says for finding in _findings(spec, session, "settings")]
    assert "Keepmum is switched off for this session" in says


def test_error_of_every_check_is_reported_once(spec: InstallSpec, machine: Machine) -> None:
    class Broken(Probes):
        def settings(self) -> Sequence[tuple[str, str, str]]:
            raise SettingsError("config.toml:1 is not TOML")

        def store(self) -> Mapping[str, object]:
            raise SettingsError("config.toml:1 is not TOML")

    found = doctor.examine(spec.product, None, machine, Broken())
    assert [each.about for each in found if each.says == "config.toml:1 is not TOML"] == ["settings"]


@pytest.mark.parametrize(("items", "says"), [(0, []), (1, ["1 item of this project to review"])])
def test_items_to_review_are_counted(spec: InstallSpec, machine: Machine, items: int, says: list[str]) -> None:
    facts = {"integrity": "ok", "writable": True, "memories": 3, "indexed": 3, "review": items}
    assert [each.says for each in _findings(spec, machine, "review", Probes(facts))] == says


def test_damaged_store_is_reported_once_with_its_journal_files(spec: InstallSpec, machine: Machine) -> None:
    os.makedirs(machine.home)
    for name in ("memory.db.corrupt-1", "memory.db.corrupt-1-wal", "memory.db.corrupt-1-shm"):
        Path(machine.home, name).touch()
    assert len(_findings(spec, machine, "leftovers")) == 1


def test_value_of_a_setting_is_not_shown(spec: InstallSpec, machine: Machine) -> None:
    probes = Probes(chosen=[("agent", "what-somebody-typed", "KEEPMUM_AGENT")])
    assert "what-somebody-typed" not in str(_findings(spec, machine, "settings", probes))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_home_that_others_can_read_is_a_problem(spec: InstallSpec, machine: Machine) -> None:
    Path(machine.home).mkdir(mode=0o755)
    (finding,) = _findings(spec, machine, "home")
    assert (finding.level, "chmod" in finding.next_step) == ("problem", True)


def test_store_that_was_moved_aside_is_reported(spec: InstallSpec, machine: Machine) -> None:
    Path(machine.home).mkdir()
    (Path(machine.home) / "memory.db.corrupt-20260101T000000Z").touch()
    assert [each.level for each in _findings(spec, machine, "leftovers")] == ["note"]


def test_damaged_journal_is_a_problem(spec: InstallSpec, machine: Machine) -> None:
    Path(machine.state()).mkdir(parents=True)
    Path(machine.state("installed.json")).write_text("[]")
    assert [each.level for each in _findings(spec, machine, "leftovers")] == ["problem"]


def _run(*arguments: str, probes: Probes) -> int:
    parser = argparse.ArgumentParser()
    commands.register(parser.add_subparsers(required=True), probes)
    parsed = parser.parse_args(arguments)
    return int(parsed.run(parsed))


@pytest.fixture
def _nothing_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_nothing_on_path")
def test_json_report_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("doctor", "--json", probes=Probes()) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is True
    assert {"level", "about", "says", "next_step"} == set(report["findings"][0])


@pytest.mark.usefixtures("_nothing_on_path")
def test_problem_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("doctor", probes=Probes(refusal="no")) == 1
    assert "1 problem." in capsys.readouterr().out


@pytest.mark.usefixtures("_nothing_on_path")
def test_report_shows_no_value_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_VARIABLE", "a-value-of-" + "the-environment")
    _run("doctor", "--json", probes=Probes())
    assert "a-value-of-" not in capsys.readouterr().out


@pytest.mark.usefixtures("_nothing_on_path")
def test_status_counts_the_memories(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("status", probes=Probes()) == 0
    assert "memories  3, in /m.db" in capsys.readouterr().out


@pytest.mark.usefixtures("_nothing_on_path")
def test_missing_home_names_the_variable_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("KEEPMUM_HOME")
    assert _run("uninstall", probes=Probes()) == 1
    assert "Set HOME" in capsys.readouterr().err


@pytest.mark.usefixtures("_nothing_on_path")
@pytest.mark.usefixtures("_nothing_on_path")
@pytest.mark.parametrize("command", ["doctor", "status"])
def test_missing_clients_take_one_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    _run(command, probes=Probes())
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "not found" in line)
    assert all(title in line for title in ("Codex", "Gemini CLI", "OpenCode"))


def test_equal_findings_of_one_client_take_one_line() -> None:
    step = "Start the client."
    found = [
        note(about, "has not run yet", step) for about in ("codex Stop hook", "codex guard hook", "vscode Stop hook")
    ]
    lines = [(each.about, each.says, each.next_step) for each in report._grouped(found)]
    assert lines == [
        ("codex Stop hook, guard hook", "has not run yet", step),
        ("vscode Stop hook", "has not run yet", step),
    ]


def test_findings_of_a_client_that_are_not_problems_take_one_line() -> None:
    step = "Start the client."
    found = [
        ok("home", "is there"),
        ok("codex", "version 1 at /bin/codex"),
        ok("codex plugin", "version 0.1.0"),
        note("codex Stop hook", "has not run yet", step),
        note("codex guard hook", "has met no write to another memory yet"),
        note("codex server", "has not been used yet", "Look at it."),
        problem("codex settings", "is broken", "Fix it."),
        ok("vscode", "version 2"),
        ok("vscode server", "last used just now"),
    ]
    assert list(report._brief(found)) == [
        ok("home", "is there"),
        problem("codex settings", "is broken", "Fix it."),
        note("codex", "Stop hook has not run yet; server has not been used yet", f"{step} Look at it."),
        ok("vscode", "version 2; 2 checks passed"),
    ]


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        ({"problem": "it does not answer"}, "`keepmum whoami` tries it again"),
        ({"problem": "it refuses the key", "key_refused": True}, "Run `keepmum login https://memory.example`"),
        ({"problem": "no key; store one by `keepmum login https://memory.example`"}, "Run `keepmum login"),
    ],
)
def test_the_next_step_for_a_server_fits_the_problem(facts: dict[str, object], step: str) -> None:
    (found,) = doctor.servers({"server": "https://memory.example", "reached": False, **facts}, "github.com/acme/shop")
    assert found.next_step.startswith(step)


def test_a_client_without_the_plugin_takes_one_next_step() -> None:
    found = [
        note("codex plugin", "the plugin is not installed", "Run `keepmum install --client codex`."),
        note("codex Stop hook", "has not run yet", "Start it."),
    ]
    assert list(report._brief(found)) == [
        note("codex", "the plugin is not installed", "Run `keepmum install --client codex`.")
    ]


def test_several_parts_of_a_client_take_one_sentence_with_one_next_step() -> None:
    found = [
        note(f"codex {part}", "has not run yet" if "hook" in part else "has not been used yet", "Start it.")
        for part in ("SessionStart hook", "Stop hook", "server")
    ]
    says = "SessionStart hook and Stop hook have not run yet; server has not been used yet"
    assert list(report._brief(found)) == [note("codex", says, "Start it.")]


@pytest.mark.usefixtures("_nothing_on_path")
def test_doctor_is_brief_without_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    _run("doctor", probes=Probes())
    assert capsys.readouterr().out.endswith("`keepmum doctor -v` shows every check.\n")
    _run("doctor", "-v", probes=Probes())
    assert "shows every check" not in capsys.readouterr().out


def test_purge_of_a_repository_scope_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("uninstall", "--scope", "project", "--purge", probes=Probes()) == 1
    assert "Use --purge without --scope" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("facts", "level", "words"),
    [
        ({"reached": True, "collection": "shared"}, "ok", "answers, collection shared; 2 writes wait, 1 was refused"),
        ({"reached": False, "problem": "it cannot be reached"}, "problem", "it cannot be reached; 2 writes wait"),
        ({"reached": True, "roles": {"api": "writer"}}, "problem", "its key has no role in the project id;"),
        ({"reached": True, "roles": {"*": "reader"}}, "ok", "answers"),
    ],
)
def test_the_state_of_a_teams_server_is_reported(
    spec: InstallSpec, machine: Machine, facts: Mapping[str, object], level: str, words: str
) -> None:
    known = {**HEALTHY, "server": "https://memory.example", "queued": 2, "refused": 1, **facts}
    (finding,) = _findings(spec, machine, "server", Probes(known))
    assert finding.level == level
    assert words in finding.says


def test_unreadable_memory_files_are_reported_one_by_one(spec: InstallSpec, machine: Machine) -> None:
    files = {"path": "/shop/.memories", "problems": ["2026-01-31/1.md has no id, and was not read"] * 25}
    found = _findings(spec, machine, "file", Probes({**HEALTHY, "stores": {"sqlite": HEALTHY, "markdown": files}}))
    assert {finding.level for finding in found} == {"note"}
    assert found[0].says == "/shop/.memories: 2026-01-31/1.md has no id, and was not read"
    assert found[-1].says == "5 more files like these"


def test_a_server_in_a_composite_store_is_reported(spec: InstallSpec, machine: Machine) -> None:
    server = {"server": "https://memory.example", "queued": 0, "refused": 0, "reached": True, "collection": "c"}
    found = _findings(spec, machine, "server", Probes({**HEALTHY, "stores": {"sqlite": HEALTHY, "rest": server}}))
    assert [finding.level for finding in found] == ["ok"]
