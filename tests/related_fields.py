"""Generated records in which one field names a credential and another holds it, and their honest twins.

Templates are in two halves: the rules were made with `KNOWN`; `UNSEEN` was written afterwards and judges.
"""

# ruff: noqa: E501 - rows of tables

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["HALVES", "KNOWN", "UNSEEN", "VALUES", "Templates", "honest", "leaks", "strings"]

Make = Callable[[random.Random], str]
Carrier = Callable[[str, str], dict[str, Any]]

ALNUM = string.ascii_letters + string.digits
_WORDS = (
    "tiger copper lantern rabbit window silver marble thunder velvet orchid pepper canyon ribbon walnut falcon "
    "meadow puzzle anchor breeze cactus dragon ember fossil garnet harbor island jungle kettle lemon magnet nectar "
    "olive"
).split()
_WALLET = (
    "abandon ability absent achieve acid across adapt afford agree airport album alert amount ancient apple arena "
    "armor bamboo basket beach blanket bounce bridge budget cabin candy carbon casual cement cherry citizen cloud "
    "cradle"
).split()


def _pick(rng: random.Random, letters: str, size: int) -> str:
    return "".join(rng.choices(letters, k=size))


def _words(rng: random.Random, count: int, joint: str) -> str:
    return joint.join(rng.sample(_WORDS, count))


VALUES: Mapping[str, Make] = {
    "word, year, sign": lambda c: c.choice(_WORDS).title() + str(c.randint(1950, 2029)) + c.choice("!?#$*"),
    "two words and digits": lambda c: _words(c, 2, c.choice(("", " ", "-"))) + c.choice(("", " ")) + str(c.randint(10, 9999)),
    "passphrase with spaces": lambda c: _words(c, c.randint(3, 6), " "),
    "passphrase with hyphens": lambda c: _words(c, c.randint(3, 6), "-"),
    "hexadecimal": lambda c: _pick(c, "0123456789abcdef", c.choice((32, 40, 64))),
    "UUID": lambda c: str(uuid.UUID(int=c.getrandbits(128), version=4)),
    "16 letters and digits": lambda c: _pick(c, ALNUM, 16),
    "20 with signs": lambda c: _pick(c, ALNUM + "!#$%&*+-=?@^_", 20),
    "PIN": lambda c: _pick(c, string.digits, c.randint(4, 8)),
    "recovery codes": lambda c: c.choice((" ", "\n", ", ")).join(
        _pick(c, string.ascii_lowercase + string.digits, 4) + "-" + _pick(c, string.digits, 4) for _ in range(c.randint(1, 5))
    ),
    "base32 seed": lambda c: _pick(c, string.ascii_uppercase + "234567", c.choice((16, 32))),
    "base64 key": lambda c: base64.b64encode(c.randbytes(c.choice((16, 32, 48)))).decode(),
    "short token": lambda c: _pick(c, string.ascii_lowercase + string.digits, c.randint(20, 24)),
    "word and number": lambda c: c.choice(_WORDS).title() + str(c.randint(10, 99999)),
    "seed phrase": lambda c: " ".join(c.choices(_WALLET, k=c.choice((12, 24)))),
    "words joined like a name": lambda c: c.choice("._-").join((_words(c, 1, ""), c.choice(_WORDS).title())) + str(c.randint(1, 999)),
    "title, word and year": lambda c: f"{c.choice(_WORDS).title()}.{c.choice(_WORDS)}.{c.randint(1950, 2029)}",
    "small words joined": lambda c: _words(c, 2, c.choice(("_", ".", "+"))) + str(c.randint(10, 99)),
    "leet word": lambda c: c.choice(_WORDS).replace("a", "4").replace("e", "3").title() + c.choice("!$#") + _pick(c, string.digits, 2),
}  # fmt: skip


