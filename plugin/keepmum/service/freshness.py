"""What became of the code that memories cite: for the lines of an answer, and for a review."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import NamedTuple

from keepmum.core.errors import Incomplete
from keepmum.core.memory import Memory
from keepmum.service import lookup
from keepmum.service.citations import IN_AN_ANSWER
from keepmum.service.context import ServiceContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.core.citations.freshness import Freshness

__all__ = ["CodeReader", "Outdated"]


class Outdated(NamedTuple):
    """Memories whose code has changed or gone, latest first."""

    found: tuple[tuple[Memory, Freshness], ...]
    is_complete: bool  # whether all memories were looked at in time


class CodeReader:
    """Compares the code that memories cite with the working tree of this place."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context

    def freshness(self, memories: Sequence[Memory], seconds: float = IN_AN_ANSWER) -> dict[str, Freshness]:
        """The verdict about each memory by its id; what is not known in time counts as unknown."""
        place = self.context.place
        return self.context.citations.freshness(memories, place.project, place.root, seconds)

    def remarks(self, memories: Sequence[Memory], seconds: float = IN_AN_ANSWER) -> dict[str, str]:
        """A phrase for each memory whose code has changed or gone, by its id, for its line in a text."""
        return self.context.remarks(self.freshness(memories, seconds))

    def outdated(self, seconds: float = 1.0) -> Outdated:
        """The memories of this place whose code has changed or gone, as far as that is found out in time.

        Raises: StoreError.
        """
        context, deadline = self.context, time.monotonic() + seconds
        found: list[tuple[Memory, Freshness]] = []
        with contextlib.suppress(Incomplete):
            for page in lookup.listing(context.store, lookup.filter_of(context)):
                left = deadline - time.monotonic()
                verdicts = self.freshness(page, left) if left > 0 else {}
                worse = [
                    each for each in page if each.id in verdicts and verdicts[each.id].verdict in {"changed", "gone"}
                ]
                found += [(shown, verdicts[shown.id]) for shown in context.show(worse)]
                if time.monotonic() > deadline:
                    break
            else:
                return Outdated(tuple(found), is_complete=True)
        return Outdated(tuple(found), is_complete=False)
