"""The stdio loop as the official MCP SDK sees it: its client parses every answer against the published schema."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from pydantic import FileUrl

SAMPLE = Path(__file__).resolve().parent.parent / "mcp_sample.py"
LIMIT = 60.0  # seconds for a whole conversation
TESTER = types.Implementation(name="tester", version="2.0")
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

# The SDK deprecates roots and logging with the protocol of 2026; today's clients use both.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

Talk = Callable[[Client], Awaitable[None]]


@pytest.fixture
def sample(bare_python: list[str]) -> StdioServerParameters:
    """How to start the sample server."""
    return StdioServerParameters(command=bare_python[0], args=[*bare_python[1:], str(SAMPLE)])


def converse(client: Client, talk: Talk) -> None:
    """Hold a conversation, from `server/discover` on, as a client of 2026 does."""

    async def main() -> None:
        with anyio.fail_after(LIMIT):
            async with client:
                await talk(client)

    anyio.run(main)


def text_of(result: types.CallToolResult) -> str:
    content = result.content[0]
    assert isinstance(content, types.TextContent)
    return content.text


def test_a_client_of_2026_falls_back_to_the_handshake(sample: StdioServerParameters) -> None:
    async def talk(client: Client) -> None:
        assert client.session.protocol_version == "2025-11-25"
        assert client.session.instructions == "Echoes what it is given."
        assert client.session.server_info == types.Implementation(name="sample", version="1.2.3")

    converse(Client(sample, client_info=TESTER), talk)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_agreed_to_and_served(sample: StdioServerParameters, version: str) -> None:
    async def main() -> None:
        with anyio.fail_after(LIMIT):
            async with stdio_client(sample) as streams, ClientSession(*streams) as session:
                hello = types.InitializeRequestParams(
                    protocol_version=version,
                    capabilities=types.ClientCapabilities(),
                    client_info=TESTER,
                )
                agreed = await session.send_request(types.InitializeRequest(params=hello), types.InitializeResult)
                session.adopt(agreed)
                await session.send_notification(types.InitializedNotification())
                assert agreed.protocol_version == version
                assert len((await session.list_tools()).tools) == 9
                who = await session.call_tool("who", {})
                assert text_of(who) == f"tester | 2.0 | {version}"

    anyio.run(main)


def test_lists_parse_and_hold_what_the_surface_has(sample: StdioServerParameters) -> None:
    async def talk(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert tools[0].name == "echo"
        assert tools[0].annotations is not None
        assert tools[0].annotations.read_only_hint is True
        assert tools[0].meta == {"anthropic/alwaysLoad": True}
        assert [one.uri for one in (await client.list_resources()).resources] == ["memory://note"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["memory://{key}"]
        assert [one.name for one in (await client.list_prompts()).prompts] == ["greet"]

    converse(Client(sample, client_info=TESTER), talk)


def test_tools_resources_and_prompts_answer(sample: StdioServerParameters) -> None:
    async def talk(client: Client) -> None:
        assert text_of(await client.call_tool("echo", {"text": "ä \U0001f510"})) == "ä \U0001f510"
        read = (await client.read_resource("memory://note")).contents[0]
        assert isinstance(read, types.TextResourceContents)
        assert (read.mime_type, read.text) == ("text/markdown", "a note for tester")
        prompt = await client.get_prompt("greet", {"name": "you"})
        assert isinstance(prompt.messages[0].content, types.TextContent)
        assert prompt.messages[0].content.text == "greet you, tester"

    converse(Client(sample, client_info=TESTER), talk)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("refuse", {"text": "x"}, "refused, nothing stored"),
        ("echo", {"txt": "x"}, "txt: is not a known field (did you mean text?); allowed: text"),
        ("echo", {}, "text: is required"),
    ],
)
def test_a_refusal_is_a_tool_result(
    sample: StdioServerParameters, tool: str, arguments: dict[str, object], expected: str
) -> None:
    async def talk(client: Client) -> None:
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert text_of(result) == expected

    converse(Client(sample, client_info=TESTER), talk)


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        pytest.param(lambda client: client.call_tool("nope", {}), types.INVALID_PARAMS, id="unknown tool"),
        pytest.param(lambda client: client.call_tool("fail", {}), types.INTERNAL_ERROR, id="a bug"),
        pytest.param(lambda client: client.read_resource("memory://nope"), -32002, id="unknown resource"),
        pytest.param(lambda client: client.get_prompt("nope"), types.INVALID_PARAMS, id="unknown prompt"),
        pytest.param(lambda client: client.list_tools(cursor="2"), types.INVALID_PARAMS, id="a cursor"),
        pytest.param(
            lambda client: client.complete(
                types.PromptReference(type="ref/prompt", name="greet"), {"name": "name", "value": ""}
            ),
            types.METHOD_NOT_FOUND,
            id="a method that is not offered",
        ),
    ],
)
def test_a_wrong_request_is_an_error_with_its_code(
    sample: StdioServerParameters, ask: Callable[[Client], Awaitable[object]], code: int
) -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await ask(client)
        assert caught.value.error.code == code
        await client.send_ping()

    converse(Client(sample, client_info=TESTER), talk)


def test_progress_and_log_reach_the_client(sample: StdioServerParameters) -> None:
    reported: list[tuple[float, float | None, str | None]] = []
    logged: list[tuple[str, object]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message))

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append((params.level, params.data))

    async def talk(client: Client) -> None:
        await client.set_logging_level("debug")
        await client.call_tool("report", {}, progress_callback=on_progress)
        while len(logged) < 2 or len(reported) < 2:  # they may be handled after the answer; `fail_after` ends the wait
            await anyio.lowlevel.checkpoint()
        assert reported == [(1, 2, "half"), (2, 2, None)]
        assert logged == [("debug", "a detail"), ("error", "a trouble")]

    converse(Client(sample, logging_callback=on_log), talk)


def test_the_server_asks_for_roots_and_hears_of_their_change(sample: StdioServerParameters) -> None:
    roots = ["file:///first"]

    async def on_roots(context: ClientRequestContext) -> types.ListRootsResult:  # noqa: ARG001 - the SDK names it
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(uri)) for uri in roots])

    async def roots_told(client: Client, expected: str) -> None:
        while not text_of(await client.call_tool("who", {})).endswith(expected):
            await anyio.lowlevel.checkpoint()

    async def talk(client: Client) -> None:
        await roots_told(client, " | /first")
        roots[0] = "file:///second%20one"
        await client.send_roots_list_changed()
        await roots_told(client, " | /second one")

    converse(Client(sample, list_roots_callback=on_roots), talk)


def test_a_cancelled_call_leaves_the_conversation_whole(sample: StdioServerParameters) -> None:
    async def talk(client: Client) -> None:
        with anyio.move_on_after(0.2) as scope:
            await client.call_tool("watch", {})
        assert scope.cancelled_caught
        assert text_of(await client.call_tool("echo", {"text": "next"})) == "next"

    converse(Client(sample, client_info=TESTER), talk)
