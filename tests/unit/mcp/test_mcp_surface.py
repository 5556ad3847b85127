"""The wire form of tools, resources, templates and prompts."""

from __future__ import annotations

import pytest

from keepmum.mcp.surface import Context, Prompt, PromptArgument, Resource, Template, Tool


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        pytest.param(
            Tool("a", "d", {"type": "object"}, {"readOnlyHint": True}),
            {
                "name": "a",
                "description": "d",
                "inputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
            },
            id="a tool",
        ),
        pytest.param(
            Tool("a", "d", {}, {}, meta={"m": 1}, title="A"),
            {"name": "a", "title": "A", "description": "d", "inputSchema": {}, "annotations": {}, "_meta": {"m": 1}},
            id="a tool with every field",
        ),
        pytest.param(
            Resource("memory://a", "a", "d", "text/plain", "A"),
            {"uri": "memory://a", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain"},
            id="a resource",
        ),
        pytest.param(
            Template("memory://{a}", "a", "d"),
            {"uriTemplate": "memory://{a}", "name": "a", "description": "d", "mimeType": "text/markdown"},
            id="a template",
        ),
        pytest.param(
            Prompt("a", "d", [PromptArgument("x", "y")]),
            {"name": "a", "description": "d", "arguments": [{"name": "x", "description": "y", "required": False}]},
            id="a prompt",
        ),
    ],
)
def test_wire_form_has_the_fields_of_the_protocol(
    value: Tool | Resource | Template | Prompt, wire: dict[str, object]
) -> None:
    assert value.to_wire() == wire


def test_context_without_a_client_accepts_progress_and_logs() -> None:
    context = Context(agent="me", roots=("/home/ada/shop",))
    context.progress(1, 2, "half")
    context.log("error", "trouble")
    assert (context.agent, context.roots, context.meta, context.cancelled()) == ("me", ("/home/ada/shop",), {}, False)
