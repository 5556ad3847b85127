"""The dashboard of a team's server in a real browser: sign in with a key, look, and choose another project."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect

from keepmum.server.app import build
from keepmum.server.people.administration import Administration
from keepmum.server.people.keys import KeyRing, make_key
from keepmum.server.settings import ServerSettings
from keepmum.service import Place
from keepmum.service.team import ORGANISATION, Grant, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum_scanner import scan

SECRET = b"a secret for tests only"
TITLES = {"api": "Deploys run at noon", "web": "Colours are in a table"}


class Served(NamedTuple):
    """A server that runs in a thread."""

    address: str
    reader: str  # a key of a reader of both projects
    curator: str  # of a curator of one


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with contextlib.closing(open_team(TeamSqliteSpec(str(tmp_path / "memory.db")), AllowlistScanner(None))) as team:
        for project, title in TITLES.items():
            place = Place(project=project, name=project)
            with team.service(Grant(ORGANISATION), actor="root", place=place, origin="rest") as service:
                service.remember(f"{title}, as everybody knows", title=title)
        ring = KeyRing(team.records, SECRET)
        admin = Administration(team.records, SECRET, scan, "root", ring.forget)
        admin.add("rea", {"api": "reader", "web": "reader"})
        admin.add("cur", {"web": "curator"})
        keys = [admin.make_key(name, "browser").text for name in ("rea", "cur")]
        app = build(team, ring, ServerSettings(str(tmp_path)))
        server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="error"))
        with contextlib.closing(server.config.bind_socket()) as listening:
            listening.listen()  # a request that comes before the server is ready waits
            thread = threading.Thread(target=server.run, args=([listening],))
            thread.start()
            try:
                yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}/dashboard/", *keys)
            finally:
                server.should_exit = True
                thread.join(20)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(reduced_motion="reduce", locale="en-GB")
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    opened.complaints = complaints = []  # type: ignore[attr-defined]
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert not complaints


def _sign_in(page: Page, key: str) -> None:
    page.get_by_label("Your key for this server").fill(key)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.heavy
def test_a_reader_signs_in_and_sees_the_project_without_actions(page: Page, served: Served) -> None:
    page.goto(served.address)
    _sign_in(page, make_key().text)
    expect(page.get_by_role("alert")).to_contain_text("this is no key of this server")
    _sign_in(page, served.reader)
    page.get_by_label("Project").fill("web")
    page.get_by_role("button", name="Open").click()
    page.get_by_role("link", name="Memories").click()
    page.get_by_text(TITLES["web"]).first.click()
    expect(page.get_by_text("as everybody knows").first).to_be_visible()
    assert TITLES["api"] not in page.inner_text("body")
    for action in ("Forget", "Edit", "Archive", "Pin", "Confirm", "Wrong", "Still true"):
        assert page.get_by_role("button", name=action).count() == 0
    assert page.get_by_role("link", name="Health").count() == 0
    page.get_by_role("link", name="On your team").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto(served.address)
    expect(page.get_by_label("Your key for this server")).to_be_visible()


@pytest.mark.heavy
def test_a_curator_changes_a_memory(page: Page, served: Served) -> None:
    page.goto(served.address)
    _sign_in(page, served.curator)
    page.get_by_role("link", name="Memories").click()
    page.get_by_text(TITLES["web"]).first.click()
    page.get_by_role("button", name="Pin").first.click()
    expect(page.get_by_text("Pinned “Colours").last).to_be_visible()
