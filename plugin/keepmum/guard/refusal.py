"""Error messages for the client's model: rule, place and what to do, never the text."""

from __future__ import annotations

import json
import re

from keepmum.core import jsonrpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from keepmum.guard.fields import FieldFinding

    Json = dict[str, object]

__all__ = ["holds_secret", "server_ended", "unreadable"]

_MAX_PLACES = 10
_ALLOWING = (
    " If it is not a secret, the user can say so in their own terminal: `keepmum allow FINGERPRINT --why TEXT`. "
    "Fingerprint: {}."
)
_WINDOW = 512  # bytes at the start and end of a message, where SDKs write the id
_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,15}(?![\d.eE])|"[\w.-]{1,64}")')


def holds_secret(request_id: jsonrpc.RequestId, places: Sequence[FieldFinding]) -> Json:
    """The response to a call that contains secrets."""
    shown = dict.fromkeys(f"{rule} in {field}, line {line}" for rule, field, line, _ in places[:_MAX_PLACES])
    where = "; ".join(shown)
    fingerprints = list(dict.fromkeys(place[3] for place in places[:_MAX_PLACES] if place[3]))
    more = f"; and {len(places) - _MAX_PLACES} more" if len(places) > _MAX_PLACES else ""
    return _tool_error(
        request_id,
        f"refused, nothing was sent to the server: {where}{more}. "
        "Say where the secret is kept (a vault path, a variable's name) instead of what it is, and call again."
        + (_ALLOWING.format(", ".join(fingerprints)) if fingerprints else ""),
    )


def unreadable(line: bytes, reason: str) -> Json:
    """The response to a message that may be a tool call and could not be checked."""
    text = f"refused, nothing was sent to the server: the call {reason}, so it could not be checked for secrets."
    request_id = _likely_id(line)
    if request_id is None:
        return jsonrpc.failure(None, jsonrpc.RpcError(jsonrpc.INVALID_REQUEST, text))
    return _tool_error(request_id, text)


def server_ended(request_id: jsonrpc.RequestId, how: str) -> Json:
    """The response to a request that was pending when the server ended."""
    return jsonrpc.failure(
        request_id, jsonrpc.RpcError(jsonrpc.INTERNAL_ERROR, f"the server behind keepmum guard {how}")
    )


def _tool_error(request_id: jsonrpc.RequestId, text: str) -> Json:
    # Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling, read 2026-11-21:
    # tool errors reach the model, protocol errors may not.
    return jsonrpc.result(request_id, {"content": [{"type": "text", "text": text}], "isError": True})


def _likely_id(line: bytes) -> jsonrpc.RequestId | None:
    """The id of a message that cannot be parsed, if it is unambiguous."""
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
    except Exception:  # noqa: BLE001 - a damaged scanner raises anything
        return True
    return bool(scan(text))
