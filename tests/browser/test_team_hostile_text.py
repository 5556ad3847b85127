"""Whatever a writer stores through any door of a team's server is text on every screen of its dashboard."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, expect

from browser.conftest import Tab
from browser.team import API, TeamServed, signed_in, team_serving

pytestmark = pytest.mark.heavy

MARKUP = (
    "<img src=x onerror=window.PWNED=1><script>window.PWNED=1</script><svg onload=window.PWNED=1>",
    "</textarea></title></script><iframe src=javascript:parent.PWNED=1></iframe>",
    "{{constructor.constructor('window.PWNED=1')()}} ${window.PWNED=1} <%= 7*7 %>",
    "\"'><a href=javascript:window.PWNED=1 onclick=window.PWNED=1>x</a> [x](javascript:window.PWNED=1)",
)
LINKS = (
    "javascript:window.PWNED=1",
    "JaVaScRiPt://https:/%0awindow.PWNED=1",
    "data:text/html,<script>window.PWNED=1</script>",
    "https://a@evil.example/",
)
NAMES = ("__proto__", "constructor", "toString")  # members that every object of the page has
PROJECT = "<img src=x onerror=window.PWNED=1>"
SCREENS = ("home", "memories", "review", "activity", "handoffs", "people", "keys?show=all", "audit", "usage")


class Client:
    """Requests to the API with a person's key."""

    def __init__(self, served: TeamServed, person: str) -> None:
        self._root, self._key = served.address.removesuffix("/dashboard/"), served.keys[person]

    def __call__(self, method: str, path: str, body: object, media: str = "application/json") -> Any:
        """The body of a success."""
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        accepts = "application/json, text/event-stream"
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": media, "Accept": accepts}
        asked = urllib.request.Request(self._root + path, raw, headers, method=method)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())


def _fill(served: TeamServed) -> list[str]:
    """Store hostile values in every field, through every door; returns the ids of the memories."""
    ask = Client(served, "root")
    for name in NAMES:
        served.admin.add(name, {PROJECT: "writer", API: "curator"}, "person")
        served.admin.make_key(name, name, projects=[PROJECT])
    ids = []
    for number, text in enumerate(MARKUP):
        short = text[:90].replace(",", ";")
        fields = {
            "text": text, "title": text[:110], "why": text, "key": f"hostile.{number}", "tags": [short, *NAMES],
            "source": LINKS[number], "data": {text: [text, {"__proto__": text}]}, "kind": "decision",
        }  # fmt: skip
        ids.append(ask("POST", "/api/v2/memories", {**fields, "project": (API, PROJECT)[number % 2]})["data"]["id"])
        ask("PATCH", f"/api/v2/memories/{ids[-1]}", {"text": f"{text} changed", "why": f"changed {text}"})
        first = {"text": f"first {text}", "title": text[:110], "tags": [short], "agent": short, "project": PROJECT}
        ids.append(ask("POST", "/api/v1/memories", first)["data"]["id"])
        cited = {"path": text, "symbol": text, "commit": "0" * 40, "blob": "0" * 40, "line": 1, "digest": "0" * 40}
        moved = {
            **fields, "id": f"0198b7c0-0000-7000-8000-00000000000{number}", "key": None, "project": PROJECT,
            "text": f"moved {text}", "created_at": 1, "updated_at": 1, "agent": text[:190], "session": text[:190],
            "created_by": text[:190], "updated_by": text[:190], "confirmed_by": text[:190],
            "git": {"branch": text, "commit": text, "remote": LINKS[number]}, "citations": [cited],
        }  # fmt: skip
        stored = ask("POST", "/api/v2/import", json.dumps(moved), "application/x-ndjson")["data"]
        assert stored["stored"] == 1, stored
        ids.append(moved["id"])
        params = {"name": "remember", "arguments": {"text": f"said {text}", "title": text[:110], "why": text}}
        said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert not ask("POST", f"/mcp?project={API}", said)["result"].get("isError")
        handed = {
            "project": API, "summary": text, "next_steps": text, "stuck_reason": text, "agent": short,
            "to_agent": short, "context_keys": [f"hostile.{number}", text[:200]],
        }  # fmt: skip
        ask("POST", "/api/v2/handoffs", handed)
    for number, ident in enumerate(ids[:2]):
        ask("POST", f"/api/v2/memories/{ident}/wrong", {"reason": MARKUP[number]})
    rule = {"text": f"always {MARKUP[0]}", "title": MARKUP[0], "kind": "instruction", "project": API}
    Client(served, "wri")("POST", "/api/v2/memories", rule)
    return ids


