"""What a person allowed is no finding for the guard either, and nothing less than that."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from keepmum.workspace.allowlist import Allowed, Allowlist
from keepmum_hooks import files
from keepmum_hooks.allowed import Judge
from keepmum_scanner import scan


def token() -> str:
    """A string that looks like a key of a code host, put together here so that no file holds one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def other() -> str:
    return "gh" + "p_" + "Z9y8X7w6V5" * 3 + "u4T3s2"


def allow(home: Path, text: str, why: str = "made up") -> None:
    listed = Allowlist(str(home))
    for finding in scan(text, listed.key()):
        listed.add(Allowed(finding.fingerprint, why, "2026-11-21"))


def test_what_is_allowed_is_no_finding(tmp_path: Path) -> None:
    allow(tmp_path, token())
    assert Judge(str(tmp_path))(f"use {token()} here") == []


def test_what_is_not_allowed_stays_one(tmp_path: Path) -> None:
    allow(tmp_path, token())
    assert [finding.rule for finding in Judge(str(tmp_path))(f"{token()} and {other()}")] == ["github.token"]


def test_a_finding_bears_the_fingerprint_that_the_command_takes(tmp_path: Path) -> None:
    (finding,) = Judge(str(tmp_path))(token())
    assert finding.fingerprint == scan(token(), Allowlist(str(tmp_path)).key())[0].fingerprint != ""


@pytest.mark.parametrize(
    "why",
    ["plain", 'with "quotes" and \\ signs', "with = and [[allowed]] and # in it", "naïve “why”", "fingerprint = x"],
)
def test_every_reason_that_the_command_writes_is_read(tmp_path: Path, why: str) -> None:
    allow(tmp_path, token(), why)
    allow(tmp_path, other(), why)
    assert Judge(str(tmp_path))(f"{token()} {other()}") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[[allowed]]\nfingerprint = {fingerprint}\n", id="no quotes"),
        pytest.param('fingerprint = "{fingerprint}"\nodd = "x"\n', id="another name"),
        pytest.param('fingerprint = "{fingerprint}"\n[other]\n', id="another table"),
        pytest.param('fingerprint = "{fingerprint}" # and more\n', id="more behind it"),
        pytest.param("\0" * 40, id="zeros"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_list_that_is_not_as_the_command_writes_it_allows_nothing(tmp_path: Path, text: str) -> None:
    fingerprint = scan(token(), Allowlist(str(tmp_path)).key())[0].fingerprint
    (tmp_path / "allow.toml").write_text(text.format(fingerprint=fingerprint), encoding="utf-8")
    assert Judge(str(tmp_path))(token())


@pytest.mark.parametrize("key", [b"", b"short", b"x" * 33])
def test_a_damaged_key_allows_nothing(tmp_path: Path, key: bytes) -> None:
    allow(tmp_path, token())
    (tmp_path / "fingerprint.key").write_bytes(key)
    (finding,) = Judge(str(tmp_path))(token())
    assert finding.fingerprint == ""


def test_an_empty_fingerprint_opens_no_door(tmp_path: Path) -> None:
    (tmp_path / "fingerprint.key").write_bytes(b"x")
    (tmp_path / "allow.toml").write_text('[[allowed]]\nfingerprint = ""\n', encoding="utf-8")
    assert Judge(str(tmp_path))(token())


def test_the_key_that_the_guard_makes_is_private_and_serves_the_command(tmp_path: Path) -> None:
    Judge(str(tmp_path))(token())
    path = tmp_path / "fingerprint.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Allowlist(str(tmp_path)).key() == path.read_bytes()
    assert os.listdir(tmp_path) == ["fingerprint.key"]


def test_a_key_that_is_there_is_kept(tmp_path: Path) -> None:
    key = Allowlist(str(tmp_path)).key()
    files.create(str(tmp_path / "fingerprint.key"), b"another")
    Judge(str(tmp_path))(token())
    assert (tmp_path / "fingerprint.key").read_bytes() == key


def test_a_clean_text_reads_neither_key_nor_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "read", None)
    assert Judge(str(tmp_path))("Deploys go through the blue pool.") == []


def test_without_a_home_a_finding_is_one() -> None:
    assert Judge(None)(token())
