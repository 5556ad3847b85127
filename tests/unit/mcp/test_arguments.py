"""Validation of tool arguments against their schema."""

from __future__ import annotations

import json

import pytest

from hidden import assert_hidden
from keepmum.core.errors import InvalidInput
from keepmum.mcp.arguments import KEYWORDS, MAX_DEPTH, check


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def check_field(rule: dict[str, object], value: object) -> object:
    return check(schema(field=rule), {"field": value})["field"]


def error_for(rule: dict[str, object], value: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        check_field(rule, value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        pytest.param({"type": "string"}, "text", id="text"),
        pytest.param({"type": "string"}, "", id="empty text without minLength"),
        pytest.param({"type": "string"}, '["not", "a list"]', id="text that looks like a list"),
        pytest.param({"type": "string", "minLength": 1, "maxLength": 3}, "äöü", id="length counts characters"),
        pytest.param({"type": "string", "enum": ["a", "b"]}, "b", id="an enum value"),
        pytest.param({"type": ["string", "null"]}, None, id="null as a type"),
        pytest.param({"type": "integer", "minimum": 1, "maximum": 3}, 3, id="a number at the limit"),
        pytest.param({"type": "integer"}, -(2**62), id="a large integer"),
        pytest.param({"type": "number"}, 3, id="an integer is a number"),
        pytest.param({"type": "number", "minimum": 0, "maximum": 1}, 0.5, id="a fraction"),
        pytest.param({"type": "boolean"}, False, id="false"),
        pytest.param({"type": "array", "items": {"type": "string"}, "maxItems": 2}, ["a", "b"], id="a list"),
        pytest.param({"type": "object"}, {"any": {"thing": [1, None, "x", True]}}, id="a free object"),
        pytest.param({"type": ["string", "array"], "items": {"type": "string"}}, ["a"], id="the second of two types"),
        pytest.param({}, [1, "x"], id="no type accepts anything"),
    ],
)
def test_valid_value_is_returned_unchanged(rule: dict[str, object], value: object) -> None:
    assert check_field(rule, value) == value


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        pytest.param({"type": "string"}, 5, "field: must be text, not a whole number", id="a number for text"),
        pytest.param({"type": "string"}, ["a"], "field: must be text, not a list", id="a list for text"),
        pytest.param({"type": "integer"}, True, "field: must be a whole number, not true or false", id="true is not 1"),
        pytest.param({"type": "number"}, False, "field: must be a number, not true or false", id="false is not 0"),
        pytest.param({"type": "integer"}, 1.5, "field: must be a whole number, not a number", id="a fraction"),
        pytest.param({"type": "integer"}, "5", "field: must be a whole number, not text", id="digits in text"),
        pytest.param({"type": "number"}, 1e999, "field: must be a finite number", id="an infinity"),
        pytest.param({"type": "integer"}, 2**63, "field: is too large", id="65 bits"),
        pytest.param({"type": "integer"}, 1e300, "field: is too large", id="a huge float"),
        pytest.param({"type": "integer", "minimum": 1}, 0, "field: must be at least 1", id="too small"),
        pytest.param({"type": "integer", "maximum": 50}, 51, "field: must be at most 50", id="too large"),
        pytest.param({"type": "string", "minLength": 1}, "", "field: is empty", id="empty"),
        pytest.param(
            {"type": "string", "minLength": 3}, "ab", "field: has 2 characters; at least 3 are needed", id="short"
        ),
        pytest.param(
            {"type": "string", "maxLength": 3}, "abcd", "field: has 4 characters; at most 3 are allowed", id="long"
        ),
        pytest.param(
            {"type": "array", "maxItems": 1}, ["a", "b"], "field: has 2 items; at most 1 are allowed", id="many items"
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}},
            ["a", 2],
            "field[1]: must be text, not a whole number",
            id="a wrong item is named by its index",
        ),
        pytest.param(
            schema(inner={"type": "string"}), {"inner": 1}, "field.inner: must be text, not a whole number", id="inner"
        ),
        pytest.param(
            {"type": "string", "enum": ["project", "global"]},
            "globl",
            "field: must be one of project, global (did you mean global?)",
            id="a misspelt enum value",
        ),
        pytest.param(
            {"type": ["string", "null"], "enum": ["a", None]},
            "zzz",
            "field: must be one of a, null",
            id="null in an enum",
        ),
        pytest.param({"type": ["array", "object"]}, "text", "field: must be a list or an object, not text", id="union"),
        pytest.param({"type": "array"}, "[1, 2", "field: must be a list, not text", id="broken JSON in text"),
        pytest.param({"type": "array"}, '{"a": 1}', "field: must be a list, not text", id="an object for a list"),
        pytest.param(
            {"type": "array"}, "[" * 100_000, "field: must be a list, not text", id="deeply nested JSON in text"
        ),
        pytest.param(
            {"type": "array", "items": {"type": "number"}}, "[NaN]", "field[0]: must be a finite number", id="NaN"
        ),
        pytest.param({"type": "string"}, "a\0b", "field: contains a NUL character; remove it", id="NUL"),
        pytest.param(
            {"type": "string"},
            "a\ud83d",
            "field: contains an unpaired surrogate; remove it",
            id="an unpaired surrogate",
        ),
        pytest.param(
            {"type": "object"}, {"a": ["\0"]}, "field[0]: contains a NUL character; remove it", id="NUL inside"
        ),
        pytest.param({"type": "object"}, {"\0": 1}, "field: contains a NUL character; remove it", id="NUL in a name"),
    ],
)
def test_invalid_value_is_refused_with_field_and_limit(rule: dict[str, object], value: object, message: str) -> None:
    assert error_for(rule, value) == message


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900])
def test_deep_nesting_is_refused_with_the_limit(depth: int) -> None:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    assert error_for({"type": "array"}, value).endswith(f"is nested deeper than {MAX_DEPTH} levels")


