"""The conversion of a model is reproducible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from embedding_models import Tiny, write_safetensors
from keepmum.embedding import conversion, minilm_graph, onnx_format
from keepmum.embedding.local_model import MINILM, has_hash


def test_the_converted_model_has_the_pinned_hashes(published_model: Path, tmp_path: Path) -> None:
    conversion.convert(str(published_model), str(tmp_path))
    assert [name for name, pinned in MINILM.installed.items() if not has_hash(str(tmp_path / name), pinned)] == []


def test_the_graph_does_not_depend_on_the_order_of_tensors(tiny: Tiny) -> None:
    assert minilm_graph.build(tiny.tensors, "w") == minilm_graph.build(dict(reversed(tiny.tensors.items())), "w")


def test_a_missing_tensor_is_an_error(tiny: Tiny) -> None:
    tensors = {name: values for name, values in tiny.tensors.items() if name != "embeddings.LayerNorm.bias"}
    with pytest.raises(KeyError):
        minilm_graph.build(tensors, "w")


def test_a_column_of_zeros_is_quantised_to_zeros() -> None:
    steps, size = minilm_graph._quantise(np.zeros((4, 3), dtype=np.float32), 63)
    assert not steps.any()
    assert np.isfinite(size).all()


def test_quantised_weights_are_within_half_a_step() -> None:
    matrix = np.random.default_rng(1).normal(size=(64, 8)).astype(np.float32)
    steps, size = minilm_graph._quantise(matrix, 63)
    assert np.abs(steps).max() == 63
    assert (np.abs(steps * size - matrix) <= size / 2 + 1e-6).all()


def test_tensors_are_read_as_they_were_written(tmp_path: Path) -> None:
    tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(1, dtype=np.float32)}
    write_safetensors(tmp_path / "t", tensors)
    read = conversion.read_tensors(str(tmp_path / "t"))
    assert {name: values.tolist() for name, values in read.items()} == {"a": [[0, 1, 2], [3, 4, 5]], "b": [1]}


@pytest.mark.parametrize("kept", [0, 7, 20, -4], ids=["empty", "no length", "half a header", "half a tensor"])
def test_a_truncated_safetensors_file_is_refused(tmp_path: Path, kept: int) -> None:
    write_safetensors(tmp_path / "t", {"a": np.ones(8, dtype=np.float32)})
    (tmp_path / "t").write_bytes((tmp_path / "t").read_bytes()[:kept])
    with pytest.raises(ValueError):  # noqa: PT011 - numpy and json raise various messages
        conversion.read_tensors(str(tmp_path / "t"))


@pytest.mark.parametrize(
    ("number", "written"), [(0, b"\0"), (127, b"\x7f"), (128, b"\x80\x01"), (-1, b"\xff" * 9 + b"\x01")]
)
def test_varints(number: int, written: bytes) -> None:
    assert onnx_format._varint(number) == written
