"""A project file that is wrong comes with any clone; it keeps nobody from their memories, and is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.cli.main import main
from keepmum.core.errors import SettingsError
from keepmum.workspace.resolve import left_out
from keepmum.workspace.settings import load

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
WRONG = {
    "not TOML": ("scope = = 'project'", 1),
    "a value of another type": ("scope = 7", 1),
    "a value that is not allowed": ("\nscope = 'everybody'", 2),
    "an unknown setting": ("[capture]\nevrey = 5", 2),
    "a setting of the user": ("store.path = '/tmp/x.db'", 1),
    "a key": (f"[backend]\napi_key = '{TOKEN}'", 2),
    "switched on": ("enabled = true", 1),
    "an address that is none": ("backend.origin = 'http://10.0.0.1'", 1),
    "a table for a value": ("[scope]\nx = 1", 2),
    "nul": ("scope = '\0'", 1),
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(("text", "line"), WRONG.values(), ids=WRONG)
def test_memories_are_stored_and_found_and_the_file_is_named(
    capsys: pytest.CaptureFixture[str], shop: Path, text: str, line: int
) -> None:
    (shop / ".keepmum.toml").write_text(text, encoding="utf-8")
    assert main(["remember", "Deploys go through the blue pool"]) == 0
    said = capsys.readouterr().err
    assert f"{shop}/.keepmum.toml:{line}" in said
    assert "Until that is fixed, it has no effect" in said
    assert main(["recall", "blue"]) == 0
    assert "blue pool" in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["a value of another type", "a key"])
def test_status_and_doctor_name_the_line(capsys: pytest.CaptureFixture[str], shop: Path, fault: str) -> None:
    text, line = WRONG[fault]
    (shop / ".keepmum.toml").write_text(text, encoding="utf-8")
    for command, status in (("status", 0), ("doctor", 1)):
        assert main([command]) == status
        output = capsys.readouterr().out
        assert f"{shop}/.keepmum.toml:{line}" in output
        assert_hidden(TOKEN, output)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"# " + b"x" * 70_000, b"scope" + b".a" * 30_000 + b" = 1"])
def test_a_file_that_cannot_be_read_is_not_a_reason_to_refuse(
    capsys: pytest.CaptureFixture[str], shop: Path, content: bytes
) -> None:
    (shop / ".keepmum.toml").write_bytes(content)
    assert main(["remember", "Deploys go through the blue pool"]) == 0
    assert ".keepmum.toml" in capsys.readouterr().err


def test_the_other_settings_of_the_file_apply(shop: Path) -> None:
    (shop / ".keepmum.toml").write_text("scope = 7\nproject = 'acme'\n[capture]\nevery = 9\n", encoding="utf-8")
    chosen = load({"KEEPMUM_HOME": str(shop / "home")}, str(shop), lenient=True)
    assert (chosen.scope, chosen.project, chosen.capture.every) == ("project", "acme", 9)
    assert len(chosen.problems) == 1


def test_a_file_that_is_not_toml_still_names_the_project_and_switches_off(shop: Path) -> None:
    (shop / ".keepmum.toml").write_text("project = 'acme'\nenabled = false\nscope = = 1\n", encoding="utf-8")
    chosen = load({"KEEPMUM_HOME": str(shop / "home")}, str(shop), lenient=True)
    assert (chosen.project, chosen.enabled) == ("acme", False)


def test_several_faults_are_one_notice(shop: Path) -> None:
    (shop / ".keepmum.toml").write_text("scope = 7\ndialect = 8\nx = 9\n", encoding="utf-8")
    reported = left_out(load({"KEEPMUM_HOME": str(shop / "home")}, str(shop), lenient=True))
    assert "and 2 more like this" in reported


def test_many_faults_cost_no_time(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def closest(name: str, *_: object, **__: object) -> list[str]:
        compared.append(name)
        return []

    monkeypatch.setattr("difflib.get_close_matches", closest)
    (shop / ".keepmum.toml").write_text("".join(f"a{number} = 1\n" for number in range(5_000)), encoding="utf-8")
    chosen = load({"KEEPMUM_HOME": str(shop / "home")}, str(shop), lenient=True)
    assert len(chosen.problems) == 5_000
    assert len(compared) < 10


def test_the_users_own_file_is_refused(shop: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("scope = 7\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"config\.toml:1: scope must be"):
        load({"KEEPMUM_HOME": str(home)}, str(shop), lenient=True)


def test_a_server_that_was_not_approved_is_refused(capsys: pytest.CaptureFixture[str], shop: Path) -> None:
    (shop / ".keepmum.toml").write_text("backend.origin = 'https://evil.example'\n", encoding="utf-8")
    assert main(["remember", "Deploys go through the blue pool"]) == 1
    assert "this server is not approved" in capsys.readouterr().err
