"""Nearest rows of a matrix: by all of each row up to 10,000 of them, beyond that by signs first and all of it last."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Signs = NDArray[np.uint8]
    Mask = NDArray[np.bool_]
    Places = NDArray[np.int64]

__all__ = ["ALL_OF_IT", "nearest", "products", "signs"]

ALL_OF_IT = 10_000  # rows: a pass over so many takes a millisecond, and one over ten times as many signs no longer
_FEW = 20_000  # rows that may be picked out one by one
_PART = 8  # and are, where all are more than so many times as many: picking costs a copy of each
# Rows whose signs agree best, of which all is looked at: so many times the root of all there are, and so many for each
# that is wanted. Of 13,489 real texts, 1,000 held .99 of the true sixty; the number grew with the .4th power of theirs.
_RESCORED, _FOR_EACH = 10, 20
_BEYOND = np.iinfo(np.uint16).max  # farther than any row
_AT_ONCE = 2_048  # rows whose signs are compared before the next: what comes of them stays in the processor's cache


def signs(rows: Vector) -> Signs:
    """The signs of each row, 8 dimensions a byte."""
    return np.packbits(rows > 0, axis=-1)


def nearest(vectors: Vector, rows_signs: Signs, question: Vector, mask: Mask, limit: int) -> tuple[Places, Vector]:
    """Up to `limit` rows of those in `mask`, nearest first, and their cosines with `question`.

    Where signs choose what is looked at, one in a hundred of the rows may be one that comes a little later.
    """
    allowed = int(np.count_nonzero(mask))
    limit = min(limit, allowed)
    if allowed <= min(_FEW, len(vectors) // _PART):
        return _best_of(vectors, question, np.flatnonzero(mask), limit)
    if len(vectors) <= ALL_OF_IT:
        cosines = products(vectors, question)
        cosines[~mask] = -2.0
        places = _largest(cosines, limit)
        return places, cosines[places]
    distances = _distances(rows_signs, signs(question))
    distances[~mask] = _BEYOND
    agreeing = _least(distances, min(max(_RESCORED * math.isqrt(allowed), _FOR_EACH * limit), allowed))
    return _best_of(vectors, question, agreeing, limit)


def products(rows: Vector, question: Vector) -> Vector:
    """The product of each row with the question.

    One after the other, as `vecdot` does it: `@` hands them to a thread for each core, which wait for each other where
    others work too. On two busy cores 4,000 rows took 12 ms that way, and 0.13 ms this way.
    """
    found: Vector = np.vecdot(rows, question)
    return found


def _best_of(vectors: Vector, question: Vector, places: Places, limit: int) -> tuple[Places, Vector]:
    cosines = products(vectors[places], question)
    best = _largest(cosines, limit)
    return places[best], cosines[best]


def _largest(values: Vector, limit: int) -> Places:
    """The places of the `limit` largest values, largest first."""
    few = len(values) <= limit
    places = np.arange(len(values)) if few else np.argpartition(values, len(values) - limit)[-limit:]
    ordered: Places = places[np.argsort(-values[places], kind="stable")]
    return ordered


def _least(distances: NDArray[np.uint16], limit: int) -> Places:
    """The places of the `limit` least distances, and of all that equal the greatest of these."""
    so_far = np.cumsum(np.bincount(distances))
    return np.flatnonzero(distances <= np.searchsorted(so_far, limit))


def _distances(rows_signs: Signs, asked: Signs) -> NDArray[np.uint16]:
    """In how many signs each row differs from the question."""
    eights = rows_signs.shape[1] % 8 == 0  # bytes, which are then compared as one number
    kind = np.dtype(np.uint64 if eights else np.uint8)
    rows, question = rows_signs.view(kind), asked.view(kind)
    width = rows.shape[1]
    # Numbers of one row after those of another: numpy has a price for each row, and rows are short.
    numbers, questions = rows.reshape(-1), np.tile(question, _AT_ONCE)
    total = np.empty(len(rows), dtype=np.uint16)
    for start in range(0, len(rows), _AT_ONCE):
        some = numbers[start * width : (start + _AT_ONCE) * width]
        differing = np.bitwise_count(some ^ questions[: len(some)]).reshape(-1, width)
        differing.T.copy().sum(axis=0, dtype=np.uint16, out=total[start : start + _AT_ONCE])
    return total
