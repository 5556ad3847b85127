"""Two projects of one server, their people, and a key for both: for tests of ids that both projects chose."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from keepmum.core import ids
from keepmum.server.app import build
from keepmum.server.people.administration import Administration
from keepmum.server.people.keys import KeyRing
from keepmum.server.settings import ServerSettings
from keepmum.service.team import Team, open_team
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum_scanner import scan
from server_app import spec_of

__all__ = ["AT", "Json", "Tenants", "two_projects"]

AT = 1_790_000_000_000
Json = dict[str, Any]
_COUNT = itertools.count()


class Tenants:
    """Two projects of one server: Ada's has a memory whose id Bob knows."""

    def __init__(self, client: TestClient, team: Team, ring: KeyRing, name: str) -> None:
        self.client = client
        self.team = team
        self.projects = {"ada": f"{name}-alpha", "bob": f"{name}-beta"}
        self.taken = ids.new_id(AT)
        people = Administration(team.records, ring.secret, scan, "test")
        self.keys = {}
        for who, projects in {"ada": ["ada"], "bob": ["bob"], "both": ["ada", "bob"]}.items():
            people.add(f"{name}-{who}", {self.projects[project]: "admin" for project in projects})
            self.keys[who] = people.make_key(f"{name}-{who}", "laptop").text
        created = self.create("ada", self.taken)
        assert created.status_code == 201, created.text

    def ask(self, who: str, method: str, path: str, body: object = None, **headers: str) -> Any:
        sent = {"authorization": f"Bearer {self.keys[who]}", **headers}
        if isinstance(body, bytes):
            return self.client.request(
                method, path, content=body, headers={**sent, "content-type": "application/x-ndjson"}
            )
        return self.client.request(method, path, json=body, headers=sent)

    def memory(self, who: str, ident: str, text: str = "") -> Json:
        project = self.projects[who]
        return {
            "id": ident, "text": text or f"of {who}", "title": "a title", "project": project, "created_at": AT,
            "updated_at": AT, "created_by": who, "updated_by": who, "agent": "test",
        }  # fmt: skip

    def create(self, who: str, ident: str, text: str = "", **headers: str) -> Any:
        return self.ask(who, "POST", "/api/v2/memories", {"memory": self.memory(who, ident, text)}, **headers)

    def tool(self, who: str, name: str, arguments: Json, dialect: str = "keepmum") -> Any:
        message = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments},
        }  # fmt: skip
        headers = {"accept": "application/json, text/event-stream", "x-keepmum-project": self.projects[who]}
        return self.ask(who, "POST", f"/mcp?dialect={dialect}", message, **headers)


@contextlib.contextmanager
def two_projects(engine: str, folder: Path) -> Iterator[Tenants]:
    """The two projects on a new server over `engine`, by names that no other test has."""
    settings = ServerSettings(str(folder), reads_per_minute=0, writes_per_minute=0)
    with contextlib.closing(open_team(spec_of(engine, folder), AllowlistScanner(None))) as team:
        ring = KeyRing(team.records, b"a secret for tests only")
        with TestClient(build(team, ring, settings), base_url="http://127.0.0.1:3100") as client:
            yield Tenants(client, team, ring, f"chosen-{next(_COUNT)}")
