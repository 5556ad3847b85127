"""The Gemini API, as Gemini CLI speaks it with its model.

Source: https://ai.google.dev/api/generate-content, read 2026-11-21.
"""

from __future__ import annotations

import json

from keepmum_installers.live.model import Json, Reply, Say

__all__ = ["Generate"]


class Generate:
    """Requests to `…:streamGenerateContent`; what carries no tools is an errand, such as choosing a model."""

    def is_question(self, path: str, body: Json) -> bool:
        """Whether this is a turn of the conversation."""
        return path.endswith(":streamGenerateContent") and bool(self.tools(body))

    def tools(self, body: Json) -> list[str]:
        """The names of the tools offered."""
        groups = body.get("tools") or []
        return [str(tool.get("name")) for group in groups for tool in group.get("functionDeclarations") or []]

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:  # noqa: ARG002 - as every wire
        """The answer, as the one event of a stream."""
        return "text/event-stream", f"data: {json.dumps(_answer(reply))}\n\n".encode()

    def errand(self, path: str) -> bytes:
        """Something that a client takes for an answer."""
        if path.endswith(":streamGenerateContent"):
            return f"data: {json.dumps(_answer(Say('ok')))}\n\n".encode()
        if path.endswith(":countTokens"):
            return b'{"totalTokens": 100}'
        return json.dumps(_answer(Say("ok"))).encode()


def _answer(reply: Reply) -> Json:
    if isinstance(reply, Say):
        part: Json = {"text": reply.text}
    else:
        part = {"functionCall": {"name": reply.tool, "args": reply.input}}
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
    }
