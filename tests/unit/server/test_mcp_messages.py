"""What is no message is refused without a word of it, on every way in: it may hold a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from hidden import GITHUB_TOKEN as SECRET
from keepmum.mcp.dialects import DIALECTS
from server_app import client_of, keys
from unit.mcp.conversations import Conversation

AROUND = "the deploy token of the blue pool"
TEXT = f"{AROUND} is {SECRET}"
MODERN, LEGACY = "2026-07-28", "2025-11-25"

BROKEN = {
    "no JSON": TEXT,
    "cut off": json.dumps({"jsonrpc": "2.0", "id": 1, "method": TEXT})[:-2],
    "a text": json.dumps(TEXT),
    "a batch": json.dumps([{"jsonrpc": "2.0", "id": 1, "method": TEXT}]),
    "another version": json.dumps({"jsonrpc": TEXT, "id": 1, "method": "tools/list"}),
    "no method": json.dumps({"jsonrpc": "2.0", "id": 1, "params": {"text": TEXT}}),
    "a method that is a list": json.dumps({"jsonrpc": "2.0", "id": 1, "method": [TEXT]}),
    "an unknown method": json.dumps({"jsonrpc": "2.0", "id": 1, "method": TEXT, "params": {}}),
    "an id that is an object": json.dumps({"jsonrpc": "2.0", "id": {"a": TEXT}, "method": "tools/list"}),
    "a broken id": json.dumps({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list", "params": {"text": TEXT}}),
    "parameters that are a text": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TEXT}),
    "an error that is a text": json.dumps({"jsonrpc": "2.0", "id": 1, "error": TEXT}),
    "a result that is a text": json.dumps({"jsonrpc": "2.0", "id": 1, "result": TEXT}),
    "an unknown tool": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": TEXT}}),
    "arguments that are a text": json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": TEXT}}
    ),
    "an unknown argument": json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": {TEXT: TEXT}}}
    ),
}
ANSWERED_BY_NOTHING = {"an error that is a text", "a result that is a text"}  # on standard input


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of("sqlite", tmp_path_factory.mktemp("server"), keys(ada=["api"])) as opened:
        yield opened


def holds_nothing(answer: str) -> bool:
    """Whether no part of the text is in an answer."""
    words = (SECRET, SECRET[:12], SECRET[-12:], "deploy token", "blue pool")
    return bool(answer) and not any(word in answer for word in words)


@pytest.mark.parametrize("version", [MODERN, LEGACY])
@pytest.mark.parametrize("case", BROKEN)
def test_mcp_over_http_repeats_nothing(client: TestClient, case: str, version: str) -> None:
    headers = {
        "Authorization": "Bearer ada", "Content-Type": "application/json", "MCP-Protocol-Version": version,
        "Accept": "application/json, text/event-stream",
    }  # fmt: skip
    answer = client.post("/mcp", content=BROKEN[case].encode(), headers=headers)
    assert holds_nothing(answer.text)
    body = answer.json()
    assert "error" in body or body["result"]["isError"]


@pytest.mark.parametrize("case", sorted(BROKEN.keys() - ANSWERED_BY_NOTHING))
def test_standard_input_repeats_nothing(case: str) -> None:
    conversation = Conversation(DIALECTS["keepmum"][0])
    conversation.greet()
    conversation.sent.clear()
    conversation.session.receive(BROKEN[case].encode())
    conversation.work()
    assert holds_nothing(json.dumps(conversation.sent[-1]))


@pytest.mark.parametrize("bad", ["null", "true", "false", "[1]", '{"a": 1}', "1.5", "1.0", "1e999"])
def test_a_request_with_an_id_of_another_type_is_answered_alike_everywhere(client: TestClient, bad: str) -> None:
    message = b'{"jsonrpc": "2.0", "id": %s, "method": "tools/list"}' % bad.encode()
    headers = {"Authorization": "Bearer ada", "Content-Type": "application/json", "MCP-Protocol-Version": LEGACY}
    answer = client.post("/mcp", content=message, headers={**headers, "Accept": "application/json, text/event-stream"})
    conversation = Conversation(DIALECTS["keepmum"][0])
    conversation.greet()
    conversation.session.receive(message)
    conversation.work()
    error = {"code": -32600, "message": 'invalid request: "id" must be a string or an integer'}
    assert (answer.status_code, answer.json()) == (400, {"jsonrpc": "2.0", "id": None, "error": error})
    assert conversation.sent[-1] == answer.json()


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("path", ["/api/v1/memories", "/api/v2/memories", "/api/v2/memories:search"])
def test_the_rest_interfaces_repeat_nothing(client: TestClient, path: str, case: str) -> None:
    headers = {"Authorization": "Bearer ada", "Content-Type": "application/json"}
    answer = client.post(path, content=BROKEN[case].encode(), headers=headers)
    assert answer.status_code == 400
    assert holds_nothing(answer.text)


def test_the_place_of_a_problem_is_named(client: TestClient) -> None:
    headers = {"Authorization": "Bearer ada", "Content-Type": "application/json", "Accept": "application/json"}
    answer = client.post("/mcp", content=b'{"jsonrpc": "2.0", "id": 1 "method": "ping"}', headers=headers)
    assert (answer.status_code, answer.json()) == (
        400,
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error: not JSON at character 27"}},
    )
