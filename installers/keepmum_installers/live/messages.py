"""The Messages API, which Claude Code uses.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11-21.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from keepmum_installers.live.model import Json, Reply, Say

__all__ = ["Messages"]


class Messages:
    """Requests to `/v1/messages`; one without tools is auxiliary, such as finding a title."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Whether the request is a turn of the conversation."""
        return path == "/v1/messages" and bool(body.get("tools"))

    def tools(self, body: Json) -> list[str]:
        """The names of the tools offered."""
        return [str(tool.get("name")) for tool in body.get("tools") or []]

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:
        """The answer, as a stream when the client wants one."""
        message = _message(body, reply, number)
        if not body.get("stream"):
            return "application/json", json.dumps(message).encode()
        stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))
        return "text/event-stream", stream.encode()

    def auxiliary(self, path: str) -> bytes:
        """A response that the client accepts."""
        if path == "/v1/messages/count_tokens":
            return b'{"input_tokens": 100}'
        if path == "/v1/messages":
            return json.dumps(_message({}, Say("ok"), 0)).encode()
        return b'{"data": [], "has_more": false}'


def _message(body: Json, reply: Reply, number: int) -> Json:
    """The message as one object."""
    if isinstance(reply, Say):
        block: Json = {"type": "text", "text": reply.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number:08}", "name": reply.tool, "input": reply.input}
    return {
        "id": f"msg_{number:08}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "mock"),
        "content": [block],
        "stop_reason": "end_turn" if isinstance(reply, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _events(message: Json) -> Iterator[Json]:
    """The same message as the events of a stream."""
    (block,) = message["content"]
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}
