"""The server's application in this process, for tests of its routes: SQLite in a folder, or the PostgreSQL of tests."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from starlette.testclient import TestClient

import postgres_server
from keepmum.server.app import build
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.keys import KeyRing
from keepmum.server.settings import ServerSettings
from keepmum.service.team import PostgresSpec, QuotaLimits, TeamSqliteSpec, open_team
from keepmum.stores.shared import SharedSpec
from keepmum.workspace.allowlist import AllowlistScanner

__all__ = ["ENGINES", "client_of", "keys", "spec_of"]

ENGINES = ("sqlite", "postgres")
_SECRET = b"a secret for tests only"


def keys(**projects: list[str] | None) -> str:
    """API_KEYS with a key for each name, which is the name as well: `keys(ada=["api"], bob=None)`."""
    return json.dumps([{"key": name, "name": name, "projects": listed} for name, listed in projects.items()])


def spec_of(engine: str, folder: Path) -> SharedSpec:
    """The database of the applications of a folder."""
    if engine == "postgres":
        return PostgresSpec(postgres_server.server().app)
    return TeamSqliteSpec(str(folder / "memory.db"))


@contextlib.contextmanager
def client_of(
    engine: str,
    folder: Path,
    api_keys: str,
    settings: Mapping[str, object] | None = None,
    limits: QuotaLimits | None = None,
) -> Iterator[TestClient]:
    """A client of a new application over `engine`."""
    chosen = ServerSettings(str(folder), **(settings or {}))  # type: ignore[arg-type]  # by name
    with contextlib.closing(
        open_team(spec_of(engine, folder), AllowlistScanner(None), None, limits or QuotaLimits())
    ) as team:
        app = build(team, KeyRing(team.records, _SECRET), chosen, [ApiKeys(api_keys, _SECRET)])
        with TestClient(app, base_url="http://127.0.0.1:3100", raise_server_exceptions=False) as client:
            yield client
