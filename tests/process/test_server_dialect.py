"""The dialect and the client of a server, from its command line and settings files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

import patient_launch
from mcp_process import ServerProcess, text_of
from rest_server import KEY, FakeServer, behind

pytestmark = pytest.mark.usefixtures("shared_bytecode")

Start = Callable[..., ServerProcess]
SHARED_TOOLS = {
    "store_memory",
    "search_memory",
    "load_memories",
    "list_recent",
    "update_memory",
    "delete_memory",
    "get_config",
}


@pytest.fixture
def start(root: Path, project: Path) -> Iterator[Start]:  # noqa: ARG001 - sets the working folder
    """Starts a server in a project, with these arguments."""
    with ExitStack() as stack:

        def start_one(*options: str) -> ServerProcess:
            command = patient_launch.command(root / "plugin" / "launch.py", "mcp", *options)
            server = stack.enter_context(ServerProcess(command, dict(os.environ)))
            server.greet(client="codex")
            return server

        yield start_one


def tool_names(server: ServerProcess) -> set[str]:
    result = server.ask("tools/list", {}, "list")["result"]
    assert isinstance(result, dict)
    return {tool["name"] for tool in result["tools"]}


def test_command_line_selects_the_dialect(start: Start) -> None:
    assert tool_names(start("--dialect", "shared")) == SHARED_TOOLS


@pytest.mark.parametrize("file", ["user", "project"])
def test_settings_file_selects_the_dialect(start: Start, home: Path, project: Path, file: str) -> None:
    path = home / ".keepmum" / "config.toml" if file == "user" else project / ".keepmum.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text('dialect = "shared"\n', encoding="utf-8")
    assert tool_names(start()) == SHARED_TOOLS


def test_unknown_dialect_in_settings_falls_back_to_the_default(start: Start, project: Path) -> None:
    (project / ".keepmum.toml").write_text('dialect = "klingon"\n', encoding="utf-8")
    assert "remember" in tool_names(start())


def test_options_of_the_original_server_are_accepted(start: Start, httpserver: HTTPServer) -> None:
    fake = FakeServer()
    url = behind(httpserver, fake)
    server = start(
        "--dialect", "shared", "--memory-api-url", f"{url}/", "--api-key", KEY, "--agent", "ada", "--project", "beta"
    )  # fmt: skip
    assert text_of(server.call("store_memory", title="Pools", text="Blue first")).startswith("Memory stored with ID: ")
    stored = next(iter(fake.memories.values()))
    assert (stored["agent"], stored["project"], stored["text"]) == ("ada", "beta", "Blue first")


def test_handshake_does_not_wait_for_a_server(start: Start, httpserver: HTTPServer) -> None:
    fake = FakeServer()
    server = start("--memory-api-url", behind(httpserver, fake), "--memory-api-key", KEY)
    assert "remember" in tool_names(server)
    assert not fake.asked("POST")


@pytest.mark.parametrize("option", [("--ingest-transcript", "session.jsonl"), ("--ingest-transcript=x", "--dry-run")])
def test_transcript_option_is_refused_with_an_alternative(root: Path, option: tuple[str, ...]) -> None:
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", *option]
    with ServerProcess(command, dict(os.environ)) as server:
        assert server.end() == 2
        assert "does not read transcripts" in server.errors()
        assert "keepmum import" in server.errors()


@pytest.mark.parametrize(
    "options",
    [("--memory-api-url", "http://far.example", "--api-key", KEY), ("--memory-api-url",), ("--nonsense", "x")],
)
def test_invalid_command_line_exits_2(root: Path, options: tuple[str, ...]) -> None:
    command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", *options]
    with ServerProcess(command, dict(os.environ)) as server:
        assert server.end() == 2
