"""Patterns for keys match the same in Python and in SQLite."""

from __future__ import annotations

import sqlite3

import pytest

from keepmum.core import keys

CASES = [
    ("project.*", "project.type", True),
    ("project.*", "project.a.b", True),
    ("project.*", "projects", False),
    ("*", "anything", True),
    ("*.todo", "a.todo", True),
    ("a*c", "abbc", True),
    ("a*c", "abb", False),
    ("project.type", "project.type", True),
    ("project.type", "project_type", False),
    ("a?c", "abc", False),
    ("a[b]c", "abc", False),
    ("a[b]c", "a[b]c", True),
    ("A", "a", False),
]


@pytest.mark.parametrize(("pattern", "key", "expected"), CASES)
def test_only_a_star_is_a_wildcard(pattern: str, key: str, *, expected: bool) -> None:
    assert keys.matches(key, pattern) is expected


@pytest.mark.parametrize(("pattern", "key", "expected"), CASES)
def test_sqlite_matches_the_same_keys(pattern: str, key: str, *, expected: bool) -> None:
    db = sqlite3.connect(":memory:")
    found = db.execute("SELECT ? GLOB ?", (key, keys.to_glob(pattern))).fetchone()[0]
    db.close()
    assert bool(found) is expected


def test_no_key_matches_no_pattern() -> None:
    assert not keys.matches(None, "*")
