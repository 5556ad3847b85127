"""What became of the code that memories cite: for the lines of an answer, and for a review."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import NamedTuple

from keepmum.core.errors import Incomplete
from keepmum.core.memory import Citation, Memory
from keepmum.service import lookup
from keepmum.service.citations import IN_AN_ANSWER
from keepmum.service.context import ServiceContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.core.citations.freshness import Freshness

__all__ = ["CodeReader", "Outdated"]

_LONGEST = 48 * 1024  # characters of code that are compared


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

    def cited(self, memory: Memory, seconds: float = IN_AN_ANSWER) -> list[tuple[Citation, Freshness]]:
        """What a memory cites, and what became of each; what is not known in time counts as unknown."""
        place = self.context.place
        return self.context.citations.each(memory, place.project, place.root, seconds)

    def difference(self, citation: Citation) -> list[tuple[str, str]] | None:
        """The lines of cited code that stayed (" "), went ("-") and came ("+"); None where there is no repository."""
        import difflib  # here, since no server needs it to start

        texts = self.context.citations.texts(citation, self.context.place.root)
        if texts is None:
            return None
        then, now = (self.context.masker.text(text[:_LONGEST]).splitlines() for text in texts)
        lines: list[tuple[str, str]] = []
        for kind, first, last, start, end in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
            if kind == "equal":
                lines += [(" ", line) for line in then[first:last]]
            else:
                lines += [*(("-", line) for line in then[first:last]), *(("+", line) for line in now[start:end])]
        return lines

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
