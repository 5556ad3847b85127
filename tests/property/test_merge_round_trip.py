"""Whatever somebody's JSON looks like: what merge puts in, strip takes out again, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepmum_installers.errors import NotPlainJson
from keepmum_installers.merge import Undo, merge, parse, strip

SPACE = st.text(" \t\n\r", max_size=4)
KEYS = st.one_of(st.sampled_from(["extra", "keepmum", "on", "keepmum@keepmum", "x", ""]), st.text(max_size=5))
PATHS = st.lists(st.sampled_from(["extra", "keepmum", "on", "keepmum@keepmum", "a.b"]), min_size=1, max_size=3)
VALUES = st.sampled_from([True, "on", {"source": {"source": "github", "repo": "a/b"}}, [], {}])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
# Spellings that no Python value is written as; the first is longer than Python converts.
ODD_NUMBERS = st.sampled_from(["1" + "0" * 5000, "-0", "1E+2", "0.10"])
SCALAR_TEXTS = st.one_of(SCALARS.map(json.dumps), ODD_NUMBERS)


@st.composite
def _texts(draw: st.DrawFn, depth: int = 3, kind: str = "") -> str:
    """The text of a JSON value with every freedom of layout that the grammar leaves."""
    kind = kind or (draw(st.sampled_from(["scalar", "array", "object", "object"])) if depth else "scalar")
    if kind == "scalar":
        return draw(SCALAR_TEXTS)
    inner = draw(st.lists(_texts(depth=depth - 1), max_size=3))
    if kind == "object":
        inner = [
            json.dumps(draw(KEYS), ensure_ascii=draw(st.booleans())) + draw(SPACE) + ":" + draw(SPACE) + value
            for value in inner
        ]
    opening, closing = "{}" if kind == "object" else "[]"
    body = ",".join(draw(SPACE) + item + draw(SPACE) for item in inner) if inner else draw(SPACE)
    return opening + body + closing


@st.composite
def _documents(draw: st.DrawFn) -> str:
    """A settings file as somebody may have written it: by hand, by a program, on any system, or not at all."""
    mark = draw(st.sampled_from(["", "\ufeff"]))
    if draw(st.integers(0, 9)) == 0:
        return mark + draw(SPACE)
    if draw(st.booleans()):
        value = draw(st.dictionaries(KEYS, st.dictionaries(KEYS, SCALARS), max_size=4))
        indent = draw(st.sampled_from([None, 1, 2, 4, 8, "\t"]))
        text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
        return mark + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(SPACE)
    return mark + draw(SPACE) + draw(_texts(kind="object")) + draw(SPACE)


def _merged(text: str, wanted: list[tuple[list[str], Any]]) -> tuple[str, list[Undo | None]]:
    undo = []
    for path, value in wanted:
        text, step = merge(text, path, value)
        undo.append(step)
    return text, undo


def _value_at(document: Any, path: list[str]) -> Any:
    for key in path:
        document = document[key]
    return document


WANTED = st.lists(st.tuples(PATHS, VALUES), min_size=1, max_size=3)


@given(_documents(), WANTED)
def test_stripping_what_was_merged_gives_the_same_bytes(text: str, wanted: list[tuple[list[str], Any]]) -> None:
    try:
        merged, undo = _merged(text, wanted)
    except NotPlainJson:
        return  # something that is no object stands on the way, which another test looks at
    for step in reversed(undo):
        merged = strip(merged, step)
    assert merged == text


@given(_documents(), PATHS, VALUES)
def test_merging_sets_the_value_and_touches_no_other(text: str, path: list[str], value: Any) -> None:
    before = parse(text) if text.strip("\ufeff \t\r\n") else {}
    try:
        merged, _ = merge(text, path, value)
    except NotPlainJson:
        return
    after = parse(merged)
    assert _value_at(after, path) == value
    assert {key: each for key, each in after.items() if key != path[0]} == {
        key: each for key, each in before.items() if key != path[0]
    }


@given(_documents(), PATHS, VALUES)
def test_merging_twice_changes_nothing_the_second_time(text: str, path: list[str], value: Any) -> None:
    try:
        merged, _ = merge(text, path, value)
    except NotPlainJson:
        return
    assert merge(merged, path, value) == (merged, None)


@given(_documents(), st.sampled_from(["b", "zz"]), st.integers(0, 99))
def test_stripping_keeps_what_somebody_added_since(text: str, key: str, value: int) -> None:
    path = ("extra", "keepmum")
    try:
        merged, undo = merge(text, path, {"source": "x"})
        touched, _ = merge(merged, ("extra", key), value)
    except NotPlainJson:
        return
    stripped = parse(strip(touched, undo))
    assert _value_at(stripped, ["extra", key]) == value
    assert "keepmum" not in stripped["extra"] or undo is None or undo.was is not None  # type: ignore[operator]


@given(_documents(), st.data())
def test_a_text_that_is_cut_short_is_refused_and_never_harmed(text: str, data: st.DataObject) -> None:
    body = text.strip("\ufeff \t\r\n")
    if len(body) < 2:
        return
    cut = body[: data.draw(st.integers(1, len(body) - 1))]
    with pytest.raises(NotPlainJson):
        merge(cut, ("extra", "keepmum"), "on")
