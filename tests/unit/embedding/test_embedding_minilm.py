"""The installed model gives nearly the vectors of the published one."""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from embedding_models import Tiny
from keepmum.core.errors import EmbeddingError, ModelMissing
from keepmum.embedding import conversion
from keepmum.embedding.local_model import GRAPH, MINILM, TENSORS, VOCABULARY, WEIGHTS
from keepmum.embedding.minilm import MiniLm
from keepmum.embedding.wordpiece import WordPiece
from numpy_minilm import forward

TEXTS = ["deploy the staging service", "how do i deploy to staging?", "a cat sat on the mat.", "", "unheard-of words"]


@pytest.fixture(scope="session")
def small(tiny: Tiny) -> MiniLm:
    return MiniLm.open(str(tiny.installed), tiny.model)


@pytest.fixture(scope="session")
def real(installed_model: Path) -> MiniLm:
    return MiniLm.open(str(installed_model))


@pytest.fixture
def copy(tiny: Tiny, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny.installed, tmp_path / "copy"))


def cosines_with_32_bits(embedder: MiniLm, folder: Path, published: Path, texts: list[str]) -> NDArray[np.float32]:
    """The cosine of each text's vector with the one computed in 32-bit floats."""
    tensors = conversion.read_tensors(str(published / TENSORS))
    tokenizer = WordPiece.read(str(folder / VOCABULARY))
    exact = np.stack([forward(tensors, tokenizer.encode(text, 256)) for text in texts])
    cosines: NDArray[np.float32] = (exact * embedder.embed(texts)).sum(axis=1)
    return cosines


def test_the_vectors_of_a_tiny_model_are_close_to_32_bits(small: MiniLm, tiny: Tiny) -> None:
    assert cosines_with_32_bits(small, tiny.installed, tiny.published, TEXTS).min() > 0.99


def test_the_vectors_of_the_real_model_are_close_to_32_bits(
    real: MiniLm, installed_model: Path, published_model: Path, root: Path
) -> None:
    paragraphs = (root / "README.md").read_text(encoding="utf-8").split("\n\n")
    cosines = cosines_with_32_bits(real, installed_model, published_model, [*TEXTS, *paragraphs[::4]])
    assert (cosines.mean() > 0.99, cosines.min() > 0.98) == (True, True), sorted(cosines)


def test_a_paraphrase_is_more_similar_than_another_text(real: MiniLm) -> None:
    query, same, other = real.embed(["how do I ship to production?", "Steps of a release", "The cat sleeps all day"])
    assert query @ same > query @ other + 0.2


def test_each_text_has_a_row_of_length_one_in_order(small: MiniLm) -> None:
    rows = small.embed(TEXTS)
    assert rows.shape == (len(TEXTS), small.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(rows[1], small.embed([TEXTS[1]])[0])


def test_no_texts_give_no_rows(small: MiniLm) -> None:
    assert small.embed([]).shape == (0, small.dimensions)


def test_a_vector_does_not_depend_on_the_batch(small: MiniLm) -> None:
    alone = np.concatenate([small.embed([text]) for text in TEXTS])
    assert np.array_equal(alone, small.embed(TEXTS))


@pytest.mark.parametrize("text", ["a" * 70_000, "deploy " * 10_000, "\0\ud800\uffff" * 100, "🫠👩‍👩‍👧 한국어 ไทย"])
def test_long_and_unusual_texts_have_vectors(small: MiniLm, text: str) -> None:
    assert np.isfinite(small.embed([text])).all()


def test_threads_share_one_model(small: MiniLm) -> None:
    expected = small.embed(TEXTS)
    equal: list[bool] = []

    def read() -> None:
        equal.extend(np.array_equal(small.embed(TEXTS), expected) for _ in range(20))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert equal == [True] * 80


def test_the_space_name_changes_with_the_weights(tiny: Tiny) -> None:
    other = type(tiny.model)("tiny", tiny.model.published, {**tiny.model.installed, WEIGHTS: "0" * 64})
    assert tiny.model.space != other.space
    assert MINILM.space.startswith("all-MiniLM-L6-v2-int8-")


def test_a_missing_model_is_reported_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"not installed; `keepmum model install` fetches it"):
        MiniLm.open(str(tmp_path / "nothing"))


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS, VOCABULARY])
@pytest.mark.parametrize("damage", ["missing", "cut short", "changed"])
def test_a_damaged_file_is_reported_with_the_command(tiny: Tiny, copy: Path, name: str, damage: str) -> None:
    content = (copy / name).read_bytes()
    if damage == "missing":
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content[:-1] if damage == "cut short" else content[:-1] + b"\xff")
    with pytest.raises(
        EmbeddingError, match=rf"{name} in .* is missing or damaged; `keepmum model install` replaces it"
    ):
        MiniLm.open(str(copy), tiny.model)


def test_a_missing_onnxruntime_is_reported_with_the_command(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EmbeddingError, match=r"needs the package onnxruntime.*`keepmum install` fetches it"):
        MiniLm.open(str(tiny.installed), tiny.model)


def test_an_invalid_graph_is_an_embedding_error(tiny: Tiny, copy: Path) -> None:
    (copy / GRAPH).write_bytes(b"no graph")
    import hashlib

    pins = {**tiny.model.installed, GRAPH: hashlib.sha256(b"no graph").hexdigest()}
    with pytest.raises(EmbeddingError, match=r"onnxruntime cannot load .*model\.onnx"):
        MiniLm.open(str(copy), type(tiny.model)("tiny", {}, pins))


def test_the_model_loads_from_a_symbolic_link(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tiny.installed, target_is_directory=True)
    assert MiniLm.open(str(tmp_path / "link"), tiny.model).embed(["a"]).shape == (1, 48)
