"""The settings of the server, from file, variables and command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepmum.core.errors import SettingsError
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.settings import DECLARED, ServerSettings, load

OIDC = '[oidc]\nissuer = "https://id.example/"\nroles_claim = "groups"\nmap = {a = "admin"}'


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
        ('url = "https://memory.example:99999"', "url must be an address"),
        ('url = "https://memory.example#a"', "url must be an address"),
        ('url = "https://a:b@memory.example"', "url must be an address"),
        ('url = "https://[memory.example"', "url must be an address"),
        ('url = "https://memory.example\\n"', "url must be an address"),
        ('[database]\nurl = "http://qdrant:port"', "database.url must be an address"),
        ('trusted_proxies = ["proxy"]', "trusted_proxies must be a list of addresses"),
        ('model = "yes"', "model must be true or false"),
        ('[tls]\ncert = "a"', "belong together"),
        ('bind = "0.0.0.0"', "url is needed"),
        ('bind = "0.0.0.0"\nurl = "https://a.example"', "tls.cert and tls.key, or trusted_proxies"),
        ('[oidc]\nissuer = "id.example"', "oidc.issuer must be an address"),
        ('[oidc]\nissuer = "http://id.example"', "oidc.issuer must be an address"),
        ('[oidc]\nissuer = "https://a@id.example"', "oidc.issuer must be an address"),
        ('[oidc]\nissuer = "https://id.example?a"', "oidc.issuer must be an address"),
        ('[oidc]\nissuer = "https://id.example"', "needs oidc.roles_claim and oidc.map"),
        ('[oidc]\nroles_claim = "groups"', "oidc.roles_claim is set, and oidc.issuer is not"),
        ('[oidc.map]\na = "writer"', "oidc.map is set, and oidc.issuer is not"),
        ('[oidc.map]\na = "writer"\nb = "owner"', "server.toml:3: oidc.map must be a role"),
        ("[oidc.map]\na = 1", "server.toml:2: oidc.map must be text"),
        ('[oidc]\nmap = ["a"]', "server.toml:2: oidc.map must be a table"),
        ('[oidc]\nhosts = ["https://www.id.example"]', "oidc.hosts must be a list of hosts"),
        ('[oidc]\nhosts = ["www.id.example/keys"]', "oidc.hosts must be a list of hosts"),
        ('[oidc]\nhosts = ["a@www.id.example"]', "oidc.hosts must be a list of hosts"),
        ('[oidc]\nhosts = ["*.id.example"]', "oidc.hosts must be a list of hosts"),
        ('[oidc]\nhosts = ["www.id.example:0"]', "oidc.hosts must be a list of hosts"),
        ('[oidc]\nhosts = ["www.id.example:65536"]', "oidc.hosts must be a list of hosts"),
        ('[oidc]\nissuer = "https://id.example:65536"', "oidc.issuer must be an address"),
        ('[oidc]\nhosts = ["www.id.example"]', "oidc.hosts is set, and oidc.issuer is not"),
        ("[oidc]\nprivate = 1", "oidc.private must be true or false"),
        (OIDC, "needs url or oidc.audience"),
        (f'url = "https://m.example"\n{OIDC}\nclient_secret = "x"', "oidc.client_secret needs oidc.client_id"),
        ('bind = "::"\nurl = "http://a.example"\ntrusted_proxies = ["::1"]', "https://"),
    ],
)
def test_a_wrong_setting_is_an_error(tmp_path: Path, file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=message):
        load(str(tmp_path), {})


def test_what_values_of_claims_stand_for_is_a_table_or_json(tmp_path: Path, file: Path) -> None:
    file.write_text(
        'url = "https://m.example"\n[oidc]\nissuer = "https://id.example/"\nroles_claim = "groups"\n'
        '[oidc.map]\n"a.b" = "writer"\n\'"c"\' = "project web"\nd.e = "reader api"\n'
    )
    by_table = load(str(tmp_path), {})
    assert by_table.oidc_issuer == "https://id.example/"
    assert by_table.oidc_map == {"a.b": ("writer", ""), '"c"': ("project", "web"), "d.e": ("reader", "api")}
    by_variable = load(str(tmp_path), {"KEEPMUM_SERVER_OIDC_MAP": '{"x": "admin"}'})
    assert by_variable.oidc_map == {"x": ("admin", "")}
    with pytest.raises(SettingsError, match=r"KEEPMUM_SERVER_OIDC_MAP: oidc\.map must be a JSON object"):
        load(str(tmp_path), {"KEEPMUM_SERVER_OIDC_MAP": "x=admin"})


def test_the_secret_at_the_provider_may_be_in_a_file_and_is_in_no_message(tmp_path: Path, file: Path) -> None:
    (tmp_path / "secret").write_text("confidential\n")
    file.write_text(f'url = "https://m.example"\n{OIDC}\nclient_id = "k"')
    chosen = load(str(tmp_path), {"KEEPMUM_SERVER_OIDC_CLIENT_SECRET_FILE": str(tmp_path / "secret")})
    assert chosen.oidc_client_secret == "confidential"
    file.write_text("")
    with pytest.raises(SettingsError) as raised:
        load(str(tmp_path), {"KEEPMUM_SERVER_OIDC_CLIENT_SECRET": "confidential"})
    assert "confidential" not in str(raised.value)


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
        ApiKeys(text, b"")


def test_a_key_of_the_variable_is_a_writer_of_its_projects() -> None:
    keys = ApiKeys(
        '[{"key": "a", "name": "ada", "projects": ["api"]}, {"key": "b", "name": "bob", "projects": null}]', b""
    )
    ada, bob = keys.find("a"), keys.find("b")
    assert ada is not None
    assert bob is not None
    assert (ada.name, ada.roles, bob.roles) == ("ada", {"api": "writer"}, {"*": "writer"})
    assert keys.find("c") is None
