"""What an importer gives, one for each memory that it finds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from keepmum.core import ids
from keepmum.core.memory import JsonValue

__all__ = ["ImportItem", "stable_id"]


@dataclass(frozen=True, slots=True)
class ImportItem:
    """A memory as an export has it, or why there is none at `place`; the words quote nothing of the text."""

    place: str  # a line of a file, or a file of a folder
    values: Mapping[str, JsonValue] | None
    problem: str = ""


def stable_id(milliseconds: int, *words: str) -> str:
    """An id that follows from words, so that reading the same thing again finds it known already."""
    digits = hashlib.blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=10).hexdigest()
    bounds = ids.id_range(f"{milliseconds & (1 << 48) - 1:012x}7{digits[:3]}8{digits[3:18]}")
    assert bounds is not None
    return bounds[0]
