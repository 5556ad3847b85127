"""An item that was appended to a list in another program's JSON is removed again, and every other byte stays."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from json_texts import KEYS, SCALARS, documents
from keepmum_installers.errors import UneditableFile
from keepmum_installers.json_edit import append, parse, strip

ITEMS = st.dictionaries(KEYS, SCALARS, max_size=3)
PATHS = st.lists(KEYS, min_size=1, max_size=3)


@given(documents(), PATHS, st.lists(ITEMS, max_size=3))
def test_stripping_an_appended_item_restores_the_bytes(text: str, path: list[str], items: list[object]) -> None:
    now, steps = text, []
    with contextlib.suppress(UneditableFile):  # another value is along the path
        for item in items:
            now, more = append(now, path, item)
            steps += more
            parse(now)
    for step in reversed(steps):
        now = strip(now, step)
    assert now == text


@given(documents(), PATHS, ITEMS)
def test_an_existing_item_is_not_appended_again(text: str, path: list[str], item: object) -> None:
    with contextlib.suppress(UneditableFile):
        once, _ = append(text, path, item)
        assert append(once, path, item) == (once, [])


@given(documents(), PATHS, ITEMS, ITEMS)
def test_items_appended_by_others_stay(text: str, path: list[str], ours: object, theirs: object) -> None:
    with contextlib.suppress(UneditableFile):
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
