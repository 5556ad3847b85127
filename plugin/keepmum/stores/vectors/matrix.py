"""Vectors of a store as flat files beside it, which every process of the machine maps and one at a time adds to.

The files are a copy that can be made anew at any time: the store has the truth. A state file, replaced as a whole, says
how many rows of them hold and up to which change of the store they go; rows are only ever added behind those, and a
row that no longer holds has its number wiped first. So a reader needs no lock, and a crash leaves nothing half true.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from keepmum.stores.vectors.search import nearest, products, signs
from keepmum.system import private_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Numbers = NDArray[np.int64]

__all__ = ["Damaged", "Matrix", "Row"]

_FORMAT = 1
_STATE = "state.json"
_KINDS = ("rows", "vectors", "signs")
_NOWHERE = -1
_FEW_WIPED = 1_000
_NOBODY = 0  # the number of a row that no longer holds; SQLite counts its rows from 1
_TOLERANCE = 0.01  # how far a sound vector's length may be from 1, and a cosine beyond it
_SAMPLED = 2_000  # rows that are looked at when a file is opened, and a few more


class Damaged(Exception):
    """The files are not what their state says; they must be made anew."""


class Row(NamedTuple):
    """What the matrix holds of one memory."""

    number: int
    group: int  # memories that a filter lets through or leaves out together
    vector: Vector | None  # of length 1; None takes the memory out


class _State(NamedTuple):
    turn: int  # files of another turn are left over
    rows: int
    change: int


class _Mapped(NamedTuple):
    """What is mapped, as one value: a search goes on with it while another thread takes in what is new."""

    numbers: Numbers
    groups: Numbers
    vectors: Vector
    signs: NDArray[np.uint8]
    places: NDArray[np.int32]  # by number


class Matrix:
    """The vectors of one store and model in one folder (see `keepmum.stores.vectors.search` for how they are searched).

    `nearest` and `cosines` are safe at any time, from any thread. All else is for one thread at a time, and `add` and
    `replace` are for one process at a time, which holds a lock of its own.
    """

    def __init__(self, folder: str, name: str, dimensions: int) -> None:
        """`name` says what the vectors are of; files with another name are not taken for these."""
        self._folder = folder
        self._name = name
        self._dimensions = dimensions
        self._seen: object = None
        self._state = _State(0, 0, -1)
        self._map()

    @property
    def change(self) -> int:
        """The change of the store up to which the rows go, -1 when there are none."""
        return self._state.change

    @property
    def rows(self) -> int:
        """How many rows are searched, those among them that no longer hold."""
        return self._state.rows

    def __len__(self) -> int:
        """How many memories it holds."""
        return int(np.count_nonzero(self._mapped.numbers))

    def look(self) -> None:
        """Take in what other processes have added since.

        Raises: Damaged.
        """
        seen = self._stamp()
        if seen == self._seen:
            return
        before, self._state = self._state, self._read_state()
        if self._state != before:
            self._map()
            self._check(0 if self._state.turn != before.turn else before.rows)
        self._seen = seen

    def add(self, rows: Sequence[Row], change: int) -> None:
        """Add rows, each instead of what was there of its memory, and go up to `change`.

        Raises: OSError; then nothing was added.
        """
        self._wipe([row.number for row in rows])
        self._publish(self._append(self._state, rows)._replace(change=change))

    def replace(self, batches: Iterable[Sequence[Row]], change: int) -> None:
        """Make the files anew from rows of different memories, in batches.

        Raises: OSError; then they are as they were.
        """
        private_files.make_folder(self._folder)
        state = _State(self._unused_turn(), 0, change)
        for path in self._paths(state.turn):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        for batch in batches:
            state = self._append(state, batch)
        self._publish(state)
        self._remove_others(state.turn)

    def discard(self) -> None:
        """Give up the files, for this process and for all others: they have to be made anew."""
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._folder, _STATE))
        self._state, self._seen = _State(self._state.turn, 0, -1), None
        self._map()

    def is_sparse(self) -> bool:
        """Whether so many rows no longer hold that the files are better made anew."""
        held = len(self)
        return self._state.rows - held > max(_FEW_WIPED, held // 4)

    def nearest(
        self, question: Vector, groups: Sequence[int] | None, limit: int, among: Numbers | None = None
    ) -> list[tuple[int, float]]:
        """Up to `limit` numbers of memories of `groups` (None: of all) and `among` these, with cosines, nearest first.

        Raises: Damaged.
        """
        mapped = self._mapped
        mask = mapped.numbers != _NOBODY
        if groups is not None:  # a comparison each is ten times as fast as `isin`, for the few there are
            mask &= np.logical_or.reduce([mapped.groups == group for group in groups] or [np.zeros_like(mask)])
        if among is not None:
            mask &= np.isin(mapped.numbers, among)
        places, cosines = nearest(mapped.vectors, mapped.signs, question, mask, limit)
        return list(zip(mapped.numbers[places].tolist(), _sound(cosines), strict=True))

    def cosines(self, question: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines of these memories with `question`, of those that are here.

        Raises: Damaged.
        """
        mapped = self._mapped
        asked = np.array([number for number in numbers if number < len(mapped.places)], dtype=np.int64)
        asked = asked[mapped.places[asked] != _NOWHERE]
        cosines = products(mapped.vectors[mapped.places[asked]], question)
        return dict(zip(asked.tolist(), _sound(cosines), strict=True))

    # -- reading the files

    def _stamp(self) -> object:
        """What changes whenever the state file does; None where there is none."""
        try:
            found = os.stat(os.path.join(self._folder, _STATE))
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read_state(self) -> _State:
        """The state that the file tells of; of no rows where it tells of other vectors, or is none."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with open(os.path.join(self._folder, _STATE), encoding="utf-8") as file:
                told = json.load(file)
            if told["of"] == [_FORMAT, self._name, self._dimensions]:
                return _State(int(told["turn"]), int(told["rows"]), int(told["change"]))
        return _State(0, 0, -1)

    def _map(self) -> None:
        """Map what the state tells of.

        Raises: Damaged.
        """
        turn, rows, _ = self._state
        try:
            numbered, vectors, signed = (
                # An array like any other: one that knows of its file asks for it again with every step.
                np.memmap(path, kind, "r", shape=(rows, width)).view(np.ndarray) if rows else np.empty((0, width), kind)
                for path, (kind, width) in zip(self._paths(turn), self._shapes(), strict=True)
            )
        except (OSError, ValueError) as error:  # gone, or shorter than it should be
            self._state = _State(turn, 0, -1)
            raise Damaged(str(error)) from None
        numbers, groups = numbered[:, 0], numbered[:, 1]
        places = np.full(int(numbers.max(initial=0)) + 1, _NOWHERE, dtype=np.int32)
        places[numbers] = np.arange(rows, dtype=np.int32)
        places[_NOBODY] = _NOWHERE
        self._mapped = _Mapped(numbers, groups, vectors, signed, places)

    def _check(self, first: int) -> None:
        """Nothing, when a sample of the rows from `first` on is sound.

        Raises: Damaged.
        """
        rows = self._state.rows
        sample = np.arange(first, rows, max(1, (rows - first) // _SAMPLED))
        sample = sample[self._mapped.numbers[sample] != _NOBODY]
        vectors = np.asarray(self._mapped.vectors[sample])
        lengths = np.linalg.norm(vectors, axis=1)
        sound = np.abs(lengths - 1.0) < _TOLERANCE  # NaN is not
        if not sound.all() or not np.array_equal(self._mapped.signs[sample], signs(vectors)):
            self._state = _State(self._state.turn, 0, -1)
            self._map()
            raise Damaged("vectors that have no length of 1")

    # -- writing the files

    def _paths(self, turn: int) -> tuple[str, str, str]:
        """Numbers and groups; vectors; their signs."""
        rows, vectors, signed = (os.path.join(self._folder, f"{kind}-{turn}") for kind in _KINDS)
        return rows, vectors, signed

    def _shapes(self) -> tuple[tuple[str, int], ...]:
        """Type and width of a row of each file."""
        return ("<i8", 2), ("<f4", self._dimensions), ("u1", -(-self._dimensions // 8))

    def _append(self, state: _State, rows: Sequence[Row]) -> _State:
        """Write rows behind those of `state`, over what a crash may have left there; the state with them."""
        kept = [(row.number, row.group, row.vector) for row in rows if row.vector is not None]
        if not kept:
            return state
        numbered = np.array([(number, group) for number, group, _ in kept], dtype="<i8")
        vectors = np.stack([vector for *_, vector in kept]).astype("<f4")
        for path, block in zip(self._paths(state.turn), (numbered, vectors, signs(vectors)), strict=True):
            with open(path, "r+b") as file:
                file.seek(state.rows * block.shape[1] * block.itemsize)
                file.write(block.tobytes())
        return state._replace(rows=state.rows + len(kept))

    def _wipe(self, numbers: Sequence[int]) -> None:
        """Take memories out: first their numbers, by which they are found, then all that was made of what they said."""
        known = self._mapped.places
        places = [int(known[number]) for number in numbers if number < len(known)]
        for path, (kind, width) in zip(self._paths(self._state.turn), self._shapes(), strict=True):
            nothing = bytes(width * np.dtype(kind).itemsize)
            with contextlib.ExitStack() as stack:
                file = stack.enter_context(open(path, "r+b")) if places else None
                for place in places:
                    if file is not None and place != _NOWHERE:
                        file.seek(place * len(nothing))
                        file.write(nothing)

    def _publish(self, state: _State) -> None:
        """Make a state the one that holds, for every process."""
        told = {"of": [_FORMAT, self._name, self._dimensions], **state._asdict()}
        path = os.path.join(self._folder, _STATE)
        private_files.replace_file(path, json.dumps(told))
        self._state = state
        self._map()
        self._seen = self._stamp()

    def _unused_turn(self) -> int:
        """A turn that no file is of; a process that died may have left some."""
        used = [int(name.rpartition("-")[2]) for name in os.listdir(self._folder) if name.startswith(_KINDS)]
        return max([self._state.turn, *used]) + 1

    def _remove_others(self, turn: int) -> None:
        """Remove the files of other turns; what another process of Windows still maps stays until the next time."""
        current = {os.path.basename(path) for path in self._paths(turn)}
        for name in os.listdir(self._folder):
            if name.startswith(_KINDS) and name not in current:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self._folder, name))


def _sound(cosines: Vector) -> list[float]:
    """Cosines as numbers.

    Raises: Damaged when vectors of length 1 cannot have had them.
    """
    if not (np.abs(cosines) <= 1.0 + _TOLERANCE).all():  # NaN is not
        raise Damaged("cosines beyond 1")
    found: list[float] = cosines.tolist()
    return found
