"""Answers with their secrets masked, for a server whose store may hold some from before the guard."""

from __future__ import annotations

import json

from keepmum.mcp import rpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    Json = dict[str, object]

__all__ = ["masked"]

# Where results carry what a model reads: of tools, of resources, of prompts.
_READ_BY_MODELS = ("content", "structuredContent", "contents", "messages")


def masked(line: bytes) -> bytes:
    """The line with each secret in its results replaced by the name of its rule; the very same bytes without any.

    What is no answer, no JSON, or longer than the guard reads comes back as it is.
    """
    if b'"result"' not in line or len(line) > rpc.MAX_LINE:
        return line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    clean = [_answer(one) for one in value] if isinstance(value, list) else _answer(value)
    return line if clean == value else rpc.encode(clean)


def _answer(message: object) -> object:
    result = message.get("result") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(result, dict):
        return message
    clean = {name: _clean(value) if name in _READ_BY_MODELS else value for name, value in result.items()}
    return {**message, "result": clean}


def _clean(value: object) -> object:
    if isinstance(value, str):
        from keepmum.guard.judging import scan
        from keepmum_scanner import redact

        return redact(value, scan(value))
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {name: _clean(item) for name, item in value.items()}
    return value
