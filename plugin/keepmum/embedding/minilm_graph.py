"""Builds the ONNX graph of all-MiniLM-L6-v2 with 8-bit weights: the same bytes on every machine.

Weights are quantised to 127 steps per column. Activations are quantised to 256 steps per text, or per word piece after
the GELU, where pieces differ most (cosine with the 32-bit vectors: .9956 instead of .9932).
Weights have 7 bits, not 8, since processors without VNNI add two 8-bit products into 16 bits and lose the overflow.
All large tensors are in a separate file, which processes map and so share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from keepmum.embedding.onnx_format import MICROSOFT, Attribute, external_tensor, graph_input, model, node, tensor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tensor = NDArray[np.float32]
    Tensors = Mapping[str, NDArray[np.float32]]

__all__ = ["INPUT", "build"]

INPUT = "pieces"
_HEADS = 12
_EPSILON = 1e-12  # Source: the model's config.json
_STEPS = 63  # in each direction from zero
# The range of GELU is -0.17 to infinity. The largest value of a piece is scaled to 1; -0.17 to 1 fills 256 steps.
_GELU_STEPS, _GELU_ZERO, _GELU_LEAST = 217, 37, 1e-3
_MAX_INLINE = 4096  # bytes of a tensor that is stored in the graph itself
_ALIGNMENT = 1 << 16  # bytes; the granularity of file mappings on Windows, smaller elsewhere


def build(tensors: Tensors, weights_file: str) -> tuple[bytes, bytes]:
    """The graph, and the content of `weights_file`, which must be in the same folder.

    Raises: KeyError when a tensor is missing.
    """
    graph = _Graph(weights_file)
    x = _embedding(graph, tensors)
    layers = sum(name.endswith(".intermediate.dense.weight") for name in tensors)
    for number in range(layers):
        x = _layer(graph, tensors, f"encoder.layer.{number}.", x)
    mean = graph.add("ReduceMean", [x], axes=[1], keepdims=0)
    vector = graph.add("LpNormalization", [mean], axis=-1, p=2)
    width = tensors["embeddings.LayerNorm.weight"].shape[0]
    inputs = [graph_input(INPUT, "int64", [1, "length"])]
    outputs = [graph_input(vector, "float32", [1, width])]
    return model("all-MiniLM-L6-v2", graph.nodes, graph.tensors, inputs, outputs), bytes(graph.weights)


class _Graph:
    """A graph under construction; each method returns the name of its result, to be used as an input."""

    def __init__(self, weights_file: str) -> None:
        self.nodes: list[bytes] = []
        self.tensors: list[bytes] = []
        self.weights = bytearray()
        self._weights_file = weights_file

    def add(self, operator: str, inputs: Sequence[str], domain: str = "", **attributes: Attribute) -> str:
        """Add an operator with one result."""
        return self.add_split(operator, inputs, 1, domain, **attributes)[0]

    def add_split(
        self, operator: str, inputs: Sequence[str], count: int, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        """Add an operator with `count` results."""
        results = [f"{operator}.{len(self.nodes)}.{number}" for number in range(count)]
        self.nodes.append(node(operator, inputs, results, domain, attributes))
        return results

    def constant(self, values: NDArray[np.generic]) -> str:
        """Add a constant; a large one goes to the weights file."""
        name = f"constant.{len(self.tensors)}"
        if values.nbytes <= _MAX_INLINE:
            self.tensors.append(tensor(name, values))
        else:
            self.weights.extend(bytes(-len(self.weights) % _ALIGNMENT))
            self.tensors.append(external_tensor(name, values, self._weights_file, len(self.weights)))
            self.weights.extend(values.tobytes())
        return name

    def integers(self, *values: int) -> str:
        """Add a constant of integers."""
        import numpy as np

        return self.constant(np.array(values, dtype=np.int64))


def _embedding(graph: _Graph, tensors: Tensors) -> str:
    """The sum of word, position and token type embeddings, normalised."""
    steps, size = _quantise(tensors["embeddings.word_embeddings.weight"].T, 127)
    rows = graph.add("Cast", [graph.add("Gather", [graph.constant(steps.T.copy()), INPUT], axis=0)], to=1)
    sizes = graph.add("Gather", [graph.constant(size[:, None]), INPUT], axis=0)
    words = graph.add("Mul", [rows, sizes])
    first = tensors["embeddings.token_type_embeddings.weight"][0]  # the type of a first sentence; there is no second
    places = graph.constant(tensors["embeddings.position_embeddings.weight"] + first)
    zero, one, two = graph.integers(0), graph.integers(1), graph.integers(2)
    length = graph.add("Slice", [graph.add("Shape", [INPUT]), one, two, zero])
    x = graph.add("Add", [words, graph.add("Slice", [places, zero, length, zero])])
    scale, shift = _norm(graph, tensors, "embeddings.LayerNorm")
    return graph.add("LayerNormalization", [x, scale, shift], axis=-1, epsilon=_EPSILON)


def _layer(graph: _Graph, tensors: Tensors, layer: str, x: str) -> str:
    """One encoder layer: self-attention, then the feed-forward network."""
    import numpy as np

    names = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([tensors[f"{name}.weight"] for name in names])
    bias = np.concatenate([tensors[f"{name}.bias"] for name in names])
    width = weight.shape[1]
    parts = graph.add_split("Split", [_linear(graph, x, weight, bias), graph.integers(*[width] * 3)], 3, axis=-1)
    attended = graph.add("MultiHeadAttention", parts, MICROSOFT, num_heads=_HEADS)
    name = f"{layer}attention.output"
    outer = _linear(graph, attended, tensors[f"{name}.dense.weight"], tensors[f"{name}.dense.bias"])
    x = _added(graph, tensors, f"{name}.LayerNorm", outer, x)
    name = f"{layer}intermediate.dense"
    inner = _linear(graph, x, tensors[f"{name}.weight"], tensors[f"{name}.bias"])
    name = f"{layer}output.dense"
    outer = _linear_of_gelu(graph, inner, tensors[f"{name}.weight"], tensors[f"{name}.bias"])
    return _added(graph, tensors, f"{layer}output.LayerNorm", outer, x)


def _added(graph: _Graph, tensors: Tensors, name: str, outer: str, x: str) -> str:
    """The residual connection with its layer normalisation."""
    scale, shift = _norm(graph, tensors, name)
    # onnxruntime's combined operator, SkipLayerNormalization, takes more than twice as long as these two.
    return graph.add("LayerNormalization", [graph.add("Add", [outer, x]), scale, shift], axis=-1, epsilon=_EPSILON)


def _norm(graph: _Graph, tensors: Tensors, name: str) -> tuple[str, str]:
    return graph.constant(tensors[f"{name}.weight"]), graph.constant(tensors[f"{name}.bias"])


def _linear(graph: _Graph, x: str, weight: Tensor, bias: Tensor) -> str:
    steps, size = _quantise(weight.T, _STEPS)
    no_zero_point = ""  # the steps are symmetric around zero
    inputs = [x, graph.constant(steps), graph.constant(size), no_zero_point, graph.constant(bias)]
    return graph.add("DynamicQuantizeMatMul", inputs, MICROSOFT)


def _linear_of_gelu(graph: _Graph, x: str, weight: Tensor, bias: Tensor) -> str:
    """A linear layer of GELU(x), quantised per word piece."""
    import numpy as np

    steps, size = _quantise(weight.T, _STEPS)
    active = graph.add("Gelu", [x], MICROSOFT)
    largest = graph.add("ReduceMax", [active], axes=[-1], keepdims=1)
    largest = graph.add("Max", [largest, graph.constant(np.array(_GELU_LEAST, dtype=np.float32))])
    unit = graph.constant(np.array(1 / _GELU_STEPS, dtype=np.float32))
    zero = graph.constant(np.array(_GELU_ZERO, dtype=np.uint8))
    quantised = graph.add("QuantizeLinear", [graph.add("Div", [active, largest]), unit, zero])
    inputs = [quantised, graph.constant(steps), unit, graph.constant(size), zero]
    product = graph.add("Mul", [graph.add("MatMulIntegerToFloat", inputs, MICROSOFT), largest])
    return graph.add("Add", [product, graph.constant(bias)])


def _quantise(matrix: Tensor, most: int) -> tuple[NDArray[np.int8], Tensor]:
    """Each column in integer steps, at most `most` in each direction, and the step size of each column."""
    import numpy as np

    largest = np.abs(matrix).max(axis=0)
    size = np.where(largest > 0, largest / np.float32(most), np.float32(1)).astype(np.float32)
    return np.ascontiguousarray(np.rint(matrix / size).astype(np.int8)), size