class Templates(NamedTuple):
    """What leaks and honest records are made of."""

    names: tuple[str, ...]  # titles and keys that name a credential
    sentences: tuple[str, ...]  # that announce one
    carriers: Mapping[str, Carrier]  # records, from a name and a value
    remarks: tuple[str, ...]  # what stands under such a name in an honest record
    topics: tuple[tuple[str, str], ...]  # names that only look like one, and honest values


KNOWN = Templates(
    names=(
        "DB root password", "db.password", "staging/root-password", "prodDbPassword", "WIFI_PASSPHRASE", "API key of the mailer",
        "Deploy token", "ci-deploy-token", "The new DB password below", "Passwort vom Staging-Server", "mot de passe root",
        "contraseña del router", "пароль администратора", "数据库密码", "Office alarm PIN", "2FA recovery codes", "TOTP secret",
        "credentials for bob", "stripe.secret_key", "Grafana admin login password",
    ),
    sentences=(
        "The root password of staging", "the new root password, since the old one leaked", "New API key for the mailer below",
        "Das neue Kennwort vom Server", "This is the passphrase of the backup",
    ),
    carriers={
        "title": lambda name, value: {"title": name, "text": value},
        "key": lambda name, value: {"key": name, "text": value},
        "tags": lambda _, value: {"tags": ["infra", "password"], "text": value},
        "why": lambda name, value: {"text": value, "why": name},
        "source": lambda name, value: {"text": value, "source": name},
        "data under a text": lambda name, value: {"text": name, "data": {"value": value}},
        "path": lambda _, value: {"text": "Staging", "data": {"password": {"value": value}}},
        "path of an owner": lambda _, value: {"text": "Staging", "data": {"credentials": {"bob": value}}},
        "rows": lambda _, value: {"text": "Logins", "data": {"rows": [["user", "password"], ["bob", value]]}},
        "named value": lambda name, value: {"text": "Staging", "data": [{"name": name, "value": value}]},
        "JSON in text": lambda _, value: {"text": '{"credentials": {"bob": ["' + value.replace("\n", "\\n") + '"]}}'},
        "observations": lambda name, value: {"entities": [{"name": name, "entityType": "note", "observations": [value]}]},
        "messages": lambda name, value: {
            "messages": [{"role": "user", "content": f"What is the {name}?"}, {"role": "assistant", "content": value}]
        },
        "metadata": lambda name, value: {"content": value, "metadata": {"topic": name}},
        "remark below": lambda name, value: {"title": name, "text": f"{value}\nchanged on Monday by ops"},
        "user above": lambda name, value: {"key": name, "text": f"admin\n{value}"},
        "camelCase": lambda _, value: {"key": "vpnBackupCode", "text": f"set to {value}"},
        "camelCase with an acronym": lambda _, value: {"text": "x", "data": {"mysql2faRecoveryCode": f"now {value}"}},
        "context": lambda name, value: {"key": "misc", "value": value, "context": f"{name}, since Monday"},
        "it is": lambda name, value: {"title": name, "text": f"It is {value}"},
    },
    remarks=(
        "in 1Password under Infra", "rotated every 90 days by vault", "see the vault path secret/data/db", "${DB_PASSWORD}",
        "must have 12 characters", "hashed with argon2id", "ask the platform team", "1Password", "op://infra/db/password",
        "INFRA-{number}", "same as staging", "kv/prod/db", "DB_PASSWORD", "managed by terraform", "never expires",
        "expires 2025-01-31", "Fixed in commit {sha}", "The request {uuid} failed with 401", "stored in Bitwarden, item {number}",
        "process.env.DB_PASSWORD", "platform-team@example.com", "https://vault.example.com/ui/{number}",
    ),
    topics=(
        ("Token budget", "4096"), ("token.limit", "2000"), ("password.min_length", "12"), ("session.timeout", "3600"),
        ("password reset flow", "uses a link by mail that is valid for {number} minutes"), ("Request id", "{uuid}"),
        ("Last good commit", "{sha}"), ("max_tokens", "{number}"), ("Tokens per minute", "{number}"),
        ("primary key of orders", "{uuid}"), ("token_url", "https://auth.example.com/oauth/token"),
        ("The token.limit for jenkins", "200000"), ("token_budget_of_grafana", "4096"), ("billing token.limit", "{number}"),
        ("password columns", "{number}"), ("PIN entry shortcut", "{number}"), ("The monkey of the keyboard", "{sha}"),
        ("wifi login and auth middleware commit", "admin\n{sha}"), ("Which commit fixed the login bug", "{sha}"),
        ("auth library", "passlib 1.7.4"), ("tokenizer version", "{sha}"), ("pinned authors", "{number}"),
    ),
)  # fmt: skip

