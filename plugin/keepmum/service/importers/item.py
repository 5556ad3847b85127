"""The result of an importer: one item for each memory that it reads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from keepmum.core import ids
from keepmum.core.memory import JsonValue

__all__ = ["ImportItem", "stable_id"]


@dataclass(frozen=True, slots=True)
class ImportItem:
    """A memory in the form of an export, or the problem with it; the problem quotes nothing of the text."""

    place: str  # a line of a file, or a file in a folder
    values: Mapping[str, JsonValue] | None
    problem: str = ""


def stable_id(milliseconds: int, *parts: str) -> str:
    """An id derived from `parts`: importing the same source again gives the same ids."""
    digits = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=10).hexdigest()
    return ids.from_uuid(f"{milliseconds & (1 << 48) - 1:012x}7{digits[:3]}8{digits[3:18]}")
