"""Serialises ONNX graphs whose large tensors are in a separate file.

The package `onnx` does the same, but needs 20 MiB and protobuf. Each function writes the protobuf message that its
docstring names; the numbers are field numbers.
Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, read 2026-11-21
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

__all__ = ["MICROSOFT", "external_tensor", "graph_input", "model", "node", "tensor"]

MICROSOFT = "com.microsoft"  # the domain of the operators that onnxruntime adds
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_FLOAT, _INT, _INTS = 1, 2, 7  # kinds of attribute
_IR_VERSION, _OPSET = 8, 17  # of ONNX 1.12 (2022)

Attribute = int | float | Sequence[int]


def node(
    operator: str, inputs: Iterable[str], outputs: Sequence[str], domain: str, attributes: Mapping[str, Attribute]
) -> bytes:
    """NodeProto: one operator of a graph."""
    return b"".join(
        (
            *(_text(1, name) for name in inputs),
            *(_text(2, name) for name in outputs),
            _text(3, outputs[0]),
            _text(4, operator),
            *(_bytes(5, _attribute(name, value)) for name, value in attributes.items()),
            _text(7, domain),
        )
    )


def tensor(name: str, values: Array) -> bytes:
    """TensorProto: a constant in the file itself."""
    return _tensor(name, values) + _bytes(9, values.tobytes())


def external_tensor(name: str, values: Array, file: str, offset: int) -> bytes:
    """TensorProto: a constant in another file of the same folder, which a runtime can map."""
    where = {"location": file, "offset": str(offset), "length": str(values.nbytes)}
    entries = b"".join(_bytes(13, _text(1, key) + _text(2, value)) for key, value in where.items())
    return _tensor(name, values) + entries + _number(14, 1)


def graph_input(name: str, kind: str, shape: Sequence[int | str]) -> bytes:
    """ValueInfoProto: an input or output of a graph; a string in `shape` names a variable length."""
    lengths = (_number(1, length) if isinstance(length, int) else _text(2, length) for length in shape)
    of_tensor = _number(1, _TYPES[kind]) + _bytes(2, b"".join(_bytes(1, length) for length in lengths))
    return _text(1, name) + _bytes(2, _bytes(1, of_tensor))


def model(
    name: str, nodes: Iterable[bytes], tensors: Iterable[bytes], inputs: Iterable[bytes], outputs: Iterable[bytes]
) -> bytes:
    """ModelProto: the whole file."""
    graph = b"".join(
        (
            *(_bytes(1, each) for each in nodes),
            _text(2, name),
            *(_bytes(5, each) for each in tensors),
            *(_bytes(11, each) for each in inputs),
            *(_bytes(12, each) for each in outputs),
        )
    )
    opsets = ("", _OPSET), (MICROSOFT, 1)
    versions = b"".join(_bytes(8, _text(1, domain) + _number(2, version)) for domain, version in opsets)
    return _number(1, _IR_VERSION) + _text(2, "keepmum") + _bytes(7, graph) + versions


def _tensor(name: str, values: Array) -> bytes:
    lengths = b"".join(_number(1, length) for length in values.shape)
    return lengths + _number(2, _TYPES[values.dtype.name]) + _text(8, name)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        body, kind = _varint(2 << 3 | 5) + struct.pack("<f", value), _FLOAT
    elif isinstance(value, int):
        body, kind = _number(3, value), _INT
    else:
        body, kind = b"".join(_number(8, each) for each in value), _INTS
    return _text(1, name) + body + _number(20, kind)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    """A protobuf varint; negative numbers as 64-bit two's complement."""
    number &= (1 << 64) - 1
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
