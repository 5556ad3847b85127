"""A reference forward pass of the model in 32-bit floats, written from its paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["forward"]

Tensor = NDArray[np.float32]
_HEADS = 12
_erf = np.vectorize(math.erf, otypes=[np.float32])


def forward(tensors: Mapping[str, Tensor], pieces: Sequence[int]) -> Tensor:
    """The vector of a text that is given as word-piece ids."""
    x = (
        tensors["embeddings.word_embeddings.weight"][list(pieces)]
        + tensors["embeddings.position_embeddings.weight"][: len(pieces)]
        + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    x = _norm(tensors, "embeddings.LayerNorm", x)
    for number in range(sum(name.endswith(".intermediate.dense.weight") for name in tensors)):
        x = _layer(tensors, f"encoder.layer.{number}.", x)
    mean = x.mean(axis=0)
    vector: Tensor = mean / np.linalg.norm(mean)
    return vector


def _layer(tensors: Mapping[str, Tensor], layer: str, x: Tensor) -> Tensor:
    parts = [_linear(tensors, f"{layer}attention.self.{part}", x) for part in ("query", "key", "value")]
    query, key, value = (part.reshape(len(x), _HEADS, -1).transpose(1, 0, 2) for part in parts)
    weight = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1]))
    seen = (weight / weight.sum(axis=-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(x.shape)
    seen = _linear(tensors, f"{layer}attention.output.dense", seen)
    x = _norm(tensors, f"{layer}attention.output.LayerNorm", seen + x)
    inner = _linear(tensors, f"{layer}intermediate.dense", x)
    inner = inner * 0.5 * (1 + _erf(inner / math.sqrt(2)))
    return _norm(tensors, f"{layer}output.LayerNorm", _linear(tensors, f"{layer}output.dense", inner) + x)


def _linear(tensors: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    y: Tensor = x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
    return y


def _norm(tensors: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    y: Tensor = scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
    return y
