"""Whether cited code still is as it was, and how that is said in the line of a memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from keepmum.core.memory import Citation

__all__ = ["UNKNOWN", "Freshness", "Location", "Verdict", "combined", "phrase"]

Verdict = Literal["valid", "changed", "gone", "unknown"]
_ORDER: tuple[Verdict, ...] = ("gone", "changed", "valid", "unknown")  # the first decides about a memory
_SHORT_COMMIT = 7


class Location(NamedTuple):
    """Where a file or definition is now."""

    path: str
    symbol: str | None = None
    line: int | None = None


class Freshness(NamedTuple):
    """What became of the code that a memory cites, or of one citation."""

    verdict: Verdict
    citation: Citation | None = None  # the one that decided; None without any
    location: Location | None = None  # of code that is gone from its place, when it is found elsewhere
    others: int = 0  # further citations with the same verdict


UNKNOWN = Freshness("unknown")


def combined(each: Iterable[Freshness]) -> Freshness:
    """The verdict about a memory from those about its citations: the worst that is known."""
    found = list(each)
    for verdict in _ORDER:
        same = [one for one in found if one.verdict == verdict]
        if same:
            best = next((one for one in same if one.location is not None), same[0])
            return best._replace(others=len(same) - 1)
    return UNKNOWN


def phrase(freshness: Freshness) -> str:
    """A remark on a memory whose code has changed or gone; "" for others."""
    citation = freshness.citation
    if citation is None or freshness.verdict not in {"changed", "gone"}:
        return ""
    subject = f"{citation.path}::{citation.symbol}" if citation.symbol else citation.path
    more = f", and {freshness.others} more" if freshness.others else ""
    if freshness.verdict == "changed":
        return f"may be outdated: {subject} changed since {citation.commit[:_SHORT_COMMIT]}{more}"
    return f"gone: {subject}{_now(citation, freshness.location)}{more}"


def _now(citation: Citation, location: Location | None) -> str:
    if location is None:
        return ""
    renamed = location.symbol is not None and location.symbol != citation.symbol
    if location.path == citation.path:
        return f" (now {location.symbol})"
    return f" (now {location.path}::{location.symbol})" if renamed else f" (now in {location.path})"
