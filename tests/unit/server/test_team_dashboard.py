"""Who gets what from the dashboard of a team's server."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keepmum.dashboard import site
from keepmum.dashboard.sessions import Secrets, Sessions
from keepmum.server.app import build
from keepmum.server.dashboard.sign_in import MOST_OF_KEY
from keepmum.server.people.administration import Administration
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.keys import KeyRing, make_key
from keepmum.server.settings import ServerSettings
from keepmum.service import Place
from keepmum.service.team import ORGANISATION, Grant, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum_scanner import scan
from server_app import ENGINES
from two_projects import two_projects
from unit.server.tabs import ORIGIN, SECRET, TEXTS, Served, Tab


@pytest.fixture
def reader(served: Served) -> Tab:
    return served.signed_in(served.key("rea", {"api": "reader"}).text)


@pytest.fixture
def writer(served: Served) -> Tab:
    return served.signed_in(served.key("wri", {"api": "writer"}).text)


# -- the page


def test_every_answer_has_the_headers_of_the_page(served: Served) -> None:
    for path in ("/dashboard/", "/dashboard/app.js", "/dashboard/sign-in.html", "/dashboard/none", "/dashboard"):
        headers = served.client.get(path, follow_redirects=False).headers
        assert {name: headers.get(name) for name in site.HEADERS} == dict(site.HEADERS)
    assert served.post("/api/ask", {}).headers["content-security-policy"] == site.CONTENT_POLICY


@pytest.mark.parametrize("path", ["/../server.py", "/%2e%2e/dashboard.py", "/lib", "//etc/passwd"])
def test_other_files_do_not_exist(served: Served, path: str) -> None:
    assert served.client.get(f"/dashboard{path}").status_code == 404


@pytest.mark.parametrize("path", ["/", "/dashboard"])
def test_the_address_of_the_server_leads_to_the_page(served: Served, path: str) -> None:
    reply = served.client.get(path, follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (308, "/dashboard/")


def test_a_link_from_elsewhere_leads_to_the_page_and_to_nothing_else(served: Served) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert served.client.get("/dashboard/", headers=link).status_code == 200
    assert served.client.get("/dashboard/app.js", headers=link).status_code == 403
    assert served.client.get("/dashboard/", headers={**link, "Sec-Fetch-Dest": "iframe"}).status_code == 403


# -- signing in


def test_the_cookie_is_for_this_host_alone(served: Served) -> None:
    key = served.key("ada", {"api": "reader"}).text
    plain = served.post("/session", {"key": key}).headers["set-cookie"]
    assert plain.startswith("keepmum_server_3100=")
    assert plain.partition("; ")[2] == "HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"
    by_tls = served.post("/session", {"key": key}, Origin="https://127.0.0.1:3100").headers["set-cookie"]
    assert by_tls.startswith("__Host-keepmum=")
    assert by_tls.partition("; ")[2] == "Secure; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"


def test_without_tls_nobody_signs_in_from_another_machine(tmp_path: Path) -> None:
    with contextlib.closing(open_team(TeamSqliteSpec(str(tmp_path / "memory.db")), AllowlistScanner(None))) as team:
        settings = ServerSettings(str(tmp_path), url="http://team.example")
        app = build(team, KeyRing(team.records, SECRET), settings)
        with TestClient(app, base_url="http://team.example") as client:
            reply = client.post("/dashboard/session", json={"key": "a"}, headers={"Origin": "http://team.example"})
    assert reply.status_code == 403
    assert "HTTPS" in reply.json()["error"]["message"]


def test_a_wrong_key_opens_nothing_and_the_tenth_has_to_wait(served: Served) -> None:
    replies = [served.post("/session", {"key": make_key().text}) for _ in range(11)]
    assert [reply.status_code for reply in replies] == [401] * 10 + [429]
    assert int(replies[-1].headers["retry-after"]) > 0
    assert not any("set-cookie" in reply.headers for reply in replies)
    assert served.signed_in(served.key("ada", {"api": "reader"}).text).ask("live")


def test_a_key_with_half_a_surrogate_pair_is_a_wrong_key(served: Served) -> None:
    headers = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    reply = served.client.post("/dashboard/session", content=r'{"key": "\ud800"}', headers=headers)
    assert reply.status_code == 401


def test_the_key_is_in_no_answer_and_no_session_is_kept_as_it_is_sent(served: Served) -> None:
    sessions = Sessions(16)
    made = sessions.open()
    assert made.cookie not in repr(vars(sessions))
    assert made.tab not in repr(vars(sessions))
    key = served.key("ada", {"api": "reader"}).text
    assert key not in served.post("/session", {"key": key}).text
    tab = served.signed_in(key)
    stored = served.file.read_bytes() + served.file.with_name(served.file.name + "-wal").read_bytes()
    secrets = [tab.headers["Cookie"].partition("=")[2], tab.headers["X-Keepmum-Tab"]]
    assert not any(secret.encode() in stored for secret in secrets)
    assert Secrets(*secrets).digest in stored


def test_a_session_ends_after_twelve_hours(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.time_ns()
    tab = served.signed_in(served.key("ada", {"api": "reader"}).text)
    hours = 3600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: begun + 12 * hours - 10**9)
    assert tab.post("/projects", {}).status_code == 200
    monkeypatch.setattr(time, "time_ns", lambda: begun + 12 * hours + 60 * 10**9)
    assert tab.post("/projects", {}).status_code == 401


def test_the_oldest_session_of_a_key_ends_when_it_opens_many(served: Served) -> None:
    key, other = (served.key(name, {"api": "reader"}).text for name in ("ada", "bob"))
    tabs = [served.signed_in(text) for text in (other, *[key] * (MOST_OF_KEY + 1))]
    assert [tab.post("/projects", {}).status_code for tab in tabs] == [200, 401, *[200] * MOST_OF_KEY]


def test_a_changed_key_of_the_variable_ends_the_sessions_of_the_former_one() -> None:
    before = ApiKeys(json.dumps([{"key": "one", "name": "ci", "projects": ["api"]}]), SECRET)
    after = ApiKeys(json.dumps([{"key": "two", "name": "ci", "projects": ["api"]}]), SECRET)
    found = before.find("one")
    assert found is not None
    assert before.holder(found.key, {}) == found
    assert after.holder(found.key, {}) is None


def test_a_key_of_the_variable_signs_in_as_a_writer(served: Served) -> None:
    tab = served.signed_in("env")
    about = tab.ask("live", about=True)["about"]
    assert (about["project"], "edit" in about["can"], "decide" in about["can"]) == ("api", True, False)
    assert tab.post("/projects", {}).json()["projects"] == ["api"]


# -- refusals


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Cookie": ""}, 401),
        ({"X-Keepmum-Tab": ""}, 401),
        ({"X-Keepmum-Tab": "x" * 43}, 401),
        ({"Cookie": "keepmum_server_3100=" + "x" * 43}, 401),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Host": "evil.example"}, 421),
    ],
)
def test_a_call_is_refused(reader: Tab, headers: dict[str, str], status: int) -> None:
    reply = reader.post("/api/ask", {"view": "memories", "args": {}}, **headers)
    assert reply.status_code == status
    assert TEXTS["api"] not in reply.text


def test_a_call_without_an_origin_is_refused(reader: Tab) -> None:
    call = {"view": "memories", "args": {}}
    reply = reader.served.client.post("/dashboard/api/ask", json=call, headers=reader.headers)
    assert reply.status_code == 403


def test_a_key_in_the_header_is_not_a_session(served: Served) -> None:
    key = served.key("ada", {"api": "reader"}).text
    reply = served.post("/api/ask", {"view": "live", "args": {}}, Authorization=f"Bearer {key}")
    assert reply.status_code == 401
    assert reply.json()["error"]["go"] == "./sign-in.html"


def test_a_withdrawn_key_ends_its_session(served: Served) -> None:
    made = served.key("ada", {"api": "reader"})
    tab = served.signed_in(made.text)
    assert tab.ask("live")
    served.admin.withdraw_key(made.key.id)
    assert tab.post("/api/ask", {"view": "live", "args": {}}).status_code == 401


def test_who_signs_out_has_no_session(reader: Tab) -> None:
    assert reader.post("/leave", {}).status_code == 200
    assert reader.post("/api/ask", {"view": "live", "args": {}}).status_code == 401


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000])
def test_what_is_not_an_object_is_refused(reader: Tab, body: bytes) -> None:
    headers = {**reader.headers, "Origin": ORIGIN, "Content-Type": "application/json"}
    assert reader.served.client.post("/dashboard/api/ask", content=body, headers=headers).status_code == 422


def test_a_large_call_is_refused(reader: Tab) -> None:
    assert reader.post("/api/ask", {"view": "x" * 2_100_000}).status_code == 413


# -- roles and projects


def test_a_reader_sees_the_project_and_no_action(reader: Tab) -> None:
    answer = reader.ask("memories", about=True)
    assert TEXTS["api"][:20] in str(answer["data"])
    assert (answer["about"]["can"], answer["about"]["decisions"]) == ([], [])
    assert (answer["about"]["project"], answer["about"]["where"]) == ("api", "server")


@pytest.mark.parametrize("verb", ["forget", "edit", "pin", "confirm", "decide", "undo", "undo_agent", "take_out"])
def test_a_readers_change_is_refused(reader: Tab, verb: str) -> None:
    memory = reader.served.memories["api"]
    assert reader.change(verb, id=memory, ids=[memory], text="other").status_code == 403
    assert reader.ask("memory", id=memory)["data"]["memory"]["status"] == "active"


def test_a_writer_moves_to_the_trash_in_their_own_name(writer: Tab) -> None:
    memory = writer.served.memories["api"]
    assert "decide" not in writer.ask("live", about=True)["about"]["can"]
    assert writer.change("forget", ids=[memory], expected={memory: writer.revision("api")}).status_code == 200
    assert writer.ask("memory", id=memory)["data"]["memory"]["updated_by"] == "wri"


def test_a_writer_takes_back_no_decision_of_a_curator(served: Served, writer: Tab) -> None:
    curator = served.signed_in(served.key("cur", {"api": "curator"}).text)
    place = Place(project="api", name="api")
    with served.team.service(
        Grant(ORGANISATION), actor="wri", place=place, origin="rest", curates=lambda _: False
    ) as service:
        service.remember("Always deploy at noon", kind="instruction")
    (item,) = curator.ask("review")["data"]["items"]
    later = curator.change("decide", item=item["id"], decision="later").json()["data"]["undo"]
    assert writer.change("undo", undo=later).status_code == 403
    assert writer.change("undo", undo="accepted:" + served.memories["api"]).status_code == 403
    assert not curator.ask("review")["data"]["items"]
    assert curator.change("undo", undo=later).status_code == 200
    assert curator.ask("review")["data"]["items"]


def test_a_curator_decides_as_a_person(served: Served) -> None:
    tab = served.signed_in(served.key("cur", {"api": "curator"}).text)
    assert {"confirm", "pin", "decide"} <= set(tab.ask("live", about=True)["about"]["can"])
    memory = served.memories["api"]
    assert tab.change("pin", ids=[memory], expected={memory: tab.revision("api")}).status_code == 200


@pytest.mark.parametrize("view", ["memories", "home", "activity", "review", "handoffs"])
def test_a_view_has_nothing_of_another_project(reader: Tab, view: str) -> None:
    memory = reader.served.memories["web"]
    for args in ({}, {"scope": "all"}):
        reply = reader.post("/api/ask", {"view": view, "args": {**args, "about": True}})
        assert memory not in reply.text
        assert TEXTS["web"][:20] not in reply.text


def test_a_memory_of_another_project_does_not_exist(writer: Tab) -> None:
    memory = writer.served.memories["web"]
    assert writer.post("/api/ask", {"view": "memory", "args": {"id": memory}}).status_code == 404
    assert writer.change("forget", ids=[memory]).status_code == 404
    export = writer.post("/api/export", {"format": "jsonl", "filter": {"scope": "all"}})
    assert TEXTS["web"] not in export.text


def test_a_role_counts_in_its_own_project_only(served: Served) -> None:
    tab = served.signed_in(served.key("two", {"api": "reader", "web": "curator"}).text)
    assert tab.post("/projects", {}).json() == {"project": "api", "projects": ["api", "web"], "every": False}
    assert tab.post("/project", {"project": "web"}).status_code == 200
    assert tab.ask("live", about=True)["about"]["project"] == "web"
    memory = served.memories["api"]
    assert tab.change("forget", ids=[memory]).status_code == 404
    assert tab.post("/project", {"project": "api"}).status_code == 200
    assert tab.ask("live", about=True)["about"]["can"] == []


@pytest.mark.parametrize("project", ["web", "*", "", "nowhere"])
def test_a_project_that_the_key_may_not_read_cannot_be_chosen(reader: Tab, project: str) -> None:
    assert reader.post("/project", {"project": project}).status_code == 404
    assert reader.ask("live", about=True)["about"]["project"] == "api"


def test_a_name_that_no_project_can_have_is_not_chosen(served: Served) -> None:
    tab = served.signed_in(served.key("all", {"*": "reader"}).text)
    assert tab.post("/project", {"project": "a\x00b"}).status_code == 422
    assert tab.ask("live", about=True)["about"]["project"] == ""


def test_a_key_of_every_project_sees_all_of_them(served: Served) -> None:
    tab = served.signed_in(served.key("all", {"*": "reader"}).text)
    shown = str(tab.ask("memories")["data"])
    assert all(text[:20] in shown for text in TEXTS.values())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_key_of_every_project_opens_a_memory_of_any(tmp_path: Path, engine: str) -> None:
    with two_projects(engine, tmp_path) as made:
        people = Administration(made.team.records, SECRET, scan, "test")
        served = Served(made.team, made.client, people, {}, tmp_path)
        tab = served.signed_in(served.key(f"{made.projects['ada']}-root", {"*": "reader"}).text)
        found = tab.ask("memory", id=made.taken)["data"]["memory"]
    assert (found["project"], found["text"]) == (made.projects["ada"], "of ada")


def test_an_export_is_what_the_list_shows(reader: Tab) -> None:
    reply = reader.post("/api/export", {"format": "jsonl"})
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    assert TEXTS["api"] in reply.text
