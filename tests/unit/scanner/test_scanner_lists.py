"""Texts that must always pass, and texts that must always be refused."""

import base64
import json
import random
import string

import pytest

from keepmum_scanner import scan

RNG = random.Random(20261121)
SHA1 = f"{RNG.getrandbits(160):040x}"
SHA256 = f"{RNG.getrandbits(256):064x}"
SSH = "AAAAC3NzaC1lZDI1NTE5AAAAI" + "".join(RNG.choices(string.ascii_letters + string.digits + "+/", k=43))
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
INTEGRITY = base64.b64encode(bytes(RNG.getrandbits(8) for _ in range(64))).decode()

NEVER = {
    "SHA-1": f"fixed in {SHA1}",
    "SHA-1, cut": f"fixed in {SHA1[:7]} and {SHA1[:12]}",
    "SHA-256": f"the image is {SHA256}",
    "SHA-256 with its name": f"pin sha256:{SHA256}",
    "UUID": "trace 2ec8128b-ee80-4222-b58a-570990994454",
    "ULID": "memory 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "link of a document, on a host": "postgresql://user" + ":password@db.example.com/shop",
    "link of a document, on this machine": "postgresql://shop" + ":password@localhost/shop",
    "default of a broker": "amqp://guest" + ":guest@localhost:5672//",
    "ObjectId": "_id 507f1f77bcf86cd799439011",
    "lock file integrity": f'"integrity": "sha512-{INTEGRITY}"',
    "go.sum": f"golang.org/x/net v0.1.0 h1:{INTEGRITY[:43]}=",
    "issues": "fixes #2763/#2774",
    "hyphenated words": "a task-while-still-running, risk-based-approach",
    "environment in JavaScript": "const token = process.env.GITHUB_TOKEN",
    "environment in Python": 'api_key = os.environ["OPENAI_API_KEY"]',
    "variable": "password: ${DB_PASSWORD}",
    "template": "token: {{ vault.token }}",
    "ssh public key": f"ssh-ed25519 {SSH} me@laptop",
    "git permalink": f"https://github.com/python/cpython/blob/{SHA1}/Lib/ast.py#L12",
    "MIME boundary": "Content-Type: multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
    "camelCase": "call processTokenRefreshEventForCurrentSession and getUserAccessTokenProviderFactory",
    "snake_case": "see test_that_no_token_is_ever_stored_in_the_session_state",
    "CSS colours": "--accent: #ff8800aa; color: #1a2b3c; background: rgba(12,34,56,.5)",
    "data URI": f"![](data:image/png;base64,{PNG})",
    "German": "Das Passwort wird beim ersten Start abgefragt und danach im Schluesselbund des Systems abgelegt.",
    "German with umlauts": "Der Schlüssel für die Übertragung gehört in die Schlüsselverwaltung, nicht in die Notiz.",
    "Chinese": "令牌由服务器签发\uff0c密码保存在系统钥匙串中\uff0c不要写入笔记。",
    "Japanese": "トークンはサーバーが発行し、パスワードは保存しません。",
    "package with version": "pip install keepmum==0.1.0 keepmum_scanner-0.1.0-py3-none-any.whl",
    "model": "use claude-sonnet-4-5-20250929 or mlc-chat-Llama-2-13b-chat-hf-q4f16_1",
    "table with a cut digest": "CREATE TABLE roadside_attractions_new_4033a60276b9",
    "link of a document": "DATABASE_URL=postgresql://user" + ":password@localhost:5432/shop",
    "advisory": "see GHSA-4gg8-gxpx-9rph",
}


@pytest.mark.parametrize("text", NEVER.values(), ids=NEVER)
def test_never_refused(text: str) -> None:
    assert scan(text) == []


GITHUB = "gh" + "p_" + "".join(RNG.choices(string.ascii_letters + string.digits, k=36))
AWS_ID = "AK" + "IA" + "".join(RNG.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))
AWS_KEY = "".join(RNG.choices(string.ascii_letters + string.digits + "/+", k=40))
PEM = "-----BEGIN {}PRIVATE KEY-----\n" + AWS_KEY + "\n-----END {}PRIVATE KEY-----"

ALWAYS = {
    "link, a word that is no word for a password": "redis://app" + ":sommerregen@cache:6379/0",
    **{
        f"link, {scheme}": f"{scheme}://app:" + "Sommer24@db.internal/x"
        for scheme in ("postgres", "mysql", "mongodb+srv", "redis", "amqps", "https", "ftp", "ldap", "x-own")
    },
    **{f"PEM, {kind or 'plain'}": PEM.format(kind, kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")},
    "AWS key id": AWS_ID,
    "AWS secret key": f"aws_secret_access_key = {AWS_KEY}",
    "AWS, two parts": f"{AWS_ID} {AWS_KEY}",
    "zero-width": "push with " + "\u200b".join(GITHUB),
    "full width": "push with " + "".join(chr(ord(letter) + 0xFEE0) for letter in GITHUB),
    "percent": "push with " + "".join(f"%{ord(letter):02x}" for letter in GITHUB),
    "hex": "push with " + GITHUB.encode().hex(),
    "base64": "push with " + base64.b64encode(GITHUB.encode()).decode(),
    "base64, urlsafe": "push with " + base64.urlsafe_b64encode(GITHUB.encode()).decode().rstrip("="),
    "JSON": json.dumps({"env": {"GITHUB_TOKEN": GITHUB}}),
    "JSON in JSON": json.dumps({"note": json.dumps({"env": {"TOKEN": GITHUB}})}),
    "YAML": f"env:\n  token: {GITHUB}\n",
    "TOML": f'[auth]\ntoken = "{GITHUB}"\n',
    "shell export": f"export GITHUB_TOKEN={GITHUB}",
    "HTTP header": f"Authorization: Bearer {GITHUB}",
    "Markdown table": f"| host | token |\n|---|---|\n| a | {GITHUB} |\n",
    "code fence": f"```sh\ngit push https://x@github.com {GITHUB}\n```",
}


@pytest.mark.parametrize("text", ALWAYS.values(), ids=ALWAYS)
def test_always_refused(text: str) -> None:
    assert scan(text) != []


def test_each_secret_of_a_dump_is_found() -> None:
    keys = ["gh" + "p_" + "".join(RNG.choices(string.ascii_letters + string.digits, k=36)) for _ in range(400)]
    text = "\n".join(keys)
    spans = {(found.start, found.end) for found in scan(text)}
    assert spans == {(index * 41, index * 41 + 40) for index in range(400)}


def test_each_unnamed_key_of_a_dump_is_found() -> None:
    keys = ["".join(RNG.choices(string.ascii_letters + string.digits, k=32)) + "1a1" for _ in range(400)]
    assert len(scan("\n".join(keys))) == 400
