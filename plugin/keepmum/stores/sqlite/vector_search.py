"""Search by words and meaning together: full-text index and vectors, under one filter."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from keepmum.core.memory import SCOPES, Candidate, Embedding, Filter, Memory, space_of
from keepmum.stores.base import QueryVector
from keepmum.stores.sqlite import edits, embeddings, files, rows
from keepmum.stores.sqlite.lexical import Found, LexicalSearch, Query, passing

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keepmum.stores.sqlite.index import Index
    from keepmum.system.background import BackgroundTask

    Vector = NDArray[np.float32]
    _Nearest = list[tuple[int, float]]  # row numbers and cosines
    _Search = Callable[..., _Nearest]  # of a limit, and of row numbers among which to look
    _Passed = Callable[[_Nearest], Found]  # what of these passes the filter, as rows
    _Begun = tuple[Embedding | None, Index | None, _Nearest | None]
    Writing = Callable[[], contextlib.AbstractContextManager[sqlite3.Connection]]

__all__ = ["SqliteVectorSearch"]

_BROAD = 4  # times as many rows as are wanted come from the matrix, where not all of these pass the filter
_FACTS = ", ".join(f"m.{name}" for name in Candidate._fields[:-2])
_MEMORY = ", ".join(f"m.{name}" for name in rows.COLUMNS)
# Three ends of indexes, never a look at every memory.
_AWAITED = """FROM (
    SELECT memory FROM vectors WHERE awaited
    UNION ALL SELECT memory FROM vectors WHERE vector IS NOT NULL AND model < ?
    UNION ALL SELECT memory FROM vectors WHERE vector IS NOT NULL AND model > ?
) JOIN memories m ON m.seq = memory"""
_PATIENCE = 0.1  # seconds that a search waits for the index, which may be in the making
_HALF = 2  # bytes a dimension
_NOW = "SELECT value FROM counters WHERE name IN ('change', 'identity') ORDER BY name"


class _Standing(NamedTuple):
    """How the vectors of a store stand to a model, until the store changes."""

    change: int  # the number of the last change
    identity: int  # of the store
    other: str | None  # another model that vectors are of
    awaited: bool  # whether a memory has none of this model


class SqliteVectorSearch:
    """What the embedded store finds by meaning (see `keepmum.stores.base.VectorSearch` for what each method gives)."""

    def __init__(self, query: Query, writing: Writing, words: LexicalSearch, folder: str) -> None:
        """`query`, `writing` and `words` are the store's; copies of vectors lie in `folder`."""
        self._query = query
        self._writing = writing
        self._words = words
        self._folder = folder
        self._indexes: dict[str, Index] = {}
        self._standings: dict[str, _Standing] = {}
        self._thread = threading.RLock()
        self._behind = False  # whether the index has more to take in than a search may wait for
        self._searched = ""  # the model of the last search by meaning
        self._beside: BackgroundTask | None = None

    @property
    def problem(self) -> str:
        """Why no meaning is searched, where that will not mend itself."""
        return next((index.problem for index in self._indexes.values() if index.problem), "")

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Candidates of both legs; each has its cosine where it has a vector, whichever leg found it."""
        begun = self._begun(vector, wanted, limit)
        by_words = self._words.best(_FACTS, words, wanted, limit)
        known = {row[0]: row for row, _ in by_words}  # and are not looked up again
        asked, index, nearest = begun()
        if asked is not None and asked.model != self._searched:
            self._searched = asked.model
            index = self._followed(asked.model)
        if index is None or asked is None:
            return [Candidate._make((*row[1:], fit, None)) for row, fit in by_words]
        point = index.point(asked)
        search = functools.partial(index.nearest, point, _groups(wanted))
        passed = functools.partial(passing, self._query, _FACTS, wanted=wanted, known=known)
        near = self._near(search, wanted, limit, passed, nearest)
        cosines = {row[0]: cosine for row, cosine in near}
        cosines |= index.cosines(point, [number for number in known if number not in cosines])
        of_words = [(*row[1:], fit, cosines.get(row[0])) for row, fit in by_words]
        of_meaning = [(*row[1:], 0.0, cosine) for row, cosine in near if row[0] not in known]
        return list(map(Candidate._make, of_words + of_meaning))

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, by what each says alone."""
        index = self._followed(embedding.model)
        if index is None:
            return []
        search = functools.partial(index.nearest, index.point(embedding), _groups(wanted))
        passed = functools.partial(passing, self._query, _MEMORY, wanted=wanted)
        near = self._near(search, wanted, limit * _BROAD, passed)
        found = {row[0]: row for row, _ in near}
        cosines = self._own(embedding, list(found))
        best = sorted(cosines, key=lambda number: -cosines[number])[:limit]
        return [(rows.from_row(found[number]), cosines[number]) for number in best]

    def duplicates(self, ids: Sequence[str], cosine: float) -> dict[str, tuple[str, float]]:
        """Which of these memories say nearly the same as one before them."""
        import numpy as np

        from keepmum.stores import vectors

        marks = ", ".join("?" * len(ids))
        found = self._query(
            f"SELECT m.id, v.vector FROM memories m JOIN vectors v ON v.memory = m.seq"
            f" WHERE m.id IN ({marks}) AND v.vector IS NOT NULL",
            tuple(ids),
        )
        kept = {row["id"]: row["vector"] for row in found}
        known = [memory for memory in ids if memory in kept]
        if len(known) < 2:
            return {}
        points = vectors.unpack([kept[memory] for memory in known], len(kept[known[0]]) // _HALF)
        cosines = np.tril(points @ points.T, -1)  # of each with those before it
        if cosines.max() < cosine:
            return {}
        nearest = cosines.argmax(axis=1)
        return {
            known[later]: (known[int(nearest[later])], float(cosines[later, nearest[later]]))
            for later in np.flatnonzero(cosines.max(axis=1) >= cosine)
        }

    def other_model(self, model: str) -> str | None:
        """Another model that vectors of this store are of."""
        return self._standing(model).other

    def pending(self, model: str, limit: int) -> list[Memory]:
        """Memories that have no vector of `model` yet."""
        number = self._number(model)
        found = self._query(f"SELECT {_MEMORY} {_AWAITED} LIMIT ?", (number, number, limit))
        return [rows.from_row(row) for row in found]

    def count_pending(self, model: str) -> int:
        """How many these are."""
        number = self._number(model)
        return int(self._query(f"SELECT count(*) {_AWAITED}", (number, number))[0][0])

    def is_ready(self, model: str) -> bool:
        """Whether every memory has its vector, and the index all of them or nearly."""
        standing = self._standing(model)
        index = self._indexes.get(model)
        if standing.awaited or (index is not None and index.change == standing.change):
            return not standing.awaited
        self._followed(model)
        return not self._behind

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        """Keep vectors of memories that say still what they said."""
        with self._writing() as db:
            number = edits.next_number(db)
            return sum(embeddings.keep(db, memory, embedding, number, instead=True) for memory, embedding in embedded)

    def update_index(self, model: str) -> None:
        """Bring the index of a model's vectors up to date, whatever time that takes."""
        with self._thread:
            index = self._index(model)
            if index is not None:
                index.follow(at_most=None)
        self._behind = False

    def discard(self) -> None:
        """Remove every copy of vectors: they are made anew, without what was taken out of the store."""
        import shutil  # seldom wanted, and half a megabyte

        with self._thread:
            self.close()
            for name in os.listdir(self._folder) if os.path.isdir(self._folder) else ():
                if name.startswith(files.VECTORS_PREFIX):
                    shutil.rmtree(os.path.join(self._folder, name), ignore_errors=True)

    def close(self) -> None:
        """Let go of the index's files."""
        if self._beside is not None:
            self._beside.close()
            self._beside = None
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    def _begun(self, vector: QueryVector, wanted: Filter, limit: int) -> Callable[[], _Begun]:
        """What waits for a question, and for what is nearest to it in a large index, looked for beside the words.

        The index is that of the last search, if there is one and it is of the same model, as it nearly always is.
        """
        index = self._followed(self._searched) if self._searched else None
        if index is None or not index.is_large:
            return lambda: (vector(), index, None)
        if self._beside is None:
            from keepmum.system.background import BackgroundTask

            self._beside = BackgroundTask("keepmum-nearest")
        from keepmum.system.native import native_call

        groups = _groups(wanted)

        def nearest() -> _Begun:
            asked = vector()
            if asked is None or asked.model != index.model:
                return asked, None, None
            with native_call():
                return asked, index, index.nearest(index.point(asked), groups, limit)

        return self._beside.start(nearest)

    def _followed(self, model: str) -> Index | None:
        """The index of a model's vectors, up to date; None where it cannot be had at once, or holds nothing."""
        if not self._thread.acquire(timeout=_PATIENCE):
            return None
        try:
            index = self._index(model)
            self._behind = index is not None and not index.follow()
            return None if self._behind else index
        finally:
            self._thread.release()

    def _standing(self, model: str) -> _Standing:
        """How the vectors stand to a model; looked up when the store has changed, and it is asked with every search."""
        change, identity = (int(row[0]) for row in self._query(_NOW, ()))
        known = self._standings.get(model)
        if known is None or (change, identity) != known[:2]:
            number = self._number(model)
            found = self._query(embeddings.OTHER_MODEL, (number, number))
            other = self._query("SELECT name FROM models WHERE id = ?", (found[0][0],)) if found else ()
            awaited = bool(self._query(f"SELECT 1 {_AWAITED} LIMIT 1", (number, number)))
            known = _Standing(change, identity, str(other[0][0]) if other else None, awaited)
            self._standings[model] = known
        return known

    def _number(self, model: str) -> int:
        """The number of a model; 0 for one that no vector is of."""
        return int(self._query("SELECT max(id) FROM models WHERE name = ?", (model,))[0][0] or 0)

    def _index(self, model: str) -> Index | None:
        """The index of a model's vectors; None where there are none."""
        if model not in self._indexes:
            known = self._query("SELECT dimensions FROM models WHERE name = ?", (model,))
            if not known:
                return None
            from keepmum.stores.sqlite.index import Index

            self._indexes[model] = Index(self._query, self._folder, model, known[0][0])
        return self._indexes[model]

    def _near(
        self, search: _Search, wanted: Filter, limit: int, passed: _Passed, first: _Nearest | None = None
    ) -> Found:
        """The rows nearest to a question that pass the filter, with their cosines, nearest first.

        The matrix knows of status and space alone, which is all that most filters ask for, so no more are asked of it
        than are wanted (`first`, where that was done); then more, when some of them do not pass; and where the rest of
        a filter leaves out too much of what is nearest, all that it lets through is looked at.
        """
        for broad in (limit, limit * _BROAD):
            near = search(broad) if first is None or broad > limit else first
            found = passed(near)
            if len(found) >= limit or len(near) < broad:
                return found[:limit]
        condition, parameters = rows.where(wanted)
        among = self._query(f"SELECT m.seq FROM memories m WHERE {condition}", parameters)
        return passed(search(limit, [row[0] for row in among]))

    def _own(self, embedding: Embedding, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines of what these memories say alone with a text."""
        from keepmum.stores import vectors

        marks = ", ".join("?" * len(numbers))
        found = self._query(
            f"SELECT memory, vector FROM vectors WHERE memory IN ({marks}) AND vector IS NOT NULL", tuple(numbers)
        )
        points = vectors.unpack([row["vector"] for row in found], len(embedding.vector) // _HALF)
        cosines = (points @ _point(embedding)).tolist()
        return dict(zip((row["memory"] for row in found), cosines, strict=True))


def _point(embedding: Embedding) -> Vector:
    from keepmum.stores import vectors

    return vectors.point(embedding.vector)


def _groups(wanted: Filter) -> list[int] | None:
    """The groups of memories that a filter can let through; None where it asks for every project."""
    if wanted.everywhere:
        return None
    from keepmum.stores.sqlite.index import group_of

    spaces = [space_of(scope, wanted.project, wanted.session, wanted.user) for scope in wanted.scopes or SCOPES]
    return [group_of(status, space) for status in wanted.statuses for space in spaces]
