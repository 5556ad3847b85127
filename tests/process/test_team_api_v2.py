"""API version 2 of a real server: revisions, repeated requests, cursors, roles, review, transfer, secrets."""

from __future__ import annotations

import base64
import json
import sqlite3
import unittest.mock
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from keepmum.core import ids, serialization
from keepmum.core.memory import Memory
from own_server import OwnServer
from server_process import Reply

Ask = Callable[..., Reply]
_M = "/api/v2/memories"
SECRET = "ghp_" + base64.b64decode("UjJkMlE4dFl2TDNuWGI3S3dQNXNKYzlUZkcxaFoweA==").decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    with OwnServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def keys(server: OwnServer) -> dict[str, str]:
    """A key of each role in the project `api`, of a writer in `web`, and of somebody with two roles."""
    made = {"admin": server.key}
    for name, held in (
        ("reader", {"api": "reader"}), ("writer", {"api": "writer"}), ("curator", {"api": "curator"}),
        ("stranger", {"web": "writer"}), ("lead", {"api": "curator", "*": "writer"}),
    ):  # fmt: skip
        roles = [{"project": project, "role": role} for project, role in held.items()]
        person = server.ask("POST", "/api/v2/people", {"name": name, "roles": roles}, key=server.key).body["data"]
        answer = server.ask("POST", "/api/v2/keys", {"person": person["id"]}, key=server.key)
        made[name] = answer.body["data"]["key"]
    return made


@pytest.fixture
def ask(server: OwnServer, keys: dict[str, str]) -> Ask:
    def call(who: str, method: str, path: str, body: object = None, **more: Any) -> Reply:
        return server.ask(method, path, body, key=keys[who], **more)

    return call


def stored(ask: Ask, text: str, who: str = "writer", **fields: Any) -> str:
    answer = ask(who, "POST", _M, {"text": text, "project": "api", **fields})
    assert answer.status == 201, answer.body
    return str(answer.body["data"]["id"])


def _dump(server: OwnServer) -> str:
    """Everything in the database."""
    with sqlite3.connect(Path(server.environ["KEEPMUM_HOME"]) / "server" / "memory.db") as database:
        return "\n".join(database.iterdump())


def complete(**fields: Any) -> dict[str, Any]:
    now = 1_790_000_000_000
    memory = Memory(id=ids.new_id(), text="Blue first", title="Blue", created_at=now, updated_at=now, project="api")
    return {**serialization.to_json(memory), **fields}


# -- revisions


def test_a_memory_has_its_revision_as_entity_tag(ask: Ask) -> None:
    path = f"{_M}/{stored(ask, 'An entity tag is a revision')}"
    read = ask("reader", "GET", path)
    assert read.headers["etag"] == '"1"'
    again = ask("reader", "GET", path, headers={"If-None-Match": '"1"'})
    assert (again.status, again.raw) == (304, b"")


def test_a_change_of_another_revision_learns_the_present_one(ask: Ask) -> None:
    path = f"{_M}/{stored(ask, 'Pools are green')}"
    assert ask("writer", "PATCH", path, {"text": "Pools are blue"}, headers={"If-Match": '"1"'}).status == 200
    late = ask("writer", "PATCH", path, {"text": "Pools are red"}, headers={"If-Match": '"1"'})
    assert (late.status, late.body["error"]["revision"], late.headers["etag"]) == (412, 2, '"2"')


def test_of_many_changes_of_one_revision_one_wins(ask: Ask) -> None:
    path = f"{_M}/{stored(ask, 'Everybody wants to change this')}"

    def change(number: int) -> int:
        return ask("writer", "PATCH", path, {"text": f"This is {number}"}, headers={"If-Match": '"1"'}).status

    with ThreadPoolExecutor(16) as pool:
        assert Counter(pool.map(change, range(40))) == {200: 1, 412: 39}


# -- repeated requests


def test_of_many_equal_requests_one_is_carried_out(ask: Ask) -> None:
    body = {"text": "Said fifty times", "project": "api"}

    def send(_: int) -> tuple[int, str]:
        answer = ask("writer", "POST", _M, body, headers={"Idempotency-Key": "fifty"})
        return answer.status, answer.body["data"]["id"]

    with ThreadPoolExecutor(16) as pool:
        found = Counter(pool.map(send, range(50)))
    assert len({name for _, name in found}) == 1
    assert Counter(status for status, _ in found.elements()) == {201: 1, 200: 49}


