"""What to do about two memories that say nearly the same: pure functions of their words and the cosine between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from keepmum.core.memory import Memory
from keepmum.core.ranking import terms

__all__ = ["NEAR", "REPORTED", "SAME", "Advice", "Similar", "compare"]

REPORTED = 0.80  # the cosine from which two memories are worth a look beside each other
NEAR = 0.85  # the cosine from which they say nearly the same
SAME = 0.97  # the cosine from which a search shows the better one alone
Advice = Literal["skip", "supersede", "merge", "keep both"]

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|cannot|without|avoid|stop(?:ped)?|dropp?ed|removed|disabled?|forbid(?:den)?|instead"
    r"|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SHARED = 0.5  # of the words of the shorter text: so many in common make it a text about the same thing
_SWAPPED = 3  # words: as many may stand on either side where one thing was put in another's place


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory that says nearly what another one says."""

    memory: Memory
    cosine: float
    advice: Advice  # what to do with the new one of the two
    contradicts: bool  # whether the two seem to say the opposite of the same thing


def compare(new: Memory, old: Memory, cosine: float) -> Similar:
    """What to do with `new`, beside `old`: skip it, let it supersede, merge the two, or keep both."""
    ours, theirs = frozenset(terms(_said(new), limit=None)), frozenset(terms(_said(old), limit=None))
    contradicts = _contradict(_said(new), _said(old), ours, theirs)
    advice: Advice = "merge"
    if contradicts or (cosine >= NEAR and theirs < ours):
        advice = "supersede"
    elif cosine >= NEAR and ours <= theirs:
        advice = "skip"
    elif cosine < NEAR:
        advice = "keep both"
    return Similar(old, cosine, advice, contradicts)


def _said(memory: Memory) -> str:
    return f"{memory.title}\n{memory.text}"


def _contradict(new: str, old: str, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether two texts share most of their words and differ in a negation, a number, or one thing for another.

    A hint for a person or an agent to look at, no judgement: meaning alone cannot tell a change from a contradiction,
    and two texts of opposite meaning have nearly the same vector.
    """
    if len(ours & theirs) < _SHARED * min(len(ours), len(theirs)):
        return False
    if bool(_NEGATION.search(new)) != bool(_NEGATION.search(old)):
        return True
    numbers = [frozenset(_NUMBER.findall(text)) for text in (new, old)]
    if all(numbers) and not numbers[0] & numbers[1]:
        return True
    return 1 <= len(ours - theirs) <= _SWAPPED and 1 <= len(theirs - ours) <= _SWAPPED
