"""The figures of labelled texts as a Markdown table: over all rows, and the mean and the worst of the folds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from bench.scanner.corpus import Row
from bench.scanner.figures import CLASSES, Figures, figures
from bench.scanner.folds import PARTITIONS, folds

__all__ = ["shown", "table"]

FALSE = ("natural", "enriched", "hashes", "twins", "toys")  # classes whose share is a rate of false positives


def spread(
    rows: Sequence[Row], hits: Mapping[str, bool], partitions: Sequence[str]
) -> Iterator[tuple[str, list[Figures]]]:
    """The figures of each fold, for each of `partitions`."""
    for partition in partitions:
        yield partition, [figures(fold.judged, hits) for fold in folds(rows, partition)]


def shown(name: str, share: float | None, *, change: bool = False) -> str:
    """A share as text: false positives in 1,000, all else as it is."""
    if share is None:
        return "-"
    sign = "+" if change else ""
    return f"{1000 * share:{sign}.1f}" if name in FALSE else f"{share:{sign}.4f}"


def table(
    rows: Sequence[Row], hits: Mapping[str, bool], partitions: Sequence[str] = tuple(PARTITIONS)
) -> Iterator[str]:
    """Markdown lines: each class over all rows, and the mean and the worst fold of each partition."""
    whole, parts = figures(rows, hits), dict(spread(rows, hits, partitions))
    yield "| class | rows | all | " + " | ".join(f"by {one}: mean | worst" for one in parts) + " |"
    yield "|---" * (3 + 2 * len(parts)) + "|"
    for name, share in whole.items():
        cells = [str(sum(map(CLASSES[name], rows))) if name in CLASSES else "", shown(name, share)]
        for values in ([one[name] for one in found] for found in parts.values()):
            known = [value for value in values if value is not None]
            worst: Callable[[list[float]], float] = max if name in FALSE else min
            cells += [shown(name, statistics.mean(known)), shown(name, worst(known))] if known else ["-", "-"]
        yield f"| {name} | " + " | ".join(cells) + " |"
