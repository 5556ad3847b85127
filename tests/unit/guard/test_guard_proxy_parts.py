"""Parts of the proxy: line splitting, options, pending requests, result masking, output."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from keepmum.guard import main as command
from keepmum.guard import proxy
from keepmum.guard.lines import Lines
from keepmum.guard.output import Output
from keepmum.guard.pending import Pending
from keepmum.guard.results import masked


def test_lines_keep_their_line_feeds_across_chunks() -> None:
    lines = Lines(100)
    cut = [line for chunk in (b"a", b"b\nc\n\n", b"d\r", b"\n", b"e") for line in lines.feed(chunk)]
    assert [*cut, lines.rest()] == [b"ab\n", b"c\n", b"\n", b"d\r\n", b"e"]


def test_overlong_line_is_truncated_just_past_the_limit() -> None:
    lines = Lines(3)
    cut = [line for chunk in (b"abcd", b"efg", b"h\nok\n") for line in lines.feed(chunk)]
    assert cut == [b"abcd", b"ok\n"]


def test_everything_after_the_dashes_is_the_command() -> None:
    chosen = command.parse(["--results", "--", "npx", "--url", "--", "x"])
    assert (chosen.command, chosen.results) == (("npx", "--url", "--", "x"), True)


def test_header_option_names_a_variable() -> None:
    chosen = command.parse(["--url=https://x.example/mcp", "--header-env", "Authorization=TOKEN"])
    assert (chosen.url, chosen.headers) == ("https://x.example/mcp", (("Authorization", "TOKEN"),))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="no options"),
        pytest.param(["--"], id="no command"),
        pytest.param(["--url"], id="no address"),
        pytest.param(["--url", "http://x", "--", "y"], id="both"),
        pytest.param(["--header-env", "A=B", "--", "y"], id="a header for a process"),
        pytest.param(["--url", "http://x", "--header-env", "Authorization=Bearer x"], id="a value on the command line"),
        pytest.param(["--loud", "--", "y"], id="unknown"),
    ],
)
def test_invalid_options_are_refused_without_repeating_them(words: list[str]) -> None:
    with pytest.raises(command.UsageError) as raised:
        command.parse(words)
    assert "Bearer" not in str(raised.value)


@pytest.mark.parametrize(
    ("words", "starts"),
    [(["--", "x"], True), (["--url", "x"], True), (["add", "--"], False), (["--help"], False), ([], False)],
)
def test_proxy_starts_only_with_options(words: list[str], *, starts: bool) -> None:
    assert command.is_proxy(words) is starts


def test_response_settles_its_request() -> None:
    pending = Pending()
    pending.add_requests(b'{"id":1,"method":"ping"}\n')
    pending.add_requests(b'[{"id":"1","method":"ping"},{"id":2,"method":"ping"}]\n')
    pending.add_responses(b'{"id":1,"result"')
    pending.add_responses(b':{}}\n[{"id":2,"error":{}}]\n')
    assert pending.unanswered() == ["1"]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"method":"notifications/initialized"}\n', id="a notification"),
        pytest.param(b'{"id":4,"result":{}}\n', id="a response of the client"),
        pytest.param(b'{"id":4,"method":', id="not JSON"),
    ],
)
def test_only_requests_are_pending(line: bytes) -> None:
    pending = Pending()
    pending.add_requests(line)
    assert pending.unanswered() == []


def test_request_from_the_server_settles_nothing() -> None:
    pending = Pending()
    pending.add_requests(b'{"id":1,"method":"ping"}\n')
    pending.add_responses(b'{"id":1,"method":"roots/list"}\nnot JSON "id"\n')
    assert pending.unanswered() == [1]


def test_settled_requests_are_not_kept_in_memory() -> None:
    pending = Pending()
    filler = b"x" * 1000
    for number in range(1000):
        pending.add_requests(b'{"id":%d,"method":"%s"}\n' % (number, filler))
        pending.add_responses(b'{"id":%d,"result":"%s"}\n' % (number, filler))
    assert sum(len(line) for line, _ in pending._unread) < 300_000
    assert pending.unanswered() == []


def test_results_are_masked_in_text_and_structured_content(token: str) -> None:
    result = {"content": [{"type": "text", "text": f"key {token}."}], "structuredContent": {"deep": [token]}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode() + b"\n"
    clean = json.loads(masked(line))["result"]
    assert clean["content"][0]["text"] == "key [github.token removed]."
    assert clean["structuredContent"] == {"deep": ["[github.token removed]"]}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"id":1,  "result":{"content":[{"text":"fine"}]}}\n', id="nothing to mask"),
        pytest.param(b'{"id":1,"result":', id="not JSON"),
        pytest.param(b'[{"id":1,"result":3},7]\n', id="odd results"),
        pytest.param(b'{"method":"x","params":{}}\n', id="no result"),
    ],
)
def test_results_without_a_secret_keep_their_bytes(line: bytes) -> None:
    assert masked(line) == line


def test_guard_messages_wait_for_the_end_of_the_server_line() -> None:
    source, sink = os.pipe()
    output = Output(sink)
    output.write(b'{"half":')
    output.send({"id": 1})
    output.write(b'2}\n{"next"')
    output.send({"id": 2})
    output.finish()
    output.close()
    with open(source, "rb") as read:
        assert read.read() == b'{"half":2}\n{"id":1}\n{"next"\n{"id":2}\n'


class _Stopped:
    """A lock that another thread can release only after a pause in which a first wait ends."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def acquire(self, *, timeout: float) -> bool:
        self.waits.append(timeout)
        return len(self.waits) > 1


def test_a_pause_of_the_process_does_not_end_a_wait() -> None:
    lock: Any = _Stopped()
    assert proxy._acquire(lock, 1.0)
    assert lock.waits == [0.1, 0.1]
