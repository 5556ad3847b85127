"""What was said around a memory: the memories before and after it in its session help to find it.

Only active memories of the same space count, so that no words of one project, session or user lead to another's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from keepmum.core.memory import Memory

__all__ = ["around", "neighbours", "refresh"]

_TAKEN = 2_000  # characters of each neighbour
_BESIDE = "n.session = m.session AND n.space = m.space AND n.status = 'active' AND m.status = 'active'"


def around(steps: int) -> tuple[str, str]:
    """The rows so many steps before a row `m` in its session, and after it: FROM and WHERE of a subquery, as `n`."""
    return (
        f"memories n WHERE {_BESIDE} AND n.seq < m.seq ORDER BY n.seq DESC LIMIT 1 OFFSET {steps - 1}",
        f"memories n WHERE {_BESIDE} AND n.seq > m.seq ORDER BY n.seq LIMIT 1 OFFSET {steps - 1}",
    )


_BEFORE, _AFTER = around(1)


def neighbours(db: sqlite3.Connection, memory: Memory | None) -> set[int]:
    """The row numbers of a memory, as it is in the database, and of those beside it in its session."""
    if memory is None or memory.session is None:
        return set()
    found = db.execute(
        f"SELECT seq, (SELECT n.seq FROM {_BEFORE}), (SELECT n.seq FROM {_AFTER}) FROM memories m WHERE id = ?",
        (memory.id,),
    ).fetchone()
    return {number for number in found or () if number is not None}


def refresh(db: sqlite3.Connection, numbers: Iterable[int], change: int) -> None:
    """Bring what is kept of the neighbours of these memories up to date, inside the caller's transaction."""
    said = f"substr(n.text, 1, {_TAKEN})"
    context = f"coalesce((SELECT {said} FROM {_BEFORE}), '') || char(10) || coalesce((SELECT {said} FROM {_AFTER}), '')"
    for number in sorted(numbers):
        row = db.execute(f"SELECT context, {context} AS now FROM memories m WHERE seq = ?", (number,)).fetchone()
        if row is not None and row["context"] != row["now"].strip("\n"):
            db.execute(
                "UPDATE memories SET context = ?, change = ? WHERE seq = ?", (row["now"].strip("\n"), change, number)
            )
