"""JSON-RPC lines in arbitrary chunks and with arbitrary content."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keepmum.core import jsonrpc

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(st.lists(st.binary(min_size=1)), st.integers(min_value=0, max_value=12))
def test_lines_do_not_depend_on_chunks(chunks: list[bytes], limit: int) -> None:
    *ended, rest = b"".join(chunks).split(b"\n")
    whole = [*ended, rest] if rest else ended
    waiting = iter(chunks)
    assert list(jsonrpc.lines(lambda _: next(waiting, b""), limit)) == [
        line if len(line) <= limit else None for line in whole
    ]


@given(json_values)
def test_message_round_trips(message: object) -> None:
    line = jsonrpc.encode(message)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert jsonrpc.decode(line) == message


@given(st.text(st.characters(categories=["Cs"]), min_size=1))
def test_lone_surrogates_round_trip(text: str) -> None:
    line = jsonrpc.encode(text)
    assert line.isascii()
    assert jsonrpc.decode(line) == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(st.binary())
def test_any_bytes_are_a_value_or_a_parse_error(line: bytes) -> None:
    assert decode_outcome(line) in ("value", jsonrpc.PARSE_ERROR)


def decode_outcome(line: bytes) -> object:
    """The outcome of decoding a line: `value` or the code of the protocol error."""
    try:
        jsonrpc.decode(line)
    except jsonrpc.RpcError as error:
        return error.code
    return "value"
