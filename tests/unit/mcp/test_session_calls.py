"""Tool calls, resource reads and prompts, and their errors."""

from __future__ import annotations

import sys

import pytest

from hidden import assert_hidden
from mcp_process import Json, code_of, text_of
from mcp_sample import SECRET_WORDS
from unit.mcp.conversations import Conversation, call


def test_tool_result_is_text(conversation: Conversation) -> None:
    assert conversation.result("tools/call", {"name": "echo", "arguments": {"text": "ä"}}) == {
        "content": [{"type": "text", "text": "ä"}]
    }


def test_arguments_are_optional(conversation: Conversation) -> None:
    assert text_of(conversation.ask("tools/call", {"name": "who"})) == "tester | 2.0 | 2025-11-25"


def test_refusal_is_a_tool_result_with_is_error(conversation: Conversation) -> None:
    assert conversation.say(call("refuse", text="x"))[0]["result"] == {
        "content": [{"type": "text", "text": "refused, nothing stored"}],
        "isError": True,
    }


def test_invalid_arguments_are_a_tool_result(conversation: Conversation) -> None:
    answer = conversation.say(call("echo", txt="x"))[0]
    assert text_of(answer) == "txt: is not a known field (did you mean text?); allowed: text"
    assert conversation.handlers.seen == []


@pytest.mark.parametrize("tool", ["fail", "leave"])
def test_exception_is_reported_by_place_without_its_text(
    conversation: Conversation, capsys: pytest.CaptureFixture[str], tool: str
) -> None:
    answer = conversation.say(call(tool))[0]
    assert answer["error"] == {"code": -32603, "message": f"internal error in {tool}; nothing was stored"}
    errors = capsys.readouterr().err
    assert f"keepmum: internal error in {tool}: " in errors
    assert "mcp_sample.py:" in errors
    assert_hidden(SECRET_WORDS, errors)


def test_exception_is_answered_when_stderr_is_closed(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert code_of(conversation.say(call("fail"))[0]) == -32603


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        pytest.param("tools/call", {"name": "nope"}, -32602, id="unknown tool"),
        pytest.param("tools/call", {}, -32602, id="no tool"),
        pytest.param("tools/call", {"name": ["echo"]}, -32602, id="a list as the tool"),
        pytest.param("tools/call", {"name": "echo", "arguments": "text"}, -32602, id="text as the arguments"),
        pytest.param("tools/call", {"name": "echo", "arguments": []}, -32602, id="a list as the arguments"),
        pytest.param("resources/read", {}, -32602, id="no URI"),
        pytest.param("resources/read", {"uri": 1}, -32602, id="a number as the URI"),
        pytest.param("resources/read", {"uri": "memory://\0"}, -32602, id="NUL in a URI"),
        pytest.param("resources/read", {"uri": "memory://\ud800"}, -32602, id="an unpaired surrogate in a URI"),
        pytest.param("resources/read", {"uri": "memory://nope"}, -32002, id="unknown resource"),
        pytest.param("resources/read", {"uri": "memory://broken"}, -32603, id="unavailable resource"),
        pytest.param("prompts/get", {"name": "nope"}, -32602, id="unknown prompt"),
        pytest.param("prompts/get", {"name": "greet"}, -32602, id="a prompt without its argument"),
        pytest.param("prompts/get", {"name": "greet", "arguments": {"name": 1}}, -32602, id="a number as an argument"),
        pytest.param("prompts/get", {"name": "greet", "arguments": {"nam": "x"}}, -32602, id="an unknown argument"),
        pytest.param("logging/setLevel", {"level": "loud"}, -32602, id="unknown level"),
        pytest.param("logging/setLevel", {"level": {}}, -32602, id="an object as the level"),
    ],
)
def test_invalid_parameters_have_their_error_code(
    conversation: Conversation, method: str, params: Json, code: int
) -> None:
    assert conversation.error(method, params)[0] == code


def test_unknown_tool_error_lists_known_tools_without_the_given_name(conversation: Conversation) -> None:
    _, message = conversation.error("tools/call", {"name": "nope"})
    assert message == ("unknown tool; choose one of echo, refuse, fail, leave, chatter, report, who, wait, watch")


def test_resource_read_returns_contents(conversation: Conversation) -> None:
    assert conversation.result("resources/read", {"uri": "memory://note"}) == {
        "contents": [{"uri": "memory://note", "mimeType": "text/markdown", "text": "a note for tester"}]
    }


def test_prompt_is_one_user_message(conversation: Conversation) -> None:
    assert conversation.result("prompts/get", {"name": "greet", "arguments": {"name": "you"}}) == {
        "description": "Greets.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "greet you, tester"}}],
    }
