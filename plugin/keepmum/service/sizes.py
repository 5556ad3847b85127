"""How many memories a search can find, counted at most once a minute for each filter."""

from __future__ import annotations

import time
from dataclasses import replace

from keepmum.core.memory import Filter
from keepmum.stores import Store

__all__ = ["Counted", "Sizes"]

Counted = dict[Filter, tuple[float, int]]  # when, and how many

_SECONDS = 60.0
_MOST = 64  # filters that are remembered


class Sizes:
    """The numbers of memories of one store, by filter. They are used as orders of magnitude."""

    def __init__(self, store: Store, known: Counted | None = None) -> None:
        """`known` is shared by those who see the same memories."""
        self._store = store
        self._known: Counted = {} if known is None else known

    def of(self, wanted: Filter) -> int:
        """About how many memories pass a filter."""
        asked = replace(wanted, now=0)
        at, count = self._known.get(asked, (0.0, -1))
        if count < 0 or time.monotonic() > at + _SECONDS:
            count = self._store.count(wanted)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[asked] = (time.monotonic(), count)
        return count
