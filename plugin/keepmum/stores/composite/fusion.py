"""One order of what several stores found.

Stores of ours weigh words alike, by BM25 over the same columns, so that what they find is compared by what it got. The
scores of a server are its own (the first API's are sums of reciprocal ranks, times a curve of forgetting) and say only
in which order it found: its first is worth as much as the first of ours, its second as much as the second. That alone
puts a poor first beside a good one, so half of the worth is what our own search gives for as much of the memory as is
known on this machine: its title, and its text once it was loaded.

The figures are in `docs/markdown.md`; `tests/bench/retrieval/retrieval_run.py` repeats them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepmum.core import ranking
from keepmum.core.memory import Candidate, Filter
from keepmum.stores.base import Store

__all__ = ["as_ours", "has_own_scores", "worth"]


def has_own_scores(store: Store) -> bool:
    """Whether what a store gives for relevance cannot be compared with what ours give."""
    return "search" in store.capabilities.cannot


def worth(place: int, here: float, ours: Sequence[float]) -> float:
    """What a memory is worth that a server has at `place` (from 0), beside `ours`, which are best first.

    `here` is what our own search gives for it, 0 for nothing. Beyond the last of ours a place is worth as much less as
    it is later.
    """
    counted = 1 / (place + 1)
    if ours:
        counted = ours[place] if place < len(ours) else ours[-1] * len(ours) / (place + 1)
    return (counted + here) / 2


def as_ours(
    found: Sequence[Candidate], here: Mapping[str, Candidate], ours: Sequence[Candidate], wanted: Filter
) -> list[Candidate]:
    """What a server found, in its order, as near to the question as what is known `here` of it and its place say."""
    places = sorted(ranking.rank(ours, wanted), key=lambda place: -place.score / place.prior)
    words = [place.candidate.lexical for place in places]
    cosines = [place.candidate.cosine for place in places]
    fused = []
    for place, candidate in enumerate(found):
        known = here.get(candidate.id)
        counted = cosines[min(place, len(cosines) - 1)] if cosines else None
        meaning = known.cosine if known is not None and known.cosine is not None else counted
        fused.append(
            candidate._replace(lexical=worth(place, 0.0 if known is None else known.lexical, words), cosine=meaning)
        )
    return fused
