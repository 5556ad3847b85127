"""JSON with duplicate members preserved, and the position of each message in a batch.

Servers differ in which of two members with one name they use, and some ignore the case of names. The guard must see
what each of them could see.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum.core.jsonrpc import RequestId

__all__ = ["Members", "decode", "elements", "is_call", "named", "request_id", "requests", "responses"]

_CALL = "tools/call"


class Members(tuple[tuple[str, object], ...]):
    """A JSON object: its names and values in order."""

    __slots__ = ()

    def items(self) -> Members:
        """The members, also those of one name."""
        return self


_DECODER = json.JSONDecoder(object_pairs_hook=Members)


def decode(text: str) -> object:
    """The JSON value of a text, with objects as `Members`.

    Raises: ValueError when it is not JSON, RecursionError when it is nested too deeply.
    """
    value: object = _DECODER.decode(text)
    return value


def elements(text: str) -> Iterator[tuple[int, int, object]]:
    """Start, end and value of each element of an array in valid JSON."""
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield at, end, value
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def named(message: object, name: str) -> list[object]:
    """The values of all members that some server would take for `name`."""
    return [value for key, value in message if key.lower() == name] if isinstance(message, Members) else []


def is_call(message: object) -> bool:
    """Whether some server would take the message for a tool call."""
    return _CALL in named(message, "method")


def request_id(message: object) -> RequestId | None:
    """The request id of the message; None for a notification."""
    for value in reversed(named(message, "id")):
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return value
    return None


def requests(line: bytes) -> list[RequestId]:
    """The ids of the requests in a line; empty if it cannot be parsed."""
    return _ids(line, requests=True)


def responses(line: bytes) -> list[RequestId]:
    """The ids of the responses in a line; empty if it cannot be parsed."""
    return _ids(line, requests=False)


def _ids(line: bytes, *, requests: bool) -> list[RequestId]:
    try:
        value = decode(line.decode())
    except (ValueError, RecursionError):
        return []
    messages = [
        one for one in (value if isinstance(value, list) else [value]) if bool(named(one, "method")) is requests
    ]
    return [found for found in map(request_id, messages) if found is not None]


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at
