"""A server writes into the project in which its client works, wherever it was started."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from keepmum.workspace import credentials
from mcp_process import ServerProcess
from rest_server import KEY, FakeServer, behind

pytestmark = pytest.mark.usefixtures("shared_bytecode")

Start = Callable[..., ServerProcess]
ANYWHERE = {"roots": {"listChanged": True}}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository outside the folder in which servers start."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def start(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a server in the plugin's folder, as Codex does, and performs the handshake."""
    monkeypatch.chdir(root / "plugin")
    with ExitStack() as stack:

        def start_one(*words: str, capabilities: object = None) -> ServerProcess:
            command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", *words]
            server = stack.enter_context(ServerProcess(command, dict(os.environ)))
            server.greet(capabilities=capabilities)
            return server

        yield start_one


def settings_of_user(home: Path, text: str) -> None:
    path = home / ".keepmum" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def from_codex(server: ServerProcess, folder: Path, tool: str, **arguments: object) -> dict[str, Any]:
    """The result of a call that names its session and working folder, as Codex does."""
    turn = {"session_id": f"of {folder.name}", "workspaces": {str(folder): {}}}
    params = {"name": tool, "arguments": arguments, "_meta": {"x-codex-turn-metadata": turn}}
    result = server.ask("tools/call", params, f"{tool} {folder} {arguments}")["result"]
    assert isinstance(result, dict)
    return result


def tell_roots(server: ServerProcess, *folders: Path) -> None:
    """Answer the server's request for the client's roots."""
    while (asked := server.receive()).get("method") != "roots/list":
        continue
    roots = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})


def files_in(repository: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in (repository / ".memories").glob("*/*.md")]


def in_database(home: Path) -> int:
    with closing(sqlite3.connect(home / ".keepmum" / "memory.db")) as db:
        return int(db.execute("SELECT count(*) FROM memories").fetchone()[0])


@pytest.mark.parametrize("words", [(), ("--dialect", "koi")], ids=["our tools", "koi"])
def test_a_call_that_names_its_repository_writes_into_that_repository(
    start: Start, home: Path, repository: Path, words: tuple[str, ...]
) -> None:
    if not words:
        settings_of_user(home, 'backend.kind = "markdown"\n')
    server = start(*words)
    from_codex(server, repository, "remember", **{"content" if words else "text": "Blue pool first"})
    assert ["Blue pool first" in text for text in files_in(repository)] == [True]
    assert in_database(home) == 0


def test_sessions_of_two_repositories_write_each_into_its_own(start: Start, home: Path, tmp_path: Path) -> None:
    settings_of_user(home, 'backend.kind = "markdown"\n')
    server = start()
    for name in ("one", "two", "one"):
        (tmp_path / name / ".git").mkdir(parents=True, exist_ok=True)
        count = len(files_in(tmp_path / name))
        from_codex(server, tmp_path / name, "remember", text=f"Of {name}, number {count}")
    assert sorted(len(files_in(tmp_path / name)) for name in ("one", "two")) == [1, 2]
    assert all("Of two" in text for text in files_in(tmp_path / "two"))


def test_folders_that_arrive_after_the_first_write_are_followed(start: Start, home: Path, repository: Path) -> None:
    settings_of_user(home, 'backend.kind = "markdown"\n')
    server = start(capabilities=ANYWHERE)
    server.call("remember", text="Said before anybody knew where")
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    tell_roots(server, repository)
    server.call("remember", request_id=2, text="Blue pool first")
    assert ["Blue pool first" in text for text in files_in(repository)] == [True]


def test_the_server_that_a_projects_file_names_is_used_from_the_call_on_that_names_the_project(
    start: Start, home: Path, repository: Path, httpserver: HTTPServer
) -> None:
    fake = FakeServer()
    origin = behind(httpserver, fake)
    credentials.store(str(home / ".keepmum"), origin, KEY)
    (repository / ".keepmum.toml").write_text(f'backend.origin = "{origin}"\n', encoding="utf-8")
    server = start()
    server.call("remember", text="Said before anybody knew where")
    assert not fake.memories
    from_codex(server, repository, "remember", text="Blue pool first")
    assert [memory["text"] for memory in fake.memories.values()] == ["Blue pool first"]
    assert in_database(home) == 1


def test_a_project_whose_server_was_not_approved_gets_no_write_into_another_store(
    start: Start, home: Path, repository: Path
) -> None:
    (repository / ".keepmum.toml").write_text('backend.origin = "https://evil.example"\n', encoding="utf-8")
    server = start()
    refused = from_codex(server, repository, "remember", text="Blue pool first")
    assert refused["isError"] is True
    assert "keepmum login https://evil.example" in refused["content"][0]["text"]
    assert in_database(home) == 0


def test_folders_that_cannot_be_worked_in_leave_no_write_where_the_server_was(
    start: Start, home: Path, repository: Path
) -> None:
    (repository / ".keepmum.toml").write_text("scope = 7\n", encoding="utf-8")
    server = start(capabilities=ANYWHERE)
    server.call("resume")
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    tell_roots(server, repository)
    answer: Any = server.call("remember", request_id=2, text="Blue pool first")
    assert answer["result"]["isError"] is True
    assert ".keepmum.toml:1" in answer["result"]["content"][0]["text"]
    assert in_database(home) == 0
