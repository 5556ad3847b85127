"""The installed files of a model from its published ones."""

from __future__ import annotations

import json
import os

from keepmum.embedding import minilm_graph, safetensors
from keepmum.embedding.local_model import GRAPH, TENSORS, TOKENIZER, VOCABULARY, WEIGHTS

__all__ = ["convert"]


def convert(published: str, target: str) -> None:
    """Make the files of the model in the folder `target` from those in `published`, whose hashes were checked.

    Raises: OSError.
    """
    graph, weights = minilm_graph.build(safetensors.read(os.path.join(published, TENSORS)), WEIGHTS)
    vocabulary = _vocabulary(os.path.join(published, TOKENIZER))
    for name, content in ((GRAPH, graph), (WEIGHTS, weights), (VOCABULARY, vocabulary)):
        with open(os.path.join(target, name), "wb") as file:
            file.write(content)


def _vocabulary(path: str) -> bytes:
    """A piece a line, each on the line of its number."""
    with open(path, encoding="utf-8") as file:
        numbers = json.load(file)["model"]["vocab"]
    return "".join(f"{piece}\n" for piece in sorted(numbers, key=numbers.__getitem__)).encode()
