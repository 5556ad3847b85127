"""An item that was put into a list of somebody else's JSON comes out again, and every other byte stays."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from json_texts import KEYS, SCALARS, documents
from keepmum_installers.errors import NotPlainJson
from keepmum_installers.merge import append, parse, strip

ITEMS = st.dictionaries(KEYS, SCALARS, max_size=3)
PATHS = st.lists(KEYS, min_size=1, max_size=3)


@given(documents(), PATHS, st.lists(ITEMS, max_size=3))
def test_what_was_appended_comes_out_without_a_trace(text: str, path: list[str], items: list[object]) -> None:
    now, steps = text, []
    with contextlib.suppress(NotPlainJson):  # something else stands on the way
        for item in items:
            now, more = append(now, path, item)
            steps += more
            parse(now)
    for step in reversed(steps):
        now = strip(now, step)
    assert now == text


@given(documents(), PATHS, ITEMS)
def test_what_is_there_is_not_appended_again(text: str, path: list[str], item: object) -> None:
    with contextlib.suppress(NotPlainJson):
        once, _ = append(text, path, item)
        assert append(once, path, item) == (once, [])


@given(documents(), PATHS, ITEMS, ITEMS)
def test_what_others_appended_since_stays(text: str, path: list[str], ours: object, theirs: object) -> None:
    with contextlib.suppress(NotPlainJson):
        now, steps = append(text, path, ours)
        now, added = append(now, path, theirs)
        if not added:  # the same, or there already
            return
        for step in reversed(steps):
            now = strip(now, step)
        value: object = parse(now)
        for key in path:
            assert isinstance(value, dict)
            value = value[key]
        assert isinstance(value, list)
        assert theirs in value
