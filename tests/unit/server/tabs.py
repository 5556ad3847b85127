"""A team's server in this process, and tabs of its dashboard."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from keepmum.server.app import build
from keepmum.server.people.administration import Administration
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.roles import Role
from keepmum.server.settings import ServerSettings
from keepmum.service import Place
from keepmum.service.team import ORGANISATION, Grant, Team, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum_scanner import scan
from server_app import keys

__all__ = ["ORIGIN", "SECRET", "TEXTS", "Served", "Tab", "serving"]

SECRET = b"a secret for tests only"
ORIGIN = "http://127.0.0.1:3100"
TEXTS = {"api": "Deploys of the interface run at noon", "web": "The colours of the site are in a table"}


class Served:
    """A server with one memory in each of two projects, whose administration is in this process."""

    def __init__(
        self, team: Team, client: TestClient, admin: Administration, memories: dict[str, str], file: Path
    ) -> None:
        self.file = file  # the database
        self.team = team
        self.client = client
        self.admin = admin
        self.memories = memories  # their ids by project

    def key(self, person: str, roles: dict[str, Role]) -> Any:
        """A new key of a new person."""
        self.admin.add(person, roles)
        return self.admin.make_key(person, "browser")

    def signed_in(self, text: str) -> Tab:
        """The tab of who signs in with a key."""
        reply = self.post("/session", {"key": text})
        assert reply.status_code == 200, reply.text
        cookie = reply.headers["set-cookie"].partition(";")[0]
        self.client.cookies.clear()
        return Tab(self, {"Cookie": cookie, "X-Keepmum-Tab": reply.json()["tab"]})

    def post(self, path: str, value: object, **headers: str) -> Any:
        """What the server answers to its own page."""
        given = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", **headers}
        return self.client.post(f"/dashboard{path}", json=value, headers=given)


class Tab:
    """A page with a session."""

    def __init__(self, served: Served, headers: dict[str, str]) -> None:
        self.served = served
        self.headers = headers

    def post(self, path: str, value: object, **headers: str) -> Any:
        """Call with the session; `headers` replace those of the tab."""
        return self.served.post(path, value, **{**self.headers, **headers})

    def ask(self, view: str, **args: Any) -> Any:
        """The whole answer of a view."""
        reply = self.post("/api/ask", {"view": view, "args": args})
        assert reply.status_code == 200, reply.text
        return reply.json()

    def change(self, verb: str, **args: Any) -> Any:
        """What the server answers to a verb."""
        return self.post("/api/change", {"do": verb, "args": args})

    def revision(self, project: str) -> int:
        """The revision of the project's memory."""
        return int(self.ask("memory", id=self.served.memories[project])["data"]["memory"]["revision"])


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """A new server over a file in `folder`."""
    with contextlib.closing(open_team(TeamSqliteSpec(str(folder / "memory.db")), AllowlistScanner(None))) as team:
        memories = {}
        for project, text in TEXTS.items():
            place = Place(project=project, name=project)
            with team.service(Grant(ORGANISATION), actor="root", place=place, origin="rest") as service:
                memories[project] = service.remember(text, title=text[:20]).memory.id
        ring = KeyRing(team.records, SECRET)
        admin = Administration(team.records, SECRET, scan, "root", ring.forget)
        app = build(team, ring, ServerSettings(str(folder)), [ApiKeys(keys(env=["api"]), SECRET)])
        with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
            yield Served(team, client, admin, memories, folder / "memory.db")
