"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things in words: `1 memory`, `2,000 memories`; `plural` is for nouns that do not end in s or y."""
    if count != 1:
        noun = plural or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s")
    return f"{count:,} {noun}"
