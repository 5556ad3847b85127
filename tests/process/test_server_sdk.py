"""The real server with the official MCP SDK's client: tools, resources and prompts of the default dialect."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

LIMIT = 120.0  # seconds for a whole conversation
CODEX = types.Implementation(name="codex-mcp-client", version="0.1")

# The SDK deprecates roots and logging with the protocol of 2026; today's clients use both.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


def text_of(result: types.CallToolResult) -> str:
    assert not result.is_error
    content = result.content[0]
    assert isinstance(content, types.TextContent)
    return content.text


def test_official_client_uses_tools_resources_and_prompts(root: Path, tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-S", str(root / "plugin" / "launch.py"), "mcp", "--client", "codex"],
        env=dict(os.environ),
        cwd=str(tmp_path),
    )

    async def converse() -> None:
        with anyio.fail_after(LIMIT):
            async with Client(server, client_info=CODEX) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert list(tools) == ["remember", "recall", "load", "forget", "resume"]
                assert all(tool.annotations is not None for tool in tools.values())
                arguments = {"text": "We chose Postgres", "key": "db", "kind": "decision"}
                stored = await client.call_tool("remember", arguments)
                assert text_of(stored).startswith("Kept: We chose Postgres")
                found = await client.call_tool("recall", {"query": "Which database?", "kinds": ["decision"]})
                assert "We chose Postgres" not in text_of(found)  # it shares no word with the query
                found = await client.call_tool("recall", {"query": "What about Postgres?"})
                assert "by codex " in text_of(found)
                assert (await client.call_tool("remember", {"text": ""})).is_error
                resources = (await client.list_resources()).resources
                assert [str(resource.uri) for resource in resources] == [
                    "memory://current-context",
                    "memory://agent-activity",
                ]
                templates = (await client.list_resource_templates()).resource_templates
                assert [template.uri_template for template in templates] == ["memory://{key}"]
                read = (await client.read_resource("memory://db")).contents[0]
                assert isinstance(read, types.TextResourceContents)
                assert "We chose Postgres" in read.text
                prompts = (await client.list_prompts()).prompts
                assert [prompt.name for prompt in prompts] == ["capture", "session-briefing"]
                shown = (await client.get_prompt("session-briefing", {"focus": "Postgres"})).messages[0].content
                assert isinstance(shown, types.TextContent)
                assert "We chose Postgres" in shown.text

    anyio.run(converse)
