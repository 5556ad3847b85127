"""What administrators do on the page of a team's server, and how others fail at it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from keepmum.server.dashboard.administration import OPERATIONS
from keepmum.server.people.keys import KeyRing, make_key
from unit.server.tabs import SECRET, TEXTS, Served, Tab

GHOST = "p_" + "a" * 12


@pytest.fixture
def root(served: Served) -> Tab:
    """An administrator of every project."""
    return served.signed_in(served.key("root", {"*": "admin"}).text)


@pytest.fixture
def lead(served: Served) -> Tab:
    """An administrator of one project."""
    return served.signed_in(served.key("lead", {"api": "admin", "web": "reader"}).text)


def _call(tab: Tab, call: str, **members: Any) -> Any:
    return tab.post("/api/admin", {"call": call, **members})


def _data(tab: Tab, call: str, **members: Any) -> Any:
    reply = _call(tab, call, **members)
    assert reply.status_code == 200, reply.text
    return reply.json()["data"]


def _add(tab: Tab, name: str, *roles: tuple[str, str]) -> Any:
    return _data(tab, "add_person", body={"name": name, "roles": [{"project": p, "role": r} for p, r in roles]})


def _signed_in(served: Served, tab: Tab, person: str) -> tuple[Any, Tab]:
    """A new key of a person, and a tab that signed in with it."""
    key = _data(tab, "make_key", body={"person": person, "name": "browser"})
    return key, served.signed_in(key["key"])


def _status(tab: Tab) -> int:
    return int(tab.post("/api/ask", {"view": "live", "args": {}}).status_code)


# -- what they can do


def test_a_person_is_added_gets_roles_and_is_removed(served: Served, root: Tab) -> None:
    ada = _add(root, "ada", ("api", "reader"))
    _data(root, "set_role", path={"id": ada["id"]}, body={"project": "web", "role": "writer"})
    (shown,) = [each for each in _data(root, "list_people") if each["name"] == "ada"]
    assert shown["roles"] == [{"project": "api", "role": "reader"}, {"project": "web", "role": "writer"}]
    _, tab = _signed_in(served, root, "ada")
    assert _call(root, "remove_person", path={"id": ada["id"]}).status_code == 200
    assert _status(tab) == 401
    assert "ada" not in [each["name"] for each in _data(root, "list_people")]


def test_a_new_key_is_in_one_answer_only(root: Tab) -> None:
    made = _data(root, "make_key", body={"person": "root", "name": "laptop", "days": 30})
    assert made["key"].startswith("kmt_" + made["id"])
    rotated = _data(root, "rotate_key", path={"id": made["id"]}, body={"overlap": 1})
    listed = _call(root, "list_keys").text
    assert made["key"] not in listed
    assert rotated["key"] not in listed
    assert {made["id"], rotated["id"]} <= {each["id"] for each in _data(root, "list_keys")}


def test_what_is_done_on_the_page_is_audited_as_its_persons(root: Tab) -> None:
    ada = _add(root, "ada")
    rows = _data(root, "rows", query={"before": "9999", "limit": "1"})
    assert [(row["actor"], row["action"], row["subject"]) for row in rows] == [("root", "person-added", ada["id"])]
    verdict = _call(root, "verification").json()
    assert (verdict["intact"], verdict["problem"]) == (True, "")
    assert _call(root, "verification", query={"head": verdict["head"]}).json()["intact"]


def test_usage_counts_by_project_and_person_and_holds_no_text(served: Served, root: Tab) -> None:
    reply = _call(root, "count_activity")
    counted = {(each["project"], each["agent"], each["action"]): each["times"] for each in reply.json()["data"]}
    assert counted == {("api", "root", "created"): 1, ("web", "root", "created"): 1}
    for call in ("count_activity", "rows", "list_people", "list_keys"):
        assert not [text for text in TEXTS.values() if text[:20] in _call(root, call).text]
    assert served.memories["api"] in _call(root, "rows").text


def test_an_administrator_of_one_project_decides_about_that_one(served: Served, lead: Tab) -> None:
    served.admin.add("ada", {"api": "reader", "web": "writer"})
    (ada,) = [each for each in _data(lead, "list_people") if each["name"] == "ada"]
    assert ada["roles"] == [{"project": "api", "role": "reader"}]
    assert _call(lead, "set_role", path={"id": ada["id"]}, body={"project": "api", "role": "writer"}).status_code == 200
    for project in ("web", "*", ""):
        body = {"project": project, "role": "admin"}
        assert _call(lead, "set_role", path={"id": ada["id"]}, body=body).status_code == 403
    assert {row["project"] for row in _data(lead, "rows")} == {"api"}
    assert _call(lead, "rows", query={"project": "web"}).status_code == 403


@pytest.mark.parametrize(
    ("call", "members"),
    [
        ("add_person", {"body": {"name": "eve", "roles": [{"project": "*", "role": "admin"}]}}),
        ("remove_person", {"path": {"id": "root"}}),
        ("make_key", {"body": {"person": "root"}}),
        ("verification", {}),
    ],
)
def test_an_administrator_of_one_project_cannot_become_more(
    served: Served, lead: Tab, call: str, members: dict[str, Any]
) -> None:
    served.admin.add("root", {"*": "admin"})
    assert _call(lead, call, **members).status_code == 403


def test_the_list_shows_the_last_use_of_a_moment_ago(root: Tab) -> None:
    own = root.ask("live", about=True)["about"]["admin"]["key"]
    (key,) = [each for each in _data(root, "list_keys") if each["id"] == own]
    assert 0 <= time.time_ns() // 1_000_000 - key["used_at"] < 3_600_000


# -- who sees and does nothing


@pytest.mark.parametrize("role", ["reader", "writer", "curator"])
def test_others_find_no_trace(served: Served, role: Any) -> None:
    tab = served.signed_in(served.key("eve", {"*": role}).text)
    assert "admin" not in tab.ask("live", about=True)["about"]
    refused = {call: _call(tab, call, path={"id": "eve"}, body={"name": "x", "person": "eve"}) for call in OPERATIONS}
    assert {reply.status_code for reply in refused.values()} == {404}
    assert {reply.text for reply in refused.values()} == {_call(tab, "no such call").text}
    assert [person.name for person in served.admin.people()] == ["eve"]
    assert len(served.admin.keys_of()) == 1


@pytest.mark.parametrize("headers", [
    {"X-Keepmum-Tab": ""}, {"Cookie": ""}, {"Origin": "https://evil.example"}, {"Origin": "http://127.0.0.1:9"},
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Content-Type": "text/plain"},
])  # fmt: skip
def test_a_forged_request_does_nothing(served: Served, root: Tab, headers: dict[str, str]) -> None:
    call = {"call": "add_person", "body": {"name": "eve", "roles": [{"project": "*", "role": "admin"}]}}
    assert root.post("/api/admin", call, **headers).status_code in {401, 403, 415}
    assert [person.name for person in served.admin.people()] == ["root"]


def test_the_key_of_an_administrator_in_the_header_is_no_session(served: Served) -> None:
    text = served.key("root", {"*": "admin"}).text
    assert served.post("/api/admin", {"call": "list_people"}, Authorization=f"Bearer {text}").status_code == 401


# -- sessions follow the key


def test_a_withdrawn_key_ends_the_session_of_its_administrator(served: Served, root: Tab) -> None:
    served.admin.add("two", {"*": "admin"})
    key, two = _signed_in(served, root, "two")
    assert _data(two, "list_people")
    assert _call(root, "withdraw_key", path={"id": key["id"]}).status_code == 200
    assert _status(two) == 401


def test_another_process_ends_the_session_within_five_seconds(served: Served) -> None:
    key = served.key("two", {"*": "admin"})
    now = [0.0]
    ring = KeyRing(served.team.records, SECRET, lambda: now[0])
    assert ring.holder(key.key.id, {})
    served.admin.withdraw_key(key.key.id)
    now[0] = 4.99
    assert ring.holder(key.key.id, {}) is None


def test_who_is_administrator_no_more_sees_nothing_at_the_next_call(served: Served, root: Tab) -> None:
    two = _add(root, "two", ("*", "admin"))
    _, tab = _signed_in(served, root, "two")
    assert _data(tab, "list_people")
    _data(root, "set_role", path={"id": two["id"]}, body={"project": "*", "role": "reader"})
    assert _call(tab, "list_people").status_code == 404
    assert "admin" not in tab.ask("live", about=True)["about"]


def test_who_withdraws_their_own_key_is_signed_out_and_others_stay(served: Served, root: Tab) -> None:
    other = served.signed_in(served.admin.make_key("root", "second").text)
    own = root.ask("live", about=True)["about"]["admin"]
    assert own["every"]
    assert _call(root, "withdraw_key", path={"id": own["key"]}).status_code == 200
    assert _status(root) == 401
    assert _status(other) == 200


def test_the_last_administrator_cannot_lock_everybody_out(root: Tab) -> None:
    own = root.ask("live", about=True)["about"]["admin"]["person"]
    replies = [
        _call(root, "remove_person", path={"id": own}),
        _call(root, "set_role", path={"id": own}, body={"project": "*", "role": "curator"}),
        _call(root, "set_role", path={"id": own}, body={"project": "*", "role": None}),
    ]
    assert [reply.status_code for reply in replies] == [422] * 3
    assert "no one else is admin" in replies[0].json()["error"]["message"]
    assert _data(root, "list_people")


# -- bad input


@pytest.mark.parametrize("ident", ["", GHOST, "../keys", "x" * 300, "p_%00", "aaaaaaaa", "'; DROP TABLE team_keys"])
@pytest.mark.parametrize("call", ["remove_person", "set_role", "withdraw_key", "rotate_key"])
def test_an_id_of_nobody_changes_nothing(served: Served, root: Tab, call: str, ident: str) -> None:
    body = {"project": "api", "role": "admin"} if call == "set_role" else {}
    reply = _call(root, call, path={"id": ident}, body=body)
    assert reply.status_code in {404, 422}
    assert not ident or ident not in reply.text
    assert len(served.admin.people()) == len(served.admin.keys_of()) == 1


@pytest.mark.parametrize("members", [
    {"path": []}, {"path": {}}, {"path": {"id": 1}}, {"body": []}, {"body": {"days": 1e999}}, {"body": {"more": 1}},
    {"query": {"x": "1"}}, {"path": {"id": "a", "b": "c"}}, {"body": {"overlap": "1"}}, {"body": {"days": True}},
])  # fmt: skip
def test_a_malformed_call_is_refused_with_a_sentence(root: Tab, members: dict[str, Any]) -> None:
    raw = json.dumps({"call": "rotate_key", "path": {"id": "aaaaaaaa"}, **members})
    headers = {**root.headers, "Origin": "http://127.0.0.1:3100", "Content-Type": "application/json"}
    reply = root.served.client.post("/dashboard/api/admin", content=raw, headers=headers)
    assert reply.status_code == 422
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize("call", ["", "run", "__class__", "create_memory", "list_memories", "metrics", None, 7])
def test_no_other_operation_of_the_api_is_reached(root: Tab, call: Any) -> None:
    assert root.post("/api/admin", {"call": call}).status_code in {404, 422}


def test_a_key_is_refused_as_a_name_and_is_in_no_answer(served: Served, root: Tab) -> None:
    secret = make_key().text
    for call, body in (
        ("add_person", {"name": secret}),
        ("add_person", {"name": "ada", "roles": [{"project": secret, "role": "reader"}]}),
        ("make_key", {"person": "root", "name": secret}),
        ("make_key", {"person": secret}),
    ):
        reply = _call(root, call, body=body)
        assert reply.status_code in {404, 422}
        assert secret not in reply.text
    assert len(served.admin.keys_of()) == 1


def test_an_administrator_who_calls_much_is_slowed_down(root: Tab) -> None:
    replies = [_call(root, "add_person", body={"name": f"p{n}"}).status_code for n in range(260)]
    assert 429 in replies
    assert _call(root, "list_people").status_code == 200
