"""Two server processes over one PostgreSQL behind a round robin: no request depends on the process before."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import postgres_server
from server_process import ADA, TeamServer

pytestmark = pytest.mark.heavy

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "codex-mcp-client", "version": "1"},
}


class Balancer:
    """Sends each request to the next process, and to another one when that does not answer."""

    def __init__(self, *servers: TeamServer) -> None:
        self._turns = itertools.cycle(servers)
        self.session = ""

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request of a client of 2025."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Accept": "application/json, text/event-stream", "X-Keepmum-Project": "api"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        try:
            answer = next(self._turns).ask("POST", "/mcp", body, key=ADA, headers=headers)
        except ConnectionRefusedError:
            answer = next(self._turns).ask("POST", "/mcp", body, key=ADA, headers=headers)
        self.session = answer.headers.get("mcp-session-id", self.session)
        return answer.body["result"]

    def call(self, tool: str, **arguments: object) -> str:
        """The text of a tool's answer, which must be no error."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])


def test_a_session_outlives_the_process_that_began_it(tmp_path: Path) -> None:
    environ = {
        "KEEPMUM_SERVER_DATABASE_URL": postgres_server.database("two_processes").app,
        "KEEPMUM_SERVER_SECRET": "0123456789abcdef" * 4,
    }
    with TeamServer(tmp_path / "a", environ=environ) as first, TeamServer(tmp_path / "b", environ=environ) as second:
        balancer = Balancer(first, second)
        balancer.ask("initialize", HELLO)
        for number in range(3):
            balancer.call("remember", text=f"Rule {number} of the release", scope="session", key=f"rule-{number}")
        first.process.kill()
        first.process.wait(60)
        for number in range(3, 6):
            balancer.call("remember", text=f"Rule {number} of the release", scope="session", key=f"rule-{number}")
        found = balancer.call("recall", query="rule of the release", agent="codex", scope="session")
        assert [f"Rule {number} of" in found for number in range(6)] == [True] * 6
