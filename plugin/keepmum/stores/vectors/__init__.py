"""Vectors in files that all processes of a machine share, and search in them. Imports numpy, so import it late."""

from __future__ import annotations

from keepmum.stores.vectors.arrays import (
    MAX_EXACT,
    NEIGHBOUR_WEIGHTS,
    cosines,
    neighbours,
    normalised,
    pack,
    unpack,
    unpack_one,
)
from keepmum.stores.vectors.matrix import Damaged, Matrix, Row

__all__ = [
    "MAX_EXACT",
    "NEIGHBOUR_WEIGHTS",
    "Damaged",
    "Matrix",
    "Row",
    "cosines",
    "neighbours",
    "normalised",
    "pack",
    "unpack",
    "unpack_one",
]
