"""A value that another field of the memory names a credential is refused, masked and audited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepmum.core.errors import SecretFound
from keepmum.service import MemoryService
from keepmum.workspace.allowlist import Allowed, Allowlist, AllowlistScanner

PASSWORD = "Sommer" + "2024!"
PHRASE = "tiger copper lantern ribbon"


def refusal_of(service: MemoryService, text: str, **fields: Any) -> SecretFound:
    with pytest.raises(SecretFound) as refusal:
        service.remember(text, **fields)
    assert PASSWORD not in str(refusal.value)
    assert service.recall(None) == []
    return refusal.value


@pytest.mark.parametrize("secret", [PASSWORD, PHRASE, "4821"])
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"title": "DB root password"}, id="title"),
        pytest.param({"key": "db.password"}, id="key"),
        pytest.param({"tags": ["password"]}, id="tags"),
        pytest.param({"why": "the new root password, since the old one leaked"}, id="why"),
        pytest.param({"source": "root password of staging"}, id="source"),
    ],
)
def test_a_value_that_a_field_names_is_refused(service: MemoryService, fields: dict[str, Any], secret: str) -> None:
    assert "text" in {place[0] for place in refusal_of(service, secret, **fields).places}


def test_a_refusal_names_the_place_in_data(service: MemoryService) -> None:
    data = {"rows": [["user", "password"], ["bob", PHRASE]]}  # which nothing but its column makes a secret
    assert ("data.rows[1][1]", "secret.password", 1) in refusal_of(service, "logins", data=data).places


def test_a_name_in_data_that_may_be_a_secret_is_not_shown(service: MemoryService) -> None:
    refusal = refusal_of(service, "logins", data={"password": {f"x-{PASSWORD}": PHRASE}})
    assert all(PASSWORD not in field for field, _, _ in refusal.places)


@pytest.mark.parametrize(
    "text",
    ["in 1Password under Infra", "see the vault path secret/data/db", "${DB_PASSWORD}", "must have 12 characters"],
)
def test_where_a_credential_is_kept_can_be_said(service: MemoryService, text: str) -> None:
    assert service.remember(text, key="db.password", title="DB root password", tags=["password"]).action == "created"


def test_a_new_text_under_an_old_title_is_refused(service: MemoryService) -> None:
    service.remember("in 1Password", key="db", title="DB root password")
    with pytest.raises(SecretFound):
        service.remember(PHRASE, key="db")
    assert service.find("db").text == "in 1Password"


def test_a_new_text_of_one_memory_is_refused(service: MemoryService) -> None:
    memory = service.remember("in 1Password", key="db.password").memory
    with pytest.raises(SecretFound):
        service.revise(memory.id, PHRASE)


def test_a_new_title_over_an_old_value_is_refused(service: MemoryService) -> None:
    memory = service.remember(PHRASE, title="Tent colours").memory
    with pytest.raises(SecretFound):
        service.revise(memory.id, PHRASE, title="DB root password")
    with pytest.raises(SecretFound):
        service.remember(PHRASE, tags=["password"])


def test_a_new_memory_that_takes_over_a_key_is_refused(service: MemoryService) -> None:
    old = service.remember("in 1Password", key="db.password").memory
    with pytest.raises(SecretFound):
        service.remember(PHRASE, supersedes=old.id)


def test_an_import_is_refused(service: MemoryService) -> None:
    values: dict[str, Any] = {
        "id": "mem_" + "0" * 26,
        "text": PHRASE,
        "title": "DB root password",
        "created_at": 1,
        "updated_at": 1,
    }
    with pytest.raises(SecretFound):
        service.import_memory(values)


def planted(service: MemoryService, text: str, **fields: Any) -> str:
    """A memory as an older version stored it."""
    memory = service.remember("an ordinary value", **fields).memory
    database: Any = service.store._database._connection  # type: ignore[attr-defined]
    database.execute("UPDATE memories SET text = ? WHERE text = 'an ordinary value'", (text,))
    return memory.id


@pytest.mark.parametrize("secret", [PASSWORD, PHRASE, "4821", json.dumps({"value": "caf\u00e9-" + PASSWORD})])
def test_a_stored_value_is_masked_and_audited(service: MemoryService, secret: str) -> None:
    name = planted(service, secret, title="DB root password")
    (shown,) = service.load([name])
    assert not any(word in shown.text for word in (PASSWORD, PHRASE, "4821"))
    report = service.audit()
    assert {place.memory for place in report.places} == {name}
    service.cleanse(report, purge=False)
    assert service.audit().places == []


def test_a_value_can_be_allowed(keepmum_home: Path) -> None:
    scan = AllowlistScanner(str(keepmum_home))
    record = {"title": "DB root password", "text": PHRASE}
    ((_, _, finding),) = scan.related(record)
    Allowlist(str(keepmum_home)).add(Allowed(finding.fingerprint, "a colour", "2026-11-22"))
    assert scan.related(record) == []
