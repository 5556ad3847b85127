"""The vectors of a store in flat files, which all processes of a machine map and one at a time extends.

The files are a cache that can be rebuilt from the store at any time. A state file, replaced atomically, says how many
of their rows are valid and up to which change of the store they go. Rows are only appended, and the number of an
outdated row is cleared before anything else. So readers need no lock, and a crash leaves no inconsistent state.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from keepmum.stores.vectors.arrays import MAX_EXACT, nearest, products, signs, similar_pairs
from keepmum.system import private_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Numbers = NDArray[np.int64]

__all__ = ["Damaged", "Matrix", "Row"]

_FORMAT = 1
_STATE = "state.json"
_KINDS = ("rows", "vectors", "signs")
_ABSENT = -1  # position of a number without a row
_MIN_CLEARED = 1_000
_CLEARED = 0  # number of an outdated row; SQLite counts its rows from 1
_TOLERANCE = 0.01  # allowed deviation from 1 of the length of a vector, and of a cosine above 1
_SAMPLED = 2_000  # rows, approximately, that are checked when a file is opened


class Damaged(Exception):
    """The files do not match their state and must be rebuilt."""


class Row(NamedTuple):
    """One memory in the matrix."""

    number: int
    group: int  # memories that pass the same filters by status and space
    vector: Vector | None  # of length 1; None removes the memory


class _State(NamedTuple):
    generation: int  # in the names of the current files
    rows: int
    change: int


class _Mapped(NamedTuple):
    """The mapped files as one value, so that a search can finish with it while another thread maps newer ones."""

    numbers: Numbers
    groups: Numbers
    vectors: Vector
    signs: NDArray[np.uint8]
    positions: NDArray[np.int32]  # by number


class Matrix:
    """The vectors of one store and model in one folder (see `keepmum.stores.vectors.arrays` for the search).

    `nearest` and `cosines` are safe from any thread. All other methods are for one thread at a time; for `add` and
    `replace` the caller also excludes other processes.
    """

    def __init__(self, folder: str, name: str, dimensions: int) -> None:
        """`name` identifies store and model; files with another name are ignored."""
        self._folder = folder
        self._name = name
        self._dimensions = dimensions
        self._seen: object = None
        self._state = _State(0, 0, -1)
        self._map()

    @property
    def change(self) -> int:
        """The last change of the store in the rows, -1 when there are none."""
        return self._state.change

    @property
    def rows(self) -> int:
        """Number of rows, including outdated ones."""
        return self._state.rows

    def __len__(self) -> int:
        """Number of memories."""
        return int(np.count_nonzero(self._mapped.numbers))

    def refresh(self) -> None:
        """Map what other processes have added.

        Raises: Damaged.
        """
        seen = self._stamp()
        if seen == self._seen:
            return
        before, self._state = self._state, self._read_state()
        if self._state != before:
            self._map()
            self._check(0 if self._state.generation != before.generation else before.rows)
        self._seen = seen

    def add(self, rows: Sequence[Row], change: int) -> None:
        """Add rows, each in place of the former row of its memory, up to `change` of the store.

        Raises: OSError; then nothing was added.
        """
        self._clear([row.number for row in rows])
        self._publish(self._append(self._state, rows)._replace(change=change))

    def replace(self, batches: Iterable[Sequence[Row]], change: int) -> None:
        """Rebuild the files from batches of rows, each memory once.

        Raises: OSError; then the former files stay.
        """
        private_files.make_folder(self._folder)
        state = _State(self._unused_generation(), 0, change)
        for path, *_ in self._files(state.generation):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        for batch in batches:
            state = self._append(state, batch)
        self._publish(state)
        self._remove_others(state.generation)

    def discard(self) -> None:
        """Invalidate the files for all processes, so that they are rebuilt."""
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._folder, _STATE))
        self._state, self._seen = _State(self._state.generation, 0, -1), None
        self._map()

    def is_sparse(self) -> bool:
        """Whether enough rows are outdated that the files should be rebuilt."""
        held = len(self)
        return self._state.rows - held > max(_MIN_CLEARED, held // 4)

    def nearest(
        self, vector: Vector, groups: Sequence[int] | None, limit: int, among: Numbers | None = None
    ) -> list[tuple[int, float]]:
        """Up to `limit` numbers with cosines, nearest first, of memories in `groups` and in `among` (None: in all).

        Raises: Damaged.
        """
        mapped = self._mapped
        mask = mapped.numbers != _CLEARED
        if groups is not None:  # one comparison per group is ten times faster than `isin` for few groups
            mask &= np.logical_or.reduce([mapped.groups == group for group in groups] or [np.zeros_like(mask)])
        if among is not None:
            mask &= np.isin(mapped.numbers, among)
        positions, cosines = nearest(mapped.vectors, mapped.signs, vector, mask, limit)
        return list(zip(mapped.numbers[positions].tolist(), _checked(cosines), strict=True))

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines with `vector` of those of these memories that are in the matrix.

        Raises: Damaged.
        """
        mapped = self._mapped
        asked = np.array([number for number in numbers if number < len(mapped.positions)], dtype=np.int64)
        asked = asked[mapped.positions[asked] != _ABSENT]
        cosines = products(mapped.vectors[mapped.positions[asked]], vector)
        return dict(zip(asked.tolist(), _checked(cosines), strict=True))

    def pairs(
        self, numbers: Sequence[int], cosine: float, among: Callable[[], Sequence[int]]
    ) -> list[tuple[int, int, float]]:
        """Pairs of one of `numbers` and another memory that are at least `cosine` similar, with their cosine.

        In a large matrix only memories in `among` are compared.

        Raises: Damaged.
        """
        mapped = self._mapped
        ours = self._positions(numbers)
        all_rows = len(mapped.vectors) <= MAX_EXACT
        theirs = None if all_rows else self._positions(among())
        rows = mapped.vectors if theirs is None else mapped.vectors[theirs]
        found = []
        for one, other, similarity in similar_pairs(mapped.vectors[ours], rows, cosine):
            number = int(mapped.numbers[other if theirs is None else theirs[other]])
            if number not in {_CLEARED, int(mapped.numbers[ours[one]])}:
                found.append((int(mapped.numbers[ours[one]]), number, similarity))
        return found

    def _positions(self, numbers: Sequence[int]) -> Numbers:
        """The positions of those of these memories that are in the matrix."""
        known = self._mapped.positions
        asked = np.array([number for number in numbers if number < len(known)], dtype=np.int64)
        positions = known[asked].astype(np.int64)
        found: Numbers = positions[positions != _ABSENT]
        return found

    # -- reading the files

    def _stamp(self) -> object:
        """A value that changes with the state file; None when there is no file."""
        try:
            found = os.stat(os.path.join(self._folder, _STATE))
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read_state(self) -> _State:
        """The state in the file; a state without rows when the file is missing, invalid or of other vectors."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with open(os.path.join(self._folder, _STATE), encoding="utf-8") as file:
                state = json.load(file)
            if state["of"] == [_FORMAT, self._name, self._dimensions]:
                return _State(int(state["turn"]), int(state["rows"]), int(state["change"]))
        return _State(0, 0, -1)

    def _map(self) -> None:
        """Map the files of the state.

        Raises: Damaged.
        """
        generation, rows, _ = self._state
        try:
            numbered, vectors, signed = (
                # A plain view, because numpy looks up the file of a memmap in every operation.
                np.memmap(path, kind, "r", shape=(rows, width)).view(np.ndarray) if rows else np.empty((0, width), kind)
                for path, kind, width in self._files(generation)
            )
        except (OSError, ValueError) as error:  # missing or too short
            self._state = _State(generation, 0, -1)
            raise Damaged(str(error)) from None
        numbers, groups = numbered[:, 0], numbered[:, 1]
        positions = np.full(int(numbers.max(initial=0)) + 1, _ABSENT, dtype=np.int32)
        positions[numbers] = np.arange(rows, dtype=np.int32)
        positions[_CLEARED] = _ABSENT
        self._mapped = _Mapped(numbers, groups, vectors, signed, positions)

    def _check(self, first: int) -> None:
        """Check a sample of the rows from `first` on.

        Raises: Damaged.
        """
        rows = self._state.rows
        sample = np.arange(first, rows, max(1, (rows - first) // _SAMPLED))
        sample = sample[self._mapped.numbers[sample] != _CLEARED]
        vectors = np.asarray(self._mapped.vectors[sample])
        lengths = np.linalg.norm(vectors, axis=1)
        sound = np.abs(lengths - 1.0) < _TOLERANCE  # NaN is not
        if not sound.all() or not np.array_equal(self._mapped.signs[sample], signs(vectors)):
            self._state = _State(self._state.generation, 0, -1)
            self._map()
            raise Damaged("a vector does not have length 1")

    # -- writing the files

    def _files(self, generation: int) -> list[tuple[str, str, int]]:
        """Path, data type and row width of the files of numbers and groups, of vectors, and of their signs."""
        shapes = ("<i8", 2), ("<f4", self._dimensions), ("u1", -(-self._dimensions // 8))
        paths = (os.path.join(self._folder, f"{kind}-{generation}") for kind in _KINDS)
        return [(path, *shape) for path, shape in zip(paths, shapes, strict=True)]

    def _append(self, state: _State, rows: Sequence[Row]) -> _State:
        """Write rows after those of `state`, overwriting what a crash may have left there; returns the new state."""
        added = [(row.number, row.group, row.vector) for row in rows if row.vector is not None]
        if not added:
            return state
        numbered = np.array([(number, group) for number, group, _ in added], dtype="<i8")
        vectors = np.stack([vector for *_, vector in added]).astype("<f4")
        blocks = (numbered, vectors, signs(vectors))
        for (path, *_), block in zip(self._files(state.generation), blocks, strict=True):
            with open(path, "r+b") as file:
                file.seek(state.rows * block.shape[1] * block.itemsize)
                file.write(block.tobytes())
        return state._replace(rows=state.rows + len(added))

    def _clear(self, numbers: Sequence[int]) -> None:
        """Overwrite the rows of memories with zeros: first their numbers, by which they are found, then the vectors."""
        known = self._mapped.positions
        positions = [int(known[number]) for number in numbers if number < len(known) and known[number] != _ABSENT]
        if not positions:
            return
        for path, kind, width in self._files(self._state.generation):
            zeros = bytes(width * np.dtype(kind).itemsize)
            with open(path, "r+b") as file:
                for position in positions:
                    file.seek(position * len(zeros))
                    file.write(zeros)

    def _publish(self, state: _State) -> None:
        """Make a state the current one for all processes."""
        version = [_FORMAT, self._name, self._dimensions]
        content = {"of": version, "turn": state.generation, "rows": state.rows, "change": state.change}
        path = os.path.join(self._folder, _STATE)
        private_files.replace_file(path, json.dumps(content))
        self._state = state
        self._map()
        self._seen = self._stamp()

    def _unused_generation(self) -> int:
        """A generation without files; a killed process may have left some of the next one."""
        used = [int(name.rpartition("-")[2]) for name in os.listdir(self._folder) if name.startswith(_KINDS)]
        return max([self._state.generation, *used]) + 1

    def _remove_others(self, generation: int) -> None:
        """Remove the files of other generations; on Windows, those that another process maps stay until next time."""
        current = {os.path.basename(path) for path, *_ in self._files(generation)}
        for name in os.listdir(self._folder):
            if name.startswith(_KINDS) and name not in current:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self._folder, name))


def _checked(cosines: Vector) -> list[float]:
    """Cosines as numbers.

    Raises: Damaged when one is impossible for vectors of length 1.
    """
    if not (np.abs(cosines) <= 1.0 + _TOLERANCE).all():  # NaN is not
        raise Damaged("a cosine is above 1")
    found: list[float] = cosines.tolist()
    return found
