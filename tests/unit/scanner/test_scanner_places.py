"""Passwords at the places where commands, files, tables and lists take one."""

import base64

import pytest

from keepmum_scanner import by_place, command_values, scan

PASSWORD = "Kick_" + "Engine1662"
PHRASE = "ridge.tulip." + "mango.sofa"
CODES = ["a1b2c-" + "d3e4f", "99fe1-" + "bb21c", "0a0b0-" + "c1d2e"]

PLACES = {
    "keytool": "keytool -list -keystore a.jks -storepass {}",
    "keytool, key": "keytool -genkey -keypass {} -alias a",
    "here-string": 'cryptsetup luksFormat /dev/sdb <<< "{}"',
    "htpasswd": "htpasswd -cb .htpasswd ana {}",
    "nmcli": "nmcli dev wifi connect office password {}",
    "mysql": "mysql -u root -p{} -h db shop",
    "zip": "zip -P {} export.zip *.csv",
    "redis": "requirepass {}",
    "curl": "curl -s -u ana:{} https://api.example.org/v1",
    "SNMP": "snmp-server community {} RO",
    "snmpwalk": "snmpwalk -v2c -c {} 10.0.0.1",
    "PDO": "$pdo = new PDO('mysql:host=db', 'ana', '{}');",
    "DBI": 'my $dbh = DBI->connect($dsn, "ana", "{}");',
    "JDBC, call": 'DriverManager.getConnection(url, "sa", "{}")',
    "JDBC, link": "jdbc:mysql://db/shop?user=ana&password={}&ssl=1",
    "JDBC, properties": "spring.datasource.password={}",
    "SQL Server": "jdbc:sqlserver://db;user=sa;password={};encrypt=true",
    "SQL": "CREATE USER 'ana' IDENTIFIED BY '{}';",
    "Cisco": "username ana privilege 15 secret 0 {}",
    "netrc": "machine db login ana password {}",
    "YAML block": "password: |-\n  {}\nuser: ana",
    "stringData": "apiVersion: v1\nkind: Secret\nstringData:\n  username: ana\n  conf: {}\n",
    "pair": "login on gw1: ana / {}",
    "pair, ja": "gw1 へは ana / {} でログインする。",
    "HTML": "<table><tr><th>user</th><th>Password</th></tr><tr><td>ana</td><td>{}</td></tr></table>",
    "HTML, one row": "<tr><td>Password</td><td><code>{}</code></td></tr>",
    "HTML, list": "<dl><dt>Password</dt><dd>{}</dd></dl>",
    "a question": "kolja: what is the db password?\nana: {}",
    "an announcement": "ana: sent you the token\nana: {}\nana: delete it later",
    "zh header": "| 环境 | 账号 | 密码 |\n|---|---|---|\n| qa | ana | {} |",
    "de header": "| System | Benutzer | Passwort |\n|---|---|---|\n| qa | ana | {} |",
    "ru header": "сервис,логин,пароль\nqa,ana,{}",
    "grid": "+---+---+\n| name | token |\n+---+---+\n| qa | {} |\n+---+---+",
}
NO_SECRETS = [
    "keytool -list -storepass changeit",
    "keytool -list -storepass $STOREPASS -keypass:env KEYPASS",
    "htpasswd -c .htpasswd ana",
    "snmp-server community public RO",
    "snmpwalk -v2c -c <community> 10.0.0.1",
    "docker run -u 1000:1000 image",
    "mysql -u root -p shop",
    "stringData:\n  username: ana\n  url: https://example.org\n",
    "kind: Secret\nstringData:\n  password: ${DB_PASSWORD}\n",
    "kind: Secret\ndata:\n  username: YW5h\n",
    "kind: ConfigMap\ndata:\n  theme: copper-lantern2\n",
    'cat <<< "$line"',
    "<table><tr><th>Password</th></tr><tr><td>required</td></tr></table>",
    "<dl><dt>Token</dt><dd>a string</dd></dl>",
    "| name | token | default |\n|---|---|---|\n| eos | end_of_text | 50256 |",
    "recovery codes are in the safe, see OPS-1234 and OPS-1235",
    "backup codes: 8 to 10 per user\n2024-10-01 done",
    "Print the recovery codes:\n\n```\napp codes --print\n```",
    "WIFI:T:nopass;S:guests;;",
    "login: see the wiki / ask Ana",
    "Sign in with Google / Office365",
    "who has the password?\nana: it is in the vault",
]
LISTS = {
    "lines": "GitHub recovery codes:\n\n- {}\n- {}\n- {}\n",
    "one line": "2FA backup codes for the registry: {}, {}, {}",
    "numbered": "Recovery codes\n1. {}\n2. {}\n3. {}\n",
    "de": "Wiederherstellungscodes: {} {} {}",
    "fr": "Codes de secours : {} {} {}",
    "es": "Códigos de respaldo:\n{}\n{}\n{}",
    "ja": "バックアップコード\uff1a{} {} {}",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
def test_a_password_is_found_at_its_place(place: str) -> None:
    text = place.format(PASSWORD)
    assert any(PASSWORD in text[finding.start : finding.end] for finding in scan(text))


def test_data_of_a_kubernetes_secret_is_decoded() -> None:
    encoded = base64.b64encode(PASSWORD.encode()).decode()
    assert scan(f"kind: Secret\ndata:\n  conf: {encoded}\n")


@pytest.mark.parametrize("name", ["password", "Passwort", "mot de passe"])
def test_words_with_spaces_are_found_in_quotes(name: str) -> None:
    assert scan(f'{name}: "{PHRASE.replace(".", " ")}"')


@pytest.mark.parametrize("form", LISTS.values(), ids=list(LISTS))
def test_recovery_codes_are_found(form: str) -> None:
    text = form.format(*CODES)
    assert [text[finding.start : finding.end] for finding in scan(text)] == CODES


@pytest.mark.parametrize("text", NO_SECRETS)
def test_a_place_without_a_password_passes(text: str) -> None:
    assert not scan(text)


def test_every_command_is_announced_by_a_part_of_it() -> None:
    parts = {part for part, anchor, _ in command_values._PLACES if part in anchor}
    assert parts == set(by_place.COMMANDS)
    assert len(command_values.ANCHORS) == sum(part in anchor for part, anchor, _ in command_values._PLACES)
