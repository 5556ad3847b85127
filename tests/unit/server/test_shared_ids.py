"""A key for two projects that each have a memory of the same id: neither is taken for the other."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keepmum.core import ids
from keepmum.core.errors import Ambiguous
from keepmum.server.people.administration import Administration
from keepmum.server.people.roles import Role
from keepmum.service import MemoryService, Place
from keepmum.service.team import ORGANISATION, Grant
from keepmum_scanner import scan
from two_projects import AT, Json, Tenants, two_projects

WHO = ("ada", "bob")


@pytest.fixture
def tenants(tmp_path: Path) -> Iterator[Tenants]:
    """Both projects have the id, and each memory was changed once; only PostgreSQL shows two with one id."""
    with two_projects("postgres", tmp_path) as made:
        assert made.create("bob", made.taken).status_code == 201
        for who in WHO:
            assert made.ask(who, "PATCH", _path(made), {"text": f"changed by {who}"}).status_code == 200
        yield made


def _path(tenants: Tenants, tail: str = "") -> str:
    return f"/api/v2/memories/{ids.to_uuid(tenants.taken)}{tail}"


def _first_version(tenants: Tenants, tail: str = "") -> str:
    return f"/api/v1/memories/{ids.to_uuid(tenants.taken)}{tail}"


def _named(tenants: Tenants, who: str, method: str, path: str, body: object = None) -> Any:
    """The answer to a request with the key for both that names the project of `who`."""
    return tenants.ask("both", method, path, body, **{"x-keepmum-project": tenants.projects[who]})


def _texts(tenants: Tenants) -> dict[str, str]:
    """The texts of both memories, by their owners."""
    return {who: tenants.ask(who, "GET", _path(tenants)).json()["data"]["text"] for who in WHO}


BY_ID: dict[str, tuple[str, str, Json | None]] = {
    "read": ("GET", "", None),
    "replace": ("PUT", "", {"text": "a new text"}),
    "change": ("PATCH", "", {"text": "a new text"}),
    "remove": ("DELETE", "", None),
    "purge": ("DELETE", "?purge=true", None),
    "history": ("GET", "/history", None),
    "restore": ("POST", "/restore", {}),
    "confirm": ("POST", "/confirm", {}),
    "pin": ("POST", "/pin", {}),
    "wrong": ("POST", "/wrong", {}),
}


@pytest.mark.parametrize("way", BY_ID)
def test_an_id_of_two_projects_is_refused_until_the_request_names_one(tenants: Tenants, way: str) -> None:
    method, tail, body = BY_ID[way]
    refused = tenants.ask("both", method, _path(tenants, tail), body)
    assert refused.status_code == 400
    assert "X-Keepmum-Project" in refused.json()["error"]["message"]
    assert _texts(tenants) == {"ada": "changed by ada", "bob": "changed by bob"}
    answer = _named(tenants, "bob", method, _path(tenants, tail), body)
    assert answer.status_code == 200, answer.text
    foreign = ("of ada", "by ada", tenants.projects["ada"])
    assert not [part for part in foreign if part in answer.text]
    untouched = tenants.ask("ada", "GET", _path(tenants)).json()["data"]
    assert (untouched["text"], untouched["status"], untouched["revision"]) == ("changed by ada", "active", 2)
    assert untouched["pinned"] is False
    assert untouched["confirmed_at"] is None


@pytest.mark.parametrize("form", ["whole", "prefix"])
def test_a_prefix_of_such_an_id_is_refused_for_the_same_reason(tenants: Tenants, form: str) -> None:
    given = tenants.taken if form == "whole" else tenants.taken[:-2]
    answer = tenants.ask("both", "GET", f"/api/v2/memories/{given}")
    assert answer.status_code == 400
    assert "X-Keepmum-Project" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("method", "body"), [("PUT", {"text": "a new text"}), ("DELETE", None)])
def test_version_1_changes_neither_until_the_request_names_one(
    tenants: Tenants, method: str, body: Json | None
) -> None:
    refused = tenants.ask("both", method, _first_version(tenants), body)
    assert refused.status_code == 400
    assert "X-Keepmum-Project" in refused.text
    assert _texts(tenants) == {"ada": "changed by ada", "bob": "changed by bob"}
    assert _named(tenants, "bob", method, _first_version(tenants), body).status_code == 200
    kept = tenants.ask("ada", "GET", _path(tenants)).json()["data"]
    assert (kept["text"], kept["status"]) == ("changed by ada", "active")


def test_version_1_loads_both_or_the_one_of_the_project(tenants: Tenants) -> None:
    path = f"/api/v1/memories/load?ids={ids.to_uuid(tenants.taken)}"
    both = tenants.ask("both", "GET", path).json()["data"]
    assert sorted(each["text"] for each in both) == ["changed by ada", "changed by bob"]
    assert [each["text"] for each in _named(tenants, "bob", "GET", path).json()["data"]] == ["changed by bob"]


@pytest.mark.parametrize("atomic", [False, True])
def test_a_batch_changes_the_one_in_the_project_of_the_memory(tenants: Tenants, *, atomic: bool) -> None:
    memory = {**tenants.memory("bob", tenants.taken, "from a batch"), "updated_at": AT + 1}
    items = [{"id": tenants.taken, "memory": memory, "revision": 2}]
    answer = tenants.ask("both", "POST", "/api/v2/memories:batch", {"items": items, "atomic": atomic})
    assert [each["status"] for each in answer.json()["data"]] == [200]
    assert _texts(tenants) == {"ada": "changed by ada", "bob": "from a batch"}


def test_a_project_that_the_key_has_not_is_refused_as_one_that_nobody_has(tenants: Tenants) -> None:
    answers = [
        tenants.ask("bob", "GET", _path(tenants), **{"x-keepmum-project": project})
        for project in (tenants.projects["ada"], "nobody-has-this")
    ]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert answers[0].json() == answers[1].json()


def test_an_export_and_a_list_of_one_project_have_its_memory(tenants: Tenants) -> None:
    lines = _named(tenants, "bob", "GET", "/api/v2/export").text.splitlines()
    assert [line["text"] for line in map(json.loads, lines) if "text" in line] == ["changed by bob"]
    project = tenants.projects["bob"]
    listed = tenants.ask("both", "GET", f"/api/v2/memories?project={project}").json()["data"]
    assert [memory["text"] for memory in listed] == ["changed by bob"]


@pytest.mark.parametrize("who", WHO)
def test_the_review_of_a_project_shows_its_memory_and_decides_about_it(tenants: Tenants, who: str) -> None:
    assert _named(tenants, who, "PATCH", _path(tenants), {"kind": "instruction"}).status_code == 200
    project = tenants.projects[who]
    (item,) = tenants.ask("both", "GET", f"/api/v2/review?project={project}").json()["data"]
    assert [(memory["project"], memory["text"]) for memory in item["memories"]] == [(project, f"changed by {who}")]
    choice = {"project": project, "decision": "edit", "text": "reviewed"}
    decided = tenants.ask("both", "POST", f"/api/v2/review/{item['id']}", choice)
    assert decided.status_code == 200, decided.text
    (other,) = {*WHO} - {who}
    assert _texts(tenants) == {who: "reviewed", other: f"changed by {other}"}


@pytest.fixture
def unscoped(tenants: Tenants, request: pytest.FixtureRequest) -> Iterator[None]:
    """A memory of no project with the same id, and keys for it: "org", and "all" with Ada's project too."""
    people = Administration(tenants.team.records, b"a secret for tests only", scan, "test")
    roles: dict[str, dict[str, Role]] = {
        "org": {"": "admin"}, "all": {"": "admin", tenants.projects["ada"]: "admin"},
    }  # fmt: skip
    for who, held in roles.items():
        name = f"{tenants.projects['ada']}-{who}"
        people.add(name, held)
        tenants.keys[who] = people.make_key(name, "laptop").text
    scope, kind = request.param
    where = {"project": None, "scope": scope, "kind": kind}
    memory = {**tenants.memory("ada", tenants.taken, "of no project"), **where}
    created = tenants.ask("org", "POST", "/api/v2/memories", {"memory": memory})
    assert created.status_code == 201, created.text
    yield
    removed = tenants.ask("org", "DELETE", _path(tenants, "?purge=true"))  # others use this database
    assert removed.status_code == 200, removed.text