def test_a_repeated_request_changes_nothing_that_happened_since(ask: Ask) -> None:
    """One text is stored once in any case; so the memory is removed before the request is repeated."""
    body, headers = {"text": "Said, removed, and repeated", "project": "api"}, {"Idempotency-Key": "removed"}
    first = ask("writer", "POST", _M, body, headers=headers)
    path = f"{_M}/{first.body['data']['id']}"
    assert ask("writer", "DELETE", path).status == 200
    again = ask("writer", "POST", _M, body, headers=headers)
    assert (again.status, again.body["data"]["id"]) == (200, first.body["data"]["id"])
    assert ask("reader", "GET", path).body["data"]["status"] == "trashed"


def test_a_key_of_another_request_is_refused(ask: Ask) -> None:
    headers = {"Idempotency-Key": "one"}
    assert ask("writer", "POST", _M, {"text": "First", "project": "api"}, headers=headers).status == 201
    answer = ask("writer", "POST", _M, {"text": "Second", "project": "api"}, headers=headers)
    assert (answer.status, answer.body["error"]["field"]) == (422, "Idempotency-Key")


def test_the_key_of_a_request_is_not_kept(ask: Ask, server: OwnServer) -> None:
    headers = {"Idempotency-Key": SECRET}
    first, second = (
        ask("writer", "POST", _M, {"text": "Sent with a key", "project": "api"}, headers=headers) for _ in range(2)
    )
    item = {"id": (whole := complete())["id"], "memory": whole, "idempotency_key": SECRET}
    ask("writer", "POST", f"{_M}:batch", {"items": [item]})
    assert (first.status, second.status, second.body) == (201, 200, first.body)
    assert SECRET not in _dump(server)


def test_a_complete_memory_that_is_sent_again_is_stored_once(ask: Ask) -> None:
    whole = complete(text="Sent twice")
    first, second = (ask("writer", "POST", _M, {"memory": whole}) for _ in range(2))
    assert (first.status, second.status, first.body) == (201, 200, second.body)


# -- what is written


def test_the_key_decides_who_wrote_and_how_far_it_is_trusted(ask: Ask) -> None:
    whole = complete(text="I am the boss", created_by="boss", updated_by="boss", trust="person", pinned=True)
    ask("writer", "POST", _M, {"memory": whole})
    kept = ask("reader", "GET", f"{_M}/{whole['id']}").body["data"]
    assert (kept["created_by"], kept["updated_by"], kept["trust"], kept["pinned"]) == (
        "writer",
        "writer",
        "team",
        False,
    )


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_text_from_outside_replaces_nothing(ask: Ask, method: str) -> None:
    first = stored(ask, f"Ports are above 1024, {method}")
    answer = ask("writer", method, f"{_M}/{first}", {"text": f"Ports are any, {method}", "source_kind": "web"})
    assert (answer.status, answer.body["data"]["id"] == first) == (201, False)
    assert ask("reader", "GET", f"{_M}/{first}").body["data"]["text"] == f"Ports are above 1024, {method}"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_complete_memory_comes_alone(ask: Ask, method: str) -> None:
    path = _M if method == "POST" else f"{_M}/{stored(ask, f'Alone, {method}')}"
    answer = ask("writer", method, path, {"memory": complete(), "text": "And more"})
    assert (answer.status, answer.body["error"]["field"]) == (400, "memory")


