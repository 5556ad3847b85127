"""A session with arbitrary messages."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hidden import assert_hidden
from keepmum.mcp.session import Session
from mcp_sample import SURFACE, SampleHandlers

Json = dict[str, object]
METHODS = (
    "initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
    "prompts/list", "prompts/get", "logging/setLevel", "notifications/initialized", "notifications/cancelled",
    "notifications/roots/list_changed", "server/discover",
)  # fmt: skip
FIELDS = (
    "name", "arguments", "uri", "level", "cursor", "requestId", "protocolVersion", "capabilities", "clientInfo",
    "roots", "_meta", "progressToken", "text",
)  # fmt: skip
TOOLS = ("echo", "refuse", "fail", "leave", "who", "report")  # the tools that neither wait nor print

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars | st.sampled_from(TOOLS),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), children, max_size=4),
    max_leaves=8,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": scalars | st.sampled_from(["roots-1", 1]),
        "method": st.sampled_from(METHODS) | scalars,
        "params": values | st.dictionaries(st.sampled_from(FIELDS), values, max_size=5),
        "result": values,
        "error": values,
    },
)


def converse(lines: list[bytes], protocol: str = "2025-11-25") -> list[object]:
    """The messages that a session sends after a handshake and these lines."""
    sent: list[object] = []
    jobs: list[Callable[[], None]] = []
    session = Session(SURFACE, lambda _: SampleHandlers(), name="s", version="1", send=sent.append, submit=jobs.append)
    hello = {"protocolVersion": protocol, "clientInfo": {"name": "tester"}, "capabilities": {"roots": {}}}
    session.receive(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode())
    sent.clear()
    for line in lines:
        session.receive(line)
        while jobs:
            jobs.pop(0)()
    return sent


def answers(sent: list[object]) -> list[Json]:
    """The answers among the sent messages, including those in batches."""
    flat: list[object] = []
    for message in sent:
        flat.extend(message if isinstance(message, list) else [message])
    return [one for one in flat if isinstance(one, dict) and "method" not in one]


@given(st.lists(st.binary() | values.map(lambda value: json.dumps(value).encode())))
def test_session_survives_any_lines(lines: list[bytes]) -> None:
    ping = b'{"jsonrpc":"2.0","id":"still here","method":"ping"}'
    assert answers(converse([*lines, ping]))[-1] == {"jsonrpc": "2.0", "id": "still here", "result": {}}


@given(messages)
def test_request_has_one_answer_and_notification_none(message: Json) -> None:
    assert len(answers(converse([json.dumps(message).encode()]))) == (1 if needs_answer(message) else 0)


def needs_answer(message: Json) -> bool:
    """Whether a message is a request, or too malformed to be ignored."""
    if message.get("jsonrpc") != "2.0":
        return True
    if "method" not in message:
        return not ("result" in message or "error" in message)
    return "id" in message or not isinstance(message["method"], str)


@given(messages)
def test_answer_is_a_result_or_an_error_with_the_id_of_its_request(message: Json) -> None:
    for answer in answers(converse([json.dumps(message).encode()])):
        assert set(answer) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        if answer["id"] is not None:
            assert answer["id"] == message["id"]


@given(st.lists(messages, min_size=1, max_size=5))
def test_batch_is_answered_on_one_line(batch: list[Json]) -> None:
    sent = converse([json.dumps(batch).encode()], "2025-03-26")
    assert all(isinstance(message, list) or (isinstance(message, dict) and "method" in message) for message in sent)
    assert sum(isinstance(message, list) for message in sent) == any(map(needs_answer, batch))


@given(messages, st.sampled_from(["method", "params"]), st.sampled_from([*FIELDS, None]))
def test_no_error_repeats_client_input(message: Json, place: str, field: str | None) -> None:
    secret = "Zq7" * 12
    params = message.get("params")
    inside: Json = {**params} if isinstance(params, dict) else {}
    if place == "method":
        request = {**message, "method": secret}
    elif field is None:
        request = {**message, "params": {**inside, secret: secret}}
    else:
        request = {**message, "params": {**inside, field: secret}}
    errors = [answer["error"] for answer in answers(converse([json.dumps(request).encode()])) if "error" in answer]
    assert_hidden(secret, str(errors))
