"""Looking over what is kept: what says the same twice, what nobody ever loaded, what has gone stale."""

from __future__ import annotations

from dataclasses import dataclass

from keepmum.core import similarity
from keepmum.core.memory import Memory
from keepmum.core.retention import DAY_MS
from keepmum.core.similarity import Similar
from keepmum.service.context import Context

__all__ = ["Review", "Reviewing"]

_LOOKED_AT = 2_000  # memories, the latest first: comparing each with each of so many takes a tenth of a second
_SETTLED_DAYS = 30  # a memory may lie so long before nobody's having loaded it says anything
_STALE_DAYS = 180


@dataclass(frozen=True, slots=True)
class Review:
    """What a person may want to merge, correct or forget; each memory stands in one list at most."""

    looked_at: int
    repeated: tuple[tuple[Memory, Similar], ...]  # a memory, and one from before that it nearly repeats
    never_loaded: tuple[Memory, ...]
    stale: tuple[Memory, ...]  # loaded once, and neither loaded nor changed for half a year


class Reviewing(Context):
    """The part of the service that looks over what is kept, and changes nothing."""

    def review(self) -> Review:
        """The memories of this place that are worth a second look, of the latest 2,000.

        Repeats are told where meaning is searched; the others everywhere.

        Raises: StoreError.
        """
        now = self._clock()
        found = self.store.browse(self._filter(), limit=_LOOKED_AT)
        by_id = {memory.id: memory for memory in found}
        vectors = self.store.features.vector_search if self._embeddings.usable else None
        repeats = vectors.duplicates([memory.id for memory in found], similarity.NEAR) if vectors else {}
        single = [memory for memory in found if memory.id not in repeats]
        pairs = [
            (self._masker.memory(by_id[later]), by_id[older], cosine) for older, (later, cosine) in repeats.items()
        ]
        return Review(
            looked_at=len(found),
            repeated=tuple(
                (new, similarity.compare(new, self._masker.memory(old), cosine)) for new, old, cosine in pairs
            ),
            never_loaded=self._shown([memory for memory in single if _was_never_loaded(memory, now)]),
            stale=self._shown([memory for memory in single if _is_stale(memory, now)]),
        )


def _was_never_loaded(memory: Memory, now: int) -> bool:
    return memory.access_count == 0 and now - memory.updated_at > _SETTLED_DAYS * DAY_MS


def _is_stale(memory: Memory, now: int) -> bool:
    last = max(memory.accessed_at or 0, memory.updated_at)
    return memory.access_count > 0 and now - last > _STALE_DAYS * DAY_MS
