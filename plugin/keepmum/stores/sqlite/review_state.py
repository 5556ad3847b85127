"""The decisions of reviews in a SQLite store: marks on wrong memories, and postponed items."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence

from keepmum.core.memory import Embedding, Memory, WrongMark
from keepmum.stores.sqlite import edits, rows
from keepmum.stores.sqlite.lexical import Query

__all__ = ["SqliteReviewState"]

_MARK = ", ".join(WrongMark._fields)


class SqliteReviewState:
    """The `ReviewState` of a SQLite store (see `keepmum.stores.base` for what each method returns)."""

    def __init__(
        self, query: Query, writing: Callable[[], contextlib.AbstractContextManager[sqlite3.Connection]]
    ) -> None:
        """`query` and `writing` are of the store."""
        self._query = query
        self._writing = writing

    def mark_wrong(self, memory: Memory, mark: WrongMark, embedding: Embedding | None) -> None:
        """Keep a mark with a digest of the text and its vector."""
        model, vector = (None, None) if embedding is None else (embedding.model, embedding.vector)
        with self._writing() as db:
            db.execute(
                f"INSERT OR REPLACE INTO wrong({_MARK}, space, digest, model, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*mark, memory.space, rows.digest(memory.text), model, vector),
            )

    def unmark_wrong(self, memories: Sequence[str]) -> int:
        """Remove the marks of these memories; returns how many there were."""
        with self._writing() as db:
            return db.executemany("DELETE FROM wrong WHERE memory = ?", [(memory,) for memory in memories]).rowcount

    def marked_of(self, user: str) -> list[str]:
        """The ids of the memories of a user that have a mark; a space ends with its user."""
        found = self._query("SELECT memory, space FROM wrong", ())
        return [row["memory"] for row in found if row["space"].rpartition("\x1f")[2] == user]

    def wrong_like(
        self, spaces: Sequence[str], text: str, embedding: Embedding | None, cosine: float
    ) -> list[tuple[WrongMark, float]]:
        """The marks on the same text, latest first; without one, those on similar texts."""
        here = f"space IN ({', '.join('?' * len(spaces))})"
        same = self._query(
            f"SELECT {_MARK} FROM wrong WHERE digest = ? AND {here} ORDER BY at DESC", (rows.digest(text), *spaces)
        )
        if same or embedding is None:
            return [(WrongMark(*row), 1.0) for row in same]
        found = self._query(
            f"SELECT vector, {_MARK} FROM wrong WHERE model = ? AND length(vector) = ? AND {here}",
            (embedding.model, len(embedding.vector), *spaces),
        )
        if not found:
            return []
        from keepmum.stores import vectors

        cosines = vectors.cosines([row["vector"] for row in found], embedding.vector)
        near = [(WrongMark(*row[1:]), value) for row, value in zip(map(tuple, found), cosines, strict=True)]
        return sorted((pair for pair in near if pair[1] >= cosine), key=lambda pair: -pair[1])

    def postpone(self, item: str, now: int, until: int | None) -> None:
        """Hide a review item, and drop what was hidden until now."""
        with self._writing() as db:
            edits.next_number(db)  # the queue changes
            db.execute("DELETE FROM postponed WHERE until <= ?", (now,))
            db.execute("INSERT OR REPLACE INTO postponed(item, until) VALUES (?, ?)", (item, until))

    def resume_item(self, item: str) -> None:
        """Show a postponed review item again."""
        with self._writing() as db:
            edits.next_number(db)
            db.execute("DELETE FROM postponed WHERE item = ?", (item,))

    def postponed(self, now: int) -> frozenset[str]:
        """The ids of the review items that are hidden at `now`."""
        return frozenset(
            row["item"] for row in self._query("SELECT item FROM postponed WHERE until IS NULL OR until > ?", (now,))
        )
