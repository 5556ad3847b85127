from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres_server
from keepmum.cli.main import main
from keepmum.stores.shared import PostgresSpec, QdrantSpec, SharedSpec, TeamSqliteSpec
from qdrant_server import NAME, QdrantHttp
from unit.server.drill_sites import Site
from unit.server.tabs import Served, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server with a memory in each of two projects."""
    with serving(tmp_path) as one:
        yield one


@pytest.fixture
def qdrant() -> Iterator[QdrantHttp]:
    """A Qdrant server."""
    with QdrantHttp() as server:
        yield server


@pytest.fixture(params=["postgres", "qdrant", "sqlite"])
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A server on one of the engines, with a writer named ada; commands of this process administer it."""
    monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    spec: SharedSpec = TeamSqliteSpec(str(tmp_path / "server" / "memory.db"))
    if request.param == "postgres":
        spec = PostgresSpec(postgres_server.database("drill").app)
        monkeypatch.setenv("KEEPMUM_SERVER_DATABASE_URL", spec.dsn)
    arguments: list[str] = []
    if request.param == "qdrant":
        server = request.getfixturevalue("qdrant")
        spec = QdrantSpec(server.url, "", NAME, str(tmp_path / "server" / "memory.db"))
        arguments = ["--database", server.url]
    assert main(["serve", "init", *arguments]) == 0
    assert main(["people", "add", "ada", "--role", "writer", "--all"]) == 0
    return Site(tmp_path, spec)
