"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]

_VOWELS = frozenset("aeiou")


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things in words: `1 memory`, `2,000 memories`; `plural` is for irregular nouns."""
    if count != 1:
        is_regular = not noun.endswith("y") or noun[-2:-1] in _VOWELS
        noun = plural or (f"{noun}s" if is_regular else f"{noun[:-1]}ies")
    return f"{count:,} {noun}"
