"""What the page gets: JSON with the headers of the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from starlette.responses import Response

from keepmum.dashboard import site
from keepmum.dashboard.arguments import JsonObject

__all__ = ["error", "reply"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


def reply(value: JsonObject, headers: Mapping[str, str] = _NOTHING, status: int = 200) -> Response:
    """An answer in JSON."""
    # Half a surrogate pair, which JSON can carry and UTF-8 cannot, is replaced.
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, {**site.HEADERS, **headers, "content-type": "application/json"})


def error(status: int, kind: str, message: str, headers: Mapping[str, str] = _NOTHING, **more: str) -> Response:
    """A refusal with its kind, which the page acts on, and a sentence for the person."""
    return reply({"error": {"kind": kind, "message": message, **more}}, headers, status)
