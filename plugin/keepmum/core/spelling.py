"""Misspelt words of queries: which words may be misspelt, and whether two words differ by one typo."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

__all__ = ["MIN_LENGTH", "MOST_MEMORIES", "PREFIX", "is_typo", "may_be_misspelt", "misspelt", "nearest"]

# Letters of a stem. Too many shorter words differ by one letter, such as layer and later. With 6, queries with one typo
# gain .008 to .036 nDCG@10 in six sets, and queries without a typo lose nothing.
MIN_LENGTH = 6
PREFIX = 2  # letters assumed to be correct, so that few words must be compared
MOST_MEMORIES = 20_000  # in a larger store a correction takes more than a millisecond
_MAX_CORRECTIONS = 3  # per word
_MAX_UNKNOWN = 3  # words: a query with more unknown words is in another language rather than misspelt


def may_be_misspelt(word: str) -> bool:
    """Whether a word that no memory holds is compared with those that memories hold."""
    return len(word) >= MIN_LENGTH and word.isalpha()


def misspelt(unknown: Iterable[str]) -> list[str]:
    """The words to correct, of those of one query that no memory holds."""
    suspects = list(filter(may_be_misspelt, unknown))
    return suspects if len(suspects) <= _MAX_UNKNOWN else []


def nearest(stem: str, terms: Iterable[str]) -> list[str]:
    """The first of `terms`, words that memories hold, that are one typo away from a stem."""
    return list(itertools.islice((term for term in terms if term.isalpha() and is_typo(stem, term)), _MAX_CORRECTIONS))


def is_typo(one: str, other: str) -> bool:
    """Whether one letter was omitted, inserted, changed, or swapped with the next."""
    both = zip(one, other, strict=False)
    same = next((at for at, (left, right) in enumerate(both) if left != right), min(len(one), len(other)))
    rest, others = one[same:], other[same:]
    swapped = rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return rest[1:] == others[1:] or rest[1:] == others or rest == others[1:] or swapped
