"""The protocol of embedders, which know nothing of memories, stores or settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # numpy is imported only where vectors are computed
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Turns texts into vectors of one space; safe to call from several threads."""

    @property
    def model(self) -> str:
        """The name of the vector space; only vectors made under the same name can be compared.

        It changes with the weights and with anything else that changes a vector by more than rounding.
        """

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One float32 row of length 1 for each text, in order; no rows for no texts.

        A text without words has a row too. Long texts are cut to what the model reads.

        Raises: EmbeddingError; then no text was embedded.
        """
