"""The searchable matrix of the vectors of a store, synchronised with it by change numbers.

Imports numpy, so import it late.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from keepmum.core.errors import StoreBusy, StoreError
from keepmum.core.memory import Embedding
from keepmum.stores.sqlite import edits, files, rows
from keepmum.stores.sqlite.lexical import Query
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.vectors import MAX_EXACT, NEIGHBOUR_WEIGHTS, Damaged, Matrix, Row, normalised, unpack, unpack_one
from keepmum.system import private_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["MAX_CHANGES", "VectorIndex", "group_of"]

_Result = TypeVar("_Result")

_BATCH = 1_000  # rows per query
MAX_CHANGES = 2_000  # changes that a search applies by itself; more would delay it too much
_UPDATE_TIMEOUT = 600.0  # seconds that `update` without a limit waits for the lock
_SEARCH_TIMEOUT = 0.2  # seconds that a search waits while another process updates the index
_NEIGHBOURS = tuple(side for steps in range(1, len(NEIGHBOUR_WEIGHTS) + 1) for side in edits.around(steps))
_VECTOR_OF = "(SELECT o.vector FROM vectors o WHERE o.model = v.model AND o.memory = (SELECT n.seq FROM {}))"
_VECTORS = f"""SELECT v.memory, m.space, m.status, v.vector, {", ".join(map(_VECTOR_OF.format, _NEIGHBOURS))}
    FROM vectors v JOIN memories m ON m.seq = v.memory
    WHERE v.vector IS NOT NULL AND v.model = (SELECT max(id) FROM models WHERE name = ?)"""
_OWN = 3  # column of the memory's own vector in such a row; those of its neighbours follow in pairs
_CHANGED = "SELECT seq FROM memories WHERE change > ? UNION SELECT memory FROM vectors WHERE change > ? LIMIT ?"
_NEIGHBOURS_OF = " UNION ".join(
    f"SELECT (SELECT n.seq FROM {side}) AS number FROM memories m WHERE m.seq IN ({{marks}}) AND number IS NOT NULL"
    for side in _NEIGHBOURS
)


def group_of(status: str, space: str) -> int:
    """A number for a status and space; the matrix filters by it."""
    digest = hashlib.blake2b(f"{status}\x1f{space}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class VectorIndex:
    """The searchable vectors of one model in one store.

    `nearest` and `cosines` are safe from any thread; all other methods are for one thread at a time.
    """

    def __init__(self, query: Query, folder: str, model: str, dimensions: int) -> None:
        """Keep the matrix in `folder`, or in a temporary one when `folder` cannot be written."""
        self.problem = ""  # why the index cannot be used, until someone repairs it
        self.model = model
        self._query = query
        self._dimensions = dimensions
        self._is_damaged = False
        identity = self._one("SELECT value FROM counters WHERE name = 'identity'")
        name = f"{identity} {model} {NEIGHBOUR_WEIGHTS}"
        own = os.path.join(folder, files.VECTORS_PREFIX + hashlib.blake2b(name.encode(), digest_size=8).hexdigest())
        try:
            private_files.make_folder(own)
            self._lock = WriterLock(os.path.join(own, "lock"))
        except OSError:
            import tempfile  # rarely needed, and half a megabyte

            self._temporary = tempfile.TemporaryDirectory(prefix="keepmum-")
            own = self._temporary.name
            self._lock = WriterLock(os.path.join(own, "lock"))
        self._matrix = Matrix(own, name, dimensions)

    @property
    def change(self) -> int:
        """The number of the last change of the store that is in the index, -1 for none."""
        return self._matrix.change

    @property
    def is_large(self) -> bool:
        """Whether a search takes longer than starting a thread for it."""
        return self._matrix.rows > MAX_EXACT

    def update(self, at_most: int | None = MAX_CHANGES) -> bool:
        """Apply the changes of the store; True when the index can be searched now.

        More than `at_most` changes are left for a call without limit. While another process updates the index this one
        waits only briefly, and lacks the latest memories; lexical search finds those.
        """
        if self._is_damaged:
            self._matrix.discard()
            self._is_damaged = False
        with contextlib.suppress(Damaged):
            self._matrix.refresh()
        change = self._last_change()
        if self._matrix.change == change:
            return True
        first = self._matrix.change if self._matrix.change <= change else -1
        if at_most is not None and len(self._changed(first, at_most + 1)) > at_most:
            return False
        try:
            with self._lock.hold(_SEARCH_TIMEOUT if at_most is not None else _UPDATE_TIMEOUT):
                self._apply_changes()
        except StoreBusy:
            return self._matrix.change >= 0
        except OSError as error:
            self.problem = f"search is lexical only: the vector index cannot be written ({error.strerror})"
            return False
        return True

    def unpacked(self, embedding: Embedding) -> Vector:
        """A vector of this model, normalised.

        Raises: StoreError when the number of dimensions differs from the stored vectors.
        """
        vector = unpack_one(embedding.vector)
        if len(vector) != self._dimensions:
            raise StoreError(
                f"vectors of the model {self.model} have {self._dimensions} dimensions here, and {len(vector)} were "
                "given: they cannot be compared. Give the model of the embedder that changed another name"
            )
        return vector

    def nearest(
        self, vector: Vector, groups: Sequence[int] | None, limit: int, among: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Up to `limit` row numbers with cosines, nearest first (see `Matrix.nearest`)."""
        chosen = None if among is None else np.array(among, dtype=np.int64)
        return self._result(lambda: self._matrix.nearest(vector, groups, limit, chosen), [])

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines of the rows that have a vector."""
        return self._result(lambda: self._matrix.cosines(vector, numbers), {})

    def pairs(
        self, numbers: Sequence[int], cosine: float, among: Callable[[], Sequence[int]]
    ) -> list[tuple[int, int, float]]:
        """Pairs of similar rows with their cosines (see `Matrix.pairs`)."""
        return self._result(lambda: self._matrix.pairs(numbers, cosine, among), [])

    def close(self) -> None:
        """Close the lock file."""
        self._lock.close()

    def _result(self, search: Callable[[], _Result], empty: _Result) -> _Result:
        """The result of a search; `empty` when the files are damaged, which the next `update` then rebuilds."""
        try:
            return search()
        except Damaged:
            self._is_damaged = True
            return empty

    def _apply_changes(self) -> None:
        """Bring the matrix up to date; the caller holds the lock."""
        with contextlib.suppress(Damaged):
            self._matrix.refresh()
        change = self._last_change()
        if not 0 <= self._matrix.change <= change or self._matrix.is_sparse():
            self._matrix.replace(map(self._rows, _batches(self._changed(-1))), change)
        elif changed := self._changed(self._matrix.change):
            neighbours = [number for batch in _batches(changed) for number in self._neighbours(batch)]
            *batches, last = _batches(sorted({*changed, *neighbours}))
            for batch in batches:
                self._matrix.add(self._rows(batch), self._matrix.change)
            self._matrix.add(self._rows(last), change)
        else:
            self._matrix.add([], change)

    def _last_change(self) -> int:
        return self._one("SELECT value FROM counters WHERE name = 'change'")

    def _changed(self, change: int, limit: int = -1) -> list[int]:
        """Up to `limit` rows that changed after `change`; -1 for all."""
        return [row[0] for row in self._query(_CHANGED, (change, change, limit))]

    def _neighbours(self, numbers: Sequence[int]) -> list[int]:
        """The rows whose vectors include a share of these."""
        marks = ", ".join("?" * len(numbers))
        return [row[0] for row in self._query(_NEIGHBOURS_OF.format(marks=marks), tuple(numbers) * len(_NEIGHBOURS))]

    def _rows(self, numbers: Sequence[int]) -> list[Row]:
        """These rows as the matrix holds them."""
        marks = ", ".join("?" * len(numbers))
        held = self._query(f"{_VECTORS} AND v.memory IN ({marks})", (self.model, *numbers))
        found = {number: Row(number, 0, None) for number in numbers}
        for row, vector in zip(held, self._contextual(held), strict=True):
            found[row["memory"]] = Row(row["memory"], group_of(row["status"], row["space"]), vector)
        return list(found.values())

    def _contextual(self, held: Sequence[sqlite3.Row]) -> Vector:
        """The vectors of memories, each with a share of its neighbours in the session."""
        own, *neighbours = (
            self._unpacked([row[column] for row in held]) for column in range(_OWN, _OWN + 1 + len(_NEIGHBOURS))
        )
        for weight, before, after in zip(NEIGHBOUR_WEIGHTS, neighbours[::2], neighbours[1::2], strict=True):
            count = before.any(axis=1).astype(np.float32) + after.any(axis=1)
            own = own + np.float32(weight) * (before + after) / np.maximum(count, 1)[:, None]
        return normalised(own)

    def _unpacked(self, stored: Sequence[bytes | None]) -> Vector:
        """Stored vectors as the rows of a matrix; zeros for None."""
        if not any(stored):  # most memories have no neighbours
            return np.zeros((len(stored), self._dimensions), dtype=np.float32)
        zeros = bytes(2 * self._dimensions)
        return unpack([one or zeros for one in stored], self._dimensions)

    def _one(self, sql: str, *parameters: rows.SqlValue) -> int:
        return int(self._query(sql, parameters)[0][0] or 0)


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """`numbers` in batches; one empty batch when there are none."""
    for start in range(0, max(len(numbers), 1), _BATCH):
        yield numbers[start : start + _BATCH]
