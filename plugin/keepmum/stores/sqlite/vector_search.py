"""Hybrid search: vectors and full-text index under one filter."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from keepmum.core.memory import SCOPES, Candidate, Embedding, Filter, Memory, space_of
from keepmum.stores.base import QueryVector
from keepmum.stores.sqlite import edits, files, rows
from keepmum.stores.sqlite.lexical import LexicalSearch, Query, Scored, filtered

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keepmum.stores.sqlite.vector_index import VectorIndex
    from keepmum.system.background import BackgroundTask

    Vector = NDArray[np.float32]
    _Nearest = list[tuple[int, float]]  # row numbers and cosines
    _Search = Callable[..., _Nearest]  # takes a limit, and optionally the row numbers to search
    _Passing = Callable[[_Nearest], Scored]  # the rows of these that pass the filter
    _Started = tuple[Embedding | None, VectorIndex | None, _Nearest | None]
    Writing = Callable[[], contextlib.AbstractContextManager[sqlite3.Connection]]

__all__ = ["SqliteVectorSearch"]

_GROWTH = 4  # growth of the candidate limit when not all candidates pass the filter
_FACTS = ", ".join(f"m.{name}" for name in Candidate._fields[:-2])
_MEMORY = ", ".join(f"m.{name}" for name in rows.COLUMNS)
# Memories whose vector is missing or of another model. It reads three ends of indexes, never all memories.
_PENDING = """FROM (
    SELECT memory FROM vectors WHERE awaited
    UNION ALL SELECT memory FROM vectors WHERE vector IS NOT NULL AND model < ?
    UNION ALL SELECT memory FROM vectors WHERE vector IS NOT NULL AND model > ?
) JOIN memories m ON m.seq = memory"""
_TIMEOUT = 0.1  # seconds that a search waits for the index while another thread updates it
_CONTEXT = 0.05  # by which the sessions of two memories may lower their cosine
_BYTES = 2  # per dimension
_VERSION = "SELECT value FROM counters WHERE name IN ('change', 'identity') ORDER BY name"


class _ModelState(NamedTuple):
    """The vectors of a store as seen by one model; valid until the store changes."""

    change: int  # number of the last change of the store
    identity: int  # of the store
    other: str | None  # another model that vectors are of
    has_pending: bool  # whether a memory has no vector of this model


class SqliteVectorSearch:
    """The `VectorSearch` of a SQLite store (see `keepmum.stores.base` for what each method returns)."""

    def __init__(
        self, query: Query, writing: Writing, lexical: LexicalSearch, folder: str, refresh: Callable[[], object]
    ) -> None:
        """`query`, `writing` and `lexical` are of the store; indexes are in `folder`."""
        self._refresh = refresh  # called before reads that must see the latest memories
        self._query = query
        self._writing = writing
        self._lexical = lexical
        self._folder = folder
        self._indexes: dict[str, VectorIndex] = {}
        self._states: dict[str, _ModelState] = {}
        self._thread = threading.RLock()
        self._behind = False  # whether the index lacks more changes than a search may wait for
        self._last_model = ""  # the model of the last vector search
        self._background: BackgroundTask | None = None

    @property
    def problem(self) -> str:
        """Why vector search is off until someone repairs it; empty when it works."""
        return next((index.problem for index in self._indexes.values() if index.problem), "")

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Candidates of both searches. Every candidate that has a vector also has its cosine."""
        self._refresh()
        started = self._start(vector, wanted, limit)
        lexical = self._lexical.best(_FACTS, words, wanted, limit)
        known = {row[0]: row for row, _ in lexical}  # not read again
        asked, index, nearest = started()
        if asked is not None and asked.model != self._last_model:
            self._last_model = asked.model
            index = self._updated(asked.model)
        if index is None or asked is None:
            return [Candidate._make((*row[1:], score, None)) for row, score in lexical]
        point = index.unpacked(asked)
        search = functools.partial(index.nearest, point, _groups(wanted))
        passing = functools.partial(filtered, self._query, _FACTS, wanted=wanted, known=known)
        near = self._nearest(search, wanted, limit, passing, nearest)
        cosines = {row[0]: cosine for row, cosine in near}
        cosines |= index.cosines(point, [number for number in known if number not in cosines])
        found = [(*row[1:], score, cosines.get(row[0])) for row, score in lexical]
        found += [(*row[1:], 0.0, cosine) for row, cosine in near if row[0] not in known]
        return list(map(Candidate._make, found))

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, by their own text without neighbours."""
        self._refresh()
        index = self._updated(embedding.model)
        if index is None:
            return []
        search = functools.partial(index.nearest, index.unpacked(embedding), _groups(wanted))
        passing = functools.partial(filtered, self._query, _MEMORY, wanted=wanted)
        near = self._nearest(search, wanted, limit * _GROWTH, passing)
        found = {row[0]: row for row, _ in near}
        cosines = self._own_cosines(embedding, list(found))
        best = sorted(cosines, key=lambda number: -cosines[number])[:limit]
        return [(rows.from_row(found[number]), cosines[number]) for number in best]

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        """Similar memories by their own texts."""
        from keepmum.stores import vectors

        having = (
            "FROM memories m JOIN vectors v ON v.memory = m.seq"
            " WHERE m.id IN (SELECT value FROM json_each(?)) AND v.vector IS NOT NULL"
        )
        if not self._query(f"SELECT 1 {having} LIMIT 1", (json.dumps(list(ids)),)):
            return {}
        found = self._query(f"SELECT m.id, v.vector {having}", (json.dumps(list({*ids, *among})),))
        names = [row["id"] for row in found]
        matrix = vectors.unpack([row["vector"] for row in found], len(found[0]["vector"]) // _BYTES)
        return vectors.neighbours(names, matrix, frozenset(ids), cosine, most)

    def near_pairs(
        self, numbers: Sequence[int], cosine: float, among: Callable[[], Sequence[int]]
    ) -> list[tuple[int, int, float]] | None:
        """Pairs of one of the rows `numbers` and a similar one; None when some memories have no vectors to compare.

        By the model of the last search. The vectors of the index hold a share of the neighbours in the session, so the
        pairs that it finds with a lower cosine are compared by their own vectors.
        """
        index = self._indexes.get(self._last_model)
        if index is None or index.problem or self._state(self._last_model).has_pending:
            return None
        found = index.pairs(numbers, cosine - _CONTEXT, among)
        if not found:
            return []
        own = self._own_vectors({number for one, other, _ in found for number in (one, other)})
        exact = ((one, other, float(own[one] @ own[other])) for one, other, _ in found if {one, other} <= own.keys())
        return [pair for pair in exact if pair[2] >= cosine]

    def other_model(self, model: str) -> str | None:
        return self._state(model).other

    def pending(self, model: str, limit: int) -> list[Memory]:
        self._refresh()
        number = self._number(model)
        found = self._query(f"SELECT {_MEMORY} {_PENDING} LIMIT ?", (number, number, limit))
        return [rows.from_row(row) for row in found]

    def count_pending(self, model: str) -> int:
        self._refresh()
        number = self._number(model)
        return int(self._query(f"SELECT count(*) {_PENDING}", (number, number))[0][0])

    def is_ready(self, model: str) -> bool:
        state = self._state(model)
        index = self._indexes.get(model)
        if state.has_pending or (index is not None and index.change == state.change):
            return not state.has_pending
        self._updated(model)
        return not self._behind

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        with self._writing() as db:
            number = edits.next_number(db)
            return sum(edits.save_vector(db, memory, vector, number, replaces=True) for memory, vector in embedded)

    def update_index(self, model: str) -> None:
        with self._thread:
            index = self._index(model)
            if index is not None:
                index.update(at_most=None)
        self._behind = False

    def discard(self) -> None:
        """Delete all indexes; they are rebuilt without the data that was removed from the store."""
        import shutil  # rarely needed, and half a megabyte

        with self._thread:
            self.close()
            for name in os.listdir(self._folder) if os.path.isdir(self._folder) else ():
                if name.startswith(files.VECTORS_PREFIX):
                    shutil.rmtree(os.path.join(self._folder, name), ignore_errors=True)

    def close(self) -> None:
        """Stop the background thread and close the files of all indexes."""
        if self._background is not None:
            self._background.close()
            self._background = None
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    def _start(self, vector: QueryVector, wanted: Filter, limit: int) -> Callable[[], _Started]:
        """Start a vector search and return a function that waits for its result.

        With a large index it runs in another thread, parallel to the lexical search. It uses the index of the last
        search, because the model hardly ever changes.
        """
        index = self._updated(self._last_model) if self._last_model else None
        if index is None or not index.is_large:
            return lambda: (vector(), index, None)
        if self._background is None:
            from keepmum.system.background import BackgroundTask

            self._background = BackgroundTask("keepmum-nearest")
        from keepmum.system.native import native_call

        groups = _groups(wanted)

        def nearest() -> _Started:
            asked = vector()
            if asked is None or asked.model != index.model:
                return asked, None, None
            with native_call():
                return asked, index, index.nearest(index.unpacked(asked), groups, limit)

        return self._background.start(nearest)

    def _updated(self, model: str) -> VectorIndex | None:
        """The index of a model, up to date; None when it is empty or not available at once."""
        if not self._thread.acquire(timeout=_TIMEOUT):
            return None
        try:
            index = self._index(model)
            self._behind = index is not None and not index.update()
            return None if self._behind else index
        finally:
            self._thread.release()

    def _state(self, model: str) -> _ModelState:
        """The state of the vectors for a model, cached until the store changes: every search asks for it."""
        change, identity = (int(row[0]) for row in self._query(_VERSION, ()))
        state = self._states.get(model)
        if state is None or (change, identity) != state[:2]:
            number = self._number(model)
            found = self._query(edits.OTHER_MODEL, (number, number))
            other = self._query("SELECT name FROM models WHERE id = ?", (found[0][0],)) if found else ()
            has_pending = bool(self._query(f"SELECT 1 {_PENDING} LIMIT 1", (number, number)))
            state = _ModelState(change, identity, str(other[0][0]) if other else None, has_pending)
            self._states[model] = state
        return state

    def _number(self, model: str) -> int:
        """The row number of a model; 0 for one without vectors."""
        return int(self._query("SELECT max(id) FROM models WHERE name = ?", (model,))[0][0] or 0)

    def _index(self, model: str) -> VectorIndex | None:
        """The index of a model; None when the store has no vectors of it."""
        if model not in self._indexes:
            known = self._query("SELECT dimensions FROM models WHERE name = ?", (model,))
            if not known:
                return None
            from keepmum.stores.sqlite.vector_index import VectorIndex

            self._indexes[model] = VectorIndex(self._query, self._folder, model, known[0][0])
        return self._indexes[model]

    def _nearest(
        self, search: _Search, wanted: Filter, limit: int, passing: _Passing, first: _Nearest | None = None
    ) -> Scored:
        """The nearest rows that pass the filter, with their cosines, nearest first.

        The matrix itself filters by status and space, which is all that most filters ask for, so the first search has
        no larger limit (`first` is its result, if known). If too few rows pass, a second one has a larger limit. If
        that is not enough either, the last one searches exactly the rows that pass.
        """
        for enlarged in (limit, limit * _GROWTH):
            near = search(enlarged) if first is None or enlarged > limit else first
            found = passing(near)
            if len(found) >= limit or len(near) < enlarged:
                return found[:limit]
        condition, parameters = rows.where(wanted)
        among = self._query(f"SELECT m.seq FROM memories m WHERE {condition}", parameters)
        return passing(search(limit, [row[0] for row in among]))

    def _own_cosines(self, embedding: Embedding, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines between a text and the own texts of memories."""
        from keepmum.stores import vectors

        text = vectors.unpack_one(embedding.vector)
        return {number: float(own @ text) for number, own in self._own_vectors(numbers).items()}

    def _own_vectors(self, numbers: Collection[int]) -> dict[int, Vector]:
        """The vectors of the own texts of memories."""
        from keepmum.stores import vectors

        marks = ", ".join("?" * len(numbers))
        found = self._query(
            f"SELECT memory, vector FROM vectors WHERE memory IN ({marks}) AND vector IS NOT NULL", tuple(numbers)
        )
        return {row["memory"]: vectors.unpack_one(row["vector"]) for row in found}


def _groups(wanted: Filter) -> list[int] | None:
    """The groups (see `group_of`) that can pass a filter; None for one that asks for every project."""
    if wanted.everywhere:
        return None
    from keepmum.stores.sqlite.vector_index import group_of

    spaces = [space_of(scope, wanted.project, wanted.session, wanted.user) for scope in wanted.scopes or SCOPES]
    return [group_of(status, space) for status in wanted.statuses for space in spaces]
