"""JSON-RPC 2.0: parses and serialises messages. No state.

Source: https://www.jsonrpc.org/specification, read 2026-11-21. MCP is stricter: parameters are objects, ids are
strings or integers and never null (https://modelcontextprotocol.io/specification/2025-11-25/basic, read 2026-11-21).
"""

from __future__ import annotations

import json

from keepmum.core.errors import report_unexpected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Final, NoReturn

    Json = dict[str, object]
    RequestId = str | int | float  # fractions pass the guard only, between a client and a server that allow them

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "MAX_LINE",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "RESOURCE_NOT_FOUND",
    "Notification",
    "Request",
    "Response",
    "RpcError",
    "decode",
    "encode",
    "failure",
    "internal_error",
    "lines",
    "parse",
    "result",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # of MCP, in the range that JSON-RPC reserves for servers

MAX_LINE = 4 * 1024 * 1024  # bytes per message; a memory has at most 64 KiB, so a longer one is an error
_CHUNK = 64 * 1024  # bytes; the capacity of a pipe on Linux


class RpcError(Exception):
    """An error response; the other side sees the message."""

    def __init__(self, code: int, message: str, *, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code: Final = code
        self.message: Final = message
        self.request_id: Final = request_id  # of the invalid message; None when it could not be read


class Request:
    """A message that expects a response."""

    __slots__ = ("id", "method", "params")

    def __init__(self, request_id: RequestId, method: str, params: Json) -> None:
        self.id: Final = request_id
        self.method: Final = method
        self.params: Final = params


class Notification:
    """A message without a response. Params that are not an object count as absent, as no error can be returned."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: Json) -> None:
        self.method: Final = method
        self.params: Final = params


class Response:
    """The response to a request of ours; the result is None when it is an error."""

    __slots__ = ("id", "result")

    def __init__(self, request_id: object, value: object) -> None:
        self.id: Final = request_id
        self.result: Final = value


def lines(read: Callable[[int], bytes], limit: int = MAX_LINE) -> Iterator[bytes | None]:
    r"""The lines of a stream without `\n`, including a last one that is not terminated.

    A line of more than `limit` bytes yields None; its bytes are dropped as they arrive.
    """
    parts: list[bytes] = []
    size = 0
    while chunk := read(_CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            size += len(end)
            yield b"".join([*parts, end]) if size <= limit else None
            parts, size = [], 0
        size += len(rest)
        if size <= limit:
            parts.append(rest)
        else:
            parts = []
    if size:
        yield b"".join(parts) if size <= limit else None


def decode(line: bytes) -> object:
    """The JSON value of a line.

    Raises: RpcError (parse error) when the line is not JSON in UTF-8; the message does not quote the line.
    """
    try:
        return _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        problem = f"not JSON at character {error.pos}"
    except RecursionError:
        problem = "nested too deeply"
    except ValueError:  # NaN, infinities, and integers with more digits than Python converts
        problem = "a number that JSON cannot carry"
    raise RpcError(PARSE_ERROR, f"parse error: {problem}")


def encode(message: object) -> bytes:
    """The message as one line of ASCII, which lone surrogates and the other side's encoding cannot break.

    Raises: ValueError for NaN and infinities.
    """
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def parse(message: object) -> Request | Notification | Response:
    """The decoded message as a request, notification or response.

    Raises: RpcError when it is none of them; with the id if that is valid.
    """
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "invalid request: a message is a JSON object")
    request_id = _usable_id(message.get("id"))
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'invalid request: "jsonrpc" must be "2.0"', request_id=request_id)
    if "method" not in message and ("result" in message or "error" in message):
        return Response(message.get("id"), message.get("result"))
    method = message.get("method")
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, 'invalid request: "method" must be a string', request_id=request_id)
    params = message.get("params")
    if "id" not in message:
        return Notification(method, params if isinstance(params, dict) else {})
    if request_id is None:
        raise RpcError(INVALID_REQUEST, 'invalid request: "id" must be a string or an integer')
    if params is None:
        return Request(request_id, method, {})
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, 'invalid params: "params" must be an object', request_id=request_id)
    return Request(request_id, method, params)


def result(request_id: RequestId, value: Mapping[str, object]) -> Json:
    """The response to a successful request."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def failure(request_id: RequestId | None, error: RpcError) -> Json:
    """The response to a failed request; the id is None when it could not be read."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": error.code, "message": error.message}}


def internal_error(subject: str, error: BaseException) -> RpcError:
    """The error for the client; type and place go to stderr, the server's log."""
    report_unexpected(subject, error)
    return RpcError(INTERNAL_ERROR, f"internal error in {subject}; nothing was stored")


def _usable_id(value: object) -> RequestId | None:
    # 1.0 is none: the SDKs, which read requests of `/mcp` and of guarded servers, disagree about it.
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)  # Python accepts NaN and Infinity, JSON does not
