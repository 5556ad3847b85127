"""The decisions of reviews in a PostgreSQL store: marks on wrong memories, and postponed items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from keepmum.core.memory import Embedding, Memory, WrongMark
from keepmum.stores import vectors as arrays
from keepmum.stores.postgres.access import Database
from keepmum.stores.sqlite.rows import digest

__all__ = ["PostgresReviewState"]

_MARK = ", ".join(WrongMark._fields)
_CHANGED = "INSERT INTO changes(tenant, memory) VALUES (%s, '')"  # the queue changes

Acting = Callable[[], AbstractContextManager[Database]]


class PostgresReviewState:
    """The `ReviewState` of a PostgreSQL store (see `keepmum.stores.base` for what each method returns).

    Postponed items belong to the organisation, so that one person's decision holds for all.
    """

    def __init__(self, acting: Acting, tenants: Callable[[Iterable[str | None]], dict[str, int]]) -> None:
        """`acting` opens transactions; `tenants` are the numbers of projects."""
        self._acting = acting
        self._tenants = tenants

    def mark_wrong(self, memory: Memory, mark: WrongMark, embedding: Embedding | None) -> None:
        """Keep a mark with a digest of the text and its vector."""
        model, vector = (None, None) if embedding is None else (embedding.model, embedding.vector)
        tenant = self._tenants([memory.project])[memory.project or ""]
        values = (tenant, *mark, memory.space, digest(memory.text), model, vector)
        with self._acting() as db:
            db.run("DELETE FROM wrong WHERE tenant = %s AND memory = %s", tenant, mark.memory)
            db.run(
                f"INSERT INTO wrong(tenant, {_MARK}, space, digest, model, vector)"
                f" VALUES ({', '.join(['%s'] * len(values))})",
                *values,
            )

    def unmark_wrong(self, memories: Sequence[str]) -> int:
        """Remove the marks of these memories; returns how many there were."""
        with self._acting() as db:
            return db.run("DELETE FROM wrong WHERE memory = ANY (%s)", list(memories))

    def marked_of(self, user: str) -> list[str]:
        """The ids of the memories of a user that have a mark; a space ends with its user."""
        with self._acting() as db:
            found = db.query("SELECT memory, space FROM wrong")
        return [memory for memory, space in found if space.rpartition("\x1f")[2] == user]

    def wrong_like(
        self, spaces: Sequence[str], text: str, embedding: Embedding | None, cosine: float
    ) -> list[tuple[WrongMark, float]]:
        """The marks on the same text, latest first; without one, those on similar texts."""
        with self._acting() as db:
            same = db.query(
                f"SELECT {_MARK} FROM wrong WHERE digest = %s AND space = ANY (%s) ORDER BY at DESC",
                digest(text), list(spaces),
            )  # fmt: skip
            if same or embedding is None:
                return [(WrongMark(*row), 1.0) for row in same]
            found = db.query(
                f"SELECT vector, {_MARK} FROM wrong WHERE model = %s AND length(vector) = %s AND space = ANY (%s)",
                embedding.model, len(embedding.vector), list(spaces),
            )  # fmt: skip
        cosines = arrays.cosines([row[0] for row in found], embedding.vector)
        near = [(WrongMark(*row[1:]), value) for row, value in zip(found, cosines, strict=True) if value >= cosine]
        return sorted(near, key=lambda pair: -pair[1])

    def postpone(self, item: str, now: int, until: int | None) -> None:
        """Hide a review item, and drop what was hidden until now."""
        tenant = self._tenants([None])[""]
        with self._acting() as db:
            db.run("DELETE FROM postponed WHERE until <= %s OR item = %s", now, item)
            db.run("INSERT INTO postponed(tenant, item, until) VALUES (%s, %s, %s)", tenant, item, until)
            db.run(_CHANGED, tenant)

    def resume_item(self, item: str) -> None:
        """Show a postponed review item again."""
        tenant = self._tenants([None])[""]
        with self._acting() as db:
            db.run("DELETE FROM postponed WHERE item = %s", item)
            db.run(_CHANGED, tenant)

    def postponed(self, now: int) -> frozenset[str]:
        """The ids of the review items that are hidden at `now`."""
        with self._acting() as db:
            return frozenset(
                item for (item,) in db.query("SELECT item FROM postponed WHERE until IS NULL OR until > %s", now)
            )