def _reviewed(tenants: Tenants, project: str) -> list[tuple[str, str]]:
    """Id of the item and text of the memory with the id, in the review of a project."""
    items = tenants.ask("all", "GET", f"/api/v2/review?project={project}&limit=100").json()["data"]
    return [
        (item["id"], memory["text"]) for item in items for memory in item["memories"] if memory["id"] == tenants.taken
    ]


@pytest.mark.usefixtures("unscoped")
@pytest.mark.parametrize("unscoped", [("project", "instruction"), ("global", "instruction")], indirect=True)
def test_the_review_of_a_project_shows_its_memory_and_none_of_no_project_with_the_same_id(tenants: Tenants) -> None:
    project = tenants.projects["ada"]
    assert tenants.ask("ada", "PATCH", _path(tenants), {"kind": "instruction"}).status_code == 200
    assert tenants.ask("org", "PATCH", _path(tenants), {"text": "changed last"}).status_code == 200
    ((item, text),) = _reviewed(tenants, project)
    assert text == "changed by ada"
    choice = {"project": project, "decision": "edit", "text": "reviewed"}
    decided = tenants.ask("all", "POST", f"/api/v2/review/{item}", choice)
    assert decided.status_code == 200, decided.text
    assert tenants.ask("ada", "GET", _path(tenants)).json()["data"]["text"] == "reviewed"
    assert [text for _, text in _reviewed(tenants, "")] == ["changed last"]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_review_of_no_project_shows_no_memory_of_a_project(tmp_path: Path, engine: str) -> None:
    with two_projects(engine, tmp_path) as tenants:
        assert tenants.ask("ada", "PATCH", _path(tenants), {"kind": "instruction"}).status_code == 200
        people = Administration(tenants.team.records, b"a secret for tests only", scan, "test")
        name = f"{tenants.projects['ada']}-everything"
        people.add(name, {"*": "admin"})
        tenants.keys["all"] = people.make_key(name, "laptop").text
        assert len(_reviewed(tenants, tenants.projects["ada"])) == 1
        assert _reviewed(tenants, "") == []


