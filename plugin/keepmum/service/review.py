"""Review the stored memories: near duplicates, memories that were never loaded, stale ones."""

from __future__ import annotations

from dataclasses import dataclass

from keepmum.core import similarity
from keepmum.core.memory import Memory
from keepmum.core.retention import DAY_MS
from keepmum.core.similarity import Similar
from keepmum.service import lookup
from keepmum.service.context import ServiceContext

__all__ = ["Review", "Reviewer"]

_REVIEWED = 2_000  # memories, the latest first: comparing all pairs of these takes a tenth of a second
_GRACE_DAYS = 30  # a younger memory that was never loaded is not reported
_STALE_DAYS = 180


@dataclass(frozen=True, slots=True)
class Review:
    """Memories that a person may want to merge, correct or forget; each is in one list at most."""

    looked_at: int
    total: int  # memories of the place; only the latest are looked at when there are more
    repeated: tuple[tuple[Memory, Similar], ...]  # a memory, and an earlier one that it nearly repeats
    never_loaded: tuple[Memory, ...]
    stale: tuple[Memory, ...]  # loaded once, and neither loaded nor changed for half a year


class Reviewer:
    """Reviews the memories of a place; changes nothing."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def review(self) -> Review:
        """The memories of this place that are worth a second look, of the latest 2,000.

        Near duplicates are found by vector search only.

        Raises: StoreError.
        """
        context, now = self.context, self.context.clock()
        accepted = lookup.filter_of(context)
        found = context.store.browse(accepted, limit=_REVIEWED)
        by_id = {memory.id: memory for memory in found}
        vectors = context.store.features.vector_search if context.embeddings.usable else None
        repeats = vectors.duplicates([memory.id for memory in found], similarity.NEAR) if vectors else {}
        single = [memory for memory in found if memory.id not in repeats]
        mask = context.masker.memory
        return Review(
            looked_at=len(found),
            total=max(len(found), context.store.count(accepted)),
            repeated=tuple(
                (new := mask(by_id[later]), similarity.compare(new, mask(by_id[older]), cosine))
                for older, (later, cosine) in repeats.items()
            ),
            never_loaded=context.show([memory for memory in single if _was_never_loaded(memory, now)]),
            stale=context.show([memory for memory in single if _is_stale(memory, now)]),
        )


def _was_never_loaded(memory: Memory, now: int) -> bool:
    return memory.access_count == 0 and now - memory.updated_at > _GRACE_DAYS * DAY_MS


def _is_stale(memory: Memory, now: int) -> bool:
    last = max(memory.accessed_at or 0, memory.updated_at)
    return memory.access_count > 0 and now - last > _STALE_DAYS * DAY_MS
