"""Patterns of keys, in which `*` stands for anything, dots included: `project.*` is every key below `project`."""

from __future__ import annotations

import re

__all__ = ["matches", "to_glob"]


def matches(key: str | None, pattern: str) -> bool:
    """Whether a key fits a pattern; what has no key fits none."""
    return key is not None and re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key, re.DOTALL) is not None


def to_glob(pattern: str) -> str:
    """The pattern as SQLite's GLOB takes it, where `?` and `[` would mean something of their own."""
    return re.sub(r"[?\[]", lambda found: f"[{found[0]}]", pattern)
