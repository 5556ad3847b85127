"""Fields that name a credential in another field: which count, which do not, and how the finding is placed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from keepmum_scanner import labels
from keepmum_scanner.records import find_related

PASSWORD = "Sommer" + "2024!"
HEX = "d3b07384d113edec49eaa6238ad5ff00"
UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"


def paths(record: Any, **options: Any) -> list[tuple[str | int | None, ...]]:
    return [path for path, _, _ in find_related(record, **options)]


@pytest.mark.parametrize(
    ("record", "path"),
    [
        pytest.param({"title": "DB root password", "text": PASSWORD}, ("text",), id="title"),
        pytest.param({"text": PASSWORD, "title": "DB root password"}, ("text",), id="name after the value"),
        pytest.param({"data": {"password": {"value": PASSWORD}}}, ("data", "password", "value"), id="path"),
        pytest.param({"data": {"credentials": {"bob": [HEX]}}}, ("data", "credentials", "bob", 0), id="list"),
        pytest.param({"rows": [["user", "password"], ["bob", HEX]]}, ("rows", 1, 1), id="table"),
        pytest.param({"columns": ["a", "password"], "rows": [["x", HEX]]}, ("rows", 0, 1), id="heads next to the rows"),
        pytest.param({"fields": ["a", "password"], "values": ["x", HEX]}, ("values", 1), id="parallel lists"),
        pytest.param([{"name": "db password", "value": 4821}], (0, "value"), id="number"),
        pytest.param(
            {"text": json.dumps({"password": {"value": HEX}})}, ("text", None, "password", "value"), id="JSON"
        ),
        pytest.param(
            {"entities": [{"name": "root password", "observations": ["set in May", HEX]}]},
            ("entities", 0, "observations", 1),
            id="observations",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": "the root password?"}, {"role": "assistant", "content": HEX}]},
            ("messages", 1, "content"),
            id="messages",
        ),
        pytest.param({"content": HEX, "metadata": {"topic": "root password"}}, ("content",), id="metadata"),
    ],
)
def test_a_named_value_is_found_at_its_path(record: Any, path: tuple[str | int | None, ...]) -> None:
    assert path in paths(record)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"key": "db.password", "text": "in 1Password under Infra"}, id="place"),
        pytest.param({"key": "db.password", "text": "1Password"}, id="manager"),
        pytest.param({"key": "db.password", "text": "${DB_PASSWORD}"}, id="reference"),
        pytest.param({"key": "db.password", "text": "infra-db-01"}, id="resource"),
        pytest.param({"title": "Token budget", "text": "4096"}, id="budget"),
        pytest.param({"key": "token.limit", "text": "2000"}, id="limit"),
        pytest.param({"data": {"password": {"min_length": 12}}}, id="length"),
        pytest.param({"key": "session.timeout", "text": "3600"}, id="timeout"),
        pytest.param({"tags": ["auth", "token"], "text": f"Fixed in {HEX}00000000"}, id="commit"),
        pytest.param({"title": "Token refresh", "text": f"request {UUID} failed"}, id="request"),
        pytest.param({"text": "The API token is in vault", "data": {"request_id": UUID}}, id="id next to a sentence"),
        pytest.param({"text": "The DB password is in vault", "data": {"port": 5432}}, id="port next to a sentence"),
        pytest.param({"rows": [["password", "commit"], ["in vault", HEX]]}, id="another column"),
        pytest.param(
            {"entities": [{"name": "root password", "observations": ["in vault"]}, {"name": "build", "content": HEX}]},
            id="another entity",
        ),
        pytest.param(
            {"relations": [{"from": "root password", "relationType": "owned_by", "to": "alice42"}]}, id="relation"
        ),
        pytest.param({"key": HEX, "text": "The commit"}, id="key is the name of a memory"),
        pytest.param({"title": "The root password", "text": "The root password\nis in vault"}, id="title of a text"),
    ],
)
def test_an_honest_record_passes(record: Any) -> None:
    assert paths(record) == []


@pytest.mark.parametrize(
    "text",
    [
        "changed to {} yesterday",
        "bob: {}",
        "{} (for bob)",
        "It's {}",
        "- {}",
        "use {} for bob",
        "`{}`",
        "the value is: {}",
    ],
)
@pytest.mark.parametrize("secret", [PASSWORD, "Tiger" + "4821", HEX])
def test_a_value_is_found_between_words(text: str, secret: str) -> None:
    ((_, whole, finding),) = find_related({"key": "db.password", "text": text.format(secret)})
    assert whole[finding.start : finding.end] == secret


def test_a_finding_is_placed_in_the_text_of_its_field() -> None:
    ((_, text, finding),) = find_related({"title": "DB root password", "text": f"It is\n`{PASSWORD}`, for bob"})
    assert text[finding.start : finding.end] == PASSWORD


def test_a_finding_has_a_fingerprint_of_the_secret_alone() -> None:
    (one,) = find_related({"title": "DB password", "text": HEX}, b"k" * 32)
    (other,) = find_related({"data": {"password": {"value": f" {HEX}"}}}, b"k" * 32)
    assert one[2].fingerprint == other[2].fingerprint != ""


def test_the_key_is_read_only_after_a_finding() -> None:
    def key() -> bytes:
        raise AssertionError

    assert find_related({"title": "DB password", "text": "in vault"}, key) == []


def test_a_field_is_left_out_at_any_depth() -> None:
    record = {"edits": [{"old": "root password", "new": HEX}]}
    assert (paths(record), paths(record, leave_out=("old",))) == ([("edits", 0, "new")], [])


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("DB root password", labels.ANNOUNCES),
        ("dbPassword", labels.ANNOUNCES),
        ("staging/root-password", labels.ANNOUNCES),
        ("The root password is in vault", labels.NAMES),
        ("password reset flow", labels.TOPIC),
        ("no password", labels.TOPIC),
        ("Token budget", labels.TOPIC),
        ("token.limit", labels.NONE),
        ("max_tokens", labels.NONE),
        ("passwordless", labels.NONE),
        ("tokenizer", labels.NONE),
        ("Key decisions", labels.NONE),
        ("monkey", labels.NONE),
        ("pin the version", labels.NONE),
        ("office PIN", labels.ANNOUNCES),
        ("пароль от сервера", labels.ANNOUNCES),
        ("数据库密码", labels.ANNOUNCES),
    ],
)
def test_what_a_text_announces(text: str, strength: int) -> None:
    assert labels.naming(text)[0] == strength


def test_a_deep_record_is_searched() -> None:
    record: Any = {"value": HEX}
    for _ in range(5000):
        record = {"a": [record]}
    assert len(paths({"password": record})) == 1


def test_the_time_grows_with_the_size_of_a_graph() -> None:
    def seconds(count: int) -> float:
        graph = {"entities": [{"name": f"password {n}", "observations": ["in vault", "rotated"]} for n in range(count)]}
        start = time.process_time()
        assert find_related(graph) == []
        return time.process_time() - start

    assert seconds(2000) < 20 * max(min(seconds(400) for _ in range(3)), 0.005)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"text": "Login data", "data": {"session.timeout": {"value": "3600"}}}, id="name of an object"),
        pytest.param({"text": "Login data", "data": {"authors": {"value": "Ana, Bob"}}}, id="plural"),
        pytest.param({"text": "Injected as DB_PASS at deploy time", "why": "pw (jenkins)"}, id="a name is no value"),
    ],
)
def test_a_name_that_says_what_the_value_is_wins(record: dict[str, object]) -> None:
    assert find_related(record) == []


def test_a_password_under_such_a_name_is_found() -> None:
    assert find_related({"text": "Login data", "data": {"session.timeout": {"value": "Winter" + "2031!x"}}})
