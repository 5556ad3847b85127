from __future__ import annotations

import hmac
import itertools
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keepmum.core.errors import InvalidInput, NotFound, SecretFound, SettingsError
from keepmum.server.people import keys
from keepmum.server.people.administration import Administration
from keepmum.server.people.failures import Failures
from keepmum.server.people.first import secret_of
from keepmum.server.people.keys import KeyRing, make_key, principal_of
from keepmum.server.people.roles import Principal, narrowed
from keepmum.server.people.secret import make_secret, read_secret, secret_file
from keepmum.service.team import Key, Person
from keepmum.stores.sqlite import SqliteStore
from keepmum.stores.sqlite.team_records import SqliteTeamRecords
from keepmum_scanner import scan

SECRET = b"of the server" * 3


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Site:
    """A server's people with one key ring."""

    def __init__(self, records: SqliteTeamRecords) -> None:
        self.records = records
        self.clock = Clock()
        self.ring = KeyRing(records, SECRET, self.clock)
        self.admin = Administration(records, SECRET, scan, "root", self.ring.forget)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    store = SqliteStore(str(tmp_path / "memory.db"))
    yield Site(SqliteTeamRecords(store.database))
    store.close()


def _ada(site: Site, **fields: Any) -> str:
    site.admin.add("ada", {"alpha": "writer", "beta": "reader"})
    return site.admin.make_key("ada", "laptop", **fields).text


# -- roles


def test_a_key_never_gives_more_than_its_person_has() -> None:
    roles = {"alpha": "admin", "beta": "reader"}
    assert narrowed(roles, "writer", ["alpha", "beta", "gamma"]) == {"alpha": "writer", "beta": "reader"}  # type: ignore[arg-type]


def test_a_role_in_every_project_counts_in_each() -> None:
    assert narrowed({"*": "admin"}, None, ["alpha"]) == {"alpha": "admin"}
    assert narrowed({"*": "admin"}, "reader", None) == {"*": "reader"}


def test_a_greater_role_in_one_project_counts_there() -> None:
    ada = Principal("p", "ada", "k", {"*": "reader", "alpha": "curator"})
    assert (ada.role_in("alpha"), ada.role_in("beta"), ada.role_in(None)) == ("curator", "reader", "reader")


# -- keys


def test_a_key_is_found_by_the_scanner() -> None:
    assert [found.rule for found in scan(f"use {make_key().text} here")] == ["keepmum.key"]


def test_a_key_says_who_sends_it(site: Site) -> None:
    found = site.ring.find(_ada(site, agent="codex"))
    assert found is not None
    assert (found.name, found.agent, found.roles) == ("ada", "codex", {"alpha": "writer", "beta": "reader"})


def test_the_key_itself_is_not_stored(site: Site) -> None:
    text = _ada(site)
    assert text not in repr(site.records.keys())


@pytest.mark.parametrize("change", ["", "first", "last", "id", "case", "long", "short", "other"])
def test_another_text_is_not_a_key(site: Site, change: str) -> None:
    text = _ada(site)
    others = {
        "": "", "first": "x" + text[1:], "last": text[:-1] + ("A" if text[-1] != "A" else "B"),
        "id": text[:4] + "aaaaaaaa" + text[12:], "case": text.upper(), "long": text + "A", "short": text[:-1],
        "other": make_key().text,
    }  # fmt: skip
    assert site.ring.find(others[change]) is None
    assert site.ring.find("kmt_é" + text[5:]) is None
    assert site.ring.find("\ud800") is None


def test_another_secret_knows_no_key(site: Site) -> None:
    assert KeyRing(site.records, b"another secret of the server").find(_ada(site)) is None


