"""The message in a request to `/mcp`, checked before the SDK reads it: the SDK's errors quote what they refuse."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from mcp import types
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from keepmum.core import jsonrpc
from keepmum.core.memory import JsonValue

__all__ = ["Body", "problem", "read"]


class Body(NamedTuple):
    """The body of a request."""

    content: bytes | None  # None when it is too large
    receive: Receive  # reads the request from its beginning


async def read(receive: Receive, largest: int) -> Body:
    """The body, if it has at most `largest` bytes.

    Raises: ClientDisconnect when it does not arrive.
    """
    parts: deque[Message] = deque()
    size, has_more = 0, True
    while has_more and size <= largest:
        parts.append(await receive())
        if parts[-1]["type"] == "http.disconnect":
            raise ClientDisconnect
        size += len(parts[-1].get("body", b""))
        has_more = parts[-1].get("more_body", False)

    async def from_beginning() -> Message:
        return parts.popleft() if parts else await receive()

    content = b"".join(part.get("body", b"") for part in parts) if size <= largest else None
    return Body(content, from_beginning)


def problem(content: bytes) -> dict[str, JsonValue] | None:
    """The error response to a body that is no message of JSON-RPC, without a word of it; None when it is one."""
    try:
        message = jsonrpc.decode(content)
        jsonrpc.parse(message)
        types.jsonrpc_message_adapter.validate_python(message, by_name=False)
    except jsonrpc.RpcError as error:
        return _failure(error)
    except ValueError:  # the SDK is stricter about responses
        text = "invalid request: it is neither a request nor a notification nor a response"
        return _failure(jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, text))
    return None


def _failure(error: jsonrpc.RpcError) -> dict[str, JsonValue]:
    return {
        "jsonrpc": "2.0",
        "id": error.request_id,
        "error": {"code": error.code, "message": error.message},
    }
