"""Functions on vectors: conversion to bytes and back, and the nearest rows of a matrix."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Signs = NDArray[np.uint8]
    Mask = NDArray[np.bool_]
    Positions = NDArray[np.int64]

__all__ = [
    "MAX_EXACT",
    "NEIGHBOUR_WEIGHTS",
    "cosines",
    "nearest",
    "neighbours",
    "normalised",
    "pack",
    "products",
    "signs",
    "similar_pairs",
    "unpack",
    "unpack_one",
]

# Weights of the neighbours of a memory in its session in its vector: the next ones, and the second next ones. In a
# conversation every other turn is by the same speaker; the second weight gains .009 nDCG@10 over five long
# conversations, and something in each.
NEIGHBOUR_WEIGHTS = (0.3, 0.2)
# Rows. Up to here a search compares all of them exactly, in one millisecond. In a larger matrix it first compares the
# signs, which takes no longer for ten times as many rows.
MAX_EXACT = 10_000
_MAX_PICKED = 20_000  # rows that may be copied out of the matrix before they are compared
_MIN_SHARE = 8  # and only when they are at most one in 8 of all rows
# Rows with the most equal signs that are compared exactly: 10 times the square root of the number of rows, or 20 per
# result if that is more. Of 13,489 real texts, 1,000 held .99 of the true first sixty; the necessary number grew with
# the .4th power of the number of texts.
_RESCORED, _RESCORED_PER_RESULT = 10, 20
_EXCLUDED = np.iinfo(np.uint16).max  # a distance greater than any real one
_BATCH = 2_048  # rows whose signs are compared at once, so that intermediate results stay in the processor's cache
_BLOCK = 256  # rows that are compared with all others in one step
_BYTES = 2  # per dimension of a stored vector
_SMALLEST = np.finfo(np.float32).tiny


# -- bytes; half precision moves a cosine by less than .0005 and halves every store and backup


def pack(vector: Vector) -> bytes:
    """A vector as it is stored: 2 bytes per dimension, little-endian."""
    return vector.astype("<f2").tobytes()


def unpack(stored: Sequence[bytes], dimensions: int) -> Vector:
    """Stored vectors as the rows of a matrix, normalised.

    Raises: ValueError when one of them has another number of dimensions.
    """
    rows = np.frombuffer(b"".join(stored), dtype="<f2").reshape(len(stored), dimensions)
    return normalised(rows.astype(np.float32))


def unpack_one(stored: bytes) -> Vector:
    """A stored vector, normalised."""
    vector = np.frombuffer(stored, dtype="<f2").astype(np.float32)
    length = math.sqrt(vector @ vector)
    return vector / np.float32(length) if length else vector


def normalised(rows: Vector) -> Vector:
    """`rows`, each scaled to length 1; a row of zeros is unchanged."""
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    scaled: Vector = (rows / np.maximum(lengths, _SMALLEST)).astype(np.float32, copy=False)
    return scaled


def cosines(stored: Sequence[bytes], vector: bytes) -> list[float]:
    """The cosines between stored vectors and another one of the same length."""
    found: list[float] = products(unpack(stored, len(vector) // _BYTES), unpack_one(vector)).tolist()
    return found


# -- search


def signs(rows: Vector) -> Signs:
    """The signs of each row, 8 dimensions per byte."""
    return np.packbits(rows > 0, axis=-1)


def neighbours(
    names: Sequence[str], matrix: Vector, wanted: Collection[str], cosine: float, most: int
) -> dict[str, list[tuple[str, float]]]:
    """For each `wanted` name, up to `most` other rows that are at least `cosine` similar, nearest first.

    A block of rows is compared at a time, so that memory stays bounded.
    """
    numbers = [number for number, name in enumerate(names) if name in wanted]
    near: dict[str, list[tuple[str, float]]] = {}
    for start in range(0, len(numbers), _BLOCK):
        block = numbers[start : start + _BLOCK]
        cosines = matrix[block] @ matrix.T
        cosines[np.arange(len(block)), block] = -1.0
        for row, number in zip(cosines, block, strict=True):
            similar = np.flatnonzero(row >= cosine)
            best = similar[np.argsort(-row[similar], kind="stable")[:most]]
            near[names[number]] = [(names[int(other)], float(row[other])) for other in best]
    return near


def nearest(matrix: Vector, matrix_signs: Signs, vector: Vector, mask: Mask, limit: int) -> tuple[Positions, Vector]:
    """Up to `limit` of the rows in `mask`, nearest first, and their cosines with `vector`.

    In a large matrix, about one in a hundred of the true nearest rows is replaced by one slightly farther away.
    """
    allowed = int(np.count_nonzero(mask))
    limit = min(limit, allowed)
    if allowed <= min(_MAX_PICKED, len(matrix) // _MIN_SHARE):
        return _best_of(matrix, vector, np.flatnonzero(mask), limit)
    if len(matrix) <= MAX_EXACT:
        cosines = products(matrix, vector)
        cosines[~mask] = -2.0
        positions = _largest(cosines, limit)
        return positions, cosines[positions]
    distances = _distances(matrix_signs, signs(vector))
    distances[~mask] = _EXCLUDED
    rescored = min(max(_RESCORED * math.isqrt(allowed), _RESCORED_PER_RESULT * limit), allowed)
    return _best_of(matrix, vector, _smallest(distances, rescored), limit)


def products(rows: Vector, vector: Vector) -> Vector:
    """The dot product of each row with `vector`, which may be several to be broadcast.

    `vecdot` uses one thread. `@` would use a thread for each core, and these wait for each other when other processes
    are busy: on two busy cores 4,000 rows took 12 ms with `@` and 0.13 ms with `vecdot`.
    """
    found: Vector = np.vecdot(rows, vector)
    return found


def similar_pairs(few: Vector, many: Vector, cosine: float) -> list[tuple[int, int, float]]:
    """The positions of a row of `few` and a row of `many` that are at least `cosine` similar, with their cosine."""
    cosines = products(few[:, None, :], many[None, :, :])
    ours, theirs = np.nonzero(cosines >= cosine)
    return list(zip(ours.tolist(), theirs.tolist(), cosines[ours, theirs].tolist(), strict=True))


def _best_of(matrix: Vector, vector: Vector, positions: Positions, limit: int) -> tuple[Positions, Vector]:
    cosines = products(matrix[positions], vector)
    best = _largest(cosines, limit)
    return positions[best], cosines[best]


def _largest(values: Vector, limit: int) -> Positions:
    """The positions of the `limit` largest values, largest first."""
    take_all = len(values) <= limit
    positions = np.arange(len(values)) if take_all else np.argpartition(values, len(values) - limit)[-limit:]
    ordered: Positions = positions[np.argsort(-values[positions], kind="stable")]
    return ordered


def _smallest(distances: NDArray[np.uint16], limit: int) -> Positions:
    """The positions of the `limit` smallest distances, and of all that equal the largest of these."""
    sums = np.cumsum(np.bincount(distances))
    return np.flatnonzero(distances <= np.searchsorted(sums, limit))


def _distances(matrix_signs: Signs, vector_signs: Signs) -> NDArray[np.uint16]:
    """The number of signs in which each row differs from the vector."""
    in_eights = matrix_signs.shape[1] % 8 == 0  # then 8 bytes are compared as one number
    kind = np.dtype(np.uint64 if in_eights else np.uint8)
    rows, wanted = matrix_signs.view(kind), vector_signs.view(kind)
    width = rows.shape[1]
    # One flat array instead of many short rows: numpy has a fixed cost per row.
    flat, repeated = rows.reshape(-1), np.tile(wanted, _BATCH)
    total = np.empty(len(rows), dtype=np.uint16)
    for start in range(0, len(rows), _BATCH):
        batch = flat[start * width : (start + _BATCH) * width]
        differing = np.bitwise_count(batch ^ repeated[: len(batch)]).reshape(-1, width)
        differing.T.copy().sum(axis=0, dtype=np.uint16, out=total[start : start + _BATCH])
    return total