def _unsafe_links(one: Tab) -> list[str]:
    found: list[str] = one.page.eval_on_selector_all("a[href]", "all => all.map(each => each.href)")
    root = one.page.url.partition("#")[0]
    return [href for href in found if not href.startswith((root, "https://keepmum.example/"))]


def test_a_person_may_have_the_name_of_a_member_of_every_object(chromium: Browser, tmp_path: Path) -> None:
    with team_serving(tmp_path) as served:
        written = {}
        for name in NAMES:
            served.admin.add(name, {API: "writer"})
            served.keys[name] = served.admin.make_key(name, "laptop").text
            said = {"text": f"Said by {name}", "title": "A saying", "project": API}
            written[name] = Client(served, name)("POST", "/api/v2/memories", said)["data"]["id"]
            handed = {"project": API, "summary": f"For {name}", "next_steps": "Test it", "to_agent": f"{name}"}
            Client(served, "root")("POST", "/api/v2/handoffs", handed)
        for name in NAMES:
            served.admin.remove(name)
        with signed_in(chromium, served, "lead") as one:
            one.go("handoffs")
            for name in NAMES:
                expect(one.page.locator(".hand").filter(has_text=f"For {name}")).to_contain_text(f"→ {name}")
            for name, ident in written.items():
                one.go(f"memories?open={ident}")
                expect(one.page.locator(".detail .who").first).to_have_text(name)
            assert not one.complaints


def test_there_is_no_health_of_a_server(chromium: Browser, tmp_path: Path) -> None:
    with team_serving(tmp_path) as served, signed_in(chromium, served, "root") as one:
        one.go("health")
        expect(one.page.get_by_role("heading", level=1)).to_contain_text("What your agents know")


def test_nothing_that_a_writer_stores_becomes_markup_code_or_a_link(chromium: Browser, tmp_path: Path) -> None:
    with team_serving(tmp_path) as served:
        ids = _fill(served)
        with signed_in(chromium, served, "root") as one:
            page = one.page
            dialogs: list[str] = []
            elsewhere: list[str] = []

            def dismiss(dialog: Dialog) -> None:
                dialogs.append(dialog.message)
                dialog.dismiss()

            page.on("dialog", dismiss)
            root = served.address.removesuffix("dashboard/")
            page.on("request", lambda asked: None if asked.url.startswith(root) else elsewhere.append(asked.url))
            links: list[str] = []
            for screen in (*SCREENS, *(f"memories?open={ident}" for ident in ids)):
                one.go(screen)
                links += _unsafe_links(one)
                odd = page.locator("main img, main iframe, main script, [onerror], [onload], [onclick]")
                assert odd.count() == 0, screen
            one.go("review")
            items = page.eval_on_selector_all("a[href*='review?item=']", "all => all.map(each => each.hash.slice(2))")
            assert items
            for item in items:
                one.go(item)
                links += _unsafe_links(one)
            one.go(f"memories?open={ids[2]}")
            page.locator(".detail").get_by_role("button", name="Edit").press("Enter")
            page.wait_for_selector("textarea")
            one.go("people")
            for name in NAMES:
                page.get_by_role("button", name=f"Roles of {name}").click()
                links += _unsafe_links(one)
            assert page.evaluate("window.PWNED") is None
            assert not dialogs
            assert not elsewhere
            assert not links
            assert not one.complaints
