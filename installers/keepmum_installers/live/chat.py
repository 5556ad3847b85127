"""The Chat Completions API, which Copilot CLI and OpenCode use for a custom model.

Source: https://platform.openai.com/docs/api-reference/chat, read 2026-11-21.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from keepmum_installers.live.model import Json, Reply, Say

__all__ = ["Chat"]


class Chat:
    """Requests to `…/chat/completions`; one without tools is auxiliary, such as finding a title."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Whether the request is a turn of the conversation."""
        return path.endswith("/chat/completions") and bool(body.get("tools"))

    def tools(self, body: Json) -> list[str]:
        """The names of the tools offered."""
        return [str(tool.get("function", {}).get("name")) for tool in body.get("tools") or []]

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:
        """The answer, as a stream when the client wants one."""
        if not body.get("stream"):
            return "application/json", json.dumps(_whole(body, reply, number)).encode()
        stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(body, reply, number))
        return "text/event-stream", f"{stream}data: [DONE]\n\n".encode()

    def auxiliary(self, path: str) -> bytes:
        """A response that the client accepts."""
        if path.endswith("/chat/completions"):
            return json.dumps(_whole({}, Say("ok"), 0)).encode()
        return b'{"object": "list", "data": [{"id": "mock", "object": "model"}]}'


def _message(reply: Reply, number: int) -> Json:
    if isinstance(reply, Say):
        return {"role": "assistant", "content": reply.text}
    called = {"name": reply.tool, "arguments": json.dumps(reply.input)}
    call = {"index": 0, "id": f"call_{number:08}", "type": "function", "function": called}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _reason(reply: Reply) -> str:
    return "stop" if isinstance(reply, Say) else "tool_calls"


def _about(body: Json, number: int) -> Json:
    return {"id": f"chatcmpl-{number:08}", "created": 1, "model": body.get("model", "mock")}


_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def _whole(body: Json, reply: Reply, number: int) -> Json:
    choice = {"index": 0, "message": _message(reply, number), "finish_reason": _reason(reply)}
    return {**_about(body, number), "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _chunks(body: Json, reply: Reply, number: int) -> Iterator[Json]:
    """The same answer in chunks: message, finish reason, usage."""
    about = {**_about(body, number), "object": "chat.completion.chunk"}
    yield {**about, "choices": [{"index": 0, "delta": _message(reply, number), "finish_reason": None}]}
    yield {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(reply)}]}
    yield {**about, "choices": [], "usage": _USAGE}
