"""Wrong arguments for every tool of every dialect: an answer, or an error that names a parameter of that tool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialect_calls import Caller, opened
from keepmum.core import jsonrpc
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.mcp.arguments import check
from keepmum.mcp.calls import plan
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.dialects.hackathon.limits import RateLimit
from keepmum.mcp.surface import Tool

DEEP: Any = 0
for _ in range(100):
    DEEP = [DEEP]

WRONG_TYPES: list[Any] = [None, True, 7, 0.5, "text", ["text"], {"name": "text"}]
ODD_VALUES: list[Any] = [
    "", " ", "\0", "\ud800", "x" * 70_000, "*", "%", "mem_", "mem_" + "0" * 26, "00000000-0000-7000-8000-000000000000",
    "../../etc/passwd", "/", "~", "'; DROP TABLE memories;--", '"', "NOT", "(((", "9999-99-99", "99999w",
    "\u202e\u200b",
    "é" * 300, -1, 0, 10**18, 10**30, -(10**30), 1e308, float("inf"), float("nan"), [], [None], [[]], ["x"] * 2000,
    ["x" * 70_000], {}, {"": ""}, {"a": {"b": [1, {"c": None}]}}, DEEP,
]  # fmt: skip
VALID: dict[str, Any] = {
    "text": "t", "title": "t", "content": "t", "value": "v", "key": "k", "query": "q", "userId": "ada", "id": "mem_0",
    "ids": ["mem_0"], "category": "fact", "confirm": "ada", "summary": "s", "next_steps": "n", "handoff_id": 1,
    "data": [], "file": "f.json", "action": "get",
}  # fmt: skip


@pytest.fixture(params=list(DIALECTS))
def tools(request: pytest.FixtureRequest, project: Path) -> Iterator[Caller]:  # noqa: ARG001 - sets the working folder
    with opened(request.param) as opened_tools:
        opened_tools.dialect = request.param  # type: ignore[attr-defined]
        yield opened_tools


def tools_of(caller: Caller) -> tuple[Tool, ...]:
    return DIALECTS[caller.dialect][0].tools  # type: ignore[attr-defined]


def properties(tool: Tool) -> dict[str, Any]:
    return tool.parameters["properties"]  # type: ignore[return-value]


def valid(tool: Tool) -> dict[str, Any]:
    """The smallest valid call."""
    return {name: VALID[name] for name in tool.parameters.get("required", ())}  # type: ignore[attr-defined]


def called(caller: Caller, tool: Tool, arguments: dict[str, Any]) -> str:
    """The answer, or the message of an expected error; every other exception fails the test."""
    if hasattr(caller.handlers, "_rate"):
        caller.handlers._rate = RateLimit()
    try:
        return caller.handlers.call(tool.name, check(tool.parameters, arguments), caller.context)
    except InvalidInput as error:
        refusal = error
    except KeepmumError as error:
        return str(error)
    names = {*re.split(r", | or ", re.split(r"[.\[]", refusal.field)[0])}
    assert names <= set(properties(tool)), f"{tool.name} has no {refusal.field}: {refusal}"
    return str(refusal)


@pytest.mark.parametrize("values", [WRONG_TYPES, ODD_VALUES], ids=["types", "values"])
def test_wrong_argument_is_answered_or_refused_by_its_name(tools: Caller, values: list[Any]) -> None:
    for tool in tools_of(tools):
        for name in properties(tool):
            for value in values:
                message = called(tools, tool, {**valid(tool), name: value})
                assert message
                if isinstance(value, str) and len(value) > 1000:
                    assert value not in message or tool.annotations["readOnlyHint"] is False


def test_wrong_type_names_the_parameter_and_what_it_must_be(tools: Caller) -> None:
    for tool in tools_of(tools):
        for name, schema in properties(tool).items():
            types = {schema["type"]} if isinstance(schema.get("type"), str) else set(schema.get("type", ()))
            wrong: dict[str, Any] = {"object": {"a": 1}, "array": [1], "string": "text", "boolean": True}
            for kind, value in wrong.items():
                if not types or kind in types:
                    continue
                with pytest.raises(InvalidInput, match=rf"^{name}: must be "):
                    check(tool.parameters, {**valid(tool), name: value})


def test_missing_parameter_is_named(tools: Caller) -> None:
    for tool in tools_of(tools):
        for name in valid(tool):
            takes_null = "type" not in properties(tool)[name]
            for arguments in ({},) if takes_null else ({}, {name: None}):
                rest = {other: value for other, value in valid(tool).items() if other != name}
                with pytest.raises(InvalidInput) as refused:
                    check(tool.parameters, {**rest, **arguments})
                assert refused.value.field == name


def test_unknown_parameter_is_refused_with_those_allowed(tools: Caller) -> None:
    for tool in tools_of(tools):
        if tool.parameters.get("additionalProperties") is not False:
            continue  # the original of `shared` ignores them
        with pytest.raises(InvalidInput, match="is not a known field") as refused:
            check(tool.parameters, {**valid(tool), "colour": "red"})
        assert all(name in str(refused.value) for name in properties(tool))


@pytest.mark.parametrize("name", ["", "Remember", "recall_all", "../x", "x" * 100_000, None, 7, [], {"a": 1}])
def test_unknown_tool_is_refused_with_those_there_are(tools: Caller, name: Any) -> None:
    surface = DIALECTS[tools.dialect][0]  # type: ignore[attr-defined]
    with pytest.raises(jsonrpc.RpcError) as refused:
        plan(surface, "tools/call", {"name": name, "arguments": {}})
    assert all(tool.name in str(refused.value) for tool in surface.tools)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("arguments", [[], "text", 7, True])
def test_arguments_that_are_not_an_object_are_refused(tools: Caller, arguments: Any) -> None:
    surface = DIALECTS[tools.dialect][0]  # type: ignore[attr-defined]
    with pytest.raises(jsonrpc.RpcError, match="arguments"):
        plan(surface, "tools/call", {"name": surface.tools[0].name, "arguments": arguments})
