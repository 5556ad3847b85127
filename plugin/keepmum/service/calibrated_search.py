"""Vector search whose cosines are on the common scale, so that thresholds are the same for all models."""

from __future__ import annotations

from collections.abc import Sequence

from keepmum.core.calibration import COMMON, Calibration
from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores.base import QueryVector, VectorSearch

__all__ = ["CalibratedSearch", "calibrated"]


def calibrated(vectors: VectorSearch, calibration: Calibration) -> VectorSearch | CalibratedSearch:
    """Search by these vectors with cosines on the common scale."""
    return vectors if calibration == COMMON else CalibratedSearch(vectors, calibration)


class CalibratedSearch:
    """The part of `VectorSearch` that has to do with cosines."""

    def __init__(self, vectors: VectorSearch, calibration: Calibration) -> None:
        self._vectors = vectors
        self._common = calibration.to_common
        self._own = calibration.from_common

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """As `VectorSearch.search`."""
        found = self._vectors.search(words, vector, wanted, limit)
        return [one if one.cosine is None else one._replace(cosine=self._common(one.cosine)) for one in found]

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """As `VectorSearch.similar`."""
        found = self._vectors.similar(embedding, wanted, limit)
        return [(memory, self._common(cosine)) for memory, cosine in found]

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        """As `VectorSearch.neighbours`."""
        found = self._vectors.neighbours(ids, among, self._own(cosine), most)
        return {one: [(other, self._common(own)) for other, own in others] for one, others in found.items()}
