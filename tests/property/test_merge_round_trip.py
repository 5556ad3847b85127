"""For any JSON, `strip` restores the bytes before `merge`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from json_texts import documents
from keepmum_installers.errors import UneditableFile
from keepmum_installers.json_edit import Undo, merge, parse, strip

PATHS = st.lists(st.sampled_from(["extra", "keepmum", "on", "keepmum@keepmum", "a.b"]), min_size=1, max_size=3)
VALUES = st.sampled_from([True, "on", {"source": {"source": "github", "repo": "a/b"}}, [], {}])


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


no_deadline = settings(deadline=None)  # the machine may be busy
WANTED = st.lists(st.tuples(PATHS, VALUES), min_size=1, max_size=3)


@no_deadline
@given(documents(), WANTED)
def test_stripping_restores_the_bytes_before_merging(text: str, wanted: list[tuple[list[str], Any]]) -> None:
    try:
        merged, undo = _merged(text, wanted)
    except UneditableFile:
        return  # the path has a value that is no object, which another test covers
    for step in reversed(undo):
        merged = strip(merged, step)
    assert merged == text


@no_deadline
@given(documents(), PATHS, VALUES)
def test_merging_sets_the_value_and_touches_no_other(text: str, path: list[str], value: Any) -> None:
    before = parse(text) if text.strip("\ufeff \t\r\n") else {}
    try:
        merged, _ = merge(text, path, value)
    except UneditableFile:
        return
    after = parse(merged)
    assert _value_at(after, path) == value
    assert {key: each for key, each in after.items() if key != path[0]} == {
        key: each for key, each in before.items() if key != path[0]
    }


@no_deadline
@given(documents(), PATHS, VALUES)
def test_merging_twice_changes_nothing_the_second_time(text: str, path: list[str], value: Any) -> None:
    try:
        merged, _ = merge(text, path, value)
    except UneditableFile:
        return
    assert merge(merged, path, value) == (merged, None)


@no_deadline
@given(documents(), st.sampled_from(["b", "zz"]), st.integers(0, 99))
def test_stripping_keeps_later_additions(text: str, key: str, value: int) -> None:
    path = ("extra", "keepmum")
    try:
        merged, undo = merge(text, path, {"source": "x"})
        touched, _ = merge(merged, ("extra", key), value)
    except UneditableFile:
        return
    stripped = parse(strip(touched, undo))
    assert _value_at(stripped, ["extra", key]) == value
    assert "keepmum" not in stripped["extra"] or undo is None or undo.was is not None  # type: ignore[operator]


@no_deadline
@given(documents(), st.data())
def test_a_truncated_text_is_refused(text: str, data: st.DataObject) -> None:
    body = text.strip("\ufeff \t\r\n")
    if len(body) < 2:
        return
    cut = body[: data.draw(st.integers(1, len(body) - 1))]
    with pytest.raises(UneditableFile):
        merge(cut, ("extra", "keepmum"), "on")