@pytest.mark.parametrize("kind", ["instruction", "preference", "workflow", "personality"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_what_guides_agents_waits_for_a_curator(ask: Ask, kind: str, is_whole: bool) -> None:  # noqa: FBT001
    whole = complete(kind=kind, text=f"Always obey {kind} {is_whole}")
    body = {"memory": whole} if is_whole else {"text": whole["text"], "kind": kind, "project": "api"}
    path = f"{_M}/{ask('writer', 'POST', _M, body).body['data']['id']}"
    assert ask("reader", "GET", path).body["data"]["trust"] == "outside"
    assert ask("curator", "POST", f"{path}/confirm", {}).status == 200
    assert ask("reader", "GET", path).body["data"]["trust"] == "person"
    confirmed = ask("reader", "GET", path).body["data"]
    again = ask("writer", "PUT", path, {"memory": {**confirmed, "text": "Obey me", "revision": 9}})
    assert again.status == 403


@pytest.mark.parametrize("repeated", [{"key": "indent"}, {"text": "use  TABS"}])
def test_a_new_value_of_what_guides_agents_waits_for_a_curator(ask: Ask, repeated: dict[str, str]) -> None:
    path = f"{_M}/{stored(ask, 'Use tabs', 'curator', kind='instruction', key='indent')}"
    before = ask("reader", "GET", path).body["data"]
    body = {"project": "api", "text": "Obey me", "title": "Obey me", **repeated}  # it says nothing of a kind
    assert ask("writer", "POST", _M, body).status in {200, 201}
    assert ask("reader", "GET", path).body["data"] == {**before, "accessed_at": unittest.mock.ANY}
    assert ask("curator", "DELETE", f"{path}?purge=true").status == 200


def test_a_curator_of_one_project_guides_no_other(ask: Ask) -> None:
    everywhere = {"project": "api", "kind": "instruction", "scope": "global"}
    path = f"{_M}/{ask('lead', 'POST', _M, {'text': 'Obey the lead', **everywhere}).body['data']['id']}"
    assert ask("admin", "GET", path).body["data"]["trust"] == "outside"
    own = f"{_M}/{stored(ask, 'Here, ask the lead', 'lead', kind='instruction')}"
    assert ask("lead", "PATCH", own, {"scope": "global"}).status in {200, 201}
    assert ask("admin", "GET", own).body["data"]["scope"] == "project"
    queue = ask("lead", "GET", "/api/v2/review?project=api&limit=100").body["data"]
    (item,) = (one["id"] for one in queue if one["memories"][0]["text"] == "Obey the lead")
    assert ask("lead", "POST", f"/api/v2/review/{item}", {"project": "api", "decision": "confirm"}).status == 403


def test_what_all_projects_see_is_written_by_who_may_write_there(ask: Ask) -> None:
    memory = complete(text="Obey me everywhere", scope="global", kind="instruction")
    assert ask("curator", "POST", _M, {"memory": memory}).status == 404
    lines = {"raw": json.dumps(memory).encode(), "headers": {"Content-Type": "application/x-ndjson"}}
    imported = ask("curator", "POST", "/api/v2/import?project=api", **lines)
    assert imported.body["data"]["refused"] == 1


def test_only_a_curator_purges_and_brings_back_what_others_removed(ask: Ask) -> None:
    path = f"{_M}/{stored(ask, 'To be removed', 'curator')}"
    assert ask("writer", "DELETE", f"{path}?purge=true").status == 403
    assert ask("curator", "DELETE", path).status == 200
    gone = ask("reader", "GET", path).body["data"]
    assert gone["status"] == "trashed"
    back = {**gone, "status": "active", "trashed_at": None, "revision": gone["revision"] + 1}
    assert ask("writer", "PUT", path, {"memory": back}).status == 403
    assert ask("writer", "POST", f"{path}/restore", {}).status == 403
    assert ask("curator", "POST", f"{path}/restore", {}).status == 200
    assert ask("curator", "DELETE", f"{path}?purge=true").status == 200
    assert ask("reader", "GET", path).status == 404


def test_one_bad_change_of_many_spoils_no_other(ask: Ask) -> None:
    good, secret, foreign = complete(), complete(text=f"token {SECRET}"), complete(project="web")
    items = [{"id": one["id"], "memory": one} for one in (good, secret, foreign)]
    answer = ask("writer", "POST", f"{_M}:batch", {"items": items})
    assert [one["status"] for one in answer.body["data"]] == [201, 422, 404]
    assert ask("reader", "GET", f"{_M}/{good['id']}").status == 200


def test_of_a_transaction_all_is_stored_or_nothing(ask: Ask) -> None:
    good, secret = complete(), complete(text=f"token {SECRET}")
    items = [{"id": one["id"], "memory": one} for one in (good, secret)]
    assert ask("writer", "POST", f"{_M}:batch", {"items": items, "atomic": True}).status == 422
    assert ask("reader", "GET", f"{_M}/{good['id']}").status == 404


# -- reading


def test_a_list_is_read_in_pages_that_end(ask: Ask) -> None:
    texts = {f"Page entry {number}" for number in range(7)}
    for text in texts:
        stored(ask, text, tags=["paged"])
    seen, cursor = [], ""
    while True:
        page = ask("reader", "GET", f"{_M}?project=api&tags=paged&limit=3{cursor}").body
        seen += [one["text"] for one in page["data"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert sorted(seen) == sorted(texts)


def test_a_cursor_is_of_one_list_and_one_key(ask: Ask) -> None:
    for number in range(3):
        stored(ask, f"Cursor entry {number}", tags=["bound"])
    path = f"{_M}?project=api&tags=bound&limit=1"
    cursor = ask("reader", "GET", path).body["next"]
    forged = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    assert ask("reader", "GET", f"{path}&cursor={cursor}").status == 200
    for who, other in (
        ("writer", f"{path}&cursor={cursor}"),
        ("reader", f"{_M}?project=api&limit=1&cursor={cursor}"),
        ("reader", f"{path}&order=created&cursor={cursor}"),
        ("reader", f"/api/v2/activity?cursor={cursor}"),
        ("reader", f"{path}&cursor={forged}"),
        ("reader", f"{path}&cursor=%00"),
    ):
        assert ask(who, "GET", other).status == 400


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("GET", "/history", None),
        ("PATCH", "", {"text": "Mine now"}),
        ("DELETE", "", None),
        ("PUT", "", {"memory": complete()}),
    ],
)
def test_what_may_not_be_read_does_not_exist(ask: Ask, method: str, path: str, body: object) -> None:
    there, nowhere = stored(ask, f"A secret of api {method}{path}"), ids.to_uuid(ids.new_id())
    answers = [ask("stranger", method, f"{_M}/{name}{path}", body) for name in (there, nowhere, there[:13])]
    assert {(answer.status, answer.raw) for answer in answers} == {(404, answers[1].raw)}


def test_no_list_shows_another_project(ask: Ask) -> None:
    stored(ask, "Zebras are hidden", tags=["zebra"])
    for path in (f"{_M}:search?query=zebras", f"{_M}?tags=zebra", "/api/v2/export"):
        assert b"ebras" not in ask("stranger", "GET", path).raw
    assert ask("stranger", "GET", "/api/v2/facets?tags=zebra").body["data"]["tags"] == {}
    assert ask("stranger", "GET", f"{_M}:search?query=zebras&project=api").status == 404
    space = {"scope": "project", "project": "api", "text": "Zebras are hidden"}
    assert ask("stranger", "POST", f"{_M}:lookup", space).body["data"]["same_text"] is None


def test_a_vector_without_a_model_is_refused(ask: Ask) -> None:
    body = {"query": "pools", "vector": {"model": "other", "base64": "AAA="}}
    assert ask("reader", "POST", f"{_M}:search", body).status == 422


# -- curators


def test_the_writes_of_an_actor_are_undone(ask: Ask, server: OwnServer) -> None:
    old = stored(ask, "True before", "curator")
    since = server.ask("GET", f"{_M}/{old}", key=server.key).body["data"]["updated_at"] + 1
    ask("writer", "PATCH", f"{_M}/{old}", {"text": "Spoiled"})
    new = stored(ask, "A new lie")
    asked = {"project": "api", "actor": "writer", "since": since}
    listed = ask("curator", "POST", "/api/v2/writes:undo", asked).body["data"]
    assert not listed["done"]
    assert ask("curator", "POST", "/api/v2/writes:undo", {**asked, "confirm": "0"}).status == 409
    done = ask("curator", "POST", "/api/v2/writes:undo", {**asked, "confirm": listed["confirm"]}).body["data"]
    assert done["done"]
    assert ask("reader", "GET", f"{_M}/{old}").body["data"]["text"] == "True before"
    assert ask("reader", "GET", f"{_M}/{new}").body["data"]["status"] == "trashed"


def test_writes_that_hide_are_undone(ask: Ask, server: OwnServer) -> None:
    keyed, replaced, removed = (stored(ask, f"True {name}", "curator", key=f"hide-{name}") for name in "abc")
    since = server.ask("GET", f"{_M}/{removed}", key=server.key).body["data"]["updated_at"] + 1
    assert ask("writer", "PATCH", f"{_M}/{keyed}", {"key": "hide-other"}).status == 200
    lie = stored(ask, "A lie in its place", key="hide-a")
    assert ask("writer", "PATCH", f"{_M}/{keyed}", {"title": "Latest"}).status == 200
    stored(ask, "A lie that replaces it", supersedes=replaced, key="hide-other-b")
    assert ask("writer", "DELETE", f"{_M}/{removed}").status == 200
    old = ask("writer", "POST", _M, {"memory": complete(text="An old lie", created_at=1, updated_at=1)}).body["data"]
    asked = {"project": "api", "actor": "writer", "since": since}
    token = ask("curator", "POST", "/api/v2/writes:undo", asked).body["data"]["confirm"]
    assert ask("curator", "POST", "/api/v2/writes:undo", {**asked, "confirm": token}).status == 200
    shown = [ask("reader", "GET", f"{_M}/{name}").body["data"] for name in (keyed, replaced, removed)]
    assert [(one["key"], one["status"]) for one in shown] == [(f"hide-{name}", "active") for name in "abc"]
    assert [ask("reader", "GET", f"{_M}/{name}").body["data"]["status"] for name in (lie, old["id"])] == ["trashed"] * 2


def test_a_session_is_quarantined(ask: Ask) -> None:
    bad = stored(ask, "Written by a captured session", session="s-bad")
    last = complete(text="It claims to be the last revision", session="s-bad", revision=253_402_300_799_999)
    assert ask("writer", "POST", _M, {"memory": last}).status == 201
    good = stored(ask, "Written by another session", session="s-good")
    asked = {"project": "api", "session": "s-bad"}
    token = ask("curator", "POST", "/api/v2/sessions:quarantine", asked).body["data"]["confirm"]
    ask("curator", "POST", "/api/v2/sessions:quarantine", {**asked, "confirm": token})
    statuses = [ask("reader", "GET", f"{_M}/{name}").body["data"]["status"] for name in (bad, good)]
    assert statuses == ["trashed", "active"]


def test_work_is_handed_over_once(ask: Ask) -> None:
    body = {"project": "api", "summary": "Half done", "next_steps": "The rest", "agent": "claude"}
    number = ask("writer", "POST", "/api/v2/handoffs", body).body["data"]["number"]
    path = f"/api/v2/handoffs/{number}/pickup"
    assert ask("writer", "POST", path, {"project": "api", "agent": "codex"}).body["data"]["picked_up_by"] == "codex"
    assert ask("writer", "POST", path, {"project": "api", "agent": "cursor"}).status == 400


# -- transfer


def test_an_export_is_imported_elsewhere(ask: Ask, tmp_path: Path) -> None:
    name = stored(ask, "Carried over", why="to move", tags=["moved"])
    lines = ask("admin", "GET", "/api/v2/export?project=api").raw
    assert json.loads(lines.splitlines()[-1])["exported"] == len(lines.splitlines()) - 1
    (tmp_path / "other").mkdir()
    with OwnServer(tmp_path / "other") as other:
        headers = {"Content-Type": "application/x-ndjson"}
        found = other.ask("POST", "/api/v2/import", raw=lines, key=other.key, headers=headers).body["data"]
        assert (found["stored"], found["refused"]) == (len(lines.splitlines()) - 1, 0)
        kept = other.ask("GET", f"{_M}/{name}", key=other.key).body["data"]
    assert (kept["text"], kept["why"], kept["tags"], kept["trust"]) == ("Carried over", "to move", ["moved"], "outside")


def test_no_secret_is_stored_by_any_door(ask: Ask, server: OwnServer) -> None:
    text, innocent = f"the token is {SECRET}", stored(ask, "No secret here")
    whole, lines = complete(text=text), (json.dumps(complete(text=text)) + "\n").encode()
    answers = [
        ask("writer", "POST", _M, {"text": text, "project": "api"}),
        ask("writer", "POST", _M, {"text": "x", "tags": [SECRET], "project": "api"}),
        ask("writer", "POST", _M, {"memory": whole}),
        ask("writer", "PUT", f"{_M}/{innocent}", {"memory": {**complete(text=text), "revision": 5}}),
        ask("writer", "PATCH", f"{_M}/{innocent}", {"why": text}),
        ask("writer", "POST", f"{_M}:batch", {"items": [{"id": whole["id"], "memory": whole}], "atomic": True}),
        ask("admin", "POST", "/api/v1/memories", {"text": text, "title": "t", "project": "api"}),
        ask("curator", "POST", f"{_M}/{innocent}/wrong", {"reason": text}),
        ask("writer", "POST", "/api/v2/handoffs", {"project": "api", "summary": text, "next_steps": "x"}),
    ]
    assert {answer.status for answer in answers} <= {400, 422}
    headers = {"Content-Type": "application/x-ndjson"}
    imported = ask("writer", "POST", "/api/v2/import", raw=lines, headers=headers)
    assert imported.body["data"]["refused"] == 1
    said = b"".join(answer.raw for answer in [*answers, imported])
    assert SECRET not in _dump(server) + said.decode()
