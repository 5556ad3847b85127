"""The context of a memory: its neighbours in the same session, whose text helps to find it.

Only active memories of the same space are neighbours, so the words of one project, session or user never lead to a
memory of another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from keepmum.core.memory import Memory

__all__ = ["around", "neighbours", "refresh"]

_LENGTH = 2_000  # characters of each neighbour
_NEIGHBOUR = "n.session = m.session AND n.space = m.space AND n.status = 'active' AND m.status = 'active'"


def around(steps: int) -> tuple[str, str]:
    """FROM clauses of two subqueries: row `n` is `steps` before row `m` in its session, or `steps` after it."""
    return (
        f"memories n WHERE {_NEIGHBOUR} AND n.seq < m.seq ORDER BY n.seq DESC LIMIT 1 OFFSET {steps - 1}",
        f"memories n WHERE {_NEIGHBOUR} AND n.seq > m.seq ORDER BY n.seq LIMIT 1 OFFSET {steps - 1}",
    )


_BEFORE, _AFTER = around(1)


def neighbours(db: sqlite3.Connection, memory: Memory | None) -> set[int]:
    """The row numbers of a memory and of its neighbours, as they are in the database now."""
    if memory is None or memory.session is None:
        return set()
    found = db.execute(
        f"SELECT seq, (SELECT n.seq FROM {_BEFORE}), (SELECT n.seq FROM {_AFTER}) FROM memories m WHERE id = ?",
        (memory.id,),
    ).fetchone()
    return {number for number in found or () if number is not None}


def refresh(db: sqlite3.Connection, numbers: Iterable[int], change: int) -> None:
    """Update the context column of these rows, in the transaction of the caller."""
    text = f"substr(n.text, 1, {_LENGTH})"
    context = f"coalesce((SELECT {text} FROM {_BEFORE}), '') || char(10) || coalesce((SELECT {text} FROM {_AFTER}), '')"
    for number in sorted(numbers):
        row = db.execute(f"SELECT context, {context} AS now FROM memories m WHERE seq = ?", (number,)).fetchone()
        if row is not None and row["context"] != row["now"].strip("\n"):
            db.execute(
                "UPDATE memories SET context = ?, change = ? WHERE seq = ?", (row["now"].strip("\n"), change, number)
            )
