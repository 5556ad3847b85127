"""The guard in front of the official memory server, called directly and through the real Claude Code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clients.claude import Claude
from clients.mock_model import Call, MockModel
from guard_process import environment, guarded
from hidden import assert_hidden

pytestmark = pytest.mark.clients

LIMIT = 60  # seconds; node starts slowly on a busy machine
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}
HARMLESS = {"name": "deploys", "entityType": "practice", "observations": ["Deploys go through the blue pool first."]}


@pytest.fixture
def token() -> str:
    """A string in the form of a code host's key."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def talk(command: list[str], home: Path, *calls: tuple[str, object]) -> list[bytes]:
    """The lines that a server answers to a handshake and to these calls, sent one after the other."""
    variables = {**environment(home), "MEMORY_FILE_PATH": str(home / "graph.json")}
    requests: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": HELLO}]
    requests += [{"id": 1, "method": "tools/list"}]
    requests += [
        {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        for number, (tool, arguments) in enumerate(calls, start=2)
    ]
    home.mkdir(exist_ok=True)
    lines = []
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=variables) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for request in requests:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
            process.stdin.flush()
            lines.append(process.stdout.readline())
        process.stdin.close()
        assert process.wait(LIMIT) == 0
    return lines


def test_harmless_calls_are_answered_with_the_same_bytes(server_memory: list[str], tmp_path: Path) -> None:
    calls: tuple[tuple[str, object], ...] = (
        ("create_entities", {"entities": [HARMLESS]}),
        ("search_nodes", {"query": "blue"}),
        ("no_such_tool", {}),
        ("read_graph", {}),
    )
    bare = talk(server_memory, tmp_path / "bare", *calls)
    assert talk(guarded(*server_memory), tmp_path / "guarded", *calls) == bare
    assert b"blue pool" in bare[-1]


def test_an_entity_with_a_secret_is_refused_and_in_no_file(
    server_memory: list[str], tmp_path: Path, token: str
) -> None:
    bad = {"name": "deploy key", "entityType": "note", "observations": ["fine", f"The deploy token is {token}"]}
    lines = talk(
        guarded(*server_memory),
        tmp_path / "home",
        ("create_entities", {"entities": [HARMLESS]}),
        ("create_entities", {"entities": [bad]}),
        ("add_observations", {"observations": [{"entityName": "deploys", "contents": [token]}]}),
    )
    answers = [json.loads(line)["result"] for line in lines]
    assert [answer.get("isError", False) for answer in answers[2:]] == [False, True, True]
    assert "github.token in entities[0].observations[1], line 1" in answers[3]["content"][0]["text"]
    stored = (tmp_path / "home" / "graph.json").read_text(encoding="utf-8")
    assert "blue pool" in stored
    assert "deploy key" not in stored
    assert_hidden(token[8:28], stored)
    assert_hidden(token[8:28].encode(), b"".join(lines))


def test_results_with_an_old_secret_are_masked_on_the_way_out(
    server_memory: list[str], tmp_path: Path, token: str
) -> None:
    home = tmp_path / "home"
    bad = {"name": "key", "entityType": "note", "observations": [f"The deploy token is {token}"]}
    talk(server_memory, home, ("create_entities", {"entities": [bad]}))
    *_, graph = talk(guarded(*server_memory, options=["--results"]), home, ("read_graph", {}))
    assert_hidden(token.encode(), graph)
    assert b"[github.token removed]" in graph


def test_claude_code_is_refused_a_write_into_a_foreign_memory(  # noqa: PLR0917 - fixtures are arguments
    newcomer: Claude, model: MockModel, server_memory: list[str], product: Path, project: Path, token: str
) -> None:
    graph = newcomer.home / "graph.json"
    server = {"command": server_memory[0], "args": server_memory[1:], "env": {"MEMORY_FILE_PATH": str(graph)}}
    newcomer.run("mcp", "add-json", "--scope", "user", "memory", json.dumps(server), folder=project)
    own = newcomer.config / ".claude.json"
    before = json.loads(own.read_text(encoding="utf-8"))["mcpServers"]
    _keepmum(newcomer, product, project, "add")
    assert "✔" in newcomer.run("mcp", "list", folder=project)

    bad = {"name": "key", "entityType": "note", "observations": [f"The deploy token is {token}"]}
    model.will(
        Call("mcp__memory__create_entities", {"entities": [bad]}),
        Call("mcp__memory__create_entities", {"entities": [HARMLESS]}),
    )
    newcomer.ask("remember it", "--allowedTools", "mcp__memory__*", folder=project)
    (reason,) = next(request.errors() for request in model.requests if request.errors())
    assert "github.token in entities[0].observations[0]" in reason
    assert "vault path" in reason
    assert_hidden(token[8:28], reason)
    stored = graph.read_text(encoding="utf-8")
    assert "blue pool" in stored
    assert_hidden(token[8:28], stored)

    _keepmum(newcomer, product, project, "remove")
    assert json.loads(own.read_text(encoding="utf-8"))["mcpServers"] == before


def _keepmum(user: Claude, product: Path, project: Path, action: str) -> None:
    """Run `keepmum guard` as the user, from a copy of the product."""
    command = [sys.executable, "-I", "-S", str(product / "plugin" / "launch.py")]
    subprocess.run(
        [*command, "guard", action, "claude-code", "memory", "--scope", "user"],
        cwd=project,
        env=user.environ,
        capture_output=True,
        timeout=LIMIT,
        check=True,
    )
