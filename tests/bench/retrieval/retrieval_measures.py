"""How good a ranked answer is, each measure from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

__all__ = ["MEASURES", "hit", "measure", "ndcg", "recall", "reciprocal_rank"]

_DEPTH = 10  # ranks that are looked at
Ranked = Sequence[str]
Grades = Mapping[str, int]


def recall(ranked: Ranked, grades: Grades, depth: int) -> float:
    """The share of the answers that stand among the first `depth`."""
    return len(grades.keys() & set(ranked[:depth])) / len(grades)


def hit(ranked: Ranked, grades: Grades, depth: int) -> float:
    """Whether any answer stands among the first `depth`."""
    return float(bool(grades.keys() & set(ranked[:depth])))


def reciprocal_rank(ranked: Ranked, grades: Grades) -> float:
    """One over the rank of the first answer, 0 where none is among the first ten."""
    return next((1 / rank for rank, found in enumerate(ranked[:_DEPTH], start=1) if found in grades), 0.0)


def ndcg(ranked: Ranked, grades: Grades) -> float:
    """The gain of the first ten, discounted by rank, beside the gain of the best order there is."""
    best = sorted(grades.values(), reverse=True)
    return _gain([grades.get(found, 0) for found in ranked]) / _gain(best)


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:_DEPTH], start=1))


MEASURES: Mapping[str, Callable[[Ranked, Grades], float]] = {
    "recall@1": lambda ranked, grades: recall(ranked, grades, 1),
    "recall@5": lambda ranked, grades: recall(ranked, grades, 5),
    "recall@10": lambda ranked, grades: recall(ranked, grades, 10),
    "hit@1": lambda ranked, grades: hit(ranked, grades, 1),
    "hit@3": lambda ranked, grades: hit(ranked, grades, 3),
    "MRR@10": reciprocal_rank,
    "nDCG@10": ndcg,
}


def measure(ranked: Ranked, grades: Grades) -> dict[str, float]:
    """Every measure of one answer, by name."""
    return {name: of(ranked, grades) for name, of in MEASURES.items()}
