"""Conversion of model requests to the form of the Messages API, so that tests read all of them in one form."""

from __future__ import annotations

from typing import Any

__all__ = ["from_chat", "from_generate"]

Json = dict[str, Any]


def from_chat(body: Json) -> Json:
    """A request of the Chat Completions API."""
    tools = [{"name": tool["function"]["name"]} for tool in body.get("tools") or []]
    return {"messages": [_of_chat(message) for message in body.get("messages") or []], "tools": tools}


def _of_chat(message: Json) -> Json:
    content = message.get("content") or ""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if message["role"] == "tool":
        return {"role": "user", "content": [{"type": "tool_result", "content": blocks}]}
    return {"role": message["role"], "content": blocks}


def from_generate(body: Json) -> Json:
    """A request of the Gemini API."""
    groups = body.get("tools") or []
    tools = [{"name": tool["name"]} for group in groups for tool in group.get("functionDeclarations") or []]
    system = {"role": "user", "parts": (body.get("systemInstruction") or {}).get("parts") or []}
    return {"messages": [_of_generate(message) for message in [system, *(body.get("contents") or [])]], "tools": tools}


def _of_generate(message: Json) -> Json:
    blocks = []
    for part in message.get("parts") or []:
        if "functionResponse" in part:
            answer = [{"type": "text", "text": str(part["functionResponse"].get("response"))}]
            blocks.append({"type": "tool_result", "content": answer})
        elif "text" in part:
            blocks.append({"type": "text", "text": part["text"]})
    return {"role": "assistant" if message.get("role") == "model" else "user", "content": blocks}