@pytest.mark.usefixtures("unscoped")
@pytest.mark.parametrize("unscoped", [("global", "fact")], indirect=True)
def test_a_memory_of_no_project_hides_no_item_of_a_project_with_the_same_id(tenants: Tenants) -> None:
    assert tenants.ask("ada", "PATCH", _path(tenants), {"kind": "instruction"}).status_code == 200
    assert tenants.ask("org", "PATCH", _path(tenants), {"text": "changed last"}).status_code == 200
    assert [text for _, text in _reviewed(tenants, tenants.projects["ada"])] == ["changed by ada"]


@pytest.mark.usefixtures("unscoped")
@pytest.mark.parametrize("unscoped", [("global", "instruction")], indirect=True)
def test_the_review_decides_about_the_memory_of_no_project_where_that_of_the_project_is_in_the_trash(
    tenants: Tenants,
) -> None:
    project = tenants.projects["ada"]
    assert tenants.ask("ada", "DELETE", _path(tenants)).status_code == 200
    ((item, text),) = _reviewed(tenants, project)
    assert text == "of no project"
    choice = {"project": project, "decision": "edit", "text": "reviewed"}
    decided = tenants.ask("all", "POST", f"/api/v2/review/{item}", choice)
    assert decided.status_code == 200, decided.text
    texts = {who: tenants.ask(who, "GET", _path(tenants)).json()["data"]["text"] for who in ("ada", "org")}
    assert texts == {"ada": "changed by ada", "org": "reviewed"}


def test_undone_writes_of_a_project_leave_the_other_as_it_is(tenants: Tenants) -> None:
    sent = {"project": tenants.projects["bob"], "agent": "test", "since": AT}
    listed = tenants.ask("both", "POST", "/api/v2/writes:undo", sent).json()["data"]
    done = tenants.ask("both", "POST", "/api/v2/writes:undo", {**sent, "confirm": listed["confirm"]})
    assert done.json()["data"]["done"] is True
    assert tenants.ask("bob", "GET", _path(tenants)).json()["data"]["status"] == "trashed"
    assert tenants.ask("ada", "GET", _path(tenants)).json()["data"]["status"] == "active"


