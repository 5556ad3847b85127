"""The gate forwards harmless lines byte for byte and refuses calls with a secret, however they are encoded."""

from __future__ import annotations

import json

import pytest

from guard_gate import Gate
from keepmum.core import jsonrpc
from keepmum.guard.gate import judge
from keepmum.guard.verdict import LONGEST


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\n", id="an empty line"),
        pytest.param(b"\x00\xff\xfe binary\n", id="binary"),
        pytest.param(b'{"jsonrpc": "2.0", "id": 1,  "method": "ping"}\r\n', id="odd spacing"),
        pytest.param(b'{"method": "pi', id="an incomplete message"),
        pytest.param(b'{"a":1,"a":2}\n', id="a duplicate name"),
        pytest.param('{"jsonrpc":"2.0","method":"x","params":{"t":"ä€😀\\u00e4"}}\n'.encode(), id="unicode"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"result":{"about":"tools/call"}}\n', id="a response that mentions calls"
        ),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}\n', id="no arguments"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"tools/call"} , {"id":2}]\n', id="a harmless batch"),
        pytest.param(b"{" + b" " * jsonrpc.MAX_LINE + b"\n", id="longer than the guard reads"),
    ],
)
def test_line_without_a_secret_in_a_call_passes_byte_for_byte(line: bytes) -> None:
    verdict = judge(line)
    assert verdict.forward == line
    assert verdict.answer is None


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"text": "TOKEN"}, id="a text"),
        pytest.param({"TOKEN": "x"}, id="a name"),
        pytest.param({"TOKEN": {"deep": []}}, id="the name of an object"),
        pytest.param({"entities": [{"observations": ["fine", "TOKEN"]}]}, id="a nested list"),
        pytest.param(["TOKEN"], id="arguments that are a list"),
        pytest.param("TOKEN", id="arguments that are a text"),
        pytest.param({"data": json.dumps({"deep": [json.dumps("TOKEN")]})}, id="JSON in JSON"),
        pytest.param({"_meta": "TOKEN"}, id="an argument named _meta"),
    ],
)
def test_secret_is_found_anywhere_in_the_arguments(gate: Gate, token: str, arguments: object) -> None:
    text = json.dumps(arguments).replace("TOKEN", token)
    assert "github.token" in gate.refusal(json.loads(text))


def test_escaped_secret_inside_a_json_string_is_found(gate: Gate, token: str) -> None:
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in token)
    assert "(JSON)" in gate.refusal({"data": f'{{"deep": "{hidden}"}}'})


def test_password_is_found_by_its_field_name(gate: Gate) -> None:
    assert "password" in gate.refusal({"fields": {"password": "Tr0ub4dor&" + "3xyz"}})


def test_tool_name_is_scanned(gate: Gate, token: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": token, "arguments": {}}}
    assert gate.judge(message).forward == b""


def test_protocol_metadata_is_not_scanned(gate: Gate, token: str) -> None:
    params = {"name": "x", "arguments": {}, "_meta": {"progressToken": token}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert gate.judge(message).answer is None


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(b'"tools\\/call"', id="an escaped slash"),
        pytest.param(b'"\\u0074ools/call"', id="an escaped letter"),
        pytest.param(b'"tool\\u0073\\u002Fcal\\u006C"', id="upper-case escapes"),
    ],
)
def test_call_with_an_escaped_method_is_recognised(token: str, spelling: bytes) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":%s,"params":{"arguments":{"t":"%s"}}}\n' % (spelling, token.encode())
    assert judge(line).forward == b""


@pytest.mark.parametrize(
    "members",
    [
        pytest.param('"method":"tools/call","method":"ping","params":{"t":"TOKEN"}', id="a duplicate method"),
        pytest.param('"method":"ping","method":"tools/call","params":{"t":"TOKEN"}', id="a duplicate method, reversed"),
        pytest.param('"Method":"tools/call","Params":{"t":"TOKEN"}', id="capitalised names"),
        pytest.param('"method":"tools/call","params":{"t":"TOKEN"},"params":{}', id="duplicate parameters"),
        pytest.param('"method":"tools/call","params":{"t":"TOKEN","t":"fine"}', id="a duplicate argument"),
    ],
)
def test_call_that_only_some_parsers_recognise_is_refused(token: str, members: str) -> None:
    line = '{"jsonrpc":"2.0","id":1,' + members.replace("TOKEN", token) + "}\n"
    assert judge(line.encode()).forward == b""


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"id":5,"method":"tools/call",', id="not JSON"),
        pytest.param(b'{"id":5,"method":"tools/\xffcall"}', id="bytes that some parsers drop"),
        pytest.param(b'{"id":5,"params":\r{"method":"tools/call"}}', id="a line end of some servers"),
        pytest.param(b'\xef\xbb\xbf{"id":5,"method":"tools/call"}', id="a byte-order mark"),
        pytest.param(b'{"id":5,"method":"tools/call","a":' + b"[" * 100_000, id="endless nesting"),
        pytest.param(b'{"id":5,"method":"tools/call","a":"' + b"a" * jsonrpc.MAX_LINE + b'"}', id="too long to read"),
    ],
)
def test_uncheckable_call_is_refused_with_its_id(line: bytes) -> None:
    verdict = judge(line + b"\n")
    assert verdict.forward == b""
    assert isinstance(verdict.answer, dict)
    assert verdict.answer["id"] == 5
    assert "could not be checked" in json.dumps(verdict.answer)


def test_refusal_has_no_id_when_the_line_has_two() -> None:
    verdict = judge(b'{"id":5,"method":"tools/call","params":{"arguments":{"id":6,\n')
    assert isinstance(verdict.answer, dict)
    assert verdict.answer["id"] is None
    assert "error" in verdict.answer


def test_line_beyond_the_limit_is_refused() -> None:
    assert judge(b" " * (LONGEST + 1)).forward == b""


def test_call_is_refused_when_the_scanner_fails(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("a word of the text")

    monkeypatch.setattr("keepmum.guard.fields.scan", broken)
    assert gate.call({"text": "harmless"}).forward == b""
    assert "a word of the text" not in capsys.readouterr().err


def test_refused_notification_gets_no_answer(gate: Gate, token: str) -> None:
    params = {"name": "x", "arguments": {"text": token}}
    verdict = gate.judge({"jsonrpc": "2.0", "method": "tools/call", "params": params})
    assert (verdict.forward, verdict.answer) == (b"", None)


def test_batch_passes_without_its_refused_call_byte_for_byte(token: str) -> None:
    ping, other = b'{"jsonrpc":"2.0","id":2,  "method":"ping"}', b'{"id":3,"method":"tools/call","params":{}}'
    bad = b'{"id":1,"method":"tools/call","params":{"arguments":{"t":"%s"}}}' % token.encode()
    verdict = judge(b"[ %s, %s ,%s ]\r\n" % (ping, bad, other))
    assert verdict.forward == b"[ %s,%s ]\r\n" % (ping, other)
    assert isinstance(verdict.answer, list)
    assert [answer["id"] for answer in verdict.answer] == [1]


def test_batch_of_refused_calls_is_not_forwarded(token: str) -> None:
    bad = b'{"id":1,"method":"tools/call","params":{"arguments":{"t":"%s"}}}' % token.encode()
    verdict = judge(b"[%s,%s]\n" % (bad, bad))
    assert verdict.forward == b""
    assert len(verdict.answer or ()) == 2
