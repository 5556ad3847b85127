"""Formats in which a text contains a credential, and makers of credentials; both are combined at run time."""

from __future__ import annotations

import base64
import json
import random
import string
import urllib.parse
from collections.abc import Callable

Carrier = Callable[[str], str]
Maker = Callable[[random.Random], str]

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
WORDS = "Winter Tiger Coffee Dragon Silver Orange monkey castle".split()


def pick(rng: random.Random, letters: str, size: int) -> str:
    return "".join(rng.choices(letters, k=size))


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def quoted(text: str) -> str:
    """`text`, percent-encoded."""
    return urllib.parse.quote(text, safe="")


# Passwords that people choose.
PASSWORDS: dict[str, Maker] = {
    "word, year, sign": lambda c: c.choice(WORDS) + str(c.randint(1950, 2030)) + c.choice("!$*"),
    "letters and digits": lambda c: pick(c, ALNUM, 10) + "7kQ",
    "every kind": lambda c: pick(c, ALNUM, 6) + c.choice("!@%^") + pick(c, ALNUM, 5) + c.choice("#&*") + "9xR",
    "hexadecimal": lambda c: pick(c, HEX, 31) + "7",
}
# Tokens that machines issue, of known providers and of others.
TOKENS: dict[str, Maker] = {
    "GitHub": lambda c: "gh" + "p_" + pick(c, ALNUM, 36),
    "OpenAI": lambda c: "sk-" + "proj-" + pick(c, ALNUM, 48),
    "Slack": lambda c: "xox" + f"b-{c.randint(10**11, 10**12 - 1)}-" + pick(c, ALNUM, 24),
    "AWS": lambda c: "AK" + "IA" + pick(c, string.ascii_uppercase + "234567", 16),
    "npm": lambda c: "np" + "m_" + pick(c, ALNUM, 36),
    "Stripe": lambda c: "sk_" + "live_" + pick(c, ALNUM, 24),
    "letters and digits": lambda c: pick(c, ALNUM, 32),
    "small letters and digits": lambda c: pick(c, LOWER, 36),
    "base64": lambda c: base64.b64encode(c.randbytes(33)).decode(),
    "hexadecimal": lambda c: pick(c, HEX, 39) + "7",
    "UUID": lambda c: "-".join(pick(c, HEX, size) for size in (8, 4, 4, 4, 12)),
}

