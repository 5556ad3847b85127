"""Every text of an input, and the name of its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keepmum_hooks.texts import texts


def places(value: dict[str, Any]) -> dict[str, str]:
    """The texts by their places."""
    return {text.place(lambda _: True): text.text for text in texts(value) if text.text}


def test_every_string_has_a_place() -> None:
    found = places({"a": "one", "b": [{"note": "two"}, ["three"]], "n": 7, "none": None})
    assert {"a": "a: one", "b[0].note": "note: two", "b[1][0]": "b: three"}.items() <= found.items()


def test_names_are_texts_too() -> None:
    assert "deep" in places({"a": {"deep": {"x": 1}}}).values()


def test_a_name_says_what_its_value_is_but_the_name_of_a_memory_does_not() -> None:
    assert list(places({"password": "x", "key": "y"}).values()) == ["y", "password: x"]


def test_a_name_excuses_nothing() -> None:
    assert [text.text for text in texts({"commit": "x"})] == ["x", "commit: x"]


def test_a_long_text_tells_for_itself() -> None:
    assert [text.text for text in texts({"content": "x" * 513})] == ["x" * 513]


def test_json_in_a_text_is_looked_into() -> None:
    inner = json.dumps({"deep": json.dumps(["x\n"])})
    assert places({"data": inner})["data (JSON).deep (JSON)[0]"] == "deep: x\n"


def test_json_is_looked_into_so_many_times_and_no_more() -> None:
    text = "bottom"
    for _ in range(12):
        text = json.dumps([text])
    assert max(place.count("(JSON)") for place in places({"a": text})) == 8


def test_fields_that_are_left_out_are_left_out_at_every_depth() -> None:
    found = texts({"old": "x", "edits": [{"old": "y", "new": "z"}]}, ("old",))
    assert [text.text for text in found if text.text != "edits"] == ["z", "new: z"]


@pytest.mark.parametrize("name", ["a1b2", "x" * 33, "two words", "ü", "", "a\nb"])
def test_a_name_that_could_be_a_secret_is_given_by_its_number(name: str) -> None:
    assert {text.place(lambda _: True) for text in texts({name: "x"})} == {"(field 1)"}


def test_a_name_that_is_not_clean_is_given_by_its_number() -> None:
    assert {text.place(lambda name: name != "name") for text in texts({"name": "x"})} == {"(field 1)"}


def test_a_line_is_counted_from_the_value() -> None:
    *_, text = texts({"content": "one\ntwo"})
    assert [text.line(text.text.index(word)) for word in ("content", "one", "two")] == [1, 1, 2]


def test_deep_input_is_no_obstacle() -> None:
    value: dict[str, Any] = {"a": "bottom"}
    for _ in range(50_000):
        value = {"a": value}
    assert [text.text for text in texts(value)][-1] == "a: bottom"
    while value:  # taken apart step by step, since the interpreter would do it recursively
        value = value.pop("a") if isinstance(value.get("a"), dict) else {}
