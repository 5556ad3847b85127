"""Arbitrary lines pass the guard unchanged or are refused; a secret never passes."""

from __future__ import annotations

import json
import random
import re
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from guard_process import LIMIT, environment, guarded, script
from hidden import assert_hidden
from keepmum.guard.gate import judge, may_call
from keepmum.guard.lines import Lines
from keepmum.guard.results import masked


def _token(seed: int) -> str:
    """A string in the form of a code host's key; seeded, since Hypothesis's own strings look like examples."""
    return "gh" + "p_" + "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=36))


CURSOR = "".join(random.Random(0).choices(string.ascii_letters, k=40))  # looks like a key, but is a pagination cursor
SECRET = st.integers(0, 1 << 32).map(_token)
TEXTS = st.text(max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["tools/call", "tools/list", "ping", "notifications/initialized"])
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS}, optional={"id": st.integers() | TEXTS, "params": VALUES}
)
JSON_LINES = (
    (MESSAGES | VALUES | st.lists(MESSAGES, max_size=3))
    .flatmap(lambda value: st.booleans().map(lambda ascii_only: json.dumps(value, ensure_ascii=ascii_only)))
    .map(lambda text: text.encode("utf-8", "surrogatepass"))
)
PIECES = st.sampled_from(
    [b"{", b"}", b'"', b"\\", b"\r", b"tools/call", b'"method"', b"\\u0074ools", b"\xff", b":", b"["]
)
NOISE = st.binary(max_size=60) | st.lists(PIECES | st.binary(max_size=4), max_size=12).map(b"".join)
STREAMS = st.lists(JSON_LINES | NOISE, max_size=6).map(b"\n".join)


@given(STREAMS)
def test_line_passes_unchanged_or_is_refused(stream: bytes) -> None:
    for line in _lines(stream):
        verdict = judge(line)
        refused = verdict.answer is not None or not verdict.forward
        assert verdict.forward == line or (refused and may_call(line))


@given(STREAMS, st.lists(st.integers(1, 20), max_size=30))
def test_lines_do_not_depend_on_chunk_sizes(stream: bytes, sizes: list[int]) -> None:
    lines, at = Lines(1 << 20), 0
    cut: list[bytes] = []
    for size in sizes:
        cut += lines.feed(stream[at : at + size])
        at += size
    cut += lines.feed(stream[at:])
    rest = lines.rest()
    assert [*cut, *([rest] if rest else [])] == _lines(stream)


@given(SECRET, VALUES, st.data())
def test_secret_anywhere_in_the_arguments_is_refused(secret: str, value: object, data: st.DataObject) -> None:
    arguments = data.draw(_with(secret, value))
    ascii_only = data.draw(st.booleans())
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": arguments}}
    line = json.dumps(message, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") + b"\n"
    verdict = judge(line)
    assert verdict.forward == b""
    answer_text = json.dumps(verdict.answer)
    assert not [secret[at : at + 5] for at in range(4, 36) if secret[at : at + 5] in answer_text]


@given(MESSAGES, st.data())
def test_call_is_recognised_with_any_escapes(message: dict[str, object], data: st.DataObject) -> None:
    escaped = [
        data.draw(st.sampled_from([letter, f"\\u{ord(letter):04x}", f"\\u{ord(letter):04X}"]))
        for letter in "tools/call"
    ]
    line = json.dumps({**message, "method": "METHOD"}).replace("METHOD", "".join(escaped), 1)
    assert may_call(line.encode())


@given(STREAMS)
def test_masking_changes_only_lines_with_secrets(stream: bytes) -> None:
    for line in _lines(stream):
        assert masked(line) == line or b" removed]" in masked(line)


@pytest.mark.heavy
def test_streams_pass_through_a_guarded_server(home: Path) -> None:
    """One server echoes all streams, with a marker after each, so that no stream needs its own process.

    It has the home of this process, and so the same key for fingerprints.
    """
    echo = script("while data := os.read(0, 65536):\n    os.write(1, data)")
    process = subprocess.Popen(
        guarded(*echo), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home), bufsize=0
    )
    assert process.stdin is not None
    assert process.stdout is not None
    into, out = process.stdin, process.stdout
    marker = b"-- end of stream --\n"

    @settings(max_examples=1000, deadline=None)
    @given(STREAMS)
    def through(stream: bytes) -> None:
        verdicts = [judge(line) for line in _lines(stream + b"\n")]
        into.write(stream + b"\n" + marker)
        received = b""
        while not received.endswith(marker):
            chunk = out.read(65536)
            assert chunk
            received += chunk
        answers = [json.dumps(one.answer, separators=(",", ":")).encode() + b"\n" for one in verdicts if one.answer]
        for answer in answers:
            assert answer in received
            received = received.replace(answer, b"", 1)
        assert received == b"".join(one.forward for one in verdicts) + marker

    try:
        through()
        into.close()
        assert process.wait(LIMIT) == 0
    finally:
        process.kill()
        process.wait(LIMIT)
        into.close()
        out.close()