# Files and commands that put a name before the value.
FILES: dict[str, Carrier] = {
    "JSON": lambda s: json.dumps({"db": {"user": "ada", "password": s}}),
    "JSON in lines": lambda s: json.dumps({"db": {"user": "ada", "api_token": s}}, indent=2),
    "JSON in JSON": lambda s: json.dumps({"note": json.dumps({"password": s})}),
    "JSON, name and value": lambda s: json.dumps([{"name": "DB_PASSWORD", "value": s}]),
    "JSON, name and value in lines": lambda s: json.dumps([{"name": "DB_PASSWORD", "value": s}], indent=2),
    "YAML": lambda s: f"db:\n  user: ada\n  password: {s}\n",
    "YAML, quoted": lambda s: f"db:\n  user: ada\n  password: '{s}'\n",
    "YAML, a list of maps": lambda s: f'users:\n  - name: root\n    password: "{s}"\n  - name: ada\n',
    "YAML, an environment": lambda s: f"env:\n  - name: DB_PASSWORD\n    value: {s}\n  - name: A\n    value: b\n",
    "YAML, folded": lambda s: f"password: >-\n  {s}\nuser: ada\n",
    "YAML, in one line": lambda s: f"db: {{user: ada, password: {s}}}\n",
    "TOML": lambda s: f'[db]\npassword = "{s}"\n',
    "TOML in one line": lambda s: f"db = {{ user = 'ada', password = '{s}' }}\n",
    "INI": lambda s: f"[db]\nuser = ada\npassword = {s}\n",
    "properties": lambda s: f"spring.datasource.password={s}\n",
    "XML": lambda s: f"<server><user>ada</user><password>{s}</password></server>",
    "XML, attributes": lambda s: f'<add key="DbPassword" value="{s}" />',
    ".env": lambda s: f"DB_USER=ada\nDB_PASSWORD={s}\n",
    ".env, quoted": lambda s: f'export DB_PASSWORD="{s}"\n',
    "shell export": lambda s: f"export DB_PASSWORD='{s}'\n",
    "shell, before a command": lambda s: f"PGPASSWORD={s} psql -h db\n",
    "a name in capitals": lambda s: f"SSHPASS={s} sshpass -e ssh host\n",
    "csh": lambda s: f"setenv DB_PASSWORD {s}\n",
    "fish": lambda s: f"set -gx DB_PASSWORD {s}\n",
    "cmd": lambda s: f"set DB_PASSWORD={s}\n",
    "setx": lambda s: f'setx DB_PASSWORD "{s}"\n',
    "PowerShell": lambda s: f'$env:DB_PASSWORD = "{s}"\n',
    "Dockerfile, ENV": lambda s: f"FROM x\nENV DB_PASSWORD={s}\n",
    "Dockerfile, ENV of old": lambda s: f"FROM x\nENV DB_PASSWORD {s}\n",
    "Dockerfile, ARG": lambda s: f"FROM x\nARG DB_PASSWORD={s}\n",
    "docker run": lambda s: f"docker run -e MYSQL_ROOT_PASSWORD={s} mysql:8\n",
    "docker login": lambda s: f"docker login -u ada -p {s} ghcr.io\n",
    "docker login by a pipe": lambda s: f"echo {s} | docker login -u ada --password-stdin\n",
    "docker's configuration": lambda s: json.dumps({"auths": {"ghcr.io": {"auth": base64_of(f"ada:{s}")}}}),
    "kubeconfig": lambda s: f"users:\n- name: admin\n  user:\n    username: admin\n    password: {s}\n",
    "a secret of a cluster": lambda s: f"kind: Secret\ndata:\n  password: {base64_of(s)}\n",
    "kubectl": lambda s: f"kubectl create secret generic db --from-literal=password={s}\n",
    "helm": lambda s: f"helm install db --set auth.password={s}\n",
    "Terraform": lambda s: f'resource "x" "y" {{\n  username = "ada"\n  password = "{s}"\n}}\n',
    "Terraform, a variable": lambda s: f'variable "db_password" {{\n  type = string\n  default = "{s}"\n}}\n',
    "GitHub Actions": lambda s: f"jobs:\n  build:\n    env:\n      DB_PASSWORD: {s}\n",
    "Ansible": lambda s: f"host1 ansible_user=ada ansible_password={s}\n",
    ".netrc": lambda s: f"machine api.example.com login ada password {s}\n",
    ".netrc in lines": lambda s: f"machine api.example.com\n  login ada\n  password {s}\n",
    ".pgpass": lambda s: f"db.internal:5432:shop:ada:{s}\n",
    ".npmrc, a password": lambda s: f"//registry.example.com/:_password={base64_of(s)}\n",
    ".npmrc, both": lambda s: f"//registry.example.com/:_auth={base64_of(f'ada:{s}')}\n",
    "connection string": lambda s: f"Server=db;Database=shop;User Id=ada;Password={s};Encrypt=true",
    "connection string, first": lambda s: f"Password={s};Server=db;User Id=ada",
    "libpq": lambda s: f"host=db port=5432 dbname=shop user=ada password={s}",
    "JDBC": lambda s: f"jdbc:postgresql://db:5432/shop?user=ada&password={quoted(s)}",
    "JDBC, SQL Server": lambda s: f"jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password={s};",
    "JDBC, Oracle": lambda s: f"jdbc:oracle:thin:scott/{quoted(s)}@//db:1521/shop",
    "curl -u": lambda s: f"curl -u ada:{s} https://example.com/\n",
    "curl -sSu": lambda s: f"curl -sSu 'ada:{s}' https://example.com/\n",
    "curl --user": lambda s: f"curl --user ada:{s} https://example.com/\n",
    "mysql": lambda s: f"mysql -u root -p{s} shop\n",
    "mysqldump": lambda s: f"mysqldump -h db -uroot -p'{s}' shop > shop.sql\n",
    "sshpass": lambda s: f"sshpass -p '{s}' ssh ada@host\n",
    "mongosh": lambda s: f"mongosh --host db -u ada -p {s}\n",
    "redis-cli": lambda s: f"redis-cli -h db -a {s} ping\n",
    "ldapsearch": lambda s: f"ldapsearch -D cn=admin -w {s} -b dc=example\n",
    "smbclient": lambda s: f"smbclient //srv/share -U 'ada%{s}'\n",
    "HTTPie": lambda s: f"http -a ada:{s} https://example.com/\n",
    "mount": lambda s: f"mount -t cifs //srv/x /mnt -o username=ada,password={s}\n",
    "basic authorization": lambda s: f"Authorization: Basic {base64_of(f'ada:{s}')}\n",
    "basic authorization of a proxy": lambda s: f"Proxy-Authorization: Basic {base64_of(f'ada:{s}')}\n",
    "basic authorization in JSON": lambda s: json.dumps({"headers": {"Authorization": f"Basic {base64_of('a:' + s)}"}}),
    "SQL": lambda s: f"ALTER USER ada WITH PASSWORD '{s}';\n",
    "Python": lambda s: f"connect(user='ada', password='{s}')\n",
    "JavaScript": lambda s: f'const config = {{ user: "ada", password: "{s}" }};\n',
    "a code fence": lambda s: f"```sh\nexport DB_PASSWORD={s}\n```\n",
    "a code fence of JSON": lambda s: f"```json\n{json.dumps({'password': s})}\n```\n",
    "a row of a table": lambda s: f"| password | {s} |\n",
    "a column of a table": lambda s: f"| host | password |\n|---|---|\n| db1 | {s} |\n",
    "a column of CSV": lambda s: f"host,user,password\ndb1,ada,{s}\n",
    "bold": lambda s: f"**Password:** {s}\n",
    "a list": lambda s: f"- user: ada\n- password: `{s}`\n",
    "a line of its own": lambda s: f"Password:\n{s}\n",
    "a heading": lambda s: f"## Password\n\n`{s}`\n",
    "an arrow": lambda s: f"password \u2192 {s}\n",
    "wpa_supplicant": lambda s: f'network={{\n  ssid="Home"\n  psk="{s}"\n}}\n',
}
# HTTP headers, which contain tokens.
HEADERS: dict[str, Carrier] = {
    "bearer": lambda s: f"Authorization: Bearer {s}\r\n",
    "token": lambda s: f"Authorization: token {s}\r\n",
    "raw": lambda s: f"authorization: {s}\r\n",
    "X-Api-Key": lambda s: f"X-Api-Key: {s}\r\n",
    "X-Auth-Token": lambda s: f"GET / HTTP/1.1\r\nHost: example.com\r\nX-Auth-Token: {s}\r\n\r\n",
    "PRIVATE-TOKEN": lambda s: f"PRIVATE-TOKEN: {s}\r\n",
    "curl": lambda s: f'curl -H "Authorization: Bearer {s}" https://example.com/\n',
    "curl, X-Api-Key": lambda s: f"curl --header 'x-api-key: {s}' https://example.com/\n",
    "Python": lambda s: f'headers = {{"Authorization": f"Bearer {s}"}}\n',
    "nginx": lambda s: f'proxy_set_header Authorization "Bearer {s}";\n',
    "cookie": lambda s: f"Cookie: session_token={s}; theme=dark\r\n",
}
