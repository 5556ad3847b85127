"""Version 1 of the API, as clients of Shared Agent Memory know it, over both engines."""

from __future__ import annotations

import contextlib
import itertools
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from keepmum.service.team import ORGANISATION, Grant, open_shared
from keepmum.stores.shared import SharedSpec
from server_app import ENGINES, client_of, keys, spec_of

PATH = "/api/v1/memories"
_names = (f"p{number}-{uuid.uuid4().hex[:8]}" for number in itertools.count())


class Api:
    """Calls of one server by several keys: ada has two projects, bob another one, root all."""

    def __init__(self, client: TestClient, spec: SharedSpec, one: str, two: str, other: str) -> None:
        self._client = client
        self._spec = spec
        self.one, self.two, self.other = one, two, other

    def ask(self, method: str, path: str, body: Any = None, *, key: str = "ada", **query: Any) -> tuple[int, Any]:
        answer = self._client.request(
            method, path, json=body, params=query or None, headers={"Authorization": f"Bearer {key}"}
        )
        return answer.status_code, answer.json()

    def store(self, text: str, project: str | None = None, *, key: str = "ada", **fields: Any) -> str:
        body = {"text": text, "title": f"about {text}"[:100], "project": project or self.one, **fields}
        status, answer = self.ask("POST", PATH, body, key=key)
        assert status == 201, answer
        return str(answer["data"]["id"])

    def prune(self) -> None:
        """Remove the activity log, as happens after 90 days."""
        with contextlib.closing(open_shared(self._spec)) as shared:
            maintenance = shared.acting(Grant(ORGANISATION)).features.maintenance
            assert maintenance is not None
            maintenance.upkeep(time.time_ns() // 1_000_000 + 100 * 86_400_000)

    def loaded(self, *ids: str, key: str = "ada") -> list[dict[str, Any]]:
        status, answer = self.ask("GET", f"{PATH}/load", ids=",".join(ids), key=key)
        assert status == 200
        found: list[dict[str, Any]] = answer["data"]
        return found


@pytest.fixture(scope="module", params=ENGINES)
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, SharedSpec, list[str]]]:
    folder: Path = tmp_path_factory.mktemp("server")
    names = [next(_names) for _ in range(3)]
    given = keys(ada=names[:2], bob=names[2:], root=None)
    with client_of(request.param, folder, given, {"writes_per_minute": 0, "reads_per_minute": 0}) as client:
        yield client, spec_of(request.param, folder), names


@pytest.fixture
def api(served: tuple[TestClient, SharedSpec, list[str]]) -> Api:
    client, spec, names = served
    return Api(client, spec, *names)


