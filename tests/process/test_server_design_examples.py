"""The published usage examples of the designs behind the dialects, run against a real server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mcp_process import ServerProcess

pytestmark = pytest.mark.usefixtures("shared_bytecode")


class Agent:
    """A client of a server with a dialect."""

    def __init__(self, server: ServerProcess, name: str) -> None:
        self._server = server
        server.greet(client=name)

    def result(self, method: str, **params: object) -> Any:
        """The result of a request."""
        return self._server.ask(method, params, method)["result"]

    def text(self, name: str, **arguments: object) -> str:
        """The text that a tool returns; fails when the call fails."""
        result = self.result("tools/call", name=name, arguments=arguments)
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])

    def json(self, name: str, **arguments: object) -> Any:
        """The JSON that a tool returns, parsed."""
        return json.loads(self.text(name, **arguments))


Start = Callable[..., Agent]


@pytest.fixture
def start(root: Path, project: Path) -> Iterator[Start]:  # noqa: ARG001 - sets the working folder
    """Starts a server with a dialect for a client; all share one project and one store."""
    with ExitStack() as stack:

        def start_one(dialect: str, client: str = "claude-code") -> Agent:
            command = [sys.executable, "-I", str(root / "plugin" / "launch.py"), "mcp", "--dialect", dialect]
            return Agent(stack.enter_context(ServerProcess(command, dict(os.environ))), client)

        yield start_one


# -- token-saver: "Usage examples"


def test_next_session_resumes_the_last_one(start: Start) -> None:
    last = start("token-saver")
    last.json("write_memory", key="project.type", value="Next.js with TypeScript")
    refactoring = {"module": "authentication", "progress": 70, "next_steps": ["Add tests", "Update docs"]}
    last.json("write_memory", key="current.refactoring", value=refactoring)
    answer = start("token-saver").json("smart_resume")
    assert "Next.js with TypeScript" in answer["briefing"]
    assert "authentication" in answer["briefing"]
    assert answer["context"]["current"][0]["value"] == refactoring
    assert answer["token_count"] <= 500


def test_two_agents_share_findings(start: Start) -> None:
    claude, gemini = start("token-saver", "claude-code"), start("token-saver", "gemini-cli-mcp-client")
    claude.json("write_memory", key="shared.bug_found", value="Memory leak in websocket handler", scope="shared")
    (found,) = gemini.json("read_memory", scope="shared")
    assert (found["value"], found["metadata"]["created_by"]) == ("Memory leak in websocket handler", "claude-code")
    gemini.json("write_memory", key="shared.test_coverage", value="45% - needs improvement", scope="shared")
    assert {row["key"] for row in claude.json("read_memory", scope="shared")} == {
        "shared.bug_found",
        "shared.test_coverage",
    }


# -- hackathon: "Demo script"


def test_agent_recalls_the_decision_of_another_with_author_and_reason(start: Start) -> None:
    claude = start("hackathon", "claude-code")
    claude.text(
        "remember", key="project-db", value="PostgreSQL 16 on port 5433", type="decision", tags=["database"],
        context="Chosen over MySQL for JSONB support",
    )  # fmt: skip
    chatgpt = start("hackathon", "ChatGPT")
    found = chatgpt.text("recall", query="What database does our project use?")
    assert "1. [decision] project-db\n   PostgreSQL 16 on port 5433\n" in found
    assert "Stored by: Claude Code" in found
    feed = chatgpt.result("resources/read", uri="memory://agent-activity")["contents"][0]["text"]
    assert 'Claude Code remember "project-db"' in feed
    assert "Why: Chosen over MySQL for JSONB support" in feed
    context = chatgpt.result("resources/read", uri="memory://current-context")["contents"][0]["text"]
    assert "**project-db**: PostgreSQL 16 on port 5433 (Claude Code, " in context


def test_handoff_moves_work_between_agents(start: Start) -> None:
    claude, codex = start("hackathon", "claude-code"), start("hackathon", "codex-mcp-client")
    claude.text("handoff", summary="The login works", next_steps="Write the logout", to_agent="codex")
    queue = codex.result("resources/read", uri="memory://handoff-queue")["contents"][0]["text"]
    assert "Handoff #1 from Claude Code, for Codex: The login works" in queue
    assert "Write the logout" in codex.text("pickup")
    assert codex.text("complete_handoff", handoff_id=1, result="Done").startswith("Handoff #1 completed by Codex.")


def test_resources_and_prompt_are_listed(start: Start) -> None:
    agent = start("hackathon")
    listed = {one["uri"] for one in agent.result("resources/list")["resources"]}
    names = ("current-context", "agent-activity", "handoff-queue", "changelog")
    assert listed == {f"memory://{name}" for name in names}
    assert agent.result("resources/templates/list")["resourceTemplates"][0]["uriTemplate"] == "memory://{key}"
    (message,) = agent.result("prompts/get", name="session-briefing")["messages"]
    assert "No memories stored yet" in message["content"]["text"]


# -- per-user: "Workflow examples"


def test_first_conversation_with_a_user(start: Start) -> None:
    agent = start("per-user")
    wanted = ["preference", "personality", "instruction"]
    answer = agent.json("MemoryRecall", userId="user_123", categories=wanted)
    assert (answer["memories"], answer["personalitySummary"]) == ([], None)
    stored = agent.json(
        "MemoryStore", userId="user_123", category="skill", content="User works with Python", importance=0.6,
        confidence=0.7, context="User asked for Python help",
    )  # fmt: skip
    assert (stored["status"], stored["tier"]) == ("created", "long-term")


def test_returning_user_is_recognised(start: Start) -> None:
    before = start("per-user")
    for category, content in (
        ("project", "Building REST API for inventory management"),
        ("preference", "Prefers FastAPI over Flask for an API"),
        ("fact", "Technical user"),
    ):
        before.json("MemoryStore", userId="user_123", category=category, content=content)
    answer = start("per-user").json(
        "MemoryRecall", userId="user_123", query="API project", categories=["project", "preference"]
    )
    assert {row["category"] for row in answer["memories"]} == {"project", "preference"}
    assert answer["personalitySummary"] == "Technical user"


def test_correction_supersedes_the_old_fact(start: Start) -> None:
    agent = start("per-user")
    old = agent.json("MemoryStore", userId="user_123", category="fact", content="User works at TechCorp")["memoryId"]
    agent.json(
        "MemoryStore", userId="user_123", category="fact", content="User works at StartupXYZ", importance=0.9,
        supersedes=old, context="User corrected previous job information",
    )  # fmt: skip
    rows = agent.json("memory_list", userId="user_123")["memories"]
    assert [row["content"] for row in rows] == ["User works at StartupXYZ"]


def test_personality_becomes_a_guideline(start: Start) -> None:
    agent = start("per-user")
    guideline = "When helping this user, emphasize performance implications and edge cases"
    agent.json(
        "MemoryStore", userId="user_123", category="personality", content=guideline, importance=0.8,
        context="Inferred from conversation patterns",
    )  # fmt: skip
    answer = agent.json("MemoryReflect", userId="user_123")
    assert answer["profile"]["interactionGuidelines"] == [guideline]
    assert agent.json("MemoryReflect", userId="user_456")["profile"] is None
