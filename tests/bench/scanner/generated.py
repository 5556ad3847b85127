"""Labelled texts that are made up from a fixed seed, for a run without a corpus.

Each module of `CARRIERS` makes the texts of one group of carriers; a new one is a module with `rows` and a line there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from bench.scanner import carriers_generate, carriers_plain
from bench.scanner.corpus import Row

__all__ = ["CARRIERS", "generated"]

SEED = 20261122

CARRIERS: Sequence[Callable[[random.Random], Iterator[Row]]] = (carriers_plain.rows, carriers_generate.rows)


def generated() -> list[Row]:
    """The same rows at every call."""
    return [row for rows in CARRIERS for row in rows(random.Random(SEED))]
