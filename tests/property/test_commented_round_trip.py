"""JSON with comments and trailing commas: an edit changes nothing else, and is removed to the byte."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from json_texts import commented_documents, comments_in, without_comments
from keepmum_installers.errors import UneditableFile
from keepmum_installers.json_edit import Undo, append, merge, strip

PATHS = st.lists(st.sampled_from(["extra", "keepmum", "on", "keepmum@keepmum", "a.b"]), min_size=1, max_size=3)
VALUES = st.sampled_from([True, "on", "https://x//y", {"source": {"source": "github", "repo": "a/b"}}, [], {}])
EDITS = st.lists(st.tuples(st.booleans(), PATHS, VALUES), min_size=1, max_size=3)
many = settings(max_examples=250)


def values(text: str) -> Any:
    plain = without_comments(text)
    return json.loads(plain, parse_int=str) if plain.strip() else {}


def edited(text: str, edits: list[tuple[bool, list[str], Any]]) -> tuple[str, list[Undo]]:
    undo: list[Undo] = []
    for is_item, path, value in edits:
        if is_item:
            text, steps = append(text, path, value, comments=True)
            undo += steps
        else:
            text, step = merge(text, path, value, comments=True)
            undo += [step] if step else []
    return text, undo


def expected(document: Any, is_item: bool, path: list[str], value: Any) -> Any:  # noqa: FBT001 - as drawn
    """The document with the value at path; None when something else than an object or a list is there."""
    document = at = copy.deepcopy(document)
    for key in path[:-1]:
        at = at.setdefault(key, {})
        if not isinstance(at, dict):
            return None
    if not is_item:
        at[path[-1]] = value
        return document
    items = at.setdefault(path[-1], [])
    if not isinstance(items, list):
        return None
    items += [] if any(each == value and type(each) is type(value) for each in items) else [value]
    return document


@many
@given(commented_documents(), EDITS)
def test_removing_restores_every_byte(text: str, edits: list[tuple[bool, list[str], Any]]) -> None:
    try:
        after, undo = edited(text, edits)
    except UneditableFile:
        return
    for step in reversed(undo):
        after = strip(after, step)
    assert after == text


@many
@given(commented_documents(), st.booleans(), PATHS, VALUES)
def test_an_edit_sets_its_value_and_nothing_else(text: str, is_item: bool, path: list[str], value: Any) -> None:  # noqa: FBT001
    wanted = expected(values(text), is_item, path, value)
    try:
        after, undo = edited(text, [(is_item, path, value)])
    except UneditableFile:
        assert wanted is None
        return
    assert values(after) == wanted
    replaced = any(step.was is not None for step in undo)
    assert comments_in(after) == comments_in(text) or replaced


@many
@given(commented_documents(), PATHS, VALUES, st.sampled_from(["a", "on", "zz"]), st.booleans())
def test_removing_keeps_what_others_added_later(
    text: str,
    path: list[str],
    value: Any,
    key: str,
    is_sibling: bool,  # noqa: FBT001
) -> None:
    theirs = [*(path[:-1] if is_sibling else []), key]
    try:
        after, undo = merge(text, path, value, comments=True)
        touched, _ = merge(after, theirs, "theirs", comments=True)
    except UneditableFile:
        return
    if undo is None or theirs[: len(path)] == path or path[: len(theirs)] == theirs:
        return
    document = values(strip(touched, undo))
    for each in theirs:
        document = document[each]
    assert document == "theirs"
    assert comments_in(strip(touched, undo)) == comments_in(touched) or undo.was is not None
