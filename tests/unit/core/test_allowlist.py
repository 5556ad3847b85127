"""The allowlist: texts that a person declared harmless are stored and shown; agents cannot add entries, and a damaged
list allows nothing."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import keepmum_scanner
from keepmum.cli import main as cli
from keepmum.core.errors import ScannerFailed, SecretFound, SettingsError
from keepmum.service import Place, opening
from keepmum.service.team import ORGANISATION, Grant, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import Allowed, Allowlist, AllowlistScanner

SECRET = (
    "gh" + "p_" + "".join(f"{letter}{digit}X" for letter, digit in zip("kQzWvRtYbNmP", "482917365084", strict=True))
)
NOTE = f"the documentation's example is {SECRET}"


@pytest.fixture
def keepmum_home(home: Path) -> Path:
    return home / ".keepmum"


def refusal(text: str = NOTE) -> SecretFound:
    service = opening.open_session(os.environ, "claude-code", upkeep=False)
    try:
        with pytest.raises(SecretFound) as refused:
            service.remember(text)
        return refused.value
    finally:
        service.close()


def kept(text: str = NOTE) -> str:
    service = opening.open_session(os.environ, "claude-code", upkeep=False)
    try:
        service.remember(text, key="example")
        return service.load(["example"])[0].text
    finally:
        service.close()


def entry(fingerprint: str, why: str = "an example") -> Allowed:
    return Allowed(fingerprint, why, "2026-11-21")


def test_a_refusal_names_the_fingerprint_and_the_way() -> None:
    refused = refusal()
    (fingerprint,) = refused.fingerprints
    assert f"`keepmum allow FINGERPRINT --why TEXT`. Fingerprint: {fingerprint}." in str(refused)


def test_what_is_allowed_is_kept_and_shown(keepmum_home: Path) -> None:
    Allowlist(str(keepmum_home)).add(entry(refusal().fingerprints[0]))
    assert kept() == NOTE


def test_an_allowed_secret_allows_no_other(keepmum_home: Path) -> None:
    Allowlist(str(keepmum_home)).add(entry(refusal().fingerprints[0]))
    assert refusal(f"password: {'blau' + 'Wal9!see'}").fingerprints


def test_what_is_revoked_is_refused_again(keepmum_home: Path) -> None:
    allowed = Allowlist(str(keepmum_home))
    (fingerprint,) = refusal().fingerprints
    assert allowed.add(entry(fingerprint))
    assert allowed.revoke(fingerprint)
    assert refusal().fingerprints == [fingerprint]


def test_a_running_service_applies_the_list_at_once(keepmum_home: Path) -> None:
    judge = AllowlistScanner(str(keepmum_home))
    (finding,) = judge(NOTE)
    Allowlist(str(keepmum_home)).add(entry(finding.fingerprint))
    assert list(judge(NOTE)) == []


def test_the_same_secret_has_another_fingerprint_for_another_user(tmp_path: Path) -> None:
    one, other = (AllowlistScanner(str(tmp_path / name))(NOTE)[0].fingerprint for name in ("one", "other"))
    assert one != other


def test_without_findings_no_file_is_created(tmp_path: Path) -> None:
    AllowlistScanner(str(tmp_path / "home"))("an ordinary note")
    assert not (tmp_path / "home").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no mode bits")
def test_key_and_list_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    Allowlist(str(tmp_path)).add(entry(AllowlistScanner(str(tmp_path))(NOTE)[0].fingerprint))
    assert {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in os.listdir(tmp_path)} == {
        "allow.toml": 0o600,
        "fingerprint.key": 0o600,
    }


@pytest.mark.parametrize("why", ['with "quotes" and \\ strokes', "Grüße, 例, 🐳"])
def test_a_reason_reads_as_it_was_written(tmp_path: Path, why: str) -> None:
    Allowlist(str(tmp_path)).add(entry("0" * 32, why))
    assert [one.why for one in Allowlist(str(tmp_path)).entries()] == [why]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"[[allowed]", id="no TOML"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"allowed = 1\n", id="no list"),
        pytest.param(b'[[allowed]]\nfingerprint = ""\nwhy = "x"\nadded = "x"\n', id="an empty fingerprint"),
        pytest.param(b'[[allowed]]\nfingerprint = 1\nwhy = "x"\nadded = "x"\n', id="a number"),
        pytest.param(b"other = 1\n", id="another name"),
    ],
)
def test_a_damaged_list_allows_nothing_and_says_so(tmp_path: Path, damage: bytes) -> None:
    allowed, judge = Allowlist(str(tmp_path)), AllowlistScanner(str(tmp_path))
    allowed.add(entry(judge(NOTE)[0].fingerprint))
    (tmp_path / "allow.toml").write_bytes(damage)
    assert judge(NOTE)
    assert "allow.toml" in judge.problem
    with pytest.raises(SettingsError):
        allowed.add(entry("0" * 32))
    assert (tmp_path / "allow.toml").read_bytes() == damage


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 33])
def test_a_damaged_key_allows_nothing_and_says_so(tmp_path: Path, damage: bytes) -> None:
    judge = AllowlistScanner(str(tmp_path))
    Allowlist(str(tmp_path)).add(entry(judge(NOTE)[0].fingerprint))
    (tmp_path / "fingerprint.key").write_bytes(damage)
    assert judge(NOTE)
    assert "fingerprint.key is damaged" in judge.problem


def test_damage_is_reported_in_the_notices(keepmum_home: Path) -> None:
    keepmum_home.mkdir()
    (keepmum_home / "allow.toml").write_text("[[allowed]", encoding="utf-8")
    service = opening.open_session(os.environ, "claude-code", upkeep=False)
    with pytest.raises(SecretFound):
        service.remember(NOTE)
    assert any("allow.toml" in notice for notice in service.notices())
    service.close()


def test_a_scanner_without_its_tables_refuses_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    service = opening.open_session(os.environ, "claude-code", upkeep=False)
    monkeypatch.setitem(sys.modules, "keepmum_scanner", None)  # as if its files were gone
    with pytest.raises(ScannerFailed):
        service.remember("an ordinary value")
    service.close()


# -- the command


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(monkeypatch: pytest.MonkeyPatch, words: Sequence[str], *, terminal: bool = True) -> tuple[int, str]:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdin", Terminal() if terminal else io.StringIO())
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    try:
        status = cli.main(["allow", *words])
    except SystemExit as end:  # argparse exits on wrong usage
        status = int(str(end.code))
    return status, out.getvalue()


def test_a_person_allows_lists_and_revokes(monkeypatch: pytest.MonkeyPatch) -> None:
    (fingerprint,) = refusal().fingerprints
    assert run(monkeypatch, [fingerprint, "--why", "an example of the docs"]) == (0, "allowed\n")
    assert kept() == NOTE
    assert f"{fingerprint}  " in run(monkeypatch, ["--list"])[1]
    assert run(monkeypatch, ["--revoke", fingerprint]) == (0, "revoked\n")
    assert "the list is empty" in run(monkeypatch, ["--list"])[1]


def test_without_a_terminal_nothing_is_allowed(monkeypatch: pytest.MonkeyPatch, keepmum_home: Path) -> None:
    status, said = run(monkeypatch, ["0" * 32, "--why", "x"], terminal=False)
    assert (status, "not a terminal" in said) == (1, True)
    assert not (keepmum_home / "allow.toml").exists()


@pytest.mark.parametrize(
    "name", ["CLAUDECODE", "AI_AGENT", "CODEX_SANDBOX", "CURSOR_TRACE_ID", "CLAUDE_CODE_SESSION_ID"]
)
def test_inside_a_session_nothing_is_allowed(monkeypatch: pytest.MonkeyPatch, keepmum_home: Path, name: str) -> None:
    monkeypatch.setenv(name, "1")
    status, said = run(monkeypatch, ["0" * 32, "--why", "x"])
    assert (status, f"{name} is set" in said) == (1, True)
    assert not (keepmum_home / "allow.toml").exists()


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="no fingerprint"),
        pytest.param(["0" * 32], id="no reason"),
        pytest.param(["0" * 32, "--why", " "], id="an empty reason"),
        pytest.param(["nonsense", "--why", "x"], id="no fingerprint of ours"),
        pytest.param(["--list", "0" * 32], id="a list of one"),
        pytest.param(["--revoke", "0" * 32, "--why", "x"], id="a reason to revoke"),
    ],
)
def test_wrong_usage_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    assert run(monkeypatch, words)[0] == 2


def test_a_reason_that_holds_a_secret_is_refused(monkeypatch: pytest.MonkeyPatch, keepmum_home: Path) -> None:
    status, said = run(monkeypatch, ["0" * 32, "--why", NOTE])
    assert (status, SECRET in said) == (1, False)
    assert not (keepmum_home / "allow.toml").exists()


def test_a_revoked_finding_is_masked_in_the_next_request_of_a_server(tmp_path: Path) -> None:
    scan, allowlist = AllowlistScanner(str(tmp_path)), Allowlist(str(tmp_path))
    (finding,) = keepmum_scanner.scan(NOTE, allowlist.key())
    allowlist.add(entry(finding.fingerprint))
    whole = Grant(ORGANISATION)

    def shown() -> str:
        with team.service(whole, actor="ada", place=Place(project="api"), origin="rest") as service:
            return service.find("example").text

    with contextlib.closing(open_team(TeamSqliteSpec(str(tmp_path / "memory.db")), scan)) as team:
        with team.service(whole, actor="ada", place=Place(project="api"), origin="rest") as service:
            service.remember(NOTE, key="example")
        before = shown()
        allowlist.revoke(finding.fingerprint)
        after = shown()
    assert (before == NOTE, SECRET in after) == (True, False)
