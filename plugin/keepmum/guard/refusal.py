"""What the client is told, so that its model can act on it: which rule, where, what to do; never the text."""

from __future__ import annotations

import json
import re

from keepmum.core import jsonrpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from keepmum.guard.fields import Place

    Json = dict[str, object]

__all__ = ["holds_secret", "server_ended", "unreadable"]

_MOST_PLACES = 10
_ALLOWING = (
    " If it is no secret, the user can say so in their own terminal: `keepmum allow FINGERPRINT --why TEXT`. "
    "Fingerprint: {}."
)
# Where the id stands in what every SDK writes: before the parameters, or after them.
_WINDOW = 512  # bytes
_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,15}(?![\d.eE])|"[\w.-]{1,64}")')


def holds_secret(request_id: jsonrpc.RequestId, places: Sequence[Place]) -> Json:
    """The answer to a call with secrets in it."""
    told = dict.fromkeys(f"{rule} in {field}, line {line}" for rule, field, line, _ in places[:_MOST_PLACES])
    where = "; ".join(told)
    fingerprints = list(dict.fromkeys(place[3] for place in places[:_MOST_PLACES] if place[3]))
    more = f"; and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return _tool_error(
        request_id,
        f"refused, nothing was sent to the server: {where}{more}. "
        "Say where the secret is kept (a vault path, a variable's name) instead of what it is, and call again."
        + (_ALLOWING.format(", ".join(fingerprints)) if fingerprints else ""),
    )


def unreadable(line: bytes, reason: str) -> Json:
    """The answer to what may be a tool call and could not be checked."""
    text = f"refused, nothing was sent to the server: the call {reason}, so it could not be checked for secrets."
    request_id = _likely_id(line)
    if request_id is None:
        return jsonrpc.failure(None, jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, text))
    return _tool_error(request_id, text)


def server_ended(request_id: jsonrpc.RequestId, how: str) -> Json:
    """The answer to a request that its server died over."""
    return jsonrpc.failure(
        request_id, jsonrpc.RpcError(jsonrpc.INTERNAL_ERROR, f"the server behind keepmum guard {how}")
    )


def _tool_error(request_id: jsonrpc.RequestId, text: str) -> Json:
    # Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling, read 2026-11-21:
    # errors of this kind reach the model, errors of the protocol may not.
    return jsonrpc.result(request_id, {"content": [{"type": "text", "text": text}], "isError": True})


def _likely_id(line: bytes) -> jsonrpc.RequestId | None:
    """The id of a message that cannot be read, if there is no doubt about it."""
    found = {match[1] for part in (line[:_WINDOW], line[-_WINDOW:]) for match in _ID.finditer(part)}
    if len(found) != 1:
        return None
    try:
        value: str | int = json.loads(found.pop())
    except ValueError:
        return None
    return None if isinstance(value, str) and _may_be_secret(value) else value


def _may_be_secret(text: str) -> bool:
    try:
        from keepmum_scanner import scan
    except Exception:  # noqa: BLE001 - a damaged scanner is one reason why a call cannot be checked
        return True
    return bool(scan(text))
