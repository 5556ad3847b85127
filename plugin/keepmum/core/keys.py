"""Patterns for keys; `*` matches any characters, including dots, so `project.*` matches every key below `project`."""

from __future__ import annotations

import re

__all__ = ["matches", "to_glob", "to_like"]


def matches(key: str | None, pattern: str) -> bool:
    """Whether a key matches a pattern; None matches none."""
    return key is not None and re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key, re.DOTALL) is not None


def to_glob(pattern: str) -> str:
    """The pattern for SQLite's GLOB, with `?` and `[` escaped."""
    return re.sub(r"[?\[]", lambda found: f"[{found[0]}]", pattern)


def to_like(pattern: str) -> str:
    """The pattern for SQL's LIKE, with its own wildcards escaped by a backslash."""
    return re.sub(r"[%_\\]", lambda found: f"\\{found[0]}", pattern).replace("*", "%")
