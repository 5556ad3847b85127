"""An id of a memory that a key may not read is, for that key, one that nobody uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keepmum.core import ids
from keepmum.service.team_erasing import Erasing, Named
from server_app import ENGINES
from two_projects import AT, Json, Tenants, two_projects

Send = Callable[["Tenants", str], object]


@pytest.fixture(params=ENGINES)
def tenants(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tenants]:
    with two_projects(request.param, tmp_path) as made:
        yield made


def _lines(tenants: Tenants, ident: str) -> bytes:
    return json.dumps(tenants.memory("bob", ident)).encode() + b"\n"


def _batch(tenants: Tenants, ident: str, *, atomic: bool, **more: object) -> Any:
    item = {"id": ident, "memory": tenants.memory("bob", ident), **more}
    return tenants.ask("bob", "POST", "/api/v2/memories:batch", {"items": [item], "atomic": atomic})


def _path(method: str, tail: str = "", body: object = None, **headers: str) -> Send:
    def send(tenants: Tenants, ident: str) -> Any:
        path = f"/api/v2/memories/{ids.to_uuid(ident)}{tail}"
        return tenants.ask("bob", method, path, body, **headers)

    return send


SENT: dict[str, Send] = {
    "POST": lambda tenants, ident: tenants.create("bob", ident),
    "POST, with a key": lambda tenants, ident: tenants.create("bob", ident, **{"idempotency-key": f"key-{ident}"}),
    "PUT": lambda tenants, ident: _path("PUT", body={"memory": tenants.memory("bob", ident)})(tenants, ident),
    "PATCH": _path("PATCH", body={"text": "another"}),
    "PATCH, with a revision": _path("PATCH", body={"text": "another"}, **{"if-match": '"1"'}),
    "DELETE": _path("DELETE"),
    "DELETE, for good": _path("DELETE", "?purge=true"),
    "GET": _path("GET"),
    "history": _path("GET", "/history"),
    "restore": _path("POST", "/restore", {}),
    "confirm": _path("POST", "/confirm", {}),
    "wrong": _path("POST", "/wrong", {}),
    "a batch": lambda tenants, ident: _batch(tenants, ident, atomic=False),
    "an atomic batch": lambda tenants, ident: _batch(tenants, ident, atomic=True),
    "a batch that changes": lambda tenants, ident: _batch(tenants, ident, atomic=False, revision=1),
    "an import": lambda tenants, ident: tenants.ask("bob", "POST", "/api/v2/import", _lines(tenants, ident)),
    "load": lambda tenants, ident: tenants.tool("bob", "load", {"ids": [ident]}),
    "forget": lambda tenants, ident: tenants.tool("bob", "forget", {"ids": [ident]}),
    "supersede": lambda tenants, ident: tenants.tool("bob", "remember", {"text": "new", "supersedes": ident}),
    "load, version 1": lambda tenants, ident: (
        tenants.ask("bob", "GET", f"/api/v1/memories/load?ids={ids.to_uuid(ident)}")
    ),
}  # fmt: skip


def _told(answer: Any, ident: str) -> tuple[int, str, Json]:
    """An answer without what names the id, and without what differs between any two answers."""
    body, headers = answer.text, dict(answer.headers)
    for name in ("date", "x-request-id", "content-length"):
        headers.pop(name, None)
    form = json.dumps(headers)
    for spelling in (ident, ids.to_uuid(ident), ident[:16]):
        body, form = body.replace(spelling, "ID"), form.replace(spelling, "ID")
    return answer.status_code, body, json.loads(form)


@pytest.mark.parametrize("way", SENT)
def test_an_id_of_another_project_is_answered_as_one_that_nobody_uses(tenants: Tenants, way: str) -> None:
    free = ids.new_id(AT)
    answers = [_told(SENT[way](tenants, ident), ident) for ident in (tenants.taken, free)]
    assert answers[0] == answers[1]
    assert tenants.ask("ada", "GET", f"/api/v2/memories/{tenants.taken}").json()["data"]["text"] == "of ada"


def _texts(tenants: Tenants, who: str) -> list[tuple[str, str]]:
    """Id and text of the memories that an export gives."""
    lines = tenants.ask(who, "GET", "/api/v2/export").text.splitlines()
    return [(line["id"], line["text"]) for line in map(json.loads, lines) if "text" in line]


def _subjects(tenants: Tenants, who: str) -> set[str]:
    answer = tenants.ask(who, "GET", f"/api/v2/audit?project={tenants.projects[who]}")
    return {row["subject"] for row in answer.json()["data"]}


def test_both_memories_live_side_by_side(tenants: Tenants) -> None:
    path = f"/api/v2/memories/{ids.to_uuid(tenants.taken)}"
    assert tenants.create("bob", tenants.taken).status_code == 201
    for who in ("ada", "bob"):
        answer = tenants.ask(who, "PATCH", path, {"text": f"changed by {who}"})
        assert answer.json()["data"] == {"id": ids.to_uuid(tenants.taken), "revision": 2}
    for who in ("ada", "bob"):
        assert tenants.ask(who, "GET", path).json()["data"]["text"] == f"changed by {who}"
        history = tenants.ask(who, "GET", f"{path}/history").json()["data"]
        assert [past["before"]["text"] for past in history] == [f"of {who}"]
        assert {past["before"]["id"] for past in history} == {past["memory"] for past in history} == {tenants.taken}
        assert _texts(tenants, who) == [(tenants.taken, f"changed by {who}")]
        found = tenants.tool(who, "recall", {"query": f"changed {who}"}).text
        assert f"changed by {who}" in found
        assert tenants.taken[:16] in found
    assert tenants.ask("bob", "DELETE", path).status_code == 200
    assert tenants.ask("ada", "GET", path).json()["data"]["status"] == "active"


def test_a_repeated_request_gets_the_answer_of_its_own_project(tenants: Tenants) -> None:
    sent = {"idempotency-key": f"k-{tenants.taken}"}
    first, again = (tenants.create("bob", tenants.taken, **sent) for _ in range(2))
    assert (first.status_code, again.status_code, first.json()) == (201, 200, again.json())
    assert tenants.create("bob", tenants.taken, "another text").status_code == 412


def test_reading_one_counts_nothing_for_the_other(tenants: Tenants) -> None:
    tenants.create("bob", tenants.taken)
    for _ in range(3):
        tenants.ask("bob", "GET", f"/api/v2/memories/{ids.to_uuid(tenants.taken)}")
        tenants.tool("bob", "recall", {"query": "of bob"})
    tenants.team._upkeep.flush()
    loaded = tenants.ask("ada", "GET", f"/api/v1/memories/load?ids={ids.to_uuid(tenants.taken)}").json()["data"]
    assert [each["access_count"] for each in loaded] == [0]


def test_the_audit_log_names_a_memory_as_its_project_does(tenants: Tenants) -> None:
    tenants.create("bob", tenants.taken)
    assert _subjects(tenants, "bob") == _subjects(tenants, "ada") == {tenants.taken}


def test_who_may_read_both_is_refused_the_id_and_sees_two_memories(tenants: Tenants) -> None:
    refused = tenants.ask("both", "POST", "/api/v2/memories", {"memory": tenants.memory("bob", tenants.taken, "third")})
    assert refused.status_code == 412
    tenants.create("bob", tenants.taken)
    assert sorted(text for _, text in _texts(tenants, "both")) == ["of ada", "of bob"]


def _imported(tenants: Tenants, **fields: object) -> dict[str, int]:
    """The counts of an import of Bob's memory with the id that Ada's has, with the key for both."""
    line = json.dumps({**tenants.memory("bob", tenants.taken), **fields}).encode() + b"\n"
    data = tenants.ask("both", "POST", "/api/v2/import", line).json()["data"]
    return {name: data[name] for name in ("stored", "known", "refused")}


def test_an_import_by_who_may_read_both_takes_another_projects_id_for_no_memory_of_its_own(tenants: Tenants) -> None:
    later = {"created_at": AT + 1, "updated_at": AT + 1}
    assert _imported(tenants, **later) == {"stored": 1, "known": 0, "refused": 0}
    assert _imported(tenants, **later) == {"stored": 0, "known": 1, "refused": 0}
    assert _texts(tenants, "bob") == [(tenants.taken, "of bob")]
    assert _texts(tenants, "ada") == [(tenants.taken, "of ada")]


def test_an_import_knows_a_memory_that_was_moved_to_another_project_since(tenants: Tenants) -> None:
    assert _imported(tenants) == {"stored": 0, "known": 1, "refused": 0}
    assert _texts(tenants, "bob") == []


def test_an_erased_project_leaves_the_other_as_it_was(tenants: Tenants) -> None:
    tenants.create("bob", tenants.taken)
    Erasing(tenants.team.shared, b"secret", "root").erase(Named("project", tenants.projects["bob"]))
    assert _texts(tenants, "bob") == []
    assert _texts(tenants, "ada") == [(tenants.taken, "of ada")]
