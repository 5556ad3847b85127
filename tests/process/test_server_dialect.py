"""The dialect and the client of a server, from its command line and settings files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from mcp_process import ServerProcess
from rest_server import KEY, FakeServer, behind

pytestmark = pytest.mark.usefixtures("shared_bytecode")

Start = Callable[..., ServerProcess]
SEED = {"store_memory", "search_memory", "load_memories", "list_recent", "update_memory", "delete_memory", "get_config"}


@pytest.fixture
def start(root: Path, project: Path) -> Iterator[Start]:  # noqa: ARG001 - it is where the process stands
    """Starts a server in a project, with these arguments."""
    with ExitStack() as stack:

        def start_one(*words: str) -> ServerProcess:
            command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", *words]
            server = stack.enter_context(ServerProcess(command, dict(os.environ)))
            client = {"name": "codex", "version": "1"}
            server.ask(
                "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}, "hello"
            )
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            return server

        yield start_one


def tools(server: ServerProcess) -> set[str]:
    result = server.ask("tools/list", {}, "list")["result"]
    assert isinstance(result, dict)
    return {tool["name"] for tool in result["tools"]}


def said(server: ServerProcess, name: str, **arguments: object) -> str:
    result = server.ask("tools/call", {"name": name, "arguments": arguments}, name)["result"]
    assert isinstance(result, dict)
    return str(result["content"][0]["text"])


def test_the_command_line_chooses_the_dialect(start: Start) -> None:
    assert tools(start("--dialect", "shared")) == SEED


@pytest.mark.parametrize("file", ["user", "project"])
def test_a_settings_file_chooses_the_dialect(start: Start, home: Path, project: Path, file: str) -> None:
    path = home / ".keepmum" / "config.toml" if file == "user" else project / ".keepmum.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text('dialect = "shared"\n', encoding="utf-8")
    assert tools(start()) == SEED


def test_a_dialect_that_a_file_cannot_mean_leaves_ours(start: Start, project: Path) -> None:
    (project / ".keepmum.toml").write_text('dialect = "klingon"\n', encoding="utf-8")
    assert "remember" in tools(start())


def test_the_options_of_the_original_work(start: Start, httpserver: HTTPServer) -> None:
    fake = FakeServer()
    url = behind(httpserver, fake)
    server = start(
        "--dialect", "shared", "--memory-api-url", f"{url}/", "--api-key", KEY, "--agent", "ada", "--project", "beta"
    )  # fmt: skip
    assert said(server, "store_memory", title="Pools", text="Blue first").startswith("Memory stored with ID: ")
    kept = next(iter(fake.memories.values()))
    assert (kept["agent"], kept["project"], kept["text"]) == ("ada", "beta", "Blue first")


def test_the_handshake_waits_for_no_server(start: Start, httpserver: HTTPServer) -> None:
    fake = FakeServer()
    server = start("--memory-api-url", behind(httpserver, fake), "--memory-api-key", KEY)
    assert "remember" in tools(server)
    assert not fake.asked("POST")


@pytest.mark.parametrize("option", [("--ingest-transcript", "session.jsonl"), ("--ingest-transcript=x", "--dry-run")])
def test_a_transcript_that_is_to_be_taken_in_is_refused_with_the_way_to_go(root: Path, option: tuple[str, ...]) -> None:
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", *option]
    with ServerProcess(command, dict(os.environ)) as server:
        assert server.end() == 2
        assert "does not read transcripts" in server.errors()
        assert "keepmum import" in server.errors()


@pytest.mark.parametrize(
    "words", [("--memory-api-url", "http://far.example", "--api-key", KEY), ("--memory-api-url",), ("--nonsense", "x")]
)
def test_a_wrong_command_line_is_told_without_its_key(root: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", *words]
    with ServerProcess(command, dict(os.environ)) as server:
        assert server.process.wait(20) == 2