def test_a_search_of_both_projects_finds_both_memories(tenants: Tenants) -> None:
    asked = {"query": "changed", "filter": {"everywhere": True}}
    found = tenants.ask("both", "POST", "/api/v2/memories:search", asked).json()["data"]
    assert sorted((each["memory"]["project"], each["memory"]["text"]) for each in found) == _both(tenants)
    candidates = tenants.ask("both", "POST", "/api/v2/memories:candidates", asked).json()["data"]
    assert sorted((each["memory"]["project"], each["memory"]["text"]) for each in candidates) == _both(tenants)
    first = tenants.ask("both", "GET", "/api/v1/memories/search?query=changed").json()["data"]
    assert sorted(each["project"] for each in first) == sorted(tenants.projects.values())


def test_a_recall_of_all_projects_shows_both_and_says_whose_the_other_is(tenants: Tenants) -> None:
    answer = tenants.ask(
        "both", "POST", "/mcp", _tool_call("recall", {"query": "changed", "scope": "all"}), **_mcp(tenants, "bob")
    )
    lines = answer.json()["result"]["content"][0]["text"].splitlines()
    heads = {line.removeprefix("> "): lines[place - 1] for place, line in enumerate(lines) if line.startswith("> ")}
    marked = f"of {tenants.projects['ada']}"
    assert {text: marked in head for text, head in heads.items()} == {"changed by ada": True, "changed by bob": False}


@pytest.mark.parametrize("who", WHO)
def test_history_over_mcp_is_that_of_the_memory_in_the_project(tenants: Tenants, who: str) -> None:
    with _service(tenants, tenants.projects[who]) as service:
        (past,) = service.history(tenants.taken)
        (memory,) = service.load([tenants.taken])
        assert service.replaced([memory])[memory.id].text == f"of {who}"
    assert past.before["text"] == f"of {who}"
    arguments = {"ids": [tenants.taken]}  # an answer shows what a memory said before
    answer = tenants.ask("both", "POST", "/mcp", _tool_call("load", arguments), **_mcp(tenants, who))
    (other,) = {*WHO} - {who}
    assert f"of {who}" in answer.text
    assert f"of {other}" not in answer.text


@pytest.mark.parametrize("who", WHO)
def test_an_undo_over_mcp_reverts_the_memory_in_the_project(tenants: Tenants, who: str) -> None:
    arguments = {"ids": [tenants.taken], "undo": True}
    answer = tenants.ask("both", "POST", "/mcp", _tool_call("forget", arguments), **_mcp(tenants, who))
    assert not answer.json()["result"].get("isError"), answer.text
    (other,) = {*WHO} - {who}
    assert _texts(tenants) == {who: f"of {who}", other: f"changed by {other}"}


@pytest.mark.parametrize("project", [None, "a third one"])
def test_elsewhere_such_an_id_is_refused_with_the_projects_that_use_it(tenants: Tenants, project: str | None) -> None:
    with _service(tenants, project) as service, pytest.raises(Ambiguous) as refused:
        service.history(tenants.taken)
    assert all(name in str(refused.value) for name in tenants.projects.values())
    assert "X-Keepmum-Project" in str(refused.value)


def _service(tenants: Tenants, project: str | None) -> contextlib.AbstractContextManager[MemoryService]:
    """What a call over MCP gets, with the key for both projects."""
    both = frozenset(tenants.projects.values())
    place = Place(project=project, name=project or "")
    return tenants.team.service(Grant(ORGANISATION, both, both), actor="both", place=place, origin="mcp")


def _both(tenants: Tenants) -> list[tuple[str, str]]:
    return sorted((tenants.projects[who], f"changed by {who}") for who in WHO)


def _mcp(tenants: Tenants, who: str) -> dict[str, str]:
    return {"accept": "application/json, text/event-stream", "x-keepmum-project": tenants.projects[who]}


def _tool_call(name: str, arguments: Json) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
