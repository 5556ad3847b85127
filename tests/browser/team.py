"""A team's server with people, keys and 30 days of activity, in a thread of this process: for tests and pictures."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import uvicorn
from playwright.sync_api import Browser, Page

from browser.conftest import PATIENCE_MS, Tab, empty_page
from browser.sample import Sample
from keepmum.core.memory import Activity
from keepmum.core.retention import DAY_MS
from keepmum.server.app import build
from keepmum.server.people.administration import Administration
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.roles import Role
from keepmum.server.settings import ServerSettings
from keepmum.service import Place
from keepmum.service.team import ORGANISATION, Grant, Team, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum_scanner import scan

__all__ = ["TITLES", "TeamServed", "signed_in", "team_serving"]

SECRET = b"a secret for tests only"
TITLES = {"github.com/acme/api": "Deploys run at noon", "github.com/acme/web": "Colours are in a table"}
API, WEB = TITLES
_PEOPLE: Mapping[str, tuple[str, dict[str, Role]]] = {
    "root": ("person", {"*": "admin"}),
    "lead": ("person", {API: "admin"}),
    "cur": ("person", {WEB: "curator"}),
    "rea": ("person", {API: "reader", WEB: "reader"}),
    "wri": ("person", {API: "writer"}),
    "build": ("service", {"*": "reader"}),
}


class TeamServed(NamedTuple):
    """A server that runs."""

    address: str
    keys: dict[str, str]  # the key of each person
    team: Team
    admin: Administration
    folder: Path


@contextlib.contextmanager
def team_serving(folder: Path) -> Iterator[TeamServed]:
    """Run a team's server over a file in `folder`."""
    with contextlib.closing(open_team(TeamSqliteSpec(str(folder / "memory.db")), AllowlistScanner(None))) as team:
        for project, title in TITLES.items():
            place = Place(project=project, name=project)
            with team.service(Grant(ORGANISATION), actor="root", place=place, origin="rest") as service:
                service.remember(f"{title}, as everybody knows", title=title)
        ring = KeyRing(team.records, SECRET)
        admin = Administration(team.records, SECRET, scan, "root", ring.forget)
        for name, (kind, roles) in _PEOPLE.items():
            admin.add(name, roles, kind)
        keys = {name: admin.make_key(name, "laptop" if name != "build" else "ci", days=365).text for name in _PEOPLE}
        team.shared.acting(Grant(ORGANISATION)).log(list(_activity()))
        app = build(team, ring, ServerSettings(str(folder)))
        server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="error"))
        with contextlib.closing(server.config.bind_socket()) as listening:
            listening.listen()  # a request that comes before the server is ready waits
            thread = threading.Thread(target=server.run, args=([listening],))
            thread.start()
            try:
                address = f"http://127.0.0.1:{listening.getsockname()[1]}/dashboard/"
                yield TeamServed(address, keys, team, admin, folder)
            finally:
                server.should_exit = True
                thread.join(PATIENCE_MS / 1000)


def _activity() -> Iterator[Activity]:
    """What people and a service did in 30 days."""
    dice, now = random.Random(7), time.time_ns() // 1_000_000
    for day in range(29, -1, -1):
        for name, project, often in (("wri", API, 9), ("cur", WEB, 5), ("build", API, 12), ("lead", API, 3)):
            for _ in range(dice.randrange(often)):
                action = dice.choice(("recalled", "recalled", "loaded", "created", "updated"))
                if name == "wri" and not dice.randrange(25):
                    action = "refused"
                yield Activity(at=now - day * DAY_MS, agent=name, action=action, project=project)  # type: ignore[arg-type]


@contextlib.contextmanager
def signed_in(  # noqa: PLR0917 - who looks, and how
    browser: Browser, served: TeamServed, person: str, theme: str = "light", width: int = 1440, height: int = 900
) -> Iterator[Tab]:
    """A tab of a person who has signed in."""
    with empty_page(browser, theme, width, height) as (page, complaints):
        page.goto(served.address)
        enter_key(page, served.keys[person])
        choose = page.get_by_role("button", name="Open")
        page.wait_for_selector("#choose:not([hidden]), main h1:not(.card *)")
        if choose.is_visible():
            choose.click()
        page.wait_for_selector(".nav")
        opened = Tab(page, Sample(served.folder, served.folder), complaints)
        opened.settle()
        yield opened


def enter_key(page: Page, key: str) -> None:
    """Sign in on the page that asks for a key."""
    page.get_by_label("Your key for this server").fill(key)
    page.get_by_role("button", name="Sign in").click()
