"""A server writes into the project in which its client works, wherever it was started."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

import patient_launch
from keepmum.workspace import credentials
from mcp_process import ServerProcess
from rest_server import KEY, FakeServer, behind

pytestmark = pytest.mark.usefixtures("shared_bytecode")

Start = Callable[..., ServerProcess]
ROOTS = {"roots": {"listChanged": True}}


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

        def start_one(*options: str, capabilities: object = None) -> ServerProcess:
            command = patient_launch.command(root / "plugin" / "launch.py", "mcp", *options)
            server = stack.enter_context(ServerProcess(command, dict(os.environ)))
            server.greet(capabilities=capabilities)
            return server

        yield start_one


def write_user_settings(home: Path, text: str) -> None:
    path = home / ".keepmum" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def call_from_codex(server: ServerProcess, folder: Path, tool: str, **arguments: object) -> dict[str, Any]:
    """The result of a call that names its session and working folder, as Codex does."""
    turn = {"session_id": f"of {folder.name}", "workspaces": {str(folder): {}}}
    params = {"name": tool, "arguments": arguments, "_meta": {"x-codex-turn-metadata": turn}}
    result = server.ask("tools/call", params, f"{tool} {folder} {arguments}")["result"]
    assert isinstance(result, dict)
    return result


def answer_roots(server: ServerProcess, *folders: Path) -> None:
    """Answer the server's request for the client's roots."""
    while (roots_request := server.receive()).get("method") != "roots/list":
        continue
    roots = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
    server.send({"jsonrpc": "2.0", "id": roots_request["id"], "result": {"roots": roots}})


def memory_files(repository: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in (repository / ".memories").glob("*/*.md")]


def count_in_database(home: Path) -> int:
    with closing(sqlite3.connect(home / ".keepmum" / "memory.db")) as db:
        return int(db.execute("SELECT count(*) FROM memories").fetchone()[0])


@pytest.mark.parametrize("options", [(), ("--dialect", "koi")], ids=["our tools", "koi"])
def test_call_with_a_repository_writes_into_that_repository(
    start: Start, home: Path, repository: Path, options: tuple[str, ...]
) -> None:
    if not options:
        write_user_settings(home, 'backend.kind = "markdown"\n')
    server = start(*options)
    call_from_codex(server, repository, "remember", **{"content" if options else "text": "Blue pool first"})
    assert ["Blue pool first" in text for text in memory_files(repository)] == [True]
    assert count_in_database(home) == 0


def test_sessions_of_two_repositories_write_into_their_own(start: Start, home: Path, tmp_path: Path) -> None:
    write_user_settings(home, 'backend.kind = "markdown"\n')
    server = start()
    for name in ("one", "two", "one"):
        (tmp_path / name / ".git").mkdir(parents=True, exist_ok=True)
        count = len(memory_files(tmp_path / name))
        call_from_codex(server, tmp_path / name, "remember", text=f"Of {name}, number {count}")
    assert sorted(len(memory_files(tmp_path / name)) for name in ("one", "two")) == [1, 2]
    assert all("Of two" in text for text in memory_files(tmp_path / "two"))


def test_roots_received_after_the_first_write_are_used(start: Start, home: Path, repository: Path) -> None:
    write_user_settings(home, 'backend.kind = "markdown"\n')
    server = start(capabilities=ROOTS)
    server.call("remember", text="Said before anybody knew where")
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    answer_roots(server, repository)
    server.call("remember", request_id=2, text="Blue pool first")
    assert ["Blue pool first" in text for text in memory_files(repository)] == [True]


def test_server_of_a_project_is_used_from_the_call_that_names_the_project(
    start: Start, home: Path, repository: Path, httpserver: HTTPServer
) -> None:
    fake = FakeServer()
    origin = behind(httpserver, fake)
    credentials.store(str(home / ".keepmum"), origin, KEY)
    (repository / ".keepmum.toml").write_text(f'backend.origin = "{origin}"\n', encoding="utf-8")
    server = start()
    server.call("remember", text="Said before anybody knew where")
    assert not fake.memories
    call_from_codex(server, repository, "remember", text="Blue pool first")
    assert [memory["text"] for memory in fake.memories.values()] == ["Blue pool first"]
    assert count_in_database(home) == 1


def test_unapproved_server_of_a_project_refuses_writes(start: Start, home: Path, repository: Path) -> None:
    (repository / ".keepmum.toml").write_text('backend.origin = "https://evil.example"\n', encoding="utf-8")
    server = start()
    refused = call_from_codex(server, repository, "remember", text="Blue pool first")
    assert refused["isError"] is True
    assert "keepmum login https://evil.example" in refused["content"][0]["text"]
    assert count_in_database(home) == 0


def test_a_wrong_project_file_is_reported_and_keeps_no_write_away(start: Start, home: Path, repository: Path) -> None:
    (repository / ".keepmum.toml").write_text("# ours\nscope = 7\n", encoding="utf-8")
    server = start(capabilities=ROOTS)
    server.call("resume")
    server.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    answer_roots(server, repository)
    answer: Any = server.call("remember", request_id=2, text="Blue pool first")
    text = answer["result"]["content"][0]["text"]
    assert "isError" not in answer["result"]
    assert f"Tell the user: {repository}/.keepmum.toml:2: scope must be" in text
    assert count_in_database(home) == 1
