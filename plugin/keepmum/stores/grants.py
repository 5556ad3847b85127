"""What a principal of a team server may read and write, as the stores enforce it."""

from __future__ import annotations

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