def test_an_unknown_id_costs_one_hash_and_one_comparison(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    compared, original = [], hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(len(one) == len(other))
        return original(one, other)

    text = _ada(site)
    monkeypatch.setattr(hmac, "compare_digest", compare)
    site.ring.find(text)
    site.ring.find(make_key().text)
    assert compared == [True, True]


def test_only_the_key_ring_compares_keys() -> None:
    """A comparison elsewhere might take a time that depends on the key."""
    server = Path(keys.__file__).parents[1]
    comparing = {path.name for path in server.rglob("*.py") if "digest_of(" in path.read_text(encoding="utf-8")}
    assert comparing <= {"keys.py", "api_keys.py", "administration.py", "first.py"}


def test_an_expired_key_does_not_count(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _ada(site, days=1)
    assert site.ring.find(text) is not None
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 86_400 * 10**9 + 1)
    assert site.ring.find(text) is None


def test_a_key_expires_in_a_year_unless_said_otherwise(site: Site) -> None:
    site.admin.add("ada", {"alpha": "reader"})
    year = site.admin.make_key("ada", "one").key
    never = site.admin.make_key("ada", "two", days=None).key
    assert year.expires_at == year.created_at + 365 * 86_400_000
    assert never.expires_at is None


def test_a_withdrawn_key_counts_here_no_more_at_once(site: Site) -> None:
    text = _ada(site)
    assert site.ring.find(text) is not None
    site.admin.withdraw_key(text[4:12])
    assert site.ring.find(text) is None


def test_a_withdrawn_key_counts_in_another_process_for_less_than_five_seconds(site: Site) -> None:
    text, clock = _ada(site), Clock()
    other = KeyRing(site.records, SECRET, clock)
    assert other.find(text) is not None
    site.admin.withdraw_key(text[4:12])
    clock.now = 4.99
    assert other.find(text) is None


def test_a_removed_persons_keys_do_not_count(site: Site) -> None:
    text = _ada(site)
    site.admin.remove("ada")
    assert site.ring.find(text) is None


def test_a_role_that_was_taken_away_does_not_count(site: Site) -> None:
    text = _ada(site)
    site.admin.set_role("ada", "alpha", None)
    found = site.ring.find(text)
    assert found is not None
    assert found.roles == {"beta": "reader"}


def test_a_key_without_any_role_is_none(site: Site) -> None:
    assert site.ring.find(_ada(site, projects=["gamma"])) is None


def test_a_rotated_key_overlaps_with_the_new_one(site: Site) -> None:
    old = _ada(site, role="reader", projects=["alpha"])
    new = site.admin.rotate_key(old[4:12], overlap=2)
    (before,) = (key for key in site.records.keys(new.key.person) if key.id == old[4:12])
    assert [principal and principal.roles for principal in map(site.ring.find, (old, new.text))] == [
        {"alpha": "reader"}
    ] * 2
    assert before.expires_at == new.key.created_at + 2 * 86_400_000


def test_a_rotation_without_overlap_ends_the_old_key(site: Site) -> None:
    old = _ada(site)
    site.admin.rotate_key(old[4:12], overlap=0)
    assert site.ring.find(old) is None
    with pytest.raises(NotFound):
        site.admin.withdraw_key("aaaaaaaa")


def test_a_holder_gets_no_key_that_is_valid_longer(site: Site) -> None:
    old = _ada(site, days=30)
    new = site.admin.renew_key(old[4:12])
    assert new.key.expires_at == new.key.created_at + 30 * 86_400_000
    again = site.admin.renew_key(old[4:12])
    assert (again.key.expires_at or 0) <= again.key.created_at + 8 * 86_400_000, "the old key ends after the overlap"


def test_a_holder_has_a_few_valid_keys_of_one_name(site: Site) -> None:
    text = _ada(site)
    for _ in range(3):
        text = site.admin.renew_key(text[4:12]).text
    with pytest.raises(InvalidInput, match="withdraw one"):
        site.admin.renew_key(text[4:12])
    site.admin.withdraw_key(text[4:12])
    with pytest.raises(NotFound):
        site.admin.renew_key(text[4:12])


def test_the_last_use_is_kept_to_the_hour(site: Site) -> None:
    site.ring.find(_ada(site))
    site.ring.save_uses()
    used = site.records.keys()[0].used_at
    assert used is not None
    assert used % 3_600_000 == 0
    assert 0 <= time.time_ns() // 1_000_000 - used < 3_600_000


# -- administration


@pytest.mark.parametrize("name", ["", " ada", "a\nb", "erased-3", "operator:root", "x" * 65, "<b>"])
def test_a_name_that_misleads_is_refused(site: Site, name: str) -> None:
    with pytest.raises(InvalidInput):
        site.admin.add(name, {})


def test_a_key_is_not_a_name(site: Site) -> None:
    with pytest.raises(SecretFound):
        site.admin.add(make_key().text, {})
    with pytest.raises(SecretFound):
        site.admin.add("ada", {make_key().text: "reader"})


def test_the_last_administrator_stays(site: Site) -> None:
    site.admin.add("root", {"*": "admin"})
    with pytest.raises(InvalidInput, match="no one else"):
        site.admin.remove("root")
    for role in ("writer", None):
        with pytest.raises(InvalidInput, match="no one else"):
            site.admin.set_role("root", "*", role)
    site.admin.add("second", {"*": "admin"})
    site.admin.remove("root")


def test_what_an_administrator_does_is_audited(site: Site) -> None:
    text = _ada(site)
    site.admin.set_role("ada", "alpha", "admin")
    site.admin.rotate_key(text[4:12])
    site.admin.withdraw_key(text[4:12])
    site.admin.remove("ada")
    site.admin.restore("ada")
    site.records.seal()
    done = [row.action for row in site.records.audit()]
    assert done == [
        "person-added", "key-made", "role-admin", "key-made", "key-rotated", "key-withdrawn", "person-removed",
        "key-withdrawn", "person-restored",
    ]  # fmt: skip


# -- restoring


def test_a_restored_person_has_the_roles_of_before_and_none_of_the_keys(site: Site) -> None:
    text = _ada(site)
    site.admin.remove("ada")
    assert [person.name for person in site.admin.removed()] == ["ada"]
    restored = site.admin.restore("ada")
    assert site.admin.people() == [restored]
    assert restored.roles == {"alpha": "writer", "beta": "reader"}
    assert site.admin.removed() == []
    assert site.ring.find(text) is None
    assert site.ring.find(site.admin.make_key("ada", "new").text) is not None


def test_nobody_is_restored_in_the_place_of_another(site: Site) -> None:
    first = site.admin.add("ada", {"alpha": "reader"})
    site.admin.remove("ada")
    second = site.admin.add("ada", {"beta": "reader"})
    with pytest.raises(InvalidInput, match="ada is taken"):
        site.admin.restore(first.id)
    site.admin.remove("ada")
    assert site.admin.restore(first.id).roles == {"alpha": "reader"}
    site.admin.remove("ada")
    assert site.admin.restore(second.id).roles == {"beta": "reader"}


def test_only_a_removed_person_whose_data_is_there_is_restored(site: Site) -> None:
    ada = site.admin.add("ada", {"alpha": "reader"})
    for name in ("ada", "bob", ""):
        with pytest.raises(NotFound, match="no removed person"):
            site.admin.restore(name)
    site.admin.remove("ada")
    site.records.erase_person(ada.id)
    for name in ("ada", ada.id, f"erased-{ada.id}"):
        with pytest.raises(NotFound, match="no removed person"):
            site.admin.restore(name)
    assert site.admin.removed() == []


# -- the secret


def test_the_secret_is_private_and_stays(tmp_path: Path) -> None:
    made = make_secret(str(tmp_path))
    assert make_secret(str(tmp_path)) == made == read_secret(str(tmp_path), {})
    assert stat.S_IMODE(os.stat(secret_file(str(tmp_path))).st_mode) == 0o600


def test_the_secret_may_be_in_a_variable_or_another_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("f" * 32 + "\n")
    variable, file = "KEEPMUM_SERVER_SECRET", "KEEPMUM_SERVER_SECRET_FILE"
    assert read_secret(str(tmp_path), {variable: "v" * 32}) == b"v" * 32
    assert read_secret(str(tmp_path), {file: str(tmp_path / "other")}) == b"f" * 32
    assert read_secret(str(tmp_path), {}) is None
    for wrong in ({variable: "short"}, {file: str(tmp_path / "missing")}):
        with pytest.raises(SettingsError):
            read_secret(str(tmp_path), wrong)


def test_another_secret_than_that_of_the_keys_is_reported(site: Site, tmp_path: Path) -> None:
    one = {"KEEPMUM_SERVER_SECRET": "1" * 32}
    assert secret_of(str(tmp_path), one, site.records) == b"1" * 32
    assert secret_of(str(tmp_path), one, site.records) == b"1" * 32
    with pytest.raises(SettingsError, match="not the secret under which the keys were made"):
        secret_of(str(tmp_path), {"KEEPMUM_SERVER_SECRET": "2" * 32}, site.records)


# -- guessing


def test_a_source_may_fail_ten_times_a_minute() -> None:
    clock = Clock()
    failures = Failures(clock)
    waits = [failures.note("1.2.3.4") for _ in range(12)]
    assert [bool(wait) for wait in waits] == [False] * 10 + [True] * 2
    assert failures.note("5.6.7.8") == 0
    clock.now = 60.0
    assert failures.note("1.2.3.4") == 0


def test_keys_differ() -> None:
    made = [make_key() for _ in range(50)]
    assert all(one.id != other.id and one.text != other.text for one, other in itertools.combinations(made, 2))
    assert all(len(key.text) == 62 for key in made)


def test_a_service_has_a_principal_of_its_kind() -> None:
    person = Person("p_1", "build", {"alpha": "writer"}, "service")
    key = Key("kkkkkkkk", "p_1", "ci", b"")
    assert principal_of(key, person) == Principal("p_1", "build", "kkkkkkkk", {"alpha": "writer"})
