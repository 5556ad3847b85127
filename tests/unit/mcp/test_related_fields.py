"""Every dialect refuses a value that another argument of the same call names a credential."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialect_calls import opened
from keepmum.core.errors import SecretFound

VALUES = (
    "Sommer" + "2024!",
    "tiger copper lantern ribbon",
    "d3b07384d113edec49eaa6238ad5ff00",
    "4821",
    "Sunflower42",
    "lantern.Rabbit" + "12",
)
NAME = "staging root password"
CALLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "keepmum, title": ("keepmum", "remember", {"title": NAME, "text": "{}"}),
    "keepmum, key": ("keepmum", "remember", {"key": "staging/root-password", "text": "{}"}),
    "keepmum, tags": ("keepmum", "remember", {"tags": ["password"], "text": "{}"}),
    "keepmum, why": ("keepmum", "remember", {"why": "the new root password", "text": "{}"}),
    "keepmum, data": ("keepmum", "remember", {"text": "Logins", "data": {"credentials": {"bob": "{}"}}}),
    "shared, title": ("shared", "store_memory", {"title": NAME, "text": "{}"}),
    "token-saver, key": ("token-saver", "write_memory", {"key": "prod.db.password", "value": "{}"}),
    "token-saver, value": ("token-saver", "write_memory", {"key": "prod", "value": {"password": {"now": "{}"}}}),
    "hackathon, key": ("hackathon", "remember", {"key": "staging/root-password", "value": "{}"}),
    "hackathon, context of another key": (
        "hackathon",
        "remember",
        {"key": "misc", "value": "{}", "context": "Our router pw since Monday"},
    ),
    "keepmum, two lines": ("keepmum", "remember", {"title": NAME, "text": "admin\n{}"}),
    "token-saver, camelCase": ("token-saver", "write_memory", {"key": "vpnBackupCode", "value": "set to {}"}),
    "hackathon, context": ("hackathon", "remember", {"key": "staging", "value": "{}", "context": NAME}),
    "koi, tags": ("koi", "remember", {"tags": ["password"], "content": "{}"}),
    "per-user, context": (
        "per-user",
        "MemoryStore",
        {"userId": "ada", "category": "fact", "content": "{}", "context": "her wifi passphrase, from chat"},
    ),
    "per-user, tags": (
        "per-user",
        "MemoryStore",
        {"userId": "ada", "category": "fact", "tags": ["password"], "content": "{}"},
    ),
}


def filled(value: Any, secret: str) -> Any:
    if isinstance(value, dict):
        return {name: filled(item, secret) for name, item in value.items()}
    return value.replace("{}", secret) if isinstance(value, str) else value


@pytest.mark.parametrize("secret", VALUES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_named_value_is_refused(
    project: Path,  # noqa: ARG001 - sets the working folder
    call: tuple[str, str, dict[str, Any]],
    secret: str,
) -> None:
    dialect, tool, arguments = call
    with opened(dialect) as caller, pytest.raises(SecretFound) as refusal:
        caller.text(tool, **filled(arguments, secret))
    shown = str(refusal.value)
    for fingerprint in refusal.value.fingerprints:  # random digits, which may be those of the secret
        shown = shown.replace(fingerprint, "")
    assert secret not in shown
