"""A team's server with real clients over HTTP, and the public conformance suite of MCP."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.claude import Claude
from clients.codex import Codex, CodexModel
from clients.mock_model import Call, MockModel
from clients.samples import NOTE, token
from keyed_proxy import KeyedProxy
from server_process import ADA, BOB, TeamServer

pytestmark = pytest.mark.clients

LIMIT = 60  # seconds for a scenario, which takes about one
SCENARIOS = (
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams",
    "dns-rebinding-protection",
)  # fmt: skip
"""Those that need no tools made for the suite."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def codex_model() -> Iterator[CodexModel]:
    with CodexModel() as model:
        yield model


def written_by(server: TeamServer, agent: str, project: str) -> str:
    """What another person's agent finds of what an agent wrote in a project."""
    call = {"name": "recall", "arguments": {"agent": agent}}
    headers = {"X-Keepmum-Project": project, "Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return server.ask("POST", "/mcp", body, key=BOB, headers=headers).raw.decode()


def test_claude_code_remembers_at_the_server(
    newcomer: Claude, model: MockModel, server: TeamServer, project: Path
) -> None:
    url = f"http://127.0.0.1:{server.port}/mcp"
    headers = ("--header", f"Authorization: Bearer {ADA}", "--header", "X-Keepmum-Project: api")
    newcomer.run("mcp", "add", "--transport", "http", "team", url, *headers, folder=project)
    dialect = ("--header", "X-Keepmum-Dialect: shared")
    newcomer.run("mcp", "add", "--transport", "http", "shared", url, *headers, *dialect, folder=project)
    secret = {"text": f"The deploy token is {token()}"}
    model.will(
        Call("mcp__team__remember", NOTE),
        Call("mcp__team__remember", secret),
        Call("mcp__team__recall", {"query": "how are deploys done"}),
        Call("mcp__shared__search_memory", {"query": "how are deploys done"}),
    )
    newcomer.ask("remember it", "--allowedTools", "mcp__team__*,mcp__shared__*", folder=project)
    assert {"mcp__team__remember", "mcp__team__recall"} <= set(model.requests[0].tools)
    assert "call `recall`" in model.requests[0].text
    assert "Kept: Deploys" in model.requests[1].news
    assert "refused, nothing stored" in model.requests[2].errors()[0]
    assert "by ada of the team" in model.requests[3].news
    assert "(score: " in model.requests[4].news
    assert "by ada of the team" in written_by(server, "claude-code", "api")


def test_codex_remembers_at_the_server(
    codex_program: Path, codex_model: CodexModel, server: TeamServer, tmp_path: Path, project: Path
) -> None:
    user = Codex(codex_program, tmp_path / "user", codex_model.url, TEAM_KEY=ADA)
    with user.config.open("a", encoding="utf-8") as config:
        config.write(
            f'\n[mcp_servers.team]\nurl = "http://127.0.0.1:{server.port}/mcp"\nbearer_token_env_var = "TEAM_KEY"\n'
            'http_headers = { "X-Keepmum-Project" = "web" }\n'
            f'\n[mcp_servers.shared]\nurl = "http://127.0.0.1:{server.port}/mcp"\nbearer_token_env_var = "TEAM_KEY"\n'
            'http_headers = { "X-Keepmum-Dialect" = "shared" }\n'
        )
    codex_model.will(
        Call("mcp__team__remember", NOTE),
        Call("mcp__team__recall", {"query": "how are deploys done"}),
        Call("mcp__shared__search_memory", {"query": "how are deploys done", "project": "web"}),
    )
    user.ask("remember it", folder=project)
    assert "Kept" in codex_model.news(1)
    assert "by ada of the team" in codex_model.news(2)
    assert "(score: " in codex_model.news(3)
    assert "by ada of the team" in written_by(server, "codex", "web")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_suite_passes(conformance: list[str], server: TeamServer, scenario: str) -> None:
    with KeyedProxy(server.port, {"Authorization": f"Bearer {BOB}", "X-Keepmum-Project": "api"}) as proxy:
        done = subprocess.run(
            [*conformance, "server", "--url", f"http://127.0.0.1:{proxy.port}/mcp", "--scenario", scenario],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
