"""Compares two similar memories: do they repeat or contradict each other? Pure functions of their text and cosine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from keepmum.core.memory import Memory
from keepmum.core.ranking import terms

__all__ = ["NEAR", "REPORTED", "SAME", "Advice", "Similar", "compare"]

# Thresholds for the cosine.
REPORTED = 0.80  # the two are reported as similar
NEAR = 0.85  # they say nearly the same
SAME = 0.97  # a search returns only the better one
Advice = Literal["skip", "supersede", "merge", "keep both"]

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|cannot|without|avoid|stop(?:ped)?|dropp?ed|removed|disabled?|forbid(?:den)?|instead"
    r"|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SHARED_TERMS = 0.5  # of the shorter text; with fewer in common, the texts have different subjects
_MAX_REPLACED = 3  # terms on either side when one thing was replaced by another


@dataclass(frozen=True, slots=True)
class Similar:
    """A stored memory that is similar to a new one."""

    memory: Memory
    cosine: float
    advice: Advice  # for the new memory
    contradicts: bool  # whether the two seem to state opposites about the same subject


def compare(new: Memory, old: Memory, cosine: float) -> Similar:
    """The comparison of `new` with `old`, with advice: skip it, let it supersede, merge the two, or keep both."""
    new_text, old_text = f"{new.title}\n{new.text}", f"{old.title}\n{old.text}"
    new_terms, old_terms = frozenset(terms(new_text, limit=None)), frozenset(terms(old_text, limit=None))
    contradicts = _contradict(new_text, old_text, new_terms, old_terms)
    advice: Advice = "merge"
    if contradicts or (cosine >= NEAR and old_terms < new_terms):
        advice = "supersede"
    elif cosine >= NEAR and new_terms <= old_terms:
        advice = "skip"
    elif cosine < NEAR:
        advice = "keep both"
    return Similar(old, cosine, advice, contradicts)


def _contradict(new: str, old: str, new_terms: frozenset[str], old_terms: frozenset[str]) -> bool:
    """Whether two texts share most terms but differ in a negation, a number, or one thing replaced by another.

    A hint for a person or an agent, not a verdict: texts of opposite meaning have nearly the same vector, so the cosine
    cannot tell a change from a contradiction.
    """
    if len(new_terms & old_terms) < _SHARED_TERMS * min(len(new_terms), len(old_terms)):
        return False
    if bool(_NEGATION.search(new)) != bool(_NEGATION.search(old)):
        return True
    new_numbers, old_numbers = (frozenset(_NUMBER.findall(text)) for text in (new, old))
    if new_numbers and old_numbers and not new_numbers & old_numbers:
        return True
    return 1 <= len(new_terms - old_terms) <= _MAX_REPLACED and 1 <= len(old_terms - new_terms) <= _MAX_REPLACED