@pytest.fixture
def token() -> str:
    """A string in the form of a code host's key."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def test_a_new_memory_is_answered_with_its_uuid(api: Api) -> None:
    body = {"text": "Deploys go blue", "title": "Deploys", "project": api.one}
    status, answer = api.ask("POST", PATH, body)
    assert (status, list(answer), list(answer["data"])) == (201, ["data"], ["id"])
    assert str(uuid.UUID(answer["data"]["id"])) == answer["data"]["id"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "body/text must NOT have fewer than 1 characters"),
        ({"text": ""}, "body/text must NOT have fewer than 1 characters"),
        ({"title": ""}, "body/title must NOT have fewer than 1 characters"),
        ({"text": {}}, "body/text must be string"),
        ({"tags": [{}]}, "body/tags/0 must be string"),
        ({"tags": {}}, "body/tags must be array"),
        ({"project": "*"}, "project must be a specific name, not *"),
    ],
)
def test_a_body_is_refused_in_the_words_of_the_original(api: Api, change: dict[str, Any], message: str) -> None:
    body = {"text": "a", "title": "b", "project": api.one, **change}
    assert api.ask("POST", PATH, body) == (400, _error(400, message))


@pytest.mark.parametrize("name", ["text", "title", "project"])
def test_a_missing_field_is_named(api: Api, name: str) -> None:
    body = {"text": "a", "title": "b", "project": api.one}
    del body[name]
    assert api.ask("POST", PATH, body) == (400, _error(400, f"body must have required property '{name}'"))


def test_the_schema_is_checked_before_the_project_and_that_before_secrets(api: Api, token: str) -> None:
    body = {"text": token, "title": "b", "project": api.other}
    assert api.ask("POST", PATH, {**body, "title": ""})[1]["error"]["message"].startswith("body/title")
    assert api.ask("POST", PATH, body) == (403, _error(403, "Access denied for project"))


@pytest.mark.parametrize("field", ["text", "title", "tags", "agent", "project"])
def test_a_secret_is_refused_in_every_field(api: Api, token: str, field: str) -> None:
    body: dict[str, Any] = {"text": "a", "title": "b", "project": api.one}
    body[field] = [token] if field == "tags" else token
    status, answer = api.ask("POST", PATH, body, key="root")
    assert status == 400
    assert answer["error"]["message"].startswith(f"Secret detected in {field}")
    assert token not in str(answer)


@pytest.mark.parametrize("project", ["a\x1fb", "a\nb", "a\u2028b", "x" * 201, "\u202ea"])
def test_a_project_has_a_plain_name(api: Api, project: str) -> None:
    body = {"text": "a", "title": "b", "project": project}
    status, answer = api.ask("POST", PATH, body, key="root")
    assert (status, answer["error"]["message"][:15]) == (400, "project: must b")
    assert api.ask("GET", f"{PATH}/search", query="a", project=project, key="root")[0] == 400


def test_a_memory_is_loaded_as_it_was_before_it_is_reinforced(api: Api) -> None:
    memory = api.store("loaded twice", tags=["x", "y"], agent="codex")
    (first,), (second,) = api.loaded(memory), api.loaded(memory)
    assert list(first) == [
        "id", "title", "text", "agent", "project", "tags", "created_at", "updated_at", "createdAt", "updatedAt",
        "createdBy", "updatedBy", "last_accessed", "access_count",
    ]  # fmt: skip
    assert (first["access_count"], second["access_count"]) == (0, 1)
    assert (first["agent"], first["tags"], first["createdBy"], first["project"]) == (
        "codex",
        ["x", "y"],
        "ada",
        api.one,
    )
    assert second["last_accessed"] > first["last_accessed"]


def test_the_default_agent_is_unknown(api: Api) -> None:
    assert api.loaded(api.store("no agent"))[0]["agent"] == "unknown"


def test_memories_of_other_projects_are_left_out(api: Api) -> None:
    own, foreign = api.store("own memory"), api.store("foreign memory", api.other, key="bob")
    assert [memory["id"] for memory in api.loaded(foreign, own)] == [own]


def test_an_id_that_is_not_a_uuid_is_refused(api: Api) -> None:
    for method, path, body in (("PUT", f"{PATH}/abc", {"text": "a"}), ("DELETE", f"{PATH}/abc", None)):
        assert api.ask(method, path, body) == (400, _error(400, 'params/id must match format "uuid"'))
    assert api.ask("GET", f"{PATH}/load", ids="abc")[0] == 400
    assert api.ask("GET", f"{PATH}/abc/audit")[0] == 400


def test_one_search_covers_the_projects_of_the_key(api: Api) -> None:
    word = f"zebra{uuid.uuid4().hex[:6]}"
    here, there = api.store(f"{word} one"), api.store(f"{word} two", api.two)
    api.store(f"{word} three", api.other, key="bob")
    status, answer = api.ask("GET", f"{PATH}/search", query=word)
    assert status == 200
    assert {found["id"] for found in answer["data"]} == {here, there}
    assert [list(found) for found in answer["data"]] == [["id", "title", "project", "score"]] * 2
    _, narrowed = api.ask("GET", f"{PATH}/search", query=word, project=api.two)
    assert [found["id"] for found in narrowed["data"]] == [there]
    assert api.ask("GET", f"{PATH}/search", query=word, project=api.other)[0] == 403


def test_a_search_takes_all_tags_and_the_agent(api: Api) -> None:
    word = f"otter{uuid.uuid4().hex[:6]}"
    both = api.store(f"{word} a", tags=["x", "y"], agent="codex")
    api.store(f"{word} b", tags=["x"], agent="cursor")
    assert [one["id"] for one in api.ask("GET", f"{PATH}/search", query=word, tags="x, y")[1]["data"]] == [both]
    assert [one["id"] for one in api.ask("GET", f"{PATH}/search", query=word, agent="codex")[1]["data"]] == [both]
    assert len(api.ask("GET", f"{PATH}/search", query=word, limit=1)[1]["data"]) == 1


@pytest.mark.parametrize(
    ("path", "query", "message"),
    [
        ("search", {}, "querystring must have required property 'query'"),
        ("search", {"query": "a", "limit": "x"}, "querystring/limit must be integer"),
        ("search", {"query": "a", "limit": 0}, "querystring/limit must be >= 1"),
        ("load", {}, "querystring must have required property 'ids'"),
        ("recent", {"days": "1.5"}, "querystring/days must be integer"),
    ],
)
def test_a_query_is_refused_in_the_words_of_the_original(
    api: Api, path: str, query: dict[str, Any], message: str
) -> None:
    assert api.ask("GET", f"{PATH}/{path}", **query) == (400, _error(400, message))


def test_recent_lists_the_latest_whatever_their_number(api: Api) -> None:
    stored = [api.store(f"number {number}", api.other, key="bob") for number in range(5)]
    status, answer = api.ask("GET", f"{PATH}/recent", limit=3, key="bob")
    assert status == 200
    assert [found["id"] for found in answer["data"]] == stored[:-4:-1]
    assert list(answer["data"][0]) == [
        "id", "title", "project", "created_at", "updated_at", "createdAt", "updatedAt", "createdBy", "updatedBy",
    ]  # fmt: skip


def test_an_update_keeps_the_rest_and_names_its_author(api: Api) -> None:
    memory = api.store("first text", tags=["x"], agent="codex")
    api.loaded(memory)
    assert api.ask("PUT", f"{PATH}/{memory}", {"text": "second text"}, key="root") == (200, {"data": {"success": True}})
    (now,) = api.loaded(memory)
    assert (now["text"], now["title"]) == ("second text", "about first text")
    assert (now["tags"], now["agent"], now["createdBy"], now["updatedBy"]) == (["x"], "codex", "ada", "root")
    assert now["access_count"] == 1
    assert now["created_at"] < now["updated_at"] == now["last_accessed"]


def test_an_update_is_scanned(api: Api, token: str) -> None:
    memory = api.store("harmless")
    status, answer = api.ask("PUT", f"{PATH}/{memory}", {"text": token})
    assert (status, answer["error"]["message"].partition(":")[0]) == (400, "Secret detected in text")


def test_what_does_not_exist_is_not_found_and_what_is_foreign_is_denied(api: Api) -> None:
    foreign, unknown = api.store("bob's own", api.other, key="bob"), str(uuid.uuid4())
    for method, suffix, body in (("PUT", "", {"text": "a"}), ("DELETE", "", None), ("GET", "/audit", None)):
        assert api.ask(method, f"{PATH}/{unknown}{suffix}", body) == (404, _error(404, "Memory not found"))
        assert api.ask(method, f"{PATH}/{foreign}{suffix}", body) == (403, _error(403, "Access denied for project"))


def test_a_deleted_memory_is_gone_and_its_audit_stays(api: Api) -> None:
    memory = api.store("to be deleted")
    api.ask("PUT", f"{PATH}/{memory}", {"text": "changed before"})
    assert api.ask("DELETE", f"{PATH}/{memory}") == (200, {"data": {"success": True}})
    assert api.loaded(memory) == []
    assert api.ask("DELETE", f"{PATH}/{memory}")[0] == 404
    status, answer = api.ask("GET", f"{PATH}/{memory}/audit")
    assert status == 200
    events = answer["data"]
    assert [event["action"] for event in events] == ["create", "update", "delete"]
    assert {(event["memoryId"], event["actor"], event["project"]) for event in events} == {(memory, "ada", api.one)}
    assert list(events[0]) == ["id", "memoryId", "action", "actor", "project", "timestamp", "title"]


def test_the_audit_outlives_the_activity_log(api: Api) -> None:
    memory = api.store("what happened stays known")
    before = api.ask("GET", f"{PATH}/{memory}/audit")[1]["data"]
    api.prune()
    after = api.ask("GET", f"{PATH}/{memory}/audit")[1]["data"]
    assert [before[0].pop("title"), before] == ["about what happened stays known", after]


def test_the_audit_shows_the_events_of_readable_projects(api: Api) -> None:
    """Of a memory that was moved from one that ada may read to one that she may not."""
    memory = api.store("to be moved")
    whole = api.ask("GET", f"/api/v2/memories/{memory}", key="root")[1]["data"]
    body = {"memory": {**whole, "project": api.other, "revision": whole["revision"] + 1}}
    assert api.ask("PUT", f"/api/v2/memories/{memory}", body, key="root")[0] == 200
    status, seen = api.ask("GET", f"{PATH}/{memory}/audit")
    assert (status, [event["project"] for event in seen["data"]]) == (200, [api.one])
    assert [event["project"] for event in api.ask("GET", f"{PATH}/{memory}/audit", key="bob")[1]["data"]] == [api.other]


def test_the_configuration_names_the_collection(api: Api) -> None:
    assert api.ask("GET", "/api/v1/config") == (200, {"data": {"collectionName": "keepmum", "modelReady": True}})


def test_a_wrong_key_is_unauthorized(api: Api) -> None:
    assert api.ask("GET", "/api/v1/config", key="nobody") == (401, {"error": "Unauthorized"})
