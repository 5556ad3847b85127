"""What a principal of a team server may read and write, as the stores enforce it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import NamedTuple

__all__ = ["ORGANISATION", "Grant"]

ORGANISATION = 1  # a server serves one organisation


class Grant(NamedTuple):
    """The projects of one organisation that a principal may read and write, by id; None for all of them.

    The id "" is the space of memories that belong to no project.
    """

    organisation: int
    read: frozenset[str] | None = None
    write: frozenset[str] | None = None

    def among(self, projects: AbstractSet[str]) -> Grant:
        """What this grant allows in these projects."""
        read, write = (frozenset(projects) if each is None else each & projects for each in (self.read, self.write))
        return Grant(self.organisation, read, write)
