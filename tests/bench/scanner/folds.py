"""Splits rows into folds, so that nothing of a fold was seen before it judges.

Two partitions: by source (repository, tool, carrier of a generated text) and by template (the sentence that carries the
secret). What shares a source, a template or a value with a fold is left out of its training part.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.scanner.corpus import Row

__all__ = ["PARTITIONS", "Fold", "folds"]

COUNT = 5

PARTITIONS: Mapping[str, Callable[[Row], str]] = {
    "source": lambda row: row.origin,
    "template": lambda row: row.template or row.origin,
}


class Fold(NamedTuple):
    """Rows that judge, and rows from which may be learned for that."""

    name: str
    judged: Sequence[Row]
    learned: Sequence[Row]


def folds(rows: Sequence[Row], partition: str, count: int = COUNT) -> Iterator[Fold]:
    """The folds of `rows` under a key of `PARTITIONS`; a group of rows is in one of them."""
    key = PARTITIONS[partition]
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[key(row)] = sizes.get(key(row), 0) + 1
    number = _assigned(sizes, count)
    for index in range(count):
        judged = [row for row in rows if number[key(row)] == index]
        values = {row.value for row in judged if row.value}
        learned = [row for row in rows if number[key(row)] != index and row.value not in values]
        yield Fold(f"{partition} {index + 1}", judged, learned)


def _assigned(sizes: Mapping[str, int], count: int) -> Mapping[str, int]:
    """The fold of each group: the largest groups first, each into the smallest fold."""
    filled = [0] * count
    number = {}
    for name in sorted(sizes, key=lambda one: (-sizes[one], zlib.crc32(one.encode()))):
        number[name] = smallest = filled.index(min(filled))
        filled[smallest] += sizes[name]
    return number