def _lines(stream: bytes) -> list[bytes]:
    """The lines of a stream with their line feeds; `bytes.splitlines` also splits at other line ends."""
    return re.findall(rb"[^\n]*\n|[^\n]+", stream)


def _with(secret: str, value: object) -> st.SearchStrategy[object]:
    """The value with the secret as a text, a name, a list item, in JSON text, or alone."""
    return st.sampled_from(
        [
            {"text": f"see {secret} there", "rest": value},
            {"rest": value, secret: value},
            [value, {"deep": [value, secret]}],
            {"data": json.dumps({"rest": value, "deep": [secret]})},
            secret,
        ]
    )


@given(SECRET, VALUES, st.data())
def test_only_the_secret_in_a_response_is_masked(secret: str, value: object, data: st.DataObject) -> None:
    harmless = json.dumps({"jsonrpc": "2.0", "id": 7, "result": {"content": value}}).encode() + b"\n"
    assume(masked(harmless) == harmless)  # a number under a name such as "heslo" is masked anyway
    payload = data.draw(_with(secret, value))
    field = data.draw(st.sampled_from(["content", "structuredContent", "contents", "messages"]))
    response = data.draw(
        st.sampled_from(
            [{"result": {field: payload, "nextCursor": CURSOR}}, {"error": {"message": payload, "code": 1}}]
        )
    )
    answer = {"jsonrpc": "2.0", "id": 7, "more": value, **response}
    line = json.dumps(answer, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "replace") + b"\n"
    out = masked(line)
    assert not [secret[at : at + 5] for at in range(4, 36) if secret[at : at + 5].encode() in out]
    assert json.loads(out) == _replaced(json.loads(line), secret)


def _replaced(value: object, secret: str) -> object:
    """The value with the secret redacted in every text and name."""
    if isinstance(value, str):
        return value.replace(secret, "[github.token removed]")
    if isinstance(value, list):
        return [_replaced(item, secret) for item in value]
    if isinstance(value, dict):
        return {_replaced(name, secret): _replaced(item, secret) for name, item in value.items()}
    return value


@given(SECRET, st.sampled_from(["result", "\\u0072esult", "r\\u0065sul\\u0074"]))
def test_response_is_recognised_with_any_escapes(secret: str, name: str) -> None:
    line = f'{{"id":1,"{name}":{{"content":[{{"text":"{secret}"}}]}}}}\n'.encode()
    assert_hidden(secret.encode(), masked(line))


@given(SECRET)
def test_value_hidden_by_a_duplicate_name_is_removed(secret: str) -> None:
    line = f'{{"id":1,"result":{{"content":[{{"text":"{secret}","text":"x"}}]}}}}\n'.encode()
    assert masked(line) == b'{"id":1,"result":{"content":[{"text":"x"}]}}\n'


@given(SECRET, st.sampled_from([b"\xff", b"\xc3(", b"\xed\xa0\x80"]))
def test_invalid_utf8_does_not_hide_a_secret(secret: str, odd: bytes) -> None:
    line = b'{"id":1,"result":{"content":[{"text":"' + odd + secret.encode() + b'"}]}}\n'
    assert_hidden(secret.encode(), masked(line))


@given(SECRET)
def test_nan_in_a_response_does_not_prevent_masking(secret: str) -> None:
    line = f'{{"id":1,"result":{{"score":NaN,"content":[{{"text":"see {secret}"}}]}}}}\n'.encode()
    assert masked(line) == b'{"id":1,"result":{"score":NaN,"content":[{"text":"see [github.token removed]"}]}}\n'


def test_deeply_nested_response_is_masked() -> None:
    secret = _token(1)
    line = f'{{"id":1,"result":{{"content":{"[" * 90_000}"{secret}"{"]" * 90_000}}}}}\n'.encode()
    assert_hidden(secret.encode(), masked(line))