@pytest.mark.parametrize("value", [["a"], {"b": 1}])
def test_json_text_is_accepted_for_lists_and_objects(value: object) -> None:
    assert check_field({"type": ["array", "object"]}, json.dumps(value)) == value


def test_integral_float_becomes_an_integer() -> None:
    assert repr(check_field({"type": "integer"}, 5.0)) == "5"


def test_null_for_an_optional_argument_counts_as_absent() -> None:
    assert check(schema(field={"type": "string"}), {"field": None}) == {}


def test_null_for_a_required_argument_is_refused() -> None:
    with pytest.raises(InvalidInput, match="field: must be text, not null"):
        check({**schema(field={"type": "string"}), "required": ["field"]}, {"field": None})


def test_missing_required_argument_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"^field: is required$"):
        check({**schema(field={"type": "string"}), "required": ["field"]}, {})


def test_unknown_field_is_refused_with_nearest_match() -> None:
    with pytest.raises(
        InvalidInput, match=r"^titel: is not a known field \(did you mean title\?\); allowed: title, text$"
    ):
        check(schema(title={}, text={}), {"titel": "x"})


def test_unknown_field_passes_an_open_schema() -> None:
    assert check({"type": "object", "properties": {}}, {"more": [1]}) == {"more": [1]}


def test_secret_used_as_a_field_name_is_not_repeated() -> None:
    name = "gh" + "p_" + "a1B2" * 9
    with pytest.raises(InvalidInput) as caught:
        check(schema(title={}), {name: "x"})
    assert name not in str(caught.value)


def test_no_message_repeats_a_value() -> None:
    secret = "correct horse battery"
    rules: list[dict[str, object]] = [{"type": "integer"}, {"enum": ["a"]}, {"maxLength": 3}, {"type": "array"}]
    for rule in rules:
        assert_hidden(secret, error_for(rule, secret))


def test_every_supported_keyword_is_enforced() -> None:
    refusing: dict[str, tuple[dict[str, object], object]] = {
        "additionalProperties": ({"additionalProperties": False}, {"a": 1}),
        "enum": ({"enum": ["a"]}, "b"),
        "items": ({"items": {"type": "string"}}, [1]),
        "maxItems": ({"maxItems": 0}, [1]),
        "maxLength": ({"maxLength": 0}, "a"),
        "maximum": ({"maximum": 0}, 1),
        "minLength": ({"minLength": 1}, ""),
        "minimum": ({"minimum": 0}, -1),
        "properties": ({"properties": {"a": {"type": "string"}}}, {"a": 1}),
        "required": ({"required": ["a"]}, {}),
        "type": ({"type": "string"}, 1),
    }
    assert set(refusing) == KEYWORDS
    for rule, value in refusing.values():
        assert error_for(rule, value)
