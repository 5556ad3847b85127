"""The settings of the server, from file, variables and command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepmum.core.errors import SettingsError
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.settings import DECLARED, ServerSettings, load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "server").mkdir()
    return tmp_path / "server" / "server.toml"


def test_the_command_line_wins_over_variables_and_these_over_the_file(tmp_path: Path, file: Path) -> None:
    file.write_text('port = 1\nthreads = 1\n[limits]\nreads = 1\n[database]\nurl = "of the file"\n')
    environ = {"KEEPMUM_SERVER_PORT": "2", "KEEPMUM_SERVER_THREADS": "2"}
    chosen = load(str(tmp_path), environ, {"port": 3})
    assert (chosen.port, chosen.threads, chosen.reads_per_minute) == (3, 2, 1)
    assert (chosen.database_url, chosen.writes_per_minute) == ("of the file", ServerSettings("").writes_per_minute)


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://app@db\n")
    (tmp_path / "keys").write_text("[]")
    environ = {
        "KEEPMUM_SERVER_DATABASE_URL_FILE": str(tmp_path / "url"),
        "API_KEYS_FILE": str(tmp_path / "keys"),
    }
    chosen = load(str(tmp_path), environ)
    assert (chosen.database_url, chosen.api_keys) == ("postgresql://app@db", "[]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1", "server.toml:1: there is no setting prot"),
        ("[limits]\nread = 1", "server.toml:2: there is no setting limits.read"),
        ("port = 70000", "port must be a whole number"),
        ("port = true", "port must be a whole number"),
        ('bind = "my host"', "bind must be an address"),
        ('url = "memory.example"', "url must be an address"),
        ('url = "https://memory.example/path"', "url must be an address"),
        ('trusted_proxies = ["proxy"]', "trusted_proxies must be a list of addresses"),
        ('model = "yes"', "model must be true or false"),
        ('[tls]\ncert = "a"', "belong together"),
        ('bind = "0.0.0.0"', "url is needed"),
        ('bind = "0.0.0.0"\nurl = "https://a.example"', "tls.cert and tls.key, or trusted_proxies"),
        ('bind = "::"\nurl = "http://a.example"\ntrusted_proxies = ["::1"]', "https://"),
    ],
)
def test_a_wrong_setting_is_an_error(tmp_path: Path, file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=message):
        load(str(tmp_path), {})


@pytest.mark.parametrize("name", ["KEEPMUM_SERVER_PROT", "KEEPMUM_SERVER_PORT_FILE"])
def test_an_unknown_variable_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load(str(tmp_path), {name: "1"})


def test_every_setting_is_in_the_documentation(root: Path) -> None:
    page = (root / "docs/server.md").read_text(encoding="utf-8")
    assert [declared.name for declared in DECLARED if f"| `{declared.name}` | " not in page] == []
    assert {declared.field for declared in DECLARED} == {*ServerSettings._fields} - {"home", "api_keys"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "API_KEYS is not JSON"),
        ("[]", "at least one entry"),
        ("{}", "must be a list"),
        ("[1]", r"API_KEYS\[0\] must be an object"),
        ('[{"key": "a", "name": "b"}, {"key": ""}]', r"API_KEYS\[1\].key must be text"),
        ('[{"key": "a"}]', r"API_KEYS\[0\].name must be text"),
        ('[{"key": "a", "name": "b", "projects": "c"}]', r"API_KEYS\[0\].projects must be null"),
        ('[{"key": "a", "name": "b", "projects": ["*"]}]', r"API_KEYS\[0\].projects must be null"),
    ],
)
def test_an_error_in_api_keys_names_the_entry(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ApiKeys(text)


def test_a_key_of_the_variable_is_a_writer_of_its_projects() -> None:
    keys = ApiKeys('[{"key": "a", "name": "ada", "projects": ["api"]}, {"key": "b", "name": "bob", "projects": null}]')
    ada, bob = keys.find("a"), keys.find("b")
    assert ada is not None
    assert bob is not None
    assert (ada.name, ada.roles, bob.roles) == ("ada", {"api": "writer"}, {"*": "writer"})
    assert keys.find("c") is None
