"""A credential is refused in every format: files, commands, headers, links, tables, code."""

import random

import pytest

from keepmum_scanner import scan
from unit.scanner.carriers import FILES, HEADERS, PASSWORDS, TOKENS, Carrier, Maker, base64_of, quoted

ROUNDS = 14  # secrets of each kind in each carrier


def missed(carrier: Carrier, makers: dict[str, Maker], seed: str) -> list[str]:
    """The kind of each secret that passes in this carrier."""
    rng = random.Random(seed)
    return [name for name, maker in makers.items() for _ in range(ROUNDS) if not scan(carrier(maker(rng)))]


@pytest.mark.parametrize("name", FILES)
def test_a_password_is_refused_in(name: str) -> None:
    assert missed(FILES[name], PASSWORDS, name) == []


@pytest.mark.parametrize("name", FILES)
def test_a_token_is_refused_in(name: str) -> None:
    assert missed(FILES[name], TOKENS, name) == []


@pytest.mark.parametrize("name", HEADERS)
def test_a_token_is_refused_in_the_header(name: str) -> None:
    assert missed(HEADERS[name], TOKENS, name) == []


SCHEMES = (
    "postgres postgresql postgresql+asyncpg mysql mariadb mongodb mongodb+srv redis rediss amqp amqps http https ftp "
    "ftps sftp ssh ldap ldaps smtp smtps imap git git+https svn+ssh rtsp mqtt nats kafka clickhouse cockroachdb oracle "
    "mssql jdbc:mysql socks5 smb vnc rdp ws wss tcp elasticsearch neo4j bolt s3 x-own"
).split()
USERS = ("ada", "", "ada%40example.org", "svc-db_1")
HOSTS = ("db.internal/shop", "10.0.0.7:5432", "[::1]:8080/", "db", "localhost:6379/0?x=1")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_whole_password_in_a_link_is_refused(scheme: str) -> None:
    rng = random.Random(scheme)
    passed = []
    for user in USERS:
        for host in HOSTS:
            for name, maker in (PASSWORDS | TOKENS).items():
                secret = quoted(maker(rng))
                text = f"it reads {scheme}://{user}:{secret}@{host} since then"
                start = text.index(secret, text.index("://") + len(user) + 4)
                if not any(found.start <= start and start + len(secret) <= found.end for found in scan(text)):
                    passed.append((user, host, name))
    assert passed == []


HARMLESS = {
    "sections below a name": "credentials:\n[development]\nregion = eu-west-1\n",
    "a map below a name": "passwords:\n  db1-main:\n    length: 24\n",
    "a list of rules": "password:\n- at least 12 characters\n- min-1-digit\n",
    "a default that is none": 'variable "db_password" {\n  type = string\n  default = ""\n}\n',
    "a default elsewhere": "DBPassword:\n  Type: String\n  NoEcho: true\n  Default: changeme\n",
    "a reference after a name": "env:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef: {key: pw}\n",
    "a variable after a name": 'env:\n  - name: DB_PASSWORD\n    value: "$(DB_PASSWORD_FILE)"\n',
    "a key and a value": "for key, value in pairs.items():\n    print(key, value)\n",
    "a piped variable": 'echo "$TOKEN" | docker login -u ada --password-stdin',
    "a word after a name": "The password reset2 flow and the password v2 page - see PR-1234.",
    "a ticket after a dash": "Fix forgotten password - JIRA-1234",
    "a login and a word": "machine api.example.com login ada password required",
    "a set of names": "set -x PATH_TO_TOKEN /run/secrets/token",
    "an environment in prose": "the env token expires in 24h; env secret names2 are fixed",
    "an auth that is words": '{"auth": "oauth2-client-credentials"}',
    "an auth that encodes words": '{"auth": "' + base64_of("user and password of the team") + '"}',
    "options of other programs": "zip -r site.zip dist && http -a ada: https://example.com",
    "a port after a login": "az login -p 8080 and mongo -p 27017",
    "words in capitals": "BYPASS=allowed COMPASS=north2",
    "a page about keys": "## Passwords\n\nSee `docs/vault.md`.\n",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_text_similar_to_a_carrier_passes(text: str) -> None:
    assert scan(text) == []
