"""A session's handshake, lists and close."""

from __future__ import annotations

import pytest

from hidden import assert_hidden
from keepmum.core.errors import KeepmumError
from keepmum.mcp.client import VERSIONS
from keepmum.mcp.surface import Context, Surface, Tool
from mcp_process import Json, code_of, request, text_of
from mcp_sample import SECRET_WORDS, SURFACE, SampleHandlers
from unit.mcp.conversations import Conversation, call

# --- handshake ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_supported_version_is_accepted(version: str) -> None:
    assert Conversation().greet(version)["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "", None, 7])
def test_unsupported_version_is_answered_with_the_latest(version: object) -> None:
    assert Conversation().result("initialize", {"protocolVersion": version})["protocolVersion"] == "2025-11-25"


def test_handshake_returns_name_version_and_instructions() -> None:
    result = Conversation().greet()
    assert result["serverInfo"] == {"name": "sample", "version": "1"}
    assert result["instructions"] == SURFACE.instructions


def test_capabilities_match_the_surface() -> None:
    bare = Surface("", tools=(Tool("a", "", {}, {}),))
    assert Conversation(bare).greet()["capabilities"] == {"logging": {}, "tools": {}}
    assert Conversation().greet()["capabilities"] == {"logging": {}, "tools": {}, "resources": {}, "prompts": {}}


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "prompts/list", "prompts/get"])
def test_method_of_an_absent_capability_is_not_found(method: str) -> None:
    bare = Conversation(Surface("", tools=(Tool("a", "", {}, {}),)))
    bare.greet()
    assert bare.error(method, {"name": "x"}) == (-32601, "method not found")


@pytest.mark.parametrize("method", ["server/discover", "completion/complete", "resources/subscribe", "x"])
def test_unknown_method_is_refused_immediately(method: str) -> None:
    conversation = Conversation()
    conversation.tell(request(method, {"ref": 1}))
    assert [code_of(answer) for answer in conversation.sent] == [-32601]


@pytest.mark.parametrize("method", ["ping", "tools/list", "resources/list", "prompts/list"])
def test_ping_and_lists_work_before_the_handshake(method: str) -> None:
    assert "result" in Conversation().ask(method)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "who"}),
        ("resources/read", {"uri": "memory://note"}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "x"}}),
    ],
)
def test_calls_to_handlers_need_a_handshake(method: str, params: Json) -> None:
    assert Conversation().error(method, params)[0] == -32600


def test_handlers_open_once_after_the_handshake() -> None:
    opened: list[str] = []

    def open_handlers(context: Context) -> SampleHandlers:
        opened.append(context.agent)
        return SampleHandlers()

    conversation = Conversation(open_handlers=open_handlers)
    conversation.result("initialize", {"clientInfo": {"name": "tester"}})
    conversation.ask("tools/list")
    assert opened == []
    conversation.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert opened == ["tester"]
    conversation.say(call("echo", text="x"))
    assert opened == ["tester"]


def test_failed_opening_is_reported_and_retried() -> None:
    failures: list[Exception] = [KeepmumError("the store is away")] * 2

    def open_handlers(_: Context) -> SampleHandlers:
        if failures:
            raise failures.pop()
        return SampleHandlers()

    conversation = Conversation(open_handlers=open_handlers)
    conversation.greet()  # the first failure
    assert conversation.say(call("echo", text="x"))[0]["result"] == {
        "content": [{"type": "text", "text": "the store is away"}],
        "isError": True,
    }
    assert text_of(conversation.say(call("echo", text="x"))[0]) == "x"


@pytest.mark.parametrize("failure", [RuntimeError(SECRET_WORDS), SystemExit(SECRET_WORDS)])
def test_exception_while_opening_is_an_internal_error(
    failure: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def open_handlers(_: Context) -> SampleHandlers:
        raise failure

    conversation = Conversation(open_handlers=open_handlers)
    conversation.greet()
    answer = conversation.say(call("echo", text="x"))[0]
    assert answer["error"] == {"code": -32603, "message": "internal error in echo; nothing was stored"}
    assert_hidden(SECRET_WORDS, capsys.readouterr().err)


# --- lists ------------------------------------------------------------------------------------------------------


def test_tool_list_has_schema_annotations_and_meta(conversation: Conversation) -> None:
    tools = conversation.result("tools/list")["tools"]
    assert isinstance(tools, list)
    assert tools[0] == {
        "name": "echo",
        "title": "Echo",
        "description": "Answers with its text.",
        "inputSchema": SURFACE.tools[0].parameters,
        "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
        "_meta": {"anthropic/alwaysLoad": True},
    }
    assert "_meta" not in tools[1]


def test_resources_templates_and_prompts_are_listed(conversation: Conversation) -> None:
    assert conversation.result("resources/list") == {
        "resources": [{"uri": "memory://note", "name": "note", "description": "A note.", "mimeType": "text/markdown"}]
    }
    assert conversation.result("resources/templates/list") == {
        "resourceTemplates": [
            {
                "uriTemplate": "memory://{key}",
                "name": "by key",
                "description": "A note by its key.",
                "mimeType": "text/markdown",
            }
        ]
    }
    assert conversation.result("prompts/list") == {
        "prompts": [
            {
                "name": "greet",
                "description": "Greets.",
                "arguments": [{"name": "name", "description": "Whom.", "required": True}],
            }
        ]
    }


def test_list_cursor_is_refused(conversation: Conversation) -> None:
    assert conversation.error("tools/list", {"cursor": "2"})[0] == -32602


# --- close ----------------------------------------------------------------------------------------------------


def test_close_closes_the_handlers(conversation: Conversation) -> None:
    conversation.session.close()
    assert conversation.handlers.seen == ["close"]


def test_close_without_handlers_opens_none() -> None:
    conversation = Conversation()
    conversation.session.close()
    assert conversation.handlers.seen == []


def test_exception_while_closing_is_reported_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(SampleHandlers):
        def close(self) -> None:
            raise RuntimeError(SECRET_WORDS)

    conversation = Conversation(open_handlers=lambda _: Broken())
    conversation.greet()
    conversation.session.close()
    errors = capsys.readouterr().err
    assert "internal error in closing: RuntimeError at " in errors
    assert_hidden(SECRET_WORDS, errors)
