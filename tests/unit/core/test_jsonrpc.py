"""JSON-RPC: splitting lines, decoding, encoding and validation of messages."""

from __future__ import annotations

import io
import json

import pytest

from keepmum.core import jsonrpc


def split(*chunks: bytes, limit: int = 10) -> list[bytes | None]:
    waiting = list(chunks)
    return list(jsonrpc.lines(lambda _: waiting.pop(0) if waiting else b"", limit))


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        pytest.param([], [], id="an empty stream has no line"),
        pytest.param([b"a\nb\n"], [b"a", b"b"], id="two lines in a chunk"),
        pytest.param([b"a", b"b\nc", b"\n"], [b"ab", b"c"], id="a line in two chunks"),
        pytest.param([b"a\n\nb\n"], [b"a", b"", b"b"], id="an empty line"),
        pytest.param([b"a\nb"], [b"a", b"b"], id="no final line feed"),
        pytest.param([b"0123456789\nb\n"], [b"0123456789", b"b"], id="at the limit"),
        pytest.param([b"0123456789x\nb\n"], [None, b"b"], id="one byte over the limit"),
        pytest.param([b"012345", b"6789x", b"more", b"\nb\n"], [None, b"b"], id="over the limit, in many chunks"),
        pytest.param([b"012345", b"6789x"], [None], id="over the limit, without line feed"),
    ],
)
def test_lines_are_split_at_line_feeds(chunks: list[bytes], lines: list[bytes | None]) -> None:
    assert split(*chunks) == lines


def test_overlong_line_is_not_buffered() -> None:
    sizes: list[int] = []
    stream = io.BytesIO(b"x" * 1_000_000 + b"\n")

    def read(size: int) -> bytes:
        sizes.append(size)
        return stream.read(size)

    assert list(jsonrpc.lines(read, 100)) == [None]
    assert max(sizes) < 100_000


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"{", id="truncated"),
        pytest.param(b"hunter2", id="a bare word"),
        pytest.param(b'"\xff"', id="not UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", id="a byte order mark"),
        pytest.param('{"a":1}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b'{"a":"\x00"}', id="a raw NUL"),
        pytest.param(b'{"a":NaN}', id="NaN"),
        pytest.param(b'{"a":-Infinity}', id="an infinity"),
        pytest.param(b"1" * 5000, id="more digits than Python converts"),
        pytest.param(b"[" * 1_000_000, id="endless nesting"),
        pytest.param(b'{"a":1} {"b":2}', id="two messages on a line"),
    ],
)
def test_invalid_json_is_a_parse_error(line: bytes) -> None:
    with pytest.raises(jsonrpc.RpcError) as caught:
        jsonrpc.decode(line)
    assert caught.value.code == jsonrpc.PARSE_ERROR


def test_parse_error_repeats_nothing_of_the_text() -> None:
    with pytest.raises(jsonrpc.RpcError) as caught:
        jsonrpc.decode(b'{"password": hunter2}')
    assert caught.value.message == "parse error: not JSON at character 13"
    assert "hunter2" not in repr(caught.value.__cause__)


def test_encoded_message_is_one_line_of_ascii() -> None:
    line = jsonrpc.encode({"text": "a\nb\u2028 ä \ud800"})
    assert line.isascii()
    assert line.index(b"\n") == len(line) - 1
    assert json.loads(line) == {"text": "a\nb\u2028 ä \ud800"}


def test_nan_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match="JSON"):
        jsonrpc.encode({"value": float("nan")})


@pytest.mark.parametrize(
    ("message", "code", "request_id"),
    [
        pytest.param(1, jsonrpc.INVALID_REQUEST, None, id="a number"),
        pytest.param("x", jsonrpc.INVALID_REQUEST, None, id="text"),
        pytest.param({}, jsonrpc.INVALID_REQUEST, None, id="an empty object"),
        pytest.param({"id": 1, "method": "ping"}, jsonrpc.INVALID_REQUEST, 1, id="no version"),
        pytest.param({"jsonrpc": "1.0", "id": 1, "method": "ping"}, jsonrpc.INVALID_REQUEST, 1, id="version 1"),
        pytest.param({"jsonrpc": "2.0", "id": "a"}, jsonrpc.INVALID_REQUEST, "a", id="no method"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "method": 7}, jsonrpc.INVALID_REQUEST, 1, id="a number as the method"),
        pytest.param({"jsonrpc": "2.0", "id": None, "method": "ping"}, jsonrpc.INVALID_REQUEST, None, id="id null"),
        pytest.param({"jsonrpc": "2.0", "id": True, "method": "ping"}, jsonrpc.INVALID_REQUEST, None, id="id true"),
        pytest.param({"jsonrpc": "2.0", "id": [1], "method": "ping"}, jsonrpc.INVALID_REQUEST, None, id="id a list"),
        pytest.param({"jsonrpc": "2.0", "id": {}, "method": "ping"}, jsonrpc.INVALID_REQUEST, None, id="id an object"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, jsonrpc.INVALID_REQUEST, None, id="id a fraction"
        ),
        pytest.param({"jsonrpc": "2.0", "id": 1.0, "method": "ping"}, jsonrpc.INVALID_REQUEST, None, id="id 1.0"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, jsonrpc.INVALID_PARAMS, 1, id="a list"
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}, jsonrpc.INVALID_PARAMS, 1, id="a text"
        ),
    ],
)
def test_invalid_message_is_refused_with_its_id(message: object, code: int, request_id: object) -> None:
    with pytest.raises(jsonrpc.RpcError) as caught:
        jsonrpc.parse(message)
    assert (caught.value.code, caught.value.request_id) == (code, request_id)


def test_null_parameters_count_as_absent() -> None:
    request = jsonrpc.parse({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None})
    assert isinstance(request, jsonrpc.Request)
    assert request.params == {}


def test_message_without_id_is_a_notification() -> None:
    notification = jsonrpc.parse({"jsonrpc": "2.0", "method": "m", "params": [1]})
    assert isinstance(notification, jsonrpc.Notification)
    assert notification.params == {}


@pytest.mark.parametrize("answer", [{"result": {"a": 1}}, {"error": {"code": 1, "message": "m"}}])
def test_result_or_error_parses_as_a_response(answer: dict[str, object]) -> None:
    response = jsonrpc.parse({"jsonrpc": "2.0", "id": "q", **answer})
    assert isinstance(response, jsonrpc.Response)
    assert (response.id, response.result) == ("q", answer.get("result"))


def test_error_response_has_code_and_message() -> None:
    error = jsonrpc.RpcError(jsonrpc.METHOD_NOT_FOUND, "method not found")
    assert jsonrpc.failure(3, error) == {
        "jsonrpc": "2.0",
        "id": 3,
        "error": {"code": -32601, "message": "method not found"},
    }
