"""All memories that pass some filters, page by page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Unpack

from keepmum.core.memory import Memory, Order
from keepmum.service import MemoryService, Wanted

__all__ = ["browse"]

_PAGE = 200  # memories per read


def browse(service: MemoryService, *, order: Order = "updated", **wanted: Unpack[Wanted]) -> Iterator[Memory]:
    """Every memory that passes the filters, lazily, in the given order."""
    for offset in itertools.count(step=_PAGE):
        page = service.recall(None, order=order, limit=_PAGE, offset=offset, **wanted)
        yield from (match.memory for match in page)
        if len(page) < _PAGE:
            return
