"""JSON as it was sent: every member in its order, also one that is named twice, and where a batch has each message.

Servers differ in which of two members of one name they take, and some take names in any case. What stands in front of
all of them has to see what each could see.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    RequestId = str | int | float

__all__ = ["Members", "answers", "decode", "elements", "is_call", "named", "request_id", "requests"]

_CALL = "tools/call"


class Members(tuple[tuple[str, object], ...]):
    """An object of JSON: its names and values as they stood."""

    __slots__ = ()


_DECODER = json.JSONDecoder(object_pairs_hook=Members)


def decode(text: str) -> object:
    """The JSON value of a text, its objects as `Members`.

    Raises: ValueError when it is not JSON, RecursionError when it is nested too deeply.
    """
    value: object = _DECODER.decode(text)
    return value


def elements(text: str) -> Iterator[tuple[int, int, object]]:
    """Start, end and value of each element of the array that a valid JSON text holds."""
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield at, end, value
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def named(message: object, name: str) -> list[object]:
    """The values of every member that some server would take for `name`."""
    return [value for key, value in message if key.lower() == name] if isinstance(message, Members) else []


def is_call(message: object) -> bool:
    """Whether some server would take the message for a tool call."""
    return _CALL in named(message, "method")


def request_id(message: object) -> RequestId | None:
    """The id under which the message is to be answered; None when it wants no answer."""
    for value in reversed(named(message, "id")):
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return value
    return None


def requests(line: bytes) -> list[RequestId]:
    """The ids of the requests in a line; none where it cannot be read."""
    return _ids(line, requests=True)


def answers(line: bytes) -> list[RequestId]:
    """The ids that the answers in a line are for; none where it cannot be read."""
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
