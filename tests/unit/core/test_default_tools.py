"""The schemas of the default tools: small, annotated, and enforced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import KINDS, SCOPES, SOURCE_KINDS
from keepmum.mcp.arguments import KEYWORDS, check
from keepmum.mcp.dialects.keepmum.tools import INSTRUCTIONS, TOOLS
from keepmum.mcp.surface import Tool

DESCRIBING = {"description"}
BY_NAME = {tool.name: tool for tool in TOOLS}


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all schemas nested in it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from schemas(inner)
    if "items" in schema:
        yield from schemas(schema["items"])


def properties(tool: str) -> dict[str, Any]:
    found: Any = BY_NAME[tool].parameters["properties"]
    assert isinstance(found, dict)
    return found


def test_the_list_is_small() -> None:
    """These are about 1,070 tokens of o200k; `tests/bench/answer_tokens.py` counts them."""
    assert len(json.dumps({"tools": [tool.to_wire() for tool in TOOLS]}, separators=(",", ":"))) <= 4_600


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_keyword_of_a_schema_is_enforced(tool: Tool) -> None:
    for schema in schemas(tool.parameters):
        assert set(schema) <= KEYWORDS | DESCRIBING


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_says_whether_it_reads_or_destroys(tool: Tool) -> None:
    assert "readOnlyHint" in tool.annotations
    assert tool.annotations["openWorldHint"] is False
    assert tool.annotations["readOnlyHint"] or "destructiveHint" in tool.annotations


def test_forgetting_alone_destroys() -> None:
    assert [tool.name for tool in TOOLS if tool.annotations.get("destructiveHint")] == ["forget"]


def test_remembering_is_always_loaded() -> None:
    assert BY_NAME["remember"].meta == {"anthropic/alwaysLoad": True}


def test_the_choices_shown_are_the_choices_there_are() -> None:
    assert tuple(properties("remember")["kind"]["enum"]) == KINDS
    assert tuple(properties("remember")["scope"]["enum"]) == SCOPES
    assert tuple(properties("remember")["source_kind"]["enum"]) == SOURCE_KINDS


def test_the_first_words_of_the_instructions_say_when_to_call() -> None:
    start = INSTRUCTIONS[:250]
    assert "`recall`" in start
    assert "`remember`" in start


def wrong_values(schema: dict[str, Any]) -> Iterator[Any]:
    """Values that each violate one keyword of a schema."""
    kind = schema["type"]
    yield [] if kind in {"object", "integer", "number", "boolean"} else 7
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "minLength" in schema:
        yield "x" * (schema["minLength"] - 1)
    if "enum" in schema:
        yield "none of these"
    if "minimum" in schema:
        yield schema["minimum"] - 1
    if "maximum" in schema:
        yield schema["maximum"] + 1
    if "items" in schema:
        for wrong in wrong_values(schema["items"]):
            yield [wrong]
    if "maxItems" in schema:
        yield ["x"] * (schema["maxItems"] + 1)


CASES = [
    pytest.param(tool, name, wrong, id=f"{tool.name}.{name}-{number}")
    for tool in TOOLS
    for name, schema in properties(tool.name).items()
    for number, wrong in enumerate(wrong_values(schema))
]


@pytest.mark.parametrize(("tool", "name", "wrong"), CASES)
def test_a_value_that_breaks_the_schema_is_refused_by_name(tool: Tool, name: str, wrong: Any) -> None:
    required: Any = tool.parameters.get("required", [])
    arguments = {**dict.fromkeys(required, "x"), **({"ids": ["x"]} if "ids" in required else {}), name: wrong}
    with pytest.raises(InvalidInput) as refusal:
        check(tool.parameters, arguments)
    assert refusal.value.field.startswith(name)
