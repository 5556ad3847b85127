"""Requests that have one effect however often they are sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from keepmum.core.errors import StoreError
from keepmum.stores.team import Claim, Repeated, TeamRecords, claiming

__all__ = ["Claim", "once"]

_Result = TypeVar("_Result")


def once(
    records: TeamRecords, claim: Claim, run: Callable[[], _Result], replay: Callable[[tuple[str, ...]], _Result]
) -> _Result:
    """What `run` returns, or `replay` when the request was answered before.

    `replay` gets the ids of the memories that the first request wrote, created ones first. The answer is kept in the
    transaction of the last commit in `run`; a request that fails keeps none, and may be sent again.

    Raises: InvalidInput when the key came with another request before, and what the functions raise.
    """
    kept = records.answer(claim)
    if kept is not None:
        return replay(kept.ids)
    try:
        with claiming(claim):
            result = run()
    except Repeated:  # one that came at the same time was first
        kept = records.answer(claim)
        if kept is None:
            raise StoreError("the answer to the first request was removed meanwhile; try again") from None
        return replay(kept.ids)
    return result
