"""The shared vector files: processes see each other's rows, and damaged files are never searched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from keepmum.stores.vectors import Damaged, Matrix, Row, arrays, normalised, pack, unpack, unpack_one
from keepmum.stores.vectors.arrays import nearest, signs

SIZE = 64
AXES = np.eye(SIZE, dtype=np.float32)


@pytest.fixture
def open_again(tmp_path: Path) -> Callable[[], Matrix]:
    """Opens the same files, as another process would."""

    def opened() -> Matrix:
        matrix = Matrix(str(tmp_path / "vectors"), "a store", SIZE)
        matrix.refresh()
        return matrix

    return opened


@pytest.fixture
def matrix(open_again: Callable[[], Matrix]) -> Matrix:
    """Three memories of two groups, each with its own axis as vector."""
    made = open_again()
    made.replace([[Row(1, 7, AXES[1]), Row(2, 7, AXES[2])], [Row(3, 8, AXES[3])]], change=5)
    return made


def found(matrix: Matrix, axis: int, groups: list[int] | None = None) -> list[int]:
    return [number for number, _ in matrix.nearest(AXES[axis], groups, 1)]


def test_a_new_matrix_is_empty(open_again: Callable[[], Matrix]) -> None:
    made = open_again()
    assert (len(made), made.change, made.nearest(AXES[0], None, 5)) == (0, -1, [])


def test_the_nearest_comes_first_with_its_cosine(matrix: Matrix) -> None:
    question = normalised(AXES[2] + AXES[3] / 2)
    assert [number for number, _ in matrix.nearest(question, None, 2)] == [2, 3]
    assert matrix.cosines(question, [3, 99]) == {3: pytest.approx(0.447, abs=0.001)}


def test_a_group_that_was_not_requested_is_not_found(matrix: Matrix) -> None:
    assert found(matrix, 2, [7]) == [2]
    assert found(matrix, 2, [8]) == [3]
    assert found(matrix, 2, []) == []


def test_other_processes_find_added_rows_after_a_refresh(matrix: Matrix, open_again: Callable[[], Matrix]) -> None:
    other = open_again()
    matrix.add([Row(4, 7, AXES[4])], change=6)
    assert len(other) == 3
    other.refresh()
    assert (found(other, 4), other.change) == ([4], 6)


def test_a_row_that_is_added_again_replaces_the_first(matrix: Matrix) -> None:
    matrix.add([Row(2, 7, AXES[9])], change=6)
    assert len(matrix) == 3
    assert matrix.cosines(AXES[9], [2]) == {2: 1.0}


def test_a_row_without_a_vector_removes_the_memory_for_all_processes(
    matrix: Matrix, open_again: Callable[[], Matrix]
) -> None:
    other = open_again()
    matrix.add([Row(2, 7, None)], change=6)
    assert 2 not in [number for number, _ in other.nearest(AXES[2], None, 9)]
    other.refresh()
    assert other.cosines(AXES[2], [2]) == {}


def test_a_removed_memory_leaves_no_byte_of_its_vector(
    matrix: Matrix, tmp_path: Path, open_again: Callable[[], Matrix]
) -> None:
    matrix.add([Row(2, 7, None)], change=6)
    rows = np.fromfile(tmp_path / "vectors" / "vectors-1", dtype="<f4").reshape(3, SIZE)
    assert np.flatnonzero(rows.any(axis=1)).tolist() == [0, 2]
    assert len(open_again()) == 2


def test_leftovers_of_a_crash_are_overwritten(matrix: Matrix, tmp_path: Path) -> None:
    for path in (tmp_path / "vectors").glob("*-1"):
        path.write_bytes(path.read_bytes() + b"half a row")
    matrix.add([Row(4, 7, AXES[4])], change=6)
    assert found(matrix, 4) == [4]


def test_rebuilding_removes_the_former_files(matrix: Matrix, tmp_path: Path, open_again: Callable[[], Matrix]) -> None:
    other = open_again()
    matrix.replace([[Row(8, 7, AXES[8])]], change=9)
    assert {path.name for path in (tmp_path / "vectors").iterdir()} == {"rows-2", "vectors-2", "signs-2", "state.json"}
    assert found(other, 2) == [2], "a search in another process still has the old files"
    other.refresh()
    assert found(other, 2) == [8]


def test_many_cleared_rows_call_for_rebuilding(open_again: Callable[[], Matrix]) -> None:
    made = open_again()
    rows = [Row(number, 7, AXES[number % SIZE]) for number in range(1, 3_000)]
    made.replace([rows], change=1)
    made.add(rows[:900], change=2)
    assert not made.is_sparse()
    made.add(rows[900:1_500], change=3)
    assert made.is_sparse()


@pytest.mark.usefixtures("matrix")
@pytest.mark.parametrize("kind", ["rows", "vectors", "signs"])
def test_a_truncated_file_is_not_searched(tmp_path: Path, kind: str, open_again: Callable[[], Matrix]) -> None:
    path = tmp_path / "vectors" / f"{kind}-1"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(Damaged):
        open_again()


@pytest.mark.usefixtures("matrix")
@pytest.mark.parametrize("kind", ["vectors", "signs"])
def test_a_file_with_other_bytes_is_not_searched(tmp_path: Path, kind: str, open_again: Callable[[], Matrix]) -> None:
    path = tmp_path / "vectors" / f"{kind}-1"
    path.write_bytes(b"\x99" * path.stat().st_size)
    with pytest.raises(Damaged):
        open_again()


def test_vectors_damaged_during_use_return_no_result(matrix: Matrix, tmp_path: Path) -> None:
    with (tmp_path / "vectors" / "vectors-1").open("r+b") as file:
        file.write(np.full(SIZE, np.nan, dtype="<f4").tobytes())
    with pytest.raises(Damaged):
        matrix.nearest(AXES[1], None, 3)


@pytest.mark.usefixtures("matrix")
@pytest.mark.parametrize("state", ["", "[]", "{", '{"of": 1}', '{"of": [1, "a store", 64], "turn": "x"}'])
def test_an_invalid_state_means_no_rows(tmp_path: Path, state: str, open_again: Callable[[], Matrix]) -> None:
    (tmp_path / "vectors" / "state.json").write_text(state, encoding="utf-8")
    assert (len(open_again()), open_again().change) == (0, -1)


@pytest.mark.usefixtures("matrix")
@pytest.mark.parametrize(("name", "dimensions"), [("another store", SIZE), ("a store", 32)])
def test_the_files_of_other_vectors_are_ignored(tmp_path: Path, name: str, dimensions: int) -> None:
    other = Matrix(str(tmp_path / "vectors"), name, dimensions)
    other.refresh()
    assert len(other) == 0


def test_discarded_files_are_invalid_for_all_processes(matrix: Matrix, open_again: Callable[[], Matrix]) -> None:
    other = open_again()
    matrix.discard()
    other.refresh()
    assert (len(matrix), len(other)) == (0, 0)


@pytest.mark.usefixtures("matrix")
def test_the_state_covers_only_written_rows(tmp_path: Path) -> None:
    state = json.loads((tmp_path / "vectors" / "state.json").read_text(encoding="utf-8"))
    assert state == {"of": [1, "a store", SIZE], "turn": 1, "rows": 3, "change": 5}


# -- search


def test_sign_search_with_rescoring_equals_exact_search(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = normalised(np.random.default_rng(1).standard_normal((5_000, SIZE)).astype(np.float32))
    question, mask = vectors[7] + vectors[9] / 2, np.arange(5_000) % 5 != 0
    monkeypatch.setattr(arrays, "_MAX_PICKED", 0)
    exact = nearest(vectors, signs(vectors), question, mask, 10)
    monkeypatch.setattr(arrays, "MAX_EXACT", 0)
    quick = nearest(vectors, signs(vectors), question, mask, 10)
    assert quick[0].tolist() == exact[0].tolist()
    np.testing.assert_allclose(quick[1], exact[1], rtol=1e-5)


def test_sign_search_finds_nearly_all_neighbours_in_clustered_texts() -> None:
    chance, size = np.random.default_rng(3), 384
    topics = normalised(chance.standard_normal((100, size)).astype(np.float32))
    noise = normalised(chance.standard_normal((arrays.MAX_EXACT + 2_000, size)).astype(np.float32))
    vectors = normalised(topics[chance.integers(0, 100, len(noise))] + np.float32(0.8) * noise)
    everything = np.ones(len(vectors), dtype=np.bool_)
    kept = [
        np.isin(np.argsort(-(vectors @ question))[:60], nearest(vectors, signs(vectors), question, everything, 60)[0])
        for question in vectors[:20]
    ]
    assert np.mean(kept) >= 0.99


def test_every_search_path_respects_the_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, mask = AXES[:8], np.arange(8) == 3
    for few, all_of_it in ((99, 99), (0, 99), (0, 0)):
        monkeypatch.setattr(arrays, "_MAX_PICKED", few)
        monkeypatch.setattr(arrays, "_MIN_SHARE", 1)
        monkeypatch.setattr(arrays, "MAX_EXACT", all_of_it)
        places, cosines = nearest(vectors, signs(vectors), AXES[2], mask, 5)
        assert (places.tolist(), cosines.tolist()) == ([3], [0.0])


def test_a_vector_is_restored_except_for_rounding() -> None:
    vector = normalised(np.random.default_rng(2).standard_normal(SIZE).astype(np.float32))
    assert float(unpack([pack(vector)], SIZE)[0] @ vector) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(ValueError, match="reshape"):
        unpack([pack(vector)], SIZE + 1)


def test_one_vector_is_unpacked_like_the_row_of_a_matrix() -> None:
    kept = pack(normalised(np.arange(SIZE, dtype=np.float32)))
    assert unpack_one(kept) == pytest.approx(unpack([kept], SIZE)[0], abs=1e-6)
    assert not unpack_one(bytes(2 * SIZE)).any()
