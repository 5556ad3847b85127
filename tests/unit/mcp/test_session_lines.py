"""Malformed lines, messages without an answer, ids and batches."""

from __future__ import annotations

import pytest

from keepmum.core.jsonrpc import MAX_LINE
from mcp_process import Json, code_of, request, text_of
from unit.mcp.conversations import Conversation, call, cancel

# --- malformed input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"{", -32700, id="not JSON"),
        pytest.param(b'"\xff"', -32700, id="not UTF-8"),
        pytest.param(b"[" * 500_000, -32700, id="endless nesting"),
        pytest.param(b'{"a":NaN}', -32700, id="NaN"),
        pytest.param(b"3", -32600, id="a number"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, id="id null"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, id="a batch in a version without batches"),
        pytest.param(None, -32600, id="an overlong line"),
    ],
)
def test_malformed_line_is_answered_with_id_null(conversation: Conversation, line: bytes | None, code: int) -> None:
    conversation.sent.clear()
    conversation.session.receive(line)
    assert [(answer["id"], code_of(answer)) for answer in conversation.sent] == [(None, code)]


def test_error_for_an_overlong_line_states_the_limit(conversation: Conversation) -> None:
    conversation.session.receive(None)
    assert str(MAX_LINE) in str(conversation.sent[-1])


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"jsonrpc": "2.0", "method": "x"}, id="unknown"),
        pytest.param({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo"}}, id="a call without id"),
        pytest.param(cancel("nope"), id="cancelling an unknown request"),
        pytest.param(cancel({"a": 1}), id="cancelling an object"),
        pytest.param({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}, id="wrong parameters"),
        pytest.param({"jsonrpc": "2.0", "id": "roots-9", "result": {}}, id="a response to no request"),
        pytest.param({"jsonrpc": "2.0", "id": [], "error": {}}, id="a response with an invalid id"),
    ],
)
def test_notifications_and_responses_get_no_answer(conversation: Conversation, message: Json) -> None:
    assert conversation.say(message) == []


def test_notifications_before_the_handshake_are_ignored() -> None:
    conversation = Conversation()
    assert conversation.say({"jsonrpc": "2.0", "method": "notifications/initialized"}) == []
    assert conversation.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}) == []
    assert conversation.jobs == []


def test_duplicate_id_is_refused_while_its_request_is_pending(conversation: Conversation) -> None:
    conversation.sent.clear()
    conversation.tell(call("echo", 5, text="first"))
    conversation.tell(call("echo", 5, text="second"))
    conversation.work()
    assert [answer.get("error", {}) != {} for answer in conversation.sent] == [True, False]
    assert text_of(conversation.sent[1]) == "first"
    assert text_of(conversation.say(call("echo", 5, text="third"))[0]) == "third"


def test_requests_beyond_1024_pending_are_refused(conversation: Conversation) -> None:
    conversation.sent.clear()
    for number in range(1025):
        conversation.tell(call("echo", number, text="x"))
    assert [(answer["id"], code_of(answer)) for answer in conversation.sent] == [(1024, -32603)]
    conversation.work()
    assert len(conversation.sent) == 1025


@pytest.mark.parametrize("request_id", [0, -1, 2**70, "a", "", "\ud800"])
def test_valid_id_is_returned_unchanged(conversation: Conversation, request_id: object) -> None:
    assert conversation.ask("ping", None, request_id)["id"] == request_id


# --- batches ----------------------------------------------------------------------------------------------------


@pytest.fixture
def batching() -> Conversation:
    """A conversation in a protocol version with batches."""
    begun = Conversation()
    begun.greet("2025-03-26")
    return begun


def test_batch_is_answered_as_one_message(batching: Conversation) -> None:
    batching.tell([call("echo", 1, text="x"), {"jsonrpc": "2.0", "method": "x"}, request("ping", None, 2), 5])
    before = len(batching.sent)
    batching.work()
    assert len(batching.sent) == before + 1
    assert {answer["id"] for answer in batching.batches()[-1]} == {1, 2, None}


def test_batch_of_notifications_gets_no_answer(batching: Conversation) -> None:
    assert batching.say([{"jsonrpc": "2.0", "method": "x"}] * 2) == []


def test_cancelled_request_is_left_out_of_the_batch_answer(batching: Conversation) -> None:
    batching.sent.clear()
    batching.tell([call("echo", 1, text="x"), call("echo", 2, text="y"), cancel(1)])
    batching.work()
    assert [[answer["id"] for answer in batch] for batch in batching.batches()] == [[2]]


@pytest.mark.parametrize("size", [0, 257])
def test_batch_of_invalid_size_is_refused(batching: Conversation, size: int) -> None:
    assert [code_of(answer) for answer in batching.say([request("ping")] * size)] == [-32600]


def test_batch_before_the_handshake_is_refused() -> None:
    assert [code_of(answer) for answer in Conversation().say([request("ping")])] == [-32600]