UNSEEN = Templates(
    names=(
        "Jenkins admin pw", "router.admin.pass", "svc/redis/auth-token", "smtpPassword", "BACKUP_ENCRYPTION_PASSPHRASE",
        "Password (prod replica)", "bob's VPN password", "secret for webhook signing", "sudo password on build-7",
        "Kennwort für das NAS", "wachtwoord van de printer", "senha do banco", "hasło do panelu", "root のパスワード",
        "access key - object storage", "signing-secret/payments", "SIM PIN", "door code of the lab", "seed phrase (cold wallet)",
        "telegram bot token",
    ),
    sentences=(
        "Rotated the admin password today, here is the current one", "customer gave us a new api key",
        "we agreed on this passphrase for the archive", "le mot de passe du serveur de test", "use this token for the bot from now on",
    ),
    carriers={
        "title before the rest": lambda name, value: {"text": value, "importance": 1, "title": name},
        "key with a common title": lambda name, value: {"key": name, "title": "Note", "text": value},
        "single tag": lambda _, value: {"text": value, "tags": ["credentials"]},
        "reason": lambda name, value: {"text": f"{value}\n", "why": f"{name}, do not lose it"},
        "value in the title": lambda name, value: {"title": value.replace("\n", " "), "text": name},
        "deep path": lambda _, value: {"text": "x", "data": {"env": {"secrets": {"prod": {"main": value}}}}},
        "list under a name": lambda _, value: {"text": "x", "data": {"passwords": ["-", value]}},
        "columns": lambda _, value: {"text": "x", "data": {"columns": ["host", "passwd"], "rows": [["db1", value], ["db2", "?"]]}},
        "field and content": lambda name, value: {"text": "x", "data": {"fields": [{"label": name, "content": value}]}},
        "JSON twice": lambda name, value: {"text": "x", "data": '{"label": "' + name + '", "value": "' + value.replace("\n", "\\n") + '"}'},
        "add observations": lambda name, value: {"observations": [{"entityName": name, "contents": ["set in May", value]}]},
        "relation": lambda name, value: {"relations": [{"from": "staging", "relationType": f"has {name}", "to": value}]},
        "chat, name last": lambda name, value: {"messages": [{"role": "user", "content": value}, {"role": "user", "content": f"that is the {name}"}]},
        "tags next to content": lambda _, value: {"content": value, "metadata": {"tags": ["password", "staging"]}},
        "user, value, remark": lambda name, value: {"key": name, "content": f"netadmin\n{value}\nsince the move to the new office"},
        "remark above": lambda name, value: {"title": name, "text": f"valid from June:\n\n{value}"},
        "camelCase PIN": lambda _, value: {"text": "x", "data": {"homeAssistantPIN": {"value": f"was changed to {value}"}}},
        "camelCase key": lambda _, value: {"title": "prodVaultUnlockCode", "text": f"currently {value}"},
        "data field": lambda name, value: {"text": f"The {name} is in the data field", "data": {"value": value}},
        "the value is": lambda name, value: {"key": name, "text": f"the value is: {value}"},
        "value in quotes": lambda name, value: {"title": name, "text": f"`{value}`"},
    },
    remarks=(
        "lives in the team vault, entry 'pg main'", "pulled from SSM /prod/db at start", "at least 16 chars, one symbol",
        "bcrypt, cost 12", "unknown, Bob has it", "see runbook section 4.2", "injected by the operator as PGPASSWORD",
        "rotation is automatic since release 2.14", "KeePassXC, group Servers", "not needed since we use IAM auth",
        "changed on 2026-03-01 after the audit", "blocked by OPS-{number}", "read from /run/secrets/pg", "$PGPASSWORD",
        "config/credentials.yml.enc", "{{ vault.db.password }}", "gcloud secrets versions access latest", "revert of {sha}",
        "trace {uuid} shows the 403", "doppler run --config prd", "nobody remembers it; reset it in the console", "n/a",
        "disabled", "liegt im Tresor des Teams", "AWS Secrets Manager", "via SSO", "expired", "k8s secret pg-main, key pw",
    ),
    topics=(
        ("Context token usage", "{number}"), ("rate.token_bucket.size", "500"), ("passwordPolicy.maxAge", "90"),
        ("How password hashing works", "argon2id with 64 MiB and 3 passes"), ("auth.token.ttl", "900"),
        ("csrf token name", "X-CSRF-Token"), ("Design tokens", "blue-500"), ("Password strength meter", "zxcvbn 4.4.2"),
        ("token rotation issue", "#{number}"), ("Key decisions", "Use Postgres 16"), ("public key fingerprint", "SHA256:{sha}"),
        ("Secret santa", "Friday at 16:00"), ("API key naming", "svc-env-purpose"), ("monkey patch", "gevent 24.2.1"),
        ("token endpoint", "POST /v2/oauth"), ("Build of the password page", "{sha}"),
        ("access-token.threshold in the mobile app", "{number}"), ("client_secret_expiries_in_jenkins", "{number}"),
        ("Trace of the failing token exchange", "{uuid}"), ("branch for the credentials", "feature/creds-refactor2"),
        ("How the login works", "AuthGuard2 asks all-MiniLM-L6-v2 and reports nDCG@10"), ("OAuth library", "authlib 1.3.0"),
        ("auth.token.leeway", "{number}"), ("logins per day", "{number}"), ("number of API keys", "{number}"),
        ("compassion of the secretary", "{sha}"), ("keynote passenger", "{number}"), ("login page package", "{uuid}"),
    ),
)  # fmt: skip

