"""Lists for a person who looks through all memories: the order of many without their texts, and ranges in full.

Nothing here is logged, and nothing counts as use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Unpack, get_args

from keepmum.core import retention
from keepmum.core.memory import Memory, Outline
from keepmum.service import lookup
from keepmum.service.context import ServiceContext
from keepmum.service.lookup import Wanted
from keepmum.stores.base import known_folders

__all__ = ["SORTS", "Lister", "Sort"]

Sort = Literal["updated", "created", "used", "fading", "importance"]
SORTS: tuple[Sort, ...] = get_args(Sort)

_Key = Callable[[Outline], tuple[float | str, ...]]


class Lister:
    """Lists memories as a person looks through them."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def order(self, sort: Sort, **wanted: Unpack[Wanted]) -> list[str]:
        """The ids of all memories that pass the filters, in this order.

        Raises: InvalidInput, StoreError.
        """
        now = self.context.clock()
        outlines = {each.id: each for each in self.context.store.outlines(lookup.filter_of(self.context, wanted))}
        if sort == "fading":  # what is pinned or of the long tier does not fade, and comes last
            found = sorted(outlines.values(), key=lambda each: (retention.retention(each, now), each.id))
        else:
            found = sorted(outlines.values(), key=_KEYS[sort], reverse=True)
        return [each.id for each in found]

    def peek(self, memories: Sequence[str]) -> list[Memory]:
        """The memories of this user with these complete ids, in this order, as they may be shown."""
        found = self.context.store.get(memories)
        return list(self.context.show([each for each in found if each.user == self.context.place.user]))

    def folders(self) -> int:
        """How many folders of this project this machine has seen."""
        return sum(project == self.context.place.project for _, project, _ in known_folders(self.context.store))

    def near(self, memory: Memory, limit: int = 5) -> list[tuple[Memory, float]]:
        """The active memories of this place whose content is most similar, with the cosine; none without a model."""
        context = self.context
        vectors, embedding = context.embeddings.search, context.embeddings.of_memory(memory)
        if vectors is None or embedding is None:
            return []
        found = vectors.similar(embedding, lookup.filter_of(context), limit + 1)
        return [(context.masker.memory(other), cosine) for other, cosine in found if other.id != memory.id][:limit]


_KEYS: Mapping[Sort, _Key] = MappingProxyType(
    {
        "updated": lambda each: (each.updated_at, each.id),
        "created": lambda each: (each.id,),  # an id begins with its time
        "used": lambda each: (each.access_count, each.updated_at, each.id),
        "importance": lambda each: (each.importance, each.updated_at, each.id),
    }
)
