"""The Responses API, as Codex speaks it with its model.

Source: what Codex 0.169.0 sends and takes; no more of that interface is here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from keepmum_installers.live.model import Call, Json, Reply, Say

__all__ = ["Responses"]

_BETWEEN = "__"  # a server's tool is a function within a namespace; we join the two as hooks see them


class Responses:
    """Requests to `…/responses`, answered as a stream."""

    def is_question(self, path: str, body: Json) -> bool:
        """Whether this is a turn of the conversation."""
        return path.endswith("/responses") and "input" in body

    def tools(self, body: Json) -> list[str]:
        """The names of the tools offered; those that the model has to search for first are not among them."""
        names: list[str] = []
        for tool in body.get("tools") or []:
            name = str(tool.get("name"))
            inner = [f"{name}{_BETWEEN}{each.get('name')}" for each in tool.get("tools") or []]
            names += inner if tool.get("type") == "namespace" else [name]
        return names

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:
        """The answer as a stream of events."""
        free = {tool.get("name") for tool in body.get("tools") or [] if tool.get("type") == "custom"}
        events = enumerate(_events(_item(reply, number, free), number))
        frames = (
            f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n" for at, event in events
        )
        return "text/event-stream", "".join(frames).encode()

    def errand(self, path: str) -> bytes:
        """Something that the client takes for an answer: a list of models, or nothing."""
        return b'{"object": "list", "data": [], "models": []}' if path.endswith("/models") else b"{}"


def _item(reply: Reply, number: int, free: set[object]) -> Json:
    """What the model says or does; a tool in `free` takes text instead of JSON."""
    if isinstance(reply, Say):
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{number}",
            "status": "completed",
            "role": "assistant",
            "content": content,
        }
    if reply.tool in free:
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{number}",
            **_call(reply, number),
            "input": reply.input["input"],
        }
    namespace, _, name = reply.tool.rpartition(_BETWEEN) if reply.tool.startswith("mcp__") else ("", "", reply.tool)
    call: Json = {"type": "function_call", "id": f"fc_{number}", **_call(reply, number), "name": name}
    return {**call, "arguments": json.dumps(reply.input), **({"namespace": namespace} if namespace else {})}


def _call(reply: Call, number: int) -> Json:
    return {"call_id": f"call_{number}", "name": reply.tool, "status": "completed"}


def _events(item: Json, number: int) -> Iterator[Json]:
    response: Json = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    is_message = item["type"] == "message"
    started = {**item, "status": "in_progress", **({"content": []} if is_message else {})}
    yield {"type": "response.output_item.added", "output_index": 0, "item": started}
    if is_message:
        delta = {"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0}
        yield {**delta, "delta": item["content"][0]["text"]}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": done}
