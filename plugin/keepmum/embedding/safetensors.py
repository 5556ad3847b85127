"""The tensors in a file of the safetensors format, mapped and not read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read"]

# Eight bytes of length, so many of JSON, then the tensors, little-endian and row by row.
# Source: https://huggingface.co/docs/safetensors/index#format, read 2026-11-21
_LENGTH = 8
_LONGEST_HEADER = 1 << 20


def read(path: str) -> Mapping[str, NDArray[np.float32]]:
    """Every tensor of 32-bit floats in a file, by name.

    Raises: OSError, ValueError when it is no such file or not all of it.
    """
    import numpy as np

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        header = json.loads(file.read(min(length, _LONGEST_HEADER)))
    size = os.path.getsize(path) - _LENGTH - length
    bytes_of = np.memmap(path, dtype=np.uint8, mode="r", offset=_LENGTH + length, shape=(size,))
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = bytes_of[begin:end].view("<f4").reshape(entry["shape"])
    return tensors
