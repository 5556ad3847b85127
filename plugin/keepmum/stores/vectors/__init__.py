"""Vectors in files that all processes of a machine share, and exact search over them. Imports numpy: load it late."""

from __future__ import annotations

from keepmum.stores.vectors.matrix import Damaged, Matrix, Row
from keepmum.stores.vectors.packing import pack, point, unit, unpack
from keepmum.stores.vectors.search import ALL_OF_IT

__all__ = ["ALL_OF_IT", "Damaged", "Matrix", "Row", "pack", "point", "unit", "unpack"]
