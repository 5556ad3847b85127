"""The rows of a team's database other than memories, people, keys and audit: copied unchanged.

They are the activity log, the decisions of reviews, and the answers to repeated requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

__all__ = ["TRACES", "Columns", "Trace", "Traces", "Value"]

Trace = Literal["activity", "wrong", "postponed", "answers"]
Value = str | int | bytes | None


class Columns(NamedTuple):
    """The columns of a table of traces."""

    order: tuple[str, ...]  # which rows are read in; unique, and not changed by later rows
    copied: tuple[str, ...]


TRACES: Mapping[Trace, Columns] = {
    "activity": Columns(("seq",), ("at", "agent", "action", "memory", "key", "project", "detail")),
    # The project is of the memory; only the engines that need it have a column for it.
    "wrong": Columns(
        ("memory", "space"), ("memory", "space", "digest", "at", "by", "reason", "model", "vector", "project")
    ),
    "postponed": Columns(("item",), ("item", "until")),
    "answers": Columns(("principal", "key"), ("principal", "key", "digest", "token", "answer", "at")),
}


class Traces(Protocol):
    """The traces of one organisation.

    Raises: StoreError from any method.
    """

    def rows(self, trace: Trace) -> Iterator[tuple[Value, ...]]:
        """All rows, in order, with the columns `copied`."""

    def count(self, trace: Trace) -> int:
        """The number of rows."""

    def adopt(self, trace: Trace, rows: Sequence[Sequence[Value]]) -> None:
        """Append rows of another database, in one transaction; the activity log makes no audit rows of them."""
