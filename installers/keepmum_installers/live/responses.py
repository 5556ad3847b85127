"""The part of the Responses API that Codex 0.169.0 uses.

Source: the requests of that version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from keepmum_installers.live.model import Call, Json, Reply, Say

__all__ = ["Responses"]

_SEPARATOR = "__"  # between the namespace of a server's tool and its name, joined as hooks see them


class Responses:
    """Requests to `…/responses`, answered as a stream."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Whether the request is a turn of the conversation."""
        return path.endswith("/responses") and "input" in body

    def tools(self, body: Json) -> list[str]:
        """The names of the tools offered, without those that the model has to search for first."""
        names: list[str] = []
        for tool in body.get("tools") or []:
            name = str(tool.get("name"))
            inner = [f"{name}{_SEPARATOR}{each.get('name')}" for each in tool.get("tools") or []]
            names += inner if tool.get("type") == "namespace" else [name]
        return names

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:
        """The answer as a stream of events."""
        free_form = {tool.get("name") for tool in body.get("tools") or [] if tool.get("type") == "custom"}
        events = enumerate(_events(_item(reply, number, free_form), number))
        frames = (
            f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n" for at, event in events
        )
        return "text/event-stream", "".join(frames).encode()

    def auxiliary(self, path: str) -> bytes:
        """A response that the client accepts: an empty list of models, or an empty object."""
        return b'{"object": "list", "data": [], "models": []}' if path.endswith("/models") else b"{}"


def _item(reply: Reply, number: int, free_form: set[object]) -> Json:
    """The output item of the reply; a tool in `free_form` takes text instead of JSON."""
    if isinstance(reply, Say):
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{number}",
            "status": "completed",
            "role": "assistant",
            "content": content,
        }
    if reply.tool in free_form:
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{number}",
            **_call(reply, number),
            "input": reply.input["input"],
        }
    namespace, _, name = reply.tool.rpartition(_SEPARATOR) if reply.tool.startswith("mcp__") else ("", "", reply.tool)
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
