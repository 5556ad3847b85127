"""Ranks the results of several stores in one order.

Our own stores score words alike, by BM25 over the same columns, so their scores can be compared. The scores of a server
cannot (the first API's are sums of reciprocal ranks multiplied by a forgetting curve): only its order counts. Its first
result gets the score of our first result, its second that of our second, and so on. That alone would put a poor result
next to a good one. So half of the score is what our own search gives for the part of the memory that this machine
knows: its title, and its text once it was loaded.

`docs/markdown.md` has the figures; `tests/bench/retrieval/retrieval_run.py` measures them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepmum.core import ranking
from keepmum.core.memory import Candidate, Filter
from keepmum.stores.base import Store

__all__ = ["fused", "fused_score", "has_own_scores"]


def has_own_scores(store: Store) -> bool:
    """Whether the scores of a store cannot be compared with ours."""
    return "search" in store.capabilities.cannot


def fused_score(rank: int, local: float, ours: Sequence[float]) -> float:
    """The score of a server's result at `rank` (from 0), given `ours`, best first, and its `local` score or 0.

    Beyond the end of `ours` the score falls with 1 / rank.
    """
    by_rank = 1 / (rank + 1)
    if ours:
        by_rank = ours[rank] if rank < len(ours) else ours[-1] * len(ours) / (rank + 1)
    return (by_rank + local) / 2


def fused(
    found: Sequence[Candidate], local: Mapping[str, Candidate], ours: Sequence[Candidate], wanted: Filter
) -> list[Candidate]:
    """A server's results, in its order, with scores and cosines from their ranks and their `local` candidates."""
    ranked = sorted(ranking.rank(ours, wanted), key=lambda each: -each.score / each.prior)
    scores = [each.candidate.lexical for each in ranked]
    cosines = [each.candidate.cosine for each in ranked]
    results = []
    for rank, candidate in enumerate(found):
        known = local.get(candidate.id)
        cosine = cosines[min(rank, len(cosines) - 1)] if cosines else None
        if known is not None and known.cosine is not None:
            cosine = known.cosine
        score = fused_score(rank, 0.0 if known is None else known.lexical, scores)
        results.append(candidate._replace(lexical=score, cosine=cosine))
    return results
