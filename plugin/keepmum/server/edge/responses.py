"""Answers as bytes."""

from __future__ import annotations

import json

from keepmum.server.call import Answer

__all__ = ["JSON", "encoded"]

JSON = "application/json; charset=utf-8"


def encoded(answer: Answer) -> tuple[bytes, str]:
    """Body and media type of an answer that is not a stream; compact, as clients of version 1 know it."""
    if isinstance(answer.body, bytes):
        return answer.body, answer.headers.get("content-type", "application/octet-stream")
    return json.dumps(answer.body, ensure_ascii=False, separators=(",", ":")).encode(), JSON
