"""Converts the published files of a model to the installed ones."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from keepmum.embedding import minilm_graph
from keepmum.embedding.local_model import GRAPH, TENSORS, TOKENIZER, VOCABULARY, WEIGHTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["convert", "read_tensors"]

# The safetensors format: 8 bytes of length, a JSON header of that length, then the tensors, little-endian, row by row.
# Source: https://huggingface.co/docs/safetensors/index#format, read 2026-11-21
_LENGTH_BYTES = 8
_MAX_HEADER = 1 << 20  # bytes


def convert(published: str, target: str) -> None:
    """Write the installed files to the folder `target`, from the folder `published`, whose hashes were checked.

    Raises: OSError.
    """
    graph, weights = minilm_graph.build(read_tensors(os.path.join(published, TENSORS)), WEIGHTS)
    vocabulary = _vocabulary(os.path.join(published, TOKENIZER))
    for name, content in ((GRAPH, graph), (WEIGHTS, weights), (VOCABULARY, vocabulary)):
        with open(os.path.join(target, name), "wb") as file:
            file.write(content)


def read_tensors(path: str) -> Mapping[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file by name, memory-mapped.

    Raises: OSError; ValueError when the file has another format or is truncated.
    """
    import numpy as np

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        header = json.loads(file.read(min(length, _MAX_HEADER)))
    size = os.path.getsize(path) - _LENGTH_BYTES - length
    content = np.memmap(path, dtype=np.uint8, mode="r", offset=_LENGTH_BYTES + length, shape=(size,))
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = content[start:end].view("<f4").reshape(entry["shape"])
    return tensors


def _vocabulary(path: str) -> bytes:
    """The vocabulary as one piece per line; a piece's id is the number of its line."""
    with open(path, encoding="utf-8") as file:
        ids = json.load(file)["model"]["vocab"]
    return "".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__)).encode()
