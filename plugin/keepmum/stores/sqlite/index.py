"""The matrix of a store's vectors, kept in step with it by the number of its last change.

Imports numpy: load it late.
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
from keepmum.stores.sqlite import files, rows, sessions
from keepmum.stores.sqlite.lock import WriterLock
from keepmum.stores.vectors import ALL_OF_IT, Damaged, Matrix, Row, point, unit, unpack
from keepmum.system import private_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["FEW", "Index", "Query", "group_of"]

Query = Callable[[str, Sequence[rows.SqlValue]], list[sqlite3.Row]]
_Answer = TypeVar("_Answer")

# What the memories beside one in its session weigh in its vector, and those beside these: in a conversation every other
# turn is the same speaker's. The second is worth .009 nDCG@10 over five long conversations, and something in each.
_AROUND = (0.3, 0.2)
_AT_ONCE = 1_000  # rows that are read at once
FEW = 2_000  # changes that a search takes in by itself; more would keep it waiting
_LONG = 600.0  # seconds, for who has the time
_PATIENCE = 0.2  # seconds that a search waits for another process that is taking changes in
_BESIDE_IT = tuple(side for steps in range(1, len(_AROUND) + 1) for side in sessions.around(steps))
_OF = "(SELECT o.vector FROM vectors o WHERE o.model = v.model AND o.memory = (SELECT n.seq FROM {}))"
_POINTS = f"""SELECT v.memory, m.space, m.status, v.model, v.vector, {", ".join(map(_OF.format, _BESIDE_IT))}
    FROM vectors v LEFT JOIN memories m ON m.seq = v.memory"""
_OWN = 4  # the place of a memory's own vector in such a row; behind it, in pairs, those of the memories around it
_CHANGED = "SELECT seq FROM memories WHERE change > ? UNION SELECT memory FROM vectors WHERE change > ? LIMIT ?"
_BESIDE = " UNION ".join(
    f"SELECT (SELECT n.seq FROM {side}) AS number FROM memories m WHERE m.seq IN ({{marks}}) AND number IS NOT NULL"
    for side in _BESIDE_IT
)


def group_of(status: str, space: str) -> int:
    """The number under which the matrix knows memories that a filter by status and space takes alike."""
    digest = hashlib.blake2b(f"{status}\x1f{space}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class Index:
    """The searchable vectors of one model in one store.

    `nearest` and `cosines` are safe from any thread; all else is for one at a time.
    """

    def __init__(self, query: Query, folder: str, model: str, dimensions: int) -> None:
        """`folder` is where the matrix lies; where none can be made, it lies in one that ends with this process."""
        self.problem = ""  # why it cannot be searched, where that will not mend itself
        self.model = model
        self._query = query
        self._dimensions = dimensions
        self._is_damaged = False
        identity = self._one("SELECT value FROM counters WHERE name = 'identity'")
        name = f"{identity} {model} {_AROUND}"
        own = os.path.join(folder, files.VECTORS_PREFIX + hashlib.blake2b(name.encode(), digest_size=8).hexdigest())
        try:
            private_files.make_folder(own)
            self._lock = WriterLock(os.path.join(own, "lock"))
        except OSError:
            import tempfile  # seldom wanted, and half a megabyte

            self._passing = tempfile.TemporaryDirectory(prefix="keepmum-")
            own = self._passing.name
            self._lock = WriterLock(os.path.join(own, "lock"))
        self._matrix = Matrix(own, name, dimensions)

    @property
    def change(self) -> int:
        """The last change of the store that was taken in, -1 for none."""
        return self._matrix.change

    @property
    def is_large(self) -> bool:
        """Whether a search of it takes longer than another thread takes to begin."""
        return self._matrix.rows > ALL_OF_IT

    def follow(self, at_most: int | None = FEW) -> bool:
        """Take in what has changed in the store; whether it can be searched now.

        More than `at_most` changes are left for a call without that limit. What another process is taking in just now
        is waited for a moment only: the latest few memories are then found by their words.
        """
        if self._is_damaged:
            self._matrix.discard()
            self._is_damaged = False
        with contextlib.suppress(Damaged):
            self._matrix.look()
        change = self._last_change()
        if self._matrix.change == change:
            return True
        if at_most is not None and len(self._changed(change, at_most + 1)) > at_most:
            return False
        try:
            with self._lock.hold(_PATIENCE if at_most is not None else _LONG):
                self._take_in()
        except StoreBusy:
            return self._matrix.change >= 0
        except OSError as error:
            self.problem = f"search goes by words alone: its index cannot be written ({error.strerror})"
            return False
        return True

    def point(self, embedding: Embedding) -> Vector:
        """A vector of this model, as it is compared.

        Raises: StoreError when it has other dimensions than those that are kept.
        """
        found = point(embedding.vector)
        if len(found) != self._dimensions:
            raise StoreError(
                f"vectors of the model {self.model} have {self._dimensions} dimensions here, and {len(found)} were "
                "given: they cannot be compared. Give the embedder that changed another name of its model"
            )
        return found

    def nearest(
        self, question: Vector, groups: Sequence[int] | None, limit: int, among: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Row numbers and cosines, nearest first (see `Matrix.nearest`)."""
        chosen = None if among is None else np.array(among, dtype=np.int64)
        return self._sound(lambda: self._matrix.nearest(question, groups, limit, chosen), [])

    def cosines(self, question: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines of these rows, of those that have a vector."""
        return self._sound(lambda: self._matrix.cosines(question, numbers), {})

    def close(self) -> None:
        """Let go of the lock's file."""
        self._lock.close()

    def _sound(self, search: Callable[[], _Answer], nothing: _Answer) -> _Answer:
        """The answer of a search; nothing where the files are damaged, which are then made anew by the next."""
        try:
            return search()
        except Damaged:
            self._is_damaged = True
            return nothing

    def _take_in(self) -> None:
        """Bring the matrix up to date; the caller holds the lock."""
        with contextlib.suppress(Damaged):
            self._matrix.look()
        change = self._last_change()
        changed = self._changed(change)
        if not 0 <= self._matrix.change <= change or self._matrix.is_sparse():
            self._matrix.replace(map(self._rows, _batches(self._changed(change, since=-1))), change)
        elif changed:
            beside = [number for batch in _batches(changed) for number in self._beside(batch)]
            *batches, last = _batches(sorted({*changed, *beside}))
            for batch in batches:
                self._matrix.add(self._rows(batch), self._matrix.change)
            self._matrix.add(self._rows(last), change)
        else:
            self._matrix.add([], change)

    def _last_change(self) -> int:
        return self._one("SELECT value FROM counters WHERE name = 'change'")

    def _changed(self, change: int, limit: int = -1, since: int | None = None) -> list[int]:
        """The rows that differ from the matrix; all of them where that goes up to a change that never was."""
        first = self._matrix.change if since is None else since
        first = first if first <= change else -1
        return [row[0] for row in self._query(_CHANGED, (first, first, limit))]

    def _beside(self, numbers: Sequence[int]) -> list[int]:
        """The rows in whose vectors these have a part."""
        marks = ", ".join("?" * len(numbers))
        return [row[0] for row in self._query(_BESIDE.format(marks=marks), tuple(numbers) * len(_BESIDE_IT))]

    def _rows(self, numbers: Sequence[int]) -> list[Row]:
        """What the matrix holds of these rows, out of the store."""
        marks = ", ".join("?" * len(numbers))
        model = self._one("SELECT max(id) FROM models WHERE name = ?", self.model)
        found = self._query(f"{_POINTS} WHERE v.memory IN ({marks})", tuple(numbers))
        held = [
            row for row in found if row["vector"] is not None and row["model"] == model and row["space"] is not None
        ]
        points = self._points(held)
        rows_held = {
            row["memory"]: Row(row["memory"], group_of(row["status"], row["space"]), point)
            for row, point in zip(held, points, strict=True)
        }
        return [rows_held.get(number, Row(number, 0, None)) for number in numbers]

    def _points(self, held: Sequence[sqlite3.Row]) -> Vector:
        """Where each memory lies: what it says, and a little of what was said before and after it."""
        own, *beside = (
            self._vectors([row[place] for row in held]) for place in range(_OWN, _OWN + 1 + len(_BESIDE_IT))
        )
        for weight, before, after in zip(_AROUND, beside[::2], beside[1::2], strict=True):
            known = before.any(axis=1).astype(np.float32) + after.any(axis=1)
            own = own + np.float32(weight) * (before + after) / np.maximum(known, 1)[:, None]
        return unit(own)

    def _vectors(self, kept: Sequence[bytes | None]) -> Vector:
        """A row for each, of noughts where there is none."""
        if not any(kept):  # as in most stores, where little was said in sessions
            return np.zeros((len(kept), self._dimensions), dtype=np.float32)
        none = bytes(2 * self._dimensions)
        return unpack([one or none for one in kept], self._dimensions)

    def _one(self, sql: str, *parameters: rows.SqlValue) -> int:
        return int(self._query(sql, parameters)[0][0] or 0)


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """`numbers` in pieces that are read at once; one empty piece of none."""
    for start in range(0, max(len(numbers), 1), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]
