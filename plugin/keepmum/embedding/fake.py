"""A deterministic embedder for tests: texts with common words have similar vectors, and nothing has to be installed."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keepmum.embedding.base import Vectors

__all__ = ["FakeEmbedder"]

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Sums one fixed random vector per word; a text has the same vector in every process."""

    def __init__(self, dimensions: int = 64, model: str = "fake") -> None:
        self.dimensions = dimensions
        self.model = f"{model}-{dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            for word in _WORD.findall(text.lower()) or [""]:
                rows[number] += np.random.default_rng(zlib.crc32(word.encode())).standard_normal(self.dimensions)
        norms: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / norms