HALVES = {"known": KNOWN, "unseen": UNSEEN}


def leaks(templates: Templates, kind: str, rounds: int, seed: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Carrier, record and value: each carrier with `rounds` names and values of one kind."""
    rng = random.Random(f"{seed} {kind}")
    for name, carrier in templates.carriers.items():
        for _ in range(rounds):
            label = (
                rng.choice(templates.sentences)
                if name in {"why", "reason", "data under a text"}
                else rng.choice(templates.names)
            )
            value = VALUES[kind](rng)
            yield name, carrier(label, value), value


def honest(templates: Templates, rounds: int, seed: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Carrier and record: remarks under the names of credentials, and names that only look like one."""
    rng = random.Random(seed)
    for name, carrier in templates.carriers.items():
        for _ in range(rounds):
            remark = rng.choice(templates.remarks)
            yield name, carrier(rng.choice(templates.names), _filled(rng, remark))
    for topic, value in templates.topics:
        for name in ("title", "key") if " " in topic else ("title", "key", "data"):
            filled = _filled(rng, value)
            if name == "data":
                yield name, {"text": "Notes", "data": {topic: filled}}
            else:
                yield name, {name: topic, "text": filled}


def _filled(rng: random.Random, text: str) -> str:
    for mark, value in (
        ("{number}", str(rng.randint(100, 9999))),
        ("{sha}", _pick(rng, "0123456789abcdef", 40)),
        ("{uuid}", str(uuid.UUID(int=rng.getrandbits(128), version=4))),
    ):
        text = text.replace(mark, value)
    return text


def strings(value: object, name: str = "") -> Iterator[str]:
    """Every string of a record after the name of its field, as the scanner of single texts reads it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, name)
    else:
        yield f"{name}: {value}" if name != "key" else str(value)
