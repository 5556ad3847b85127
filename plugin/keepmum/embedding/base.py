"""What every embedder promises those who search. It knows nothing of memories, stores or settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # numpy is loaded where vectors are made, never to describe them
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Turns texts into vectors of one space; safe to be called from several threads."""

    @property
    def model(self) -> str:
        """The name of the space: two vectors may be compared when they were made under the same name.

        It changes with the weights and with whatever else changes a vector beyond rounding.
        """

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, in their order: float32, of length 1; no texts give no rows.

        A text without any word has a row too. Long texts are cut to what the model reads.

        Raises: EmbeddingError; then no text was embedded.
        """
