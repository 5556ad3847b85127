"""What an import would bring: a count of what a source holds, before anything is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from keepmum.service.importers.format import Found
from keepmum.service.importers.item import NotKept

__all__ = ["Survey", "survey"]


@dataclass(slots=True)
class Survey:
    """The content of a source."""

    memories: int = 0
    former: int = 0  # former states of them
    unreadable: int = 0
    earliest: int | None = None
    latest: int | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    projects: Counter[str] = field(default_factory=Counter)  # as the source names them
    not_kept: Counter[str] = field(default_factory=Counter)


def survey(found: Iterable[Found]) -> Survey:
    """The content of what an importer reads; memories are counted and not held."""
    counted = Survey()
    for each in found:
        if isinstance(each, NotKept):
            counted.not_kept[each.what] += each.count
        elif each.values is None:
            counted.unreadable += 1
        else:
            counted.memories += 1
            counted.former += len(each.past)
            counted.not_kept.update(each.not_kept)
            counted.kinds[str(each.values.get("kind") or "note")] += 1
            counted.authors[str(each.values.get("created_by") or "unknown")] += 1
            if each.project:
                counted.projects[each.project] += 1
            at = each.values.get("updated_at")
            if isinstance(at, int):
                counted.earliest = min(at, counted.earliest or at)
                counted.latest = max(at, counted.latest or at)
    return counted
