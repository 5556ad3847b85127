"""A key is sent to the server that it was stored for, and to no other."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.core.errors import KeepmumError, SettingsError
from keepmum.workspace import credentials

HERE, OTHER = "https://memory.example", "https://other.example:8443"
SECRET = "k-" + "9f2c" * 6


def test_a_key_is_found_for_its_server_alone(tmp_path: Path) -> None:
    credentials.store(str(tmp_path), HERE, SECRET)
    found = credentials.find(str(tmp_path), {}, HERE, approved=False)
    assert found is not None
    assert (found.secret, found.source) == (SECRET, "credentials.toml")
    assert credentials.find(str(tmp_path), {}, OTHER, approved=True) is None


@pytest.mark.parametrize(
    "near", ["https://memory.example:8443", "http://memory.example", "https://memory.example.evil"]
)
def test_another_port_scheme_or_host_is_another_server(tmp_path: Path, near: str) -> None:
    credentials.store(str(tmp_path), HERE, SECRET)
    assert credentials.find(str(tmp_path), {}, near, approved=True) is None


def test_keys_of_several_servers_are_stored_together(tmp_path: Path) -> None:
    for origin in (HERE, OTHER, "http://localhost:3100", "http://[::1]:3100"):
        credentials.store(str(tmp_path), origin, f"{SECRET}-{len(origin)}")
    assert sorted(credentials.origins(str(tmp_path))) == sorted(
        [HERE, OTHER, "http://localhost:3100", "http://[::1]:3100"]
    )
    assert credentials.remove(str(tmp_path), HERE)
    assert not credentials.remove(str(tmp_path), HERE)
    assert HERE not in credentials.origins(str(tmp_path))


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    credentials.store(str(tmp_path), HERE, SECRET)
    assert stat.S_IMODE(os.stat(credentials.path_of(str(tmp_path))).st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    credentials.store(str(tmp_path), HERE, SECRET)
    os.chmod(credentials.path_of(str(tmp_path)), 0o640)
    with pytest.raises(SettingsError, match="chmod 600") as caught:
        credentials.find(str(tmp_path), {}, HERE, approved=True)
    assert_hidden(SECRET, str(caught.value))


@pytest.mark.parametrize(
    "text",
    [f"key = '{SECRET}'", f"[server]\nkey = '{SECRET}'", f"['{HERE}']\ntoken = '{SECRET}'", f"['{HERE}']\nkey = 5"],
    ids=["no server", "no address", "another word", "no text"],
)
def test_a_malformed_file_is_reported_with_its_line(tmp_path: Path, text: str) -> None:
    path = Path(credentials.path_of(str(tmp_path)))
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(SettingsError, match=r"credentials\.toml:[12]: a table is a server") as caught:
        credentials.origins(str(tmp_path))
    assert_hidden(SECRET, str(caught.value))


@pytest.mark.parametrize("variable", credentials.VARIABLES)
def test_a_key_in_a_variable_is_for_an_approved_server(variable: str) -> None:
    found = credentials.find(None, {variable: SECRET}, HERE, approved=True)
    assert found is not None
    assert found.source == f"the variable {variable}"
    assert credentials.find(None, {variable: SECRET}, HERE, approved=False) is None


@pytest.mark.parametrize(
    "origin", ["http://localhost:3100", "http://127.0.0.1:3100", "http://[::1]:80", "http://localhost"]
)
def test_a_key_in_a_variable_is_for_this_machine_too(origin: str) -> None:
    assert credentials.find(None, {"MEMORY_API_KEY": SECRET}, origin, approved=False) is not None


@pytest.mark.parametrize(
    "origin", ["http://localhost.evil.example", "http://127.0.0.1.evil.example", "http://localhost@evil"]
)
def test_a_host_that_only_looks_like_this_machine_gets_no_key(origin: str) -> None:
    assert credentials.find(None, {"MEMORY_API_KEY": SECRET}, origin, approved=False) is None


@pytest.mark.parametrize("text", ["", "two words", "line\nbreak", "ümlaut", "x" * 5000, "\x00"])
def test_an_invalid_key_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(KeepmumError, match="that is not a key") as caught:
        credentials.store(str(tmp_path), HERE, text)
    assert not text or text not in str(caught.value)


def test_a_key_shows_in_no_representation() -> None:
    assert_hidden(SECRET, repr(credentials.Key(SECRET, "a file")))
    assert_hidden(SECRET, repr(credentials.Server(HERE, SECRET)))
