"""A real server shows the newest of several versions first, in every dialect that finds texts by words."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mcp_process import ServerProcess, text_of

pytestmark = pytest.mark.usefixtures("shared_bytecode")

HOSTS = ("Postgres", "Oracle", "MariaDB", "SQLite", "Cassandra")
QUESTION = "what does the ledger service run on"


@pytest.mark.parametrize(
    ("dialect", "write", "field", "more", "search"),
    [
        pytest.param("keepmum", "remember", "text", {}, "recall", id="keepmum"),
        pytest.param("koi", "remember", "content", {}, "recall", id="koi"),
        pytest.param(
            "per-user", "MemoryStore", "content", {"userId": "ada", "category": "fact"}, "MemoryRecall", id="per-user"
        ),
    ],
)
def test_the_newest_of_five_versions_comes_first(  # noqa: PLR0917 - the names of one dialect
    root: Path,
    project: Path,  # noqa: ARG001 - sets the working folder
    dialect: str,
    write: str,
    field: str,
    more: dict[str, str],
    search: str,
) -> None:
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp"]
    with ServerProcess(command, {**os.environ, "KEEPMUM_DIALECT": dialect}) as server:
        server.greet(client="codex")
        for host in HOSTS:
            server.call(write, **{field: f"The ledger service of the shop runs on {host}.", **more})
        user = {name: value for name, value in more.items() if name == "userId"}
        found = text_of(server.call(search, query=QUESTION, **user))
    places = {host: found.find(host) for host in HOSTS if host in found}
    assert min(places, key=places.__getitem__) == HOSTS[-1]
